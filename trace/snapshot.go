package trace

import (
	"cmp"
	"fmt"
	"io"

	"reprise/internal/snapshot"
)

// SaveCursors writes the places of cursors that were made together, all of them. Of a stream it fails with ErrStream. A
// place is small: registers, counters, and numbers of chunks, which are read from the file again.
func SaveCursors(w io.Writer, cursors []Cursor) error {
	return snapshot.Save(w, func(s *snapshot.State) { cursorState(s, cursors) })
}

// RestoreCursors sets the places of new cursors to those that SaveCursors has written, of cursors of the same file with
// the same options. It fails if the number of cursors or their code differs, or if a place is not in the trace; the
// values of registers are not checked. After an error the cursors are of no use.
func RestoreCursors(r io.Reader, cursors []Cursor) error {
	return snapshot.Restore(r, func(s *snapshot.State) { cursorState(s, cursors) })
}

// cursorState saves or restores the places of cursors. One function does both, so that what is read is what was
// written.
func cursorState(s *snapshot.State, cursors []Cursor) {
	if len(cursors) == 0 {
		return
	}
	// All cursors share their registers and pollables, which are written with the first.
	set := cursors[0].set
	if set.trace.file == nil {
		s.Fail(ErrStream)
		return
	}
	s.Section("cursors")
	// These must be the same where the places are read.
	for i, number := range []int{len(set.code.instrs), len(cursors)} {
		found := number
		if s.Vars(&found); s.Err() == nil && found != number {
			s.Fail(fmt.Errorf("%w: %d %s, want %d", snapshot.ErrCorrupt, found, [...]string{"instructions", "cursors"}[i], number))
		}
	}
	if s.Err() != nil {
		return
	}
	// What the cursors share. How far the registers have grown is part of it.
	s.Vars(&set.stride, &set.memory)
	polls := len(set.polls)
	snapshot.Slice(s, &set.polls, func(p *pollable) {
		s.Vars(&p.guarded, &p.count, &p.family, &p.peer, &p.tag, &p.body, &p.args)
	})
	snapshot.Slice(s, &set.relays, func(x *relays) {
		for i := range x.of {
			y := &x.of[i]
			s.Vars(&y.family, &y.member, &y.req, &y.window, &y.received, &y.sent, &y.completed, &y.count)
			for k := range y.jobs {
				j := &y.jobs[k]
				s.Vars(&j.size, &j.chunk, &j.distance, &j.end, &j.next, &j.prev, &j.from, &j.to, &j.both)
			}
		}
		for i := range x.ring {
			f := &x.ring[i]
			s.Vars(&f.from, &f.to, &f.first, &f.count, &f.received, &f.sent, &f.tag, &f.receives, &f.passes, &f.send, &f.receive)
		}
		s.Vars(&x.asked, &x.at, &x.stage, &x.answer, &x.begun, &x.changed, &x.found)
	})
	if s.Reading() && s.Err() == nil {
		s.Fail(set.check(len(cursors), polls))
	}

	// Each chunk that cursors are in is decoded once, and those that follow each other are linked, as if
	// the cursors had read them.
	// load returns a chunk by its number. It links neighbours in whichever order they are read.
	chunks := map[int]*Chunk{}
	load := func(number int) (*Chunk, error) {
		if w := chunks[number]; w != nil {
			return w, nil
		}
		if err := within("chunk", number, 0, len(set.trace.chunks)); err != nil {
			return nil, err
		}
		w, err := set.trace.chunk(number)
		if err != nil {
			return nil, err
		}
		chunks[number] = w
		if before := chunks[number-1]; before != nil {
			before.next = w
		}
		w.next = chunks[number+1]
		return w, nil
	}
	for i := range cursors {
		// A cursor that has failed cannot be saved, as its error cannot.
		c := &cursors[i]
		s.Fail(c.err)
		chunk := -1
		if c.win != nil {
			chunk = c.win.number
		}
		s.Vars(&chunk, &c.pc, &c.base, &c.hitPC, &c.missPC, &c.hitFrame, &c.waiting, &c.pending,
			&c.step, &c.unit, &c.call, &c.item, &c.items, &c.marks)
		snapshot.Slice(s, &c.lists, func(l *sumList) { s.Vars(&l.chunk, &l.vector) })
		if s.Err() != nil {
			return
		}
		if s.Reading() {
			s.Fail(c.find(chunk, load))
		}
	}
}

// within returns an error if a number is not in [least, end). It is the check of each number that is read.
func within[T ~int | ~int8 | ~int32](name string, number T, least, end int) error {
	if n := int(number); n < least || n >= end {
		return fmt.Errorf("%w: %s %d out of [%d,%d)", snapshot.ErrCorrupt, name, n, least, end)
	}
	return nil
}

// check checks the state that cursors share after it was read: memory has all their registers, and
// pollables have bodies.
func (s *cursorSet) check(cursors, polls int) error {
	if want := cursors*s.stride + len(registers{}); s.stride <= firstFrame || len(s.memory) != want {
		return fmt.Errorf("%w: %d registers, want %d of %d cursors, each of %d", snapshot.ErrCorrupt, len(s.memory), want, cursors, s.stride)
	}
	if len(s.polls) != polls {
		return fmt.Errorf("%w: %d pollables, want %d", snapshot.ErrCorrupt, len(s.polls), polls)
	}
	if n := len(s.relays); n != 0 && n != s.cursors {
		return fmt.Errorf("%w: relays of %d cursors, want %d", snapshot.ErrCorrupt, n, s.cursors)
	}
	for i := range s.relays {
		for k := range s.relays[i].of {
			x := &s.relays[i].of[k]
			if err := cmp.Or(within("job of a relay", x.count, 0, maxJobs+1), within("window of a relay", x.window, int(min(1, x.count)), maxWindow+1),
				within("slot of a relay", x.received, 0, int(x.slots())+1), within("sent slot", x.sent, 0, int(x.received)+1),
				within("completed slot", x.completed, 0, int(x.sent)+1)); err != nil {
				return err
			}
		}
	}
	for i := range s.polls {
		p := &s.polls[i]
		if err := cmp.Or(
			within("arguments of a pollable", int(p.count), 0, maxPollArgs+1),
			within("body of a pollable", p.body, 0, len(s.code.instrs)),
			within("family of a pollable", int(p.family), 0, max(1, len(s.groups))),
		); err != nil {
			return err
		}
	}
	return nil
}

// find sets the fields that lead into chunks, from a number of a chunk (-1: none), which load decodes. It
// compares each number of the place with the size of what the number is an index of: a wrong snapshot must not
// make a cursor read outside of its memory, its code or its chunk.
func (c *Cursor) find(chunk int, load func(number int) (*Chunk, error)) (err error) {
	if c.win = nil; chunk != -1 {
		if c.win, err = load(chunk); err != nil {
			return err
		}
	}
	for i := range c.lists {
		l := &c.lists[i]
		w, err := load(int(l.chunk))
		if err != nil {
			return err
		}
		if err := within("vector", l.vector, 0, len(w.vectors)); err != nil {
			return err
		}
		l.sums = w.vectors[l.vector].sums
	}
	c.noted = len(c.marks)+len(c.lists) > 0
	// Places in the code. What these instructions do is not compared with the place in the stream:
	// wrong places inside the code give wrong actions, but no crash.
	code, hit := len(c.set.code.instrs), c.base
	if c.waiting >= 0 { // an earlier poll may have been in another block
		hit += c.hitFrame
	}
	slots := c.set.slots
	if c.waiting == askedRelay && c.set.relays != nil {
		slots = askedRelay + 1
	}
	err = cmp.Or(
		within("slot of a poll", c.waiting, -1, slots),
		within("instruction", c.pc, 0, code),
		within("instruction after a hit", c.hitPC, 0, code),
		within("instruction after a miss", c.missPC, 0, code),
		within("frame", c.base, firstFrame, c.set.stride),
		within("frame after a hit", hit, firstFrame, c.set.stride),
	)
	if err != nil || c.win == nil {
		return err
	}

	// The place in the stream of calls, unless it has ended.
	if err := within("unit", c.unit, -1, len(c.win.units)); err != nil {
		return err
	}
	var calls []CallColumns
	if c.unit >= 0 {
		calls = c.win.units[c.unit].Calls
	}
	if err := within("call", c.call, 0, len(calls)+1); err != nil {
		return err
	}
	items := int32(0)
	if c.call > 0 {
		_, items = c.span(&calls[c.call-1])
	}
	// A call that has begun has the number of items that the file says.
	if c.items != 0 && c.items != items {
		return fmt.Errorf("%w: %d items, want %d", snapshot.ErrCorrupt, c.items, items)
	}
	return within("item", c.item, 0, int(c.items)+1)
}
