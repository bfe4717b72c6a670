package trace

import (
	"io"

	"reprise/internal/snapshot"
)

// SaveCursors writes the places of cursors that were made together, all of them. Of a
// stream it fails with ErrStream.
func SaveCursors(w io.Writer, cursors []Cursor) error {
	return snapshot.Save(w, func(s *snapshot.State) { cursorState(s, cursors) })
}

// RestoreCursors sets the places of new cursors to those that SaveCursors has written of
// cursors of the same file that were made with the same options.
func RestoreCursors(r io.Reader, cursors []Cursor) error {
	return snapshot.Restore(r, func(s *snapshot.State) { cursorState(s, cursors) })
}

func cursorState(s *snapshot.State, cursors []Cursor) {
	if len(cursors) == 0 {
		return
	}
	set := cursors[0].set
	if set.trace.file == nil {
		s.Fail(ErrStream)
		return
	}
	s.Section("cursors")
	s.Vars(&set.stride, &set.memory)
	snapshot.Slice(s, &set.polls, func(p *pollable) {
		s.Vars(&p.guarded, &p.count, &p.family, &p.peer, &p.tag, &p.body, &p.args)
	})
	chunks := chunkLoader{set.trace, map[int]*Chunk{}}
	for i := range cursors {
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
			s.Fail(c.find(chunk, chunks))
		}
	}
}

// find sets the fields that lead into chunks, by the numbers of these; -1 is none.
func (c *Cursor) find(chunk int, chunks chunkLoader) (err error) {
	c.win = nil
	if chunk >= 0 {
		if c.win, err = chunks.load(chunk); err != nil {
			return err
		}
	}
	for i := range c.lists {
		w, err := chunks.load(int(c.lists[i].chunk))
		if err != nil {
			return err
		}
		c.lists[i].sums = w.vectors[c.lists[i].vector].sums
	}
	c.noted = len(c.marks)+len(c.lists) > 0
	return nil
}

// chunkLoader decodes each chunk that cursors are in once, and links those that follow each
// other, as if the cursors had read them.
type chunkLoader struct {
	trace  *Trace
	chunks map[int]*Chunk
}

func (l chunkLoader) load(number int) (*Chunk, error) {
	if w := l.chunks[number]; w != nil {
		return w, nil
	}
	w, err := l.trace.chunk(number)
	if err != nil {
		return nil, err
	}
	l.chunks[number] = w
	if before := l.chunks[number-1]; before != nil {
		before.next = w
	}
	w.next = l.chunks[number+1]
	return w, nil
}
