package capture

import (
	"reprise/trace"
)

// Call sites of the trace: steps and loops, operations with counts for each rank, and a step of
// the run.
const (
	siteFlat = iota
	siteCounted
	siteStep
	numCounted = numArgs + 2
)

// A unit holds so many items of a rank, and of all ranks together; vectors of so many elements.
const (
	unitRank     = 4096
	unitItems    = 1 << 18
	unitElements = 1 << 20
	unitsOfChunk = 1 << 16 // at most: steps of a run take hardly any bytes
)

func callSites() []trace.CallSite {
	sites := []trace.CallSite{{Name: "calls"}, {Name: "counts"}, {Name: "step", Counts: trace.NoAxis}} // of the only axis, that of ranks
	names := []string{"peer", "tag", "bytes", "received", "source", "source tag", "sent", "counts received"}
	for i := range sites[:siteStep] {
		sites[i].Block = trace.PerItem
		for j, name := range names[:numArgs+2*i] {
			sites[i].Params = append(sites[i].Params, trace.ParamColumn{Name: name, Axis: trace.PerItem, Vector: j >= numArgs})
		}
	}
	return sites
}

// writer writes what the ranks do, unit by unit, all ranks side by side.
type writer struct {
	w      *trace.Writer
	blocks *blocks
	table  *table
	ranks  [][]item // of the part that is written
	at     []int
	step   int
	calls  [siteStep]trace.Call
	limit  int

	handles  map[int32]int64 // vectors of the unit, by list
	last     int64
	elements int
}

func newWriter(w *trace.Writer, t *table, l *loops, ranks int) *writer {
	return &writer{w: w, table: t, ranks: make([][]item, ranks), at: make([]int, ranks), limit: max(1, min(unitRank, unitItems/ranks)),
		blocks: &blocks{program: w.Program(), table: t, loops: l, forms: map[form]int64{}, ofLoops: map[int32]int64{}}}
}

// write writes all: what comes before the steps of the run as its first step, and what comes
// behind them as its last one.
func (w *writer) write(ranks []outline, steps int) error {
	if err := w.part(ranks, func(o *outline) []item { return o.before }); err != nil || steps == 0 {
		return err
	}
	call := trace.Call{Site: siteStep}
	for i := range ranks {
		block, err := w.blocks.ofStep(ranks[i].step)
		if err != nil {
			return err
		}
		call.Blocks = append(call.Blocks, block)
	}
	for range steps {
		w.step++
		if err := w.w.Step(w.step); err != nil {
			return err
		}
		if err := w.w.Call(&call); err != nil {
			return err
		}
	}
	w.step++
	return w.part(ranks, func(o *outline) []item { return o.after })
}

// part writes a part of what the ranks do as one step.
func (w *writer) part(ranks []outline, of func(*outline) []item) error {
	for rank := range ranks {
		w.ranks[rank], w.at[rank] = of(&ranks[rank]), 0
	}
	for {
		w.begin()
		n := 0
		for rank := range w.ranks {
			m, err := w.rank(rank)
			if err != nil {
				return err
			}
			n += m
		}
		if n == 0 {
			return nil
		}
		if err := w.end(); err != nil {
			return err
		}
	}
}

func (w *writer) begin() {
	for i := range w.calls {
		w.calls[i] = trace.Call{Site: i, Counts: make([]int64, len(w.ranks)), Args: make([][]int64, numArgs+2*i)}
	}
	if len(w.handles) > 0 {
		w.w.ForgetVectors(w.last + 1)
	}
	w.handles, w.elements = map[int32]int64{}, 0
}

func (w *writer) end() error {
	if err := w.w.Step(w.step); err != nil {
		return err
	}
	for i := range w.calls {
		if len(w.calls[i].Blocks) > 0 {
			if err := w.w.Call(&w.calls[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// rank appends the next items of a rank to the unit: some without lists of counts, then some with.
func (w *writer) rank(rank int) (int, error) {
	items := w.ranks[rank][w.at[rank]:]
	n := 0
	for ; n < len(items) && n < w.limit && !w.counted(items[n]); n++ {
		if err := w.item(siteFlat, rank, items[n]); err != nil {
			return 0, err
		}
	}
	for ; n < len(items) && w.counted(items[n]) && w.elements < unitElements; n++ {
		if err := w.item(siteCounted, rank, items[n]); err != nil {
			return 0, err
		}
	}
	w.at[rank] += n
	return n, nil
}

func (w *writer) counted(it item) bool { return it.turns == 0 && w.table.steps[it.what].counted() }

func (w *writer) item(site, rank int, it item) error {
	var args [numCounted]int64
	var block int64
	var err error
	if it.turns > 0 {
		block, err = w.blocks.loop(it.what)
		args[0] = int64(it.turns)
	} else {
		s := &w.table.steps[it.what]
		block, err = w.blocks.form(s.form)
		copy(args[:], s.args[:])
		if site == siteCounted {
			w.vectors(s, &args)
		}
	}
	if err != nil {
		return err
	}
	c := &w.calls[site]
	c.Counts[rank]++
	c.Blocks = append(c.Blocks, block)
	for i := range c.Args {
		c.Args[i] = append(c.Args[i], args[i])
	}
	return nil
}

// vectors sets the handles of a step's lists; of one that it lacks, that of the other.
func (w *writer) vectors(s *step, args *[numCounted]int64) {
	for i, list := range s.lists {
		if list == 0 {
			list = s.lists[1-i]
		}
		args[numArgs+i] = w.handle(list)
	}
}

func (w *writer) handle(list int32) int64 {
	h, ok := w.handles[list]
	if !ok {
		values := w.table.lists[list]
		h = w.w.Vector(trace.Vector{Values: values})
		w.handles[list], w.last = h, h
		w.elements += len(values)
	}
	return h
}
