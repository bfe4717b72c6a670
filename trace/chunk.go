package trace

import (
	"fmt"
	"iter"

	"reprise/trace/vectors"
)

// This file has the structure of a trace, which Trace.Chunks yields to those who need no flat actions: what Writer.Call
// wrote comes out call by call. A chunk has units, a unit has calls with columns, and columns may name vectors.

// NoBlock in a block column says that the class calls nothing, as a mask of zero does.
const NoBlock = -1

// Call is one call site of a unit with its columns: Masks[i] has one value per class of the call site's mask i,
// Counts one per class of its counts axis (nil without one), Blocks one block number per class of its block axis or
// per item, and Args[i] one value per class of parameter i's axis or per item. An argument that names a vector is a
// handle from Writer.Vector.
type Call struct {
	// The call site, as an index into Header.CallSites, and its columns.
	Site   int
	Masks  [][]int64
	Counts []int64
	Blocks []int64
	Args   [][]int64
}

// Vector is a sequence of integers that blocks take elements and range sums of.
type Vector struct {
	Values    []int64
	Generated *vectors.Generated // if set, it makes the values, and Values is nil
}

// check reports what a file cannot hold.
func (v *Vector) check() error {
	if v.Generated == nil {
		return nil
	}
	if n := v.Generated.Count; n > MaxElements {
		return fmt.Errorf("%d elements, at most %d", n, MaxElements)
	}
	return v.Generated.Check()
}

// Chunk is a decoded frame of the stream: consecutive units, with the vectors that their calls name. It needs no other
// chunk to be decoded, and never changes afterwards except for next, which Trace.after sets: chunks point forwards
// only, so that one is freed when the last cursor has left it.
type Chunk struct {
	number  int // position among the trace's chunks
	units   []Unit
	vectors []vector // a vector argument is an index into this
	next    *Chunk
	last    bool // no chunk follows
}

// Unit is what all ranks do between two cuts of the stream: calls in order. A step has one or more.
type Unit struct {
	Step  int
	Calls []CallColumns
}

// CallColumns is a Call as it is read: one call site with a value per class of ranks, or
// per item of its list, in each column.
type CallColumns struct {
	Site  int32     // index into Header.CallSites
	Masks [][]int64 // by mask of the call site and class of its axis: 0 for classes that take no part
	// Starts, for call sites with counts, holds the first item of each class of the list's axis, and the number of
	// items at the end; nil for others, whose classes call once.
	Starts []int32
	Blocks []int32   // by class of the block axis or item: block number, or NoBlock
	Args   [][]int64 // by parameter and class of its axis or item; of vectors the handle, for Chunk.Sums
}

// vector holds running sums: sums[i] is the sum of the first i elements. So the sum of any range takes
// two reads, and an element is the sum of a range of one.
type vector struct {
	sums   []int64
	counts bool // the elements can be counts of a collective operation
}

// newVector returns the running sums of a vector.
func newVector(v *Vector) vector {
	var sums []int64
	if v.Generated != nil {
		sums = v.Generated.Append(make([]int64, 1, v.Generated.Count+1))
	} else {
		sums = append(make([]int64, 1, len(v.Values)+1), v.Values...)
	}
	// One pass checks the elements and adds them up.
	counts := true
	for i := 1; i < len(sums); i++ {
		counts = counts && uint64(sums[i]) <= MaxCount
		sums[i] += sums[i-1]
	}
	return vector{sums, counts}
}

// spans reports whether [lo, hi) is a range of elements, indices mod the length.
// As unsigned numbers, a difference that overflows is too large, too.
func (v *vector) spans(lo, hi int64) bool {
	return lo <= hi && uint64(hi)-uint64(lo) < uint64(len(v.sums))
}

// sum returns the sum of the elements [lo, hi), indices mod the length.
func (v *vector) sum(lo, hi int64) int64 {
	n := int64(len(v.sums) - 1)
	if lo >= 0 && hi <= n {
		return v.sums[hi] - v.sums[lo]
	}
	count := hi - lo
	if count == 0 {
		return 0
	}
	// A range that leaves the vector at its end goes on at its beginning.
	lo %= n
	if lo < 0 {
		lo += n
	}
	if hi = lo + count; hi <= n {
		return v.sums[hi] - v.sums[lo]
	}
	return v.sums[n] - v.sums[lo] + v.sums[hi-n]
}

// Chunks yields the chunks that hold steps of [from, to), in order; to = 0: to the end. Those at the two ends may hold
// units of other steps, too. From a stream chunks can be had once. After an error nothing follows.
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

// Units returns the units of the chunk, one or more, in ascending order of steps. They must not be changed.
func (c *Chunk) Units() []Unit { return c.units }

// Vectors returns the number of vectors that the chunk's calls can name: their handles are 0 and up.
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

// Chunk returns the chunk that the cursor is in, nil at the end of what it yields. Cursors that were made
// together share chunks: those in the chunk of one number have the same pointer.
func (c *Cursor) Chunk() *Chunk { return c.win }

// Pending reports whether the rank has an operation pending in a slot.
func (c *Cursor) Pending(slot int) bool { return c.pending>>slot&1 != 0 }

// Program returns the program that the cursor runs.
func (c *Cursor) Program() *Program { return c.set.trace.prog }
