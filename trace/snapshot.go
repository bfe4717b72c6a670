package trace

import (
	"errors"
	"io"
	"math"

	"reprise/internal/snapshot"
)

// SaveCursors writes the places of cursors that were made together, all of them. Of a
// stream it fails with ErrStream.
func SaveCursors(w io.Writer, cursors []Cursor) error {
	return snapshot.Save(w, func(c *snapshot.Codec) { snapshotCursors(c, cursors) })
}

// RestoreCursors sets the places of new cursors to those that SaveCursors has written of
// cursors of the same file that were made alike, and checks them.
func RestoreCursors(r io.Reader, cursors []Cursor) error {
	return snapshot.Restore(r, func(c *snapshot.Codec) { snapshotCursors(c, cursors) })
}

func snapshotCursors(c *snapshot.Codec, cursors []Cursor) {
	if len(cursors) == 0 {
		return
	}
	set := cursors[0].set
	if set.trace.file == nil {
		c.Fail(ErrStream)
		return
	}
	set.snapshot(c, len(cursors))
	load := loader{trace: set.trace}
	if c.Reading() && c.Err() == nil {
		load.definitions = set.code.definitions()
	}
	for i := range cursors {
		cursors[i].snapshot(c, &load)
	}
}

// snapshot stores what the cursors have in common.
func (s *cursorSet) snapshot(c *snapshot.Codec, cursors int) {
	c.Section("cursors", *s, pollable{}, Cursor{}, sumList{}, instr{})
	c.Const("instructions", len(s.code.instrs))
	c.Const("cursors", cursors)
	stride := s.stride
	snapshot.Index(c, &stride, s.stride, max(s.stride, s.code.maxStride())+1)
	if stride > s.stride {
		s.setStride(cursors, stride)
	}
	snapshot.Ints(c, s.memory)
	for i := range s.polls {
		s.polls[i].snapshot(c, len(s.code.instrs))
	}
}

// maxStride returns how many registers a cursor has at most.
func (c *code) maxStride() int {
	need := int32(0)
	for i := range c.entries {
		need = max(need, c.entries[i].need)
	}
	return strideFor(firstFrame + int(need) + c.body)
}

func (p *pollable) snapshot(c *snapshot.Codec, code int) {
	c.Bool(&p.guarded)
	snapshot.Index(c, &p.count, 0, maxPollArgs+1)
	snapshot.Int(c, &p.family)
	snapshot.Int(c, &p.peer)
	snapshot.Int(c, &p.tag)
	snapshot.Index(c, &p.body, 0, code)
	snapshot.Ints(c, p.args[:])
}

// snapshot stores the place of one cursor.
func (c *Cursor) snapshot(s *snapshot.Codec, load *loader) {
	if c.err != nil {
		s.Fail(c.err)
	}
	number := -1
	if c.win != nil {
		number = c.win.number
	}
	snapshot.Index(s, &number, -1, len(c.set.trace.chunks))
	if s.Reading() {
		c.win = load.chunk(s, number)
	}
	code := len(c.set.code.instrs)
	snapshot.Index(s, &c.pc, 0, code)
	snapshot.Index(s, &c.base, firstFrame, c.set.stride+1)
	snapshot.Index(s, &c.hitPC, 0, code)
	snapshot.Index(s, &c.missPC, 0, code)
	snapshot.Index(s, &c.hitFrame, 0, c.set.stride+1)
	snapshot.Index(s, &c.waiting, -1, c.set.slots)
	snapshot.Int(s, &c.pending)
	snapshot.Int(s, &c.step)
	c.snapshotPlace(s)
	snapshot.Slice(s, &c.marks, math.MaxInt32, func(v *int64) { snapshot.Int(s, v) })
	snapshot.Slice(s, &c.lists, math.MaxInt32, func(l *sumList) {
		snapshot.Index(s, &l.chunk, 0, len(c.set.trace.chunks))
		snapshot.Int(s, &l.vector)
		if s.Reading() {
			l.sums = load.sums(s, l)
		}
	})
	c.noted = len(c.marks)+len(c.lists) > 0
	if s.Reading() && s.Err() == nil {
		if err := c.check(load); err != nil {
			s.Check(false, "rank %d: %v", c.rank, err)
		}
	}
}

// check checks the state of a cursor that was read.
func (c *Cursor) check(load *loader) error {
	if len(c.marks) > 0 && !c.set.code.markers {
		return errors.New("markers that nobody has asked for")
	}
	for _, step := range []func() error{
		c.checkStream,
		func() error { return c.checkPolls(load.definitions) },
		func() error { return c.checkCode(&load.walk) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// snapshotPlace stores the place in the stream of calls, if it has not ended.
func (c *Cursor) snapshotPlace(s *snapshot.Codec) {
	if c.win == nil {
		return
	}
	units, calls := len(c.win.units), 0
	snapshot.Index(s, &c.unit, -1, units)
	if c.unit >= 0 && int(c.unit) < units {
		calls = len(c.win.units[c.unit].Calls)
	}
	snapshot.Index(s, &c.call, 0, calls+1)
	snapshot.Int(s, &c.item)
	snapshot.Int(s, &c.items)
	s.Check(c.item >= 0 && c.item <= c.items && (c.call > 0 || c.items == 0), "item %d of %d", c.item, c.items)
}

// loader finds the chunks that cursors were in. Those from the first that is asked
// for on hang together, as if cursors had read them.
type loader struct {
	trace       *Trace
	of          map[int]*Chunk
	definitions map[pollSite]bool
	walk        walk
}

// chunk returns a chunk, nil for the number -1.
func (l *loader) chunk(c *snapshot.Codec, number int) *Chunk {
	if number < 0 || c.Err() != nil {
		return nil
	}
	if w := l.of[number]; w != nil {
		return w
	}
	w, err := l.trace.chunk(number)
	if err != nil {
		c.Fail(err)
		return nil
	}
	if l.of == nil {
		l.of = map[int]*Chunk{}
	}
	l.of[number] = w
	if before := l.of[number-1]; before != nil {
		before.next = w
	}
	w.next = l.of[number+1]
	return w
}

func (l *loader) sums(c *snapshot.Codec, list *sumList) []int64 {
	w := l.chunk(c, int(list.chunk))
	if w == nil {
		return nil
	}
	if uint32(list.vector) >= uint32(len(w.vectors)) {
		c.Check(false, "vector %d out of [0,%d)", list.vector, len(w.vectors))
		return nil
	}
	return w.vectors[list.vector].sums
}
