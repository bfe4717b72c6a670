package cut

import "reprise/trace"

// turn is how many actions of a rank are looked at before those of the next: ranks are kept
// close to each other, so that few chunks are held.
const turn = 4096

// walk is a way through what all ranks do.
type walk struct {
	t        *trace.Trace
	o        trace.CursorOptions
	progress func(step int) // that some rank has come to

	// see is called for each action of a rank, the at-th, and says whether it wants more of it.
	see func(r *trace.ActionReader, rank int32, at int64, a *trace.Action) (more bool, err error)
	// over, if set, is called when a rank has done that many actions and has none left.
	over func(rank int32, actions int64, c *trace.Cursor) error
}

// run goes the way, until see or over return an error.
func (w *walk) run() error {
	t, o := w.t, w.o
	cursors, err := t.Cursors(nil, o)
	if err != nil {
		return err
	}
	readers, at, left := make([]trace.ActionReader, len(cursors)), make([]int64, len(cursors)), len(cursors)
	ended := make([]bool, len(cursors))
	for i := range cursors {
		readers[i] = trace.NewActionReader(&cursors[i], trace.Hit{}, o.From)
	}
	for left > 0 {
		for i := range readers {
			for n := 0; n < turn && !ended[i]; n++ {
				a := readers[i].Next()
				if err := readers[i].Err(); err != nil {
					return err
				}
				more := a != nil
				if more {
					if more, err = w.see(&readers[i], int32(i), at[i], a); err != nil {
						return err
					}
				}
				if !more {
					ended[i] = true
					left--
					if w.over != nil {
						err = w.over(int32(i), at[i], readers[i].Cursor())
					}
					if err != nil {
						return err
					}
					continue
				}
				at[i]++
			}
		}
		w.progress(readers[0].Step())
	}
	return nil
}
