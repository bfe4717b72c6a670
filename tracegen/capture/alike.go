package capture

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file writes ranks that do the same actions as one block (writer.alike). Arguments that differ between the ranks,
// such as peers, are columns with a value for each rank. All columns are parts of one vector, in which those that several
// blocks have, such as prologue and steps, are one; a block takes the value at the rank's place in its group. Times of
// computations are noisy, so that no two ranks have the same: a block has their mean over the ranks, and a column has a
// factor for each rank. Ranks of which some do less than others may be one group as well: guards, loops whose turns are a
// column of 0 and 1, are around what some do not do.

const (
	leastAlike   = 16             // ranks of a trace: with fewer, each rank has blocks and times of its own
	alikeColumns = 191            // of a block: each but the first takes a register
	alikeItems   = 1 << 13        // of a block
	pooledShare  = 0.01           // of the time of the busiest rank, that a computation may differ from its mean times the factor
	roundedShare = 0.001          // of that time, that a computation may change by rounding
	mostDigits   = 13             // of a time, binary
	factorDigits = mostDigits - 1 // factors are 1 + a whole number of parts of 2^-factorDigits
	meanShift    = 52 - 2*factorDigits
	spreadDigits = 4 // of a deviation, as rounded leaves them
	spreadShift  = 53 - spreadDigits
)

// alike returns a call of the items of all ranks, with one block for each group of ranks that do the same. It returns nil
// if groups are small, or do not fit in a block.
func (w *writer) alike(ranks []outline, of func(*outline) []item) *trace.Call {
	if w.each != nil || len(ranks) < leastAlike || len(w.columns)+alikeColumns*len(ranks) > unitElements {
		return nil
	}
	call := &trace.Call{Site: siteAlike, Blocks: make([]int64, len(ranks))}
	call.Args = [][]int64{make([]int64, len(ranks)), make([]int64, len(ranks))} // places, and the vector
	take := func(rank int) []item { return of(&ranks[rank]) }
	classes, all := w.classes(len(ranks), apart, take), []*group(nil)
	fits := func(g *group) bool { return g != nil && len(g.values) <= alikeColumns }
	for way := byPeers; way < ways && len(classes) > 1; way++ {
		if way == w.way {
			if g := newGroup(w, w.classes(len(ranks), way, take), take); fits(g) {
				all, classes = []*group{g}, nil
			}
		} else if w.way == apart && !w.several { // a trace of another way is only made if it is another one
			other := *w
			other.keys, other.uses = map[key]int32{}, map[key]int32{}
			w.several = fits(newGroup(&other, other.classes(len(ranks), way, take), take))
		}
	}
	if len(classes)+len(all) == 0 || len(classes) == len(ranks) {
		return nil
	}
	for _, c := range classes {
		all = append(all, w.grouped(c, take)...)
	}
	if slices.Contains(all, nil) {
		return nil
	}
	for _, g := range all {
		g.taken = []trace.Operand{g.Param(0)}
		for _, column := range g.values[1:] {
			name := fmt.Sprint(column)
			at, ok := w.offsets[name]
			if !ok {
				at = int64(len(w.columns))
				w.offsets[name], w.columns = at, append(w.columns, column...)
			}
			g.taken = append(g.taken, g.VectorAt(g.Param(1), g.Param(0).Plus(at)))
		}
		g.put(g.items)
		block := w.block(g.Builder)
		for i, rank := range g.ranks {
			call.Blocks[rank], call.Args[0][rank] = block, int64(i)
		}
	}
	return call
}

// waiting is a call of a step that is not written, as the vector of ranks is not complete.
type waiting struct {
	step int
	call *trace.Call
}

// flush writes the calls that wait.
func (w *writer) flush() {
	vector := int64(-1)
	for _, c := range w.waiting {
		if c.call.Site == siteAlike {
			if vector < 0 {
				vector = w.w.Vector(trace.Vector{Values: w.columns})
			}
			for rank := range c.call.Args[1] {
				c.call.Args[1][rank] = vector
			}
		}
		textutil.Check(w.w.Step(c.step))
		textutil.Check(w.w.Call(c.call))
	}
	w.waiting = nil
}

// grouped returns a class as a group, or as groups of its halves if that has too many columns; nil does not fit in a block.
func (w *writer) grouped(c *class, of func(rank int) []item) []*group {
	g := newGroup(w, []*class{c}, of)
	if g == nil || len(g.values) <= alikeColumns {
		return []*group{g}
	}
	n := len(c.ranks) / 2
	head, tail := *c, *c
	head.ranks, head.at, tail.ranks, tail.at = c.ranks[:n], 0, c.ranks[n:], 0
	return append(w.grouped(&head, of), w.grouped(&tail, of)...)
}

// group is ranks that do the same, and their block.
type group struct {
	*trace.Builder
	w     *writer
	ranks []int
	loops *loops
	items []item    // of the group: their steps are numbers of joint
	joint [][]int32 // steps that the ranks take together, by rank; -1: a rank does not

	computations map[int32]*computation // by number of joint
	args         [][numArgs]argument    // by number of joint; of a computation, what its block takes
	guards       map[int32]argument     // by number of the loop of one turn
	values       [][]int64              // of the columns, by rank; the first is the place in the group
	taken        []trace.Operand        // values of a rank, by column
}

// argument is a constant, more by a rank's value of a column if this is not 0.
type argument struct {
	column int // from 1
	plus   int64
}

// computation is a place where the ranks compute.
type computation struct {
	turns        float64   // how often they come there
	times        []float64 // by rank, flop; -1: the rank does not come there
	mean, spread float64
	digits       int  // binary, of the mean or the times
	own          bool // the ranks have their own times, not the mean times their factors
}

// newGroup folds the steps of the ranks of some classes, taken together, into loops. It returns nil if they do not fit in a
// block, or do the same in another order.
func newGroup(w *writer, classes []*class, of func(rank int) []item) *group {
	t := &table{lists: w.table.lists}
	g := &group{Builder: trace.NewBuilder("ranks", 2), w: w, loops: newLoops(t), computations: map[int32]*computation{},
		guards: map[int32]argument{}}
	for _, c := range classes {
		g.ranks = append(g.ranks, c.ranks...)
	}
	slices.Sort(g.ranks)
	all, places, walkers := make([]int32, len(g.ranks)), make([]int64, len(g.ranks)), make([]*walker, len(g.ranks))
	for i, rank := range g.ranks {
		places[i], walkers[i] = int64(i), w.loops.walk(of(rank), 1)
	}
	g.values = [][]int64{places}
	// Steps that some ranks do not take are folded apart, and become a loop of one turn, the guard.
	f, some, numbers := newFolder(g.loops), newFolder(g.loops), map[string]int32{}
	var before []int32 // steps
	guarded := 0       // items
	guard := func() {
		if len(some.items) > 0 {
			n := g.loops.number(some.items)
			g.guards[n] = g.column(all, func(i int) int64 { return int64(1 + min(before[i], 0)) })
			f.put(item{n, 1})
			guarded += len(some.items)
			some = newFolder(g.loops)
		}
	}
	for next := together(classes); next != nil; next = together(classes) {
		steps := slices.Repeat([]int32{-1}, len(g.ranks))
		for _, c := range next {
			for _, rank := range c.ranks {
				i, _ := slices.BinarySearch(g.ranks, rank)
				steps[i], _ = walkers[i].next()
			}
		}
		if slices.CompareFunc(before, steps, func(a, b int32) int { return int(min(a, 0) - min(b, 0)) }) != 0 {
			guard()
		}
		before = steps
		request := next[0].requests[next[0].at-1]
		name, err := binary.Append(nil, binary.LittleEndian, append(steps, request))
		if err != nil {
			return nil
		}
		n := numberOf(numbers, string(name))
		if int(n) == len(g.joint) {
			g.joint = append(g.joint, steps)
			first := w.table.steps[slices.Max(steps)]
			if request >= 0 { // parts before may have left others open
				first.request = w.table.slots + request
			}
			if t.steps = append(t.steps, first); first.lists != [2]int32{} {
				return nil
			}
		}
		if len(next) == len(classes) {
			f.add(n)
		} else {
			some.add(n)
		}
		if len(f.items) > alikeItems || len(g.joint) > alikeItems {
			return nil
		}
	}
	guard()
	if len(f.items)+guarded > alikeItems || len(g.ranks) == 0 ||
		slices.ContainsFunc(classes, func(c *class) bool { return c.keys[c.at] != ending }) {
		return nil
	}
	if g.items = f.items; g.loops.bytes(f.items) > mostBytes {
		return nil
	}
	g.collect(g.items, 1)
	factors := g.pool()
	g.args = make([][numArgs]argument, len(g.joint))
	// Columns of messages come first, so that they have the same numbers in many groups.
	for n, steps := range g.joint {
		for arg := 0; arg < numArgs && g.computations[int32(n)] == nil; arg++ {
			g.args[n][arg] = g.column(steps, func(i int) int64 { return w.table.steps[steps[i]].args[arg] })
		}
	}
	for n, steps := range g.joint {
		if c := g.computations[int32(n)]; c != nil && c.own {
			g.args[n][0] = g.column(steps, func(i int) int64 { return (trace.FloatArg(c.times[i]) + 1<<(c.shift()-1)) >> c.shift() })
		} else if c != nil { // one column for all of them, also those that some ranks do not come to
			g.args[n][0] = g.column(all, func(i int) int64 { return factors[i] })
		}
	}
	return g
}

// collect finds the computations of items that come a number of times.
func (g *group) collect(items []item, turns float64) {
	for _, it := range items {
		if it.turns > 0 {
			g.collect(g.loops.bodies[it.what].items, turns*float64(it.turns))
			continue
		}
		if g.loops.table.steps[it.what].kind != trace.KindFlops {
			continue
		}
		c := g.computations[it.what]
		if c == nil {
			c = &computation{}
			g.computations[it.what] = c
			ranks := 0.0
			for _, step := range g.joint[it.what] {
				if c.times = append(c.times, -1); step >= 0 {
					args := &g.w.table.steps[step].args
					v, spread := math.Float64frombits(uint64(args[argPeer])), math.Float64frombits(uint64(args[argSpread]))
					c.times[len(c.times)-1] = v
					c.mean += v
					c.spread += float64(spread * spread)
					ranks++
				}
			}
			c.mean, c.spread = c.mean/ranks, rounded(math.Sqrt(c.spread/ranks))
		}
		c.turns += turns
	}
}

// round keeps the fewest digits of the times that change no rank's by more than a time, within limits, and so of the
// deviation.
func (c *computation) round(most float64) {
	digits := func(v float64) (n int) {
		_, exponent := math.Frexp(v)
		for n = 1; n < mostDigits && math.Ldexp(1, exponent-n-1)*c.turns > most; n++ {
		}
		return n
	}
	keep := func(v float64, n int) float64 {
		fraction, exponent := math.Frexp(v)
		return math.Ldexp(math.Round(math.Ldexp(fraction, n)), exponent-n)
	}
	c.digits = digits(slices.Max(c.times))
	c.mean, c.spread = keep(c.mean, c.digits), keep(c.spread, min(digits(c.spread), spreadDigits))
}

// split returns the exponent and the digits of the mean. The bits of the mean times 1 + factor / 2^factorDigits are
// (exponent * 2^(2 factorDigits) + digits * (2^factorDigits + factor)) * 2^meanShift: they are linear in the factor up to
// the next power of two, and nearly so behind it.
func (c *computation) split() (exponent, digits int64) {
	fraction, e := math.Frexp(c.mean)
	return int64(e) + 1021, int64(math.Ldexp(fraction, mostDigits))
}

// scaled returns the mean times the factor of a rank.
func (c *computation) scaled(factor int64) float64 {
	exponent, digits := c.split()
	return math.Float64frombits(uint64(exponent<<(2*factorDigits)+digits*(1<<factorDigits+factor)) << meanShift)
}

// pool gives each rank a factor, a half to one and a half, with which the means of the computations add up to its time.
// Computations whose times then differ too much keep them, and do not count for the factors.
func (g *group) pool() (factors []int64) {
	numbers := slices.Sorted(maps.Keys(g.computations))
	busiest := 0.0
	for r := range g.ranks {
		sum := 0.0
		for _, n := range numbers {
			sum += float64(g.computations[n].turns * max(0, g.computations[n].times[r]))
		}
		busiest = max(busiest, sum)
	}
	for _, n := range numbers {
		g.computations[n].round(roundedShare * busiest)
	}
	for again := true; again; {
		again = false
		factors = nil
		for r := range g.ranks {
			over := func(factor int64) bool {
				off := 0.0
				for _, n := range numbers {
					if c := g.computations[n]; !c.own && c.times[r] >= 0 {
						off += float64(c.turns * (c.scaled(factor) - c.times[r]))
					}
				}
				return off >= 0
			}
			const most = 1 << (factorDigits - 1)
			factors = append(factors, int64(sort.Search(2*most, func(i int) bool { return over(int64(i - most)) })-most))
		}
		for _, n := range numbers {
			c := g.computations[n]
			for r := range g.ranks {
				off := math.Abs(c.times[r] - c.scaled(factors[r]))
				if !c.own && c.times[r] >= 0 && off*c.turns > pooledShare*busiest {
					c.own, again = true, true
				}
			}
		}
	}
	return factors
}

// put adds items to the block.
func (g *group) put(items []item) {
	for _, it := range items {
		if it.turns > 0 {
			turns := trace.Const(int64(it.turns))
			if guard, ok := g.guards[it.what]; ok && it.turns == 1 {
				turns = g.operand(guard)
			}
			g.Loop(turns, func() { g.put(g.loops.bodies[it.what].items) })
			continue
		}
		arg := func(i int) trace.Operand { return g.operand(g.args[it.what][i]) }
		if c := g.computations[it.what]; c != nil {
			g.compute(c, arg(0))
		} else {
			g.loops.table.steps[it.what].form.put(g.Builder, g.w.table, arg, [2]trace.Operand{})
		}
	}
}

// operand returns an argument in the block.
func (g *group) operand(a argument) trace.Operand {
	if a.column == 0 {
		return trace.Const(a.plus)
	}
	return g.taken[a.column-1].Plus(a.plus)
}

// shift returns how many of the last bits of a time are 0.
func (c *computation) shift() int { return 53 - c.digits }

// compute adds a computation: a call of a block that makes the bits of its time and of its deviation.
func (g *group) compute(c *computation, amount trace.Operand) {
	b := trace.NewBuilder("computation", 4)
	// Coefficients have 32 bits, so that large powers of two are products.
	shifted := func(x trace.Operand, n int) trace.Operand { return b.Scale(1<<(n/2), b.Scale(1<<(n-n/2), x)) }
	var exponent, digits, spread int64
	var bits trace.Operand
	if c.own {
		bits = shifted(b.Param(0), c.shift())
	} else {
		exponent, digits = c.split()
		product := b.Mul(b.Param(0).Plus(1<<factorDigits), b.Param(2))
		bits = b.Scale(1<<meanShift, b.Affine([]int64{1 << (2 * factorDigits), 1}, b.Param(1), product))
	}
	if c.spread >= 1 {
		spread = trace.FloatArg(c.spread) >> spreadShift
		b.SpreadFlops(bits, shifted(b.Param(3), spreadShift))
	} else {
		b.Flops(bits)
	}
	g.Call(int(g.w.block(b)), amount, trace.Const(exponent), trace.Const(digits), trace.Const(spread))
}

// column returns an argument of each rank that takes some steps. Columns that differ by a constant are one.
func (g *group) column(steps []int32, of func(i int) int64) argument {
	first := slices.IndexFunc(steps, func(step int32) bool { return step >= 0 })
	values := make([]int64, len(steps))
	for i, step := range steps {
		if step >= 0 {
			values[i] = of(i) - of(first)
		}
	}
	is := func(column []int64) bool {
		for i, step := range steps {
			if step >= 0 && column[i]-column[first] != values[i] {
				return false
			}
		}
		return true
	}
	if is(make([]int64, len(steps))) {
		return argument{0, of(first)}
	}
	n := slices.IndexFunc(g.values, is)
	if n < 0 {
		if n = len(g.values); n <= alikeColumns { // more do not matter
			g.values = append(g.values, values)
		}
	}
	return argument{1 + n, of(first) - g.values[min(n, alikeColumns)][first]}
}
