package cut

import "reprise/trace"

// turn is how many actions of a rank are looked at before those of the next: ranks are kept
// close to each other, so that few chunks are held.
const turn = 4096

// walk calls see for the actions of all ranks, and over when a rank has none left, until one
// returns an error. Of a rank that see wants no more of, it ends.
func walk(t *trace.Trace, o trace.CursorOptions, see func(r *trace.ActionReader, rank int32, at int64, a *trace.Action) (more bool, err error), over func(rank int32, actions int64, c *trace.Cursor) error) error {
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
					if more, err = see(&readers[i], int32(i), at[i], a); err != nil {
						return err
					}
				}
				if !more {
					ended[i] = true
					left--
					if err := over(int32(i), at[i], readers[i].Cursor()); err != nil {
						return err
					}
					continue
				}
				at[i]++
			}
		}
	}
	return nil
}
