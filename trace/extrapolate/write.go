package extrapolate

import (
	"fmt"
	"io"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file writes what the ranks of the wanted size do (family.write): each step as calls of blocks that all ranks of
// one shape share, with what differs from rank to rank in columns. An error ends it where it is met (textutil.Stop).

// Columns of the call sites.
var widths = []int{0, 1, 2, 4, 8, 16, 32, 64, 152}

// mostVectors is the number of columns for counts by rank.
const mostVectors = 8

// mostUnrolled bounds the operations of a loop that is written turn by turn.
const mostUnrolled = 1 << 16

// mostActions bounds the actions of a part that cannot be loops of the trace, of all ranks together.
const mostActions = 1 << 27

// output is a trace under way.
type output struct {
	*family
	g       grid
	header  *trace.Header
	w       *trace.Writer
	groups  [][][]int32 // of communicators
	of      [][]int32   // the group of each rank, by communicator
	step    int
	vectors map[string]int64
	actions int64
	factor  []float64 // of the computations of each rank

	states [][]request // different requests under way; the first is none
	state  []int       // of each rank

	repeating int             // loops under way whose turns are alike
	parts     [][]*trace.Call // that have been written in them
	calls     []*trace.Call   // of the part under way
}

// write writes the trace.
func (f *family) write(w io.Writer, o Options) (_ *Summary, err error) {
	defer textutil.Stopped(&err)
	largest := f.list[len(f.list)-1]
	out := &output{family: f, g: f.rule.grid(o.Ranks), step: -1, vectors: map[string]int64{},
		states: make([][]request, 1), state: make([]int, o.Ranks)}
	if out.g == nil {
		return nil, fmt.Errorf("%d ranks are no multiple of %d, which all recordings have in a dimension", o.Ranks,
			f.rule.fixed)
	}
	for k, n := range out.g {
		least := largest.grid[k]
		for _, r := range f.list {
			least = min(least, r.grid[k])
		}
		if n < least {
			return nil, fmt.Errorf("%d ranks make a grid of %v, and no recording has fewer than %d in dimension %d", o.Ranks,
				out.g, least, k+1)
		}
	}
	h := *largest.header
	h.Tool, h.Command, h.Ranks, h.Flops, h.Result, h.Pollables = o.Tool, o.Command, o.Ranks, 0, nil, 0
	h.CommFamilies = nil
	for n, v := range f.divisions {
		groups := v.groups(out.g)
		family := trace.CommFamily{Name: largest.header.CommFamilies[n].Name}
		of := make([]int32, o.Ranks)
		for i, members := range groups {
			family.Groups = append(family.Groups, trace.GroupOf(members))
			for _, rank := range members {
				of[rank] = int32(i)
			}
		}
		h.CommFamilies = append(h.CommFamilies, family)
		out.groups, out.of = append(out.groups, groups), append(out.of, of)
	}
	h.Axes = []trace.Axis{{Name: "rank", Kind: trace.AxisRank}}
	h.CallSites = nil
	for _, vectors := range []int{0, mostVectors} {
		for _, width := range widths {
			site := trace.CallSite{Name: fmt.Sprint("part with ", width), Counts: trace.NoAxis}
			for i := range width + vectors {
				site.Params = append(site.Params, trace.ParamColumn{Name: fmt.Sprint("argument ", i), Vector: i >= width})
			}
			h.CallSites = append(h.CallSites, site)
		}
	}
	out.header = &h
	out.w = textutil.Must(trace.NewWriter(w, &h, trace.WriterOptions{ChunkUnits: 1 << 16}))
	for _, l := range f.leaves {
		for side := range l.ways {
			if len(l.ways[side]) > 0 {
				var ok bool
				if l.bound[side], ok = f.bind(&l.paths[side], out.g); !ok {
					return nil, fmt.Errorf("%v: its peers cannot be told for a grid of %v", l, out.g)
				}
			}
		}
	}
	out.factor = out.factors()
	out.nodes(f.nodes)
	textutil.Check(out.w.Close())
	s := &Summary{Ranks: o.Ranks, Grid: out.g.String(), Places: len(f.leaves), Foretold: f.foretold, Fitted: f.fitted,
		Warnings: f.warnings}
	if f.computed > 0 {
		s.ComputeError = f.missed / f.computed
	}
	return s, nil
}

// shape is a set of ranks that do the same operations, with what has been made of them.
type shape struct {
	ranks   []int
	key     string
	open    []request
	items   []trace.Item
	columns [][]int64 // by argument: the values of the ranks
	vectors [][]int64
}

// again writes the calls of a part once more.
func (o *output) again() {
	textutil.Check(o.w.Step(o.step))
	o.parts = append(o.parts, o.calls)
	for _, c := range o.calls {
		textutil.Check(o.w.Call(c))
	}
}

// part writes a step.
func (o *output) part(ops []op) {
	textutil.Check(o.w.Step(o.step))
	// Ranks that do the same are of one shape.
	shapes, known := []*shape(nil), map[string]*shape{}
	var bits []byte
	for rank := range o.g.ranks() {
		bits = fmt.Append(bits[:0], o.state[rank], ":", o.factor[rank], ":")
		var through func(ops []op)
		through = func(ops []op) {
			for i := range ops {
				does := byte('0')
				if ops[i].does(o.g, rank) {
					does = '1'
				}
				bits = append(bits, does)
				through(ops[i].body)
			}
		}
		through(ops)
		s := known[string(bits)]
		if s == nil {
			s = &shape{key: string(bits), open: slices.Clone(o.states[o.state[rank]])}
			known[s.key] = s
			shapes = append(shapes, s)
		}
		s.ranks = append(s.ranks, rank)
	}
	for i := 0; i < len(ops); i++ {
		marks := make([][3]int, len(shapes))
		opens := make([][]request, len(shapes))
		for k, s := range shapes {
			marks[k], opens[k] = [3]int{len(s.items), len(s.columns), len(s.vectors)}, slices.Clone(s.open)
		}
		for again := false; ; again = true {
			fits := true
			for _, s := range shapes {
				o.add(s, &s.items, &ops[i])
				fits = fits && len(s.columns) <= widths[len(widths)-1] && len(s.vectors) <= mostVectors
			}
			if fits {
				break
			}
			for k, s := range shapes {
				s.items, s.columns, s.vectors = s.items[:marks[k][0]], s.columns[:marks[k][1]], s.vectors[:marks[k][2]]
				s.open = opens[k]
			}
			if again { // a loop that does not fit alone becomes its turns
				ops = slices.Concat(ops[:i], o.unrolled(&ops[i]), ops[i+1:])
				i--
				break
			}
			o.call(shapes)
			clear(marks)
		}
	}
	for _, s := range shapes {
		n := slices.IndexFunc(o.states, func(open []request) bool { return slices.Equal(open, s.open) })
		if n < 0 {
			n = len(o.states)
			o.states = append(o.states, s.open)
		}
		for _, rank := range s.ranks {
			o.state[rank] = n
		}
	}
	o.call(shapes)
}

// unrolled returns the turns of a loop, of which all ranks have the same number.
func (o *output) unrolled(p *op) (turns []op) {
	n, ok := int64(0), p.leaf == nil
	for rank := 0; rank < o.g.ranks() && ok; rank++ {
		v, known := p.times(o.g, rank, p.turns)
		if p.run[1] > 0 {
			v = min(v, p.run[1]) - p.run[0]
		}
		ok = known && p.does(o.g, rank) && (rank == 0 || v == n)
		n = v
	}
	if !ok || n*int64(len(p.body)) > mostUnrolled {
		textutil.Stop(fmt.Errorf("a loop with more than %d numbers that differ from rank to rank",
			widths[len(widths)-1]))
	}
	return slices.Repeat(p.body, int(n))
}

// call writes what has been collected as a call of all ranks.
func (o *output) call(shapes []*shape) {
	columns, vectors, some := 0, 0, false
	for _, s := range shapes {
		columns, vectors, some = max(columns, len(s.columns)), max(vectors, len(s.vectors)), some || len(s.items) > 0
	}
	if !some {
		return
	}
	width := slices.IndexFunc(widths, func(n int) bool { return n >= columns })
	c := &trace.Call{Site: width, Blocks: make([]int64, o.g.ranks())}
	if vectors > 0 {
		c.Site += len(widths)
		vectors = mostVectors
	}
	for i := range widths[width] + vectors {
		c.Args = append(c.Args, make([]int64, o.g.ranks()))
		if i >= widths[width] { // any vector is right where none is used
			for _, s := range shapes {
				if len(s.vectors) > 0 {
					for rank := range c.Args[i] {
						c.Args[i][rank] = s.vectors[0][0]
					}
				}
			}
		}
	}
	for _, s := range shapes {
		place(s.items, widths[width])
		block := trace.Block{Name: "part", Params: widths[width] + vectors, Items: s.items}
		n := textutil.Must(o.w.Program().AddBlock(block))
		for i, rank := range s.ranks {
			c.Blocks[rank] = int64(n)
			for k, column := range s.columns {
				c.Args[k][rank] = column[i]
			}
			for k, column := range s.vectors {
				c.Args[widths[width]+k][rank] = column[i]
			}
		}
		s.items, s.columns, s.vectors = nil, nil, nil
	}
	o.calls = append(o.calls, c)
	textutil.Check(o.w.Call(c))
}

// firstVector is the register of the first vector before it is known how many other arguments there are.
const firstVector = 200

// place gives vectors the registers behind the other arguments.
func place(items []trace.Item, width int) {
	for i := range items {
		for k := range items[i].Args {
			if a := &items[i].Args[k]; a.Reg >= firstVector {
				a.Reg = a.Reg - firstVector + trace.Reg(width+1)
			}
		}
		place(items[i].Body, width)
	}
}

// column returns the operand of a number that ranks have: a constant if all have the same.
func (s *shape) column(values []int64) trace.Operand {
	if !slices.ContainsFunc(values, func(v int64) bool { return v != values[0] }) {
		return trace.Const(values[0])
	}
	for i, c := range s.columns {
		if slices.Equal(c, values) {
			return trace.Operand{Reg: trace.Reg(1 + i)}
		}
	}
	s.columns = append(s.columns, values)
	return trace.Operand{Reg: trace.Reg(len(s.columns))}
}

// add adds an operation to the items of a shape, if its ranks do it.
func (o *output) add(s *shape, items *[]trace.Item, p *op) {
	switch {
	case !p.does(o.g, s.ranks[0]):
		return
	case p.leaf != nil:
		o.action(s, items, p)
		return
	}
	values := make([]int64, len(s.ranks))
	for i, rank := range s.ranks {
		var ok bool
		if values[i], ok = p.times(o.g, rank, p.turns); !ok {
			textutil.Stop(o.cannot("turns of a loop", rank))
		}
		if p.run[1] > 0 {
			values[i] = min(values[i], p.run[1]) - p.run[0]
		}
	}
	before := slices.Clone(s.open)
	var body []trace.Item
	for i := range p.body {
		o.add(s, &body, &p.body[i])
	}
	if slices.Equal(before, s.open) {
		if len(body) > 0 {
			*items = append(*items, trace.Item{Op: trace.OpLoop, Args: []trace.Operand{s.column(values)}, Body: body})
		}
		return
	}
	// Requests that stay open have other slots in each turn.
	if slices.ContainsFunc(values, func(v int64) bool { return v != values[0] }) {
		textutil.Stop(fmt.Errorf("loops of %d and other turns that leave requests open", values[0]))
	}
	s.open = before
	for range values[0] {
		for i := range p.body {
			o.add(s, items, &p.body[i])
		}
	}
}

// action adds an action of the ranks of a shape.
func (o *output) action(s *shape, items *[]trace.Item, p *op) {
	l := p.leaf
	o.pause(s, items, l)
	if l.kind == trace.KindNone {
		return
	}
	kind := l.kind
	if kind == trace.KindNull {
		kind = l.null
	}
	it := trace.Item{Op: kind.Op(), Sym: int(l.sym), Slot: l.slot}
	// Numbers of the ranks become operands.
	all := func(what string, of func(rank int) (int64, bool)) trace.Operand {
		values, rounded := make([]int64, len(s.ranks)), false
		for i, rank := range s.ranks {
			v, ok := of(rank)
			values[i] = v
			switch guess := v > 0 && what != "peer"; {
			case !ok && guess && o.approximate:
				rounded = true
			case !ok && guess:
				textutil.Stop(fmt.Errorf("%v: %w: %d is no multiple of %d", l, o.cannot(what, rank), v, o.unit))
			case !ok:
				textutil.Stop(fmt.Errorf("%v: %w", l, o.cannot(what, rank)))
			}
		}
		if rounded {
			o.warn("%v: %s: rounded, as they are no whole number of elements in a grid of %v", l, what, o.g)
		}
		return s.column(values)
	}
	number := func(n int) trace.Operand {
		return all(numberName(l.kind, n), func(rank int) (int64, bool) { return l.numbers[n](o.g, rank, p.turns) })
	}
	peer := func(side int) trace.Operand {
		if len(l.ways[side]) == 0 {
			if l.kind == trace.KindNull {
				return trace.Const(trace.ProcNull)
			}
			return number(numD)
		}
		way := &l.bound[side]
		turn := way.turn(p.turns)
		return all("peer", func(rank int) (int64, bool) {
			to, ok := way.partner(o.g, rank, way.params(turn))
			return int64(to), ok
		})
	}
	tag := func() trace.Operand {
		if l.tag != 0 {
			return trace.Const(int64(l.tag))
		}
		return number(numTag)
	}
	// Requests: the lowest slot that is free, or those that are named.
	if l.makesRequest() {
		slot := 0
		for slices.ContainsFunc(s.open, func(r request) bool { return r.id == slot }) {
			slot++
		}
		it.Req = int32(slot)
		s.open = append(s.open, request{l, slot})
	}
	if l.completes() {
		which := l.ends(s.open)
		if len(which) == 0 && l.kind != trace.KindWaitAll {
			textutil.Stop(fmt.Errorf("%v: rank %d has no request that it could complete", l, s.ranks[0]))
		}
		var slots []int64
		for _, i := range which {
			slots = append(slots, int64(s.open[i].id))
		}
		switch l.kind {
		case trace.KindComplete:
			it.Coefs = slots
		case trace.KindWaitAll:
		default:
			it.Req = int32(slots[0])
		}
		if l.lets() {
			s.open = slices.DeleteFunc(s.open, func(r request) bool { return slices.Contains(slots, int64(r.id)) })
		}
	}
	switch kind {
	case trace.KindCompute:
		for i := range o.header.Kernels[l.sym].Dims {
			it.Args = append(it.Args, number(numA+i))
		}
	case trace.KindSleep:
		it.Args = []trace.Operand{number(numA)}
	case trace.KindMark:
		args, _ := o.header.Markers[l.sym].VectorArgs()
		for i := range args {
			it.Args = append(it.Args, number(numA+i))
		}
	case trace.KindWait, trace.KindTest, trace.KindFree, trace.KindWaitAll:
		it.Sym = 0
	case trace.KindComplete:
	case trace.KindIprobe, trace.KindProbe:
		it.Args = []trace.Operand{peer(0), tag()}
	case trace.KindSendrecv:
		it.Args = []trace.Operand{peer(0), tag(), number(numA), peer(1), number(numC), number(numB)}
	case trace.KindExchange, trace.KindSyncExchange, trace.KindAccess, trace.KindIaccess:
		it.Args = []trace.Operand{peer(0), tag(), number(numA), number(numB)}
	case trace.KindFile:
		it.Args = []trace.Operand{number(numA)}
	case trace.KindCollective, trace.KindIcollective:
		o.collective(s, &it, l, number)
	default:
		it.Args = []trace.Operand{peer(0), tag(), number(numA)}
	}
	*items = append(*items, it)
}
