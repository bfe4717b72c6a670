package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"reprise/trace"
)

// maxWork is how many kinds of steps may differ in a trace whose steps count as repeated.
const maxWork = 16

// workOfSteps numbers the work of the steps [first, end): steps of one number are made of
// the same calls with the same columns. Calls at the end of a step that do nothing but mark phases
// count only if asked for: no time of the step passes after them. It is nil where there are more than
// maxWork kinds, or as many as steps, and where a call names a vector, as whose elements need not be
// the same.
func workOfSteps(t *trace.Trace, first, end int, marks bool) ([]int32, error) {
	w := workCounter{program: t.Program(), marks: marks, step: first - 1, sum: sha256.New(),
		kinds: map[[sha256.Size]byte]int32{}}
	for chunk, err := range t.Chunks(first, end) {
		if err != nil {
			return nil, err
		}
		for _, u := range chunk.Units() {
			if u.Step >= first && u.Step < end && !w.add(&u) || chunk.Vectors() > 0 {
				return nil, nil
			}
		}
	}
	w.finish()
	if len(w.work) != end-first || len(w.kinds) > maxWork || len(w.kinds) == len(w.work) {
		return nil, nil
	}
	return w.work, nil
}

// workCounter numbers the work of consecutive steps.
type workCounter struct {
	program *trace.Program
	marks   bool // that end a step count
	step    int  // at hand
	sum     hash.Hash
	marked  []byte // calls that only mark, which count if others follow
	begun   bool
	kinds   map[[sha256.Size]byte]int32 // by the name of a step's calls
	work    []int32
}

// add adds a unit; it returns false where steps are missing, or there are too many kinds.
func (w *workCounter) add(u *trace.Unit) bool {
	if u.Step != w.step || !w.begun {
		if u.Step != w.step+1 {
			return false
		}
		w.finish()
		w.step, w.begun = u.Step, true
	}
	for i := range u.Calls {
		w.addCall(&u.Calls[i])
	}
	return len(w.kinds) <= maxWork
}

// finish numbers the step at hand.
func (w *workCounter) finish() {
	if !w.begun {
		return
	}
	w.marked = w.marked[:0]
	var name [sha256.Size]byte
	w.sum.Sum(name[:0])
	w.sum.Reset()
	kind, ok := w.kinds[name]
	if !ok {
		kind = int32(len(w.kinds))
		w.kinds[name] = kind
	}
	w.work = append(w.work, kind)
}

// addCall adds a call to the name of the step.
func (w *workCounter) addCall(c *trace.CallColumns) {
	w.marked = appendCall(w.marked, c)
	if w.marks || !w.onlyMarks(c) {
		w.sum.Write(w.marked)
		w.marked = w.marked[:0]
	}
}

// onlyMarks reports whether a call does nothing but mark.
func (w *workCounter) onlyMarks(c *trace.CallColumns) bool {
	for _, b := range c.Blocks {
		if b == trace.NoBlock {
			continue
		}
		for _, item := range w.program.Block(int(b)).Items {
			if item.Op != trace.OpMark {
				return false
			}
		}
	}
	return true
}

// appendCall appends what a call is named by.
func appendCall(buf []byte, c *trace.CallColumns) []byte {
	add := func(v int64) { buf = binary.AppendVarint(buf, v) }
	list := func(values []int64) {
		add(int64(len(values)))
		for _, v := range values {
			add(v)
		}
	}
	add(int64(c.Site))
	for _, mask := range c.Masks {
		list(mask)
	}
	add(int64(len(c.Starts)))
	for _, v := range c.Starts {
		add(int64(v))
	}
	add(int64(len(c.Blocks)))
	for _, v := range c.Blocks {
		add(int64(v))
	}
	for _, args := range c.Args {
		list(args)
	}
	return buf
}
