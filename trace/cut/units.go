package cut

import (
	"fmt"

	"reprise/trace"
)

// ofSteps reports whether both marks are steps, or the ends of the trace.
func (c *cutter) ofSteps() bool {
	return (c.from.Kind == Begin || c.from.Kind == Step) && (c.to.Kind == End || c.to.Kind == Step)
}

// units writes the calls of steps as they are.
func (c *cutter) units() (*Summary, error) {
	from, to, err := c.steps()
	if err != nil {
		return nil, err
	}
	if from > 0 {
		if err := c.together(c.from, trace.CursorOptions{To: from}); err != nil {
			return nil, err
		}
	}
	c.sum.Actions = 0
	if err := c.together(c.to, trace.CursorOptions{From: from, To: to}); err != nil {
		return nil, err
	}
	w, err := trace.NewWriter(c.w, c.header(), trace.WriterOptions{})
	if err != nil {
		return nil, err
	}
	for i := range c.t.Program().NumBlocks() {
		if _, err := w.Program().AddBlock(*c.t.Program().Block(i)); err != nil {
			return nil, err
		}
	}
	for chunk, err := range c.t.Chunks(from, to) {
		if err != nil {
			return nil, err
		}
		if err := c.chunk(w, chunk, from, to); err != nil {
			return nil, err
		}
	}
	c.sum.Ranks, c.sum.Steps = c.t.Header().Ranks, to-from
	return &c.sum, w.Close()
}

// steps returns those of the part, which must be there.
func (c *cutter) steps() (from, to int, err error) {
	infos := c.t.ChunkInfos()
	if len(infos) == 0 {
		return 0, 0, fmt.Errorf("the trace has no steps")
	}
	first, end := infos[0].First, infos[len(infos)-1].Last+1
	from, to = first, end
	for _, m := range []struct {
		mark Mark
		step *int
	}{{c.from, &from}, {c.to, &to}} {
		if m.mark.Kind != Step {
			continue
		}
		if *m.step = m.mark.Number; *m.step < first || *m.step > end {
			return 0, 0, fmt.Errorf("mark %v: the trace has steps %d to %d", m.mark, first, end-1)
		}
	}
	if from >= to {
		return 0, 0, fmt.Errorf("there is nothing from %v to %v", c.from, c.to)
	}
	return from, to, nil
}

// together checks that all that ranks do in some steps belongs together, up to a mark.
func (c *cutter) together(m Mark, o trace.CursorOptions) error {
	u, h := newUnderWay(c.t), c.t.Header()
	phases := make([]map[uint16]int, h.Ranks)
	see := func(r *trace.ActionReader, a *trace.Action) (bool, error) {
		rank := r.Cursor().Rank()
		u.see(rank, a, r.Cursor())
		c.sum.Actions += a.Lines()
		if a.Kind == trace.KindPhase {
			if phases[rank] == nil {
				phases[rank] = map[uint16]int{}
			}
			if a.Flags&trace.FlagEnd == 0 {
				phases[rank][a.Sym]++
			} else if phases[rank][a.Sym]--; phases[rank][a.Sym] < 0 {
				return false, fmt.Errorf("mark %v: phase %s of rank %d, which has begun before, ends in step %d: cut elsewhere",
					c.from, h.Phases[a.Sym], rank, r.Step())
			}
		}
		return true, nil
	}
	end := func(r *trace.ActionReader) error {
		for slot := range h.Pollables {
			if r.Err() == nil && r.Cursor().Pending(slot) {
				return fmt.Errorf("mark %v: rank %d polls there for what it began before, as with look-ahead: cut elsewhere", m,
					r.Cursor().Rank())
			}
		}
		return r.Err()
	}
	if err := c.walk(trace.Walk{Options: o, See: see, End: end}); err != nil {
		return err
	}
	return u.check(m)
}

// chunk copies the calls of a chunk.
func (c *cutter) chunk(w *trace.Writer, chunk *trace.Chunk, from, to int) error {
	handles, last := map[int64]int64{}, int64(-1)
	vector := func(v int64) int64 {
		h, ok := handles[v]
		if !ok {
			h = w.Vector(vectorOf(chunk.Sums(v)))
			handles[v], last = h, h
		}
		return h
	}
	for _, unit := range chunk.Units() {
		if unit.Step < from || unit.Step >= to {
			continue
		}
		if err := w.Step(unit.Step); err != nil {
			return err
		}
		for i := range unit.Calls {
			if err := w.Call(c.call(&unit.Calls[i], vector)); err != nil {
				return err
			}
		}
	}
	if last >= 0 {
		w.ForgetVectors(last + 1)
	}
	return nil
}

// call returns a call as it was written.
func (c *cutter) call(cols *trace.CallColumns, vector func(int64) int64) *trace.Call {
	call := &trace.Call{Site: int(cols.Site), Masks: cols.Masks, Args: cols.Args}
	for i := range max(0, len(cols.Starts)-1) {
		call.Counts = append(call.Counts, int64(cols.Starts[i+1]-cols.Starts[i]))
	}
	for _, b := range cols.Blocks {
		call.Blocks = append(call.Blocks, int64(b))
	}
	for i, p := range c.t.Header().CallSites[cols.Site].Params {
		if p.Vector {
			args := make([]int64, len(cols.Args[i]))
			for j, v := range cols.Args[i] {
				args[j] = vector(v)
			}
			call.Args = append(append(append([][]int64{}, call.Args[:i]...), args), call.Args[i+1:]...)
		}
	}
	return call
}
