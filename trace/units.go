package trace

import (
	"fmt"
	"iter"
)

// This file reads a trace as structure: what Writer.Call wrote comes out as it went in,
// call by call, with columns and vectors, for those that need no flat actions.

// Chunks yields the chunks that hold steps of [from, to), in order; to = 0: to the end. Those
// at the two ends may hold units of other steps, too. From a stream chunks can be had
// once. After an error nothing follows.
func (t *Trace) Chunks(from, to int) iter.Seq2[*Chunk, error] {
	return func(yield func(*Chunk, error) bool) {
		c, err := t.start(from)
		for ; err == nil && c != nil; c, err = t.after(c) {
			if to > 0 && c.units[0].Step >= to || !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Number returns the position of the chunk among those of its trace, from 0.
func (c *Chunk) Number() int { return c.number }

// Next returns the chunk after c once a cursor or Chunks has read it; nil before that, and
// of the last one.
func (c *Chunk) Next() *Chunk { return c.next }

// Units returns the units of the chunk, one or more, in ascending order of steps. They must
// not be changed.
func (c *Chunk) Units() []Unit { return c.units }

// Vectors returns the number of vectors that the chunk's calls can name: their handles
// are 0 and up.
func (c *Chunk) Vectors() int { return len(c.vectors) }

// Sums returns the running sums of a vector, from 0: element i is the difference of
// sums i+1 and i. It is nil if no vector has that handle.
func (c *Chunk) Sums(handle int64) []int64 {
	if uint64(handle) >= uint64(len(c.vectors)) {
		return nil
	}
	return c.vectors[handle].sums
}

// Sum returns the sum of the elements [lo, hi) of a vector, indices modulo its length. The
// error, an ErrAction, says that there is no such vector, or range.
func (c *Chunk) Sum(handle, lo, hi int64) (int64, error) {
	if uint64(handle) >= uint64(len(c.vectors)) {
		return 0, fmt.Errorf("%w: vector %d out of [0,%d)", ErrAction, handle, len(c.vectors))
	}
	v := &c.vectors[handle]
	if !v.spans(lo, hi) {
		return 0, fmt.Errorf("%w: sum of elements [%d,%d) of a vector of %d", ErrAction, lo, hi, len(v.sums)-1)
	}
	return v.sum(lo, hi), nil
}

// Chunk returns the chunk that the cursor is in, nil at the end of what it yields. Cursors
// that were made together are in the same one when they are in those of one number.
func (c *Cursor) Chunk() *Chunk { return c.win }

// Pending reports whether the rank has an operation pending in a slot.
func (c *Cursor) Pending(slot int) bool { return c.pending>>slot&1 != 0 }

// Program returns the program that the cursor runs.
func (c *Cursor) Program() *Program { return c.set.trace.prog }
