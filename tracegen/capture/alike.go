package capture

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"reprise/trace"
)

// This file writes ranks that do the same actions as one block (writer.alike). Arguments that differ between the ranks,
// such as peers, become columns with a value for each rank. Times of computations are noisy, so that no two ranks have
// the same: a block has their mean over the ranks, and a column has a factor for each rank.

const (
	leastAlike   = 16      // ranks of a trace: with fewer, each rank has blocks and times of its own
	alikeColumns = 120     // arguments of a block
	alikeItems   = 1 << 13 // of a block
	factorUnit   = 1 << 12 // factors are 1 + a whole number of these parts
	pooledShare  = 0.01    // of the time of the busiest rank, that a computation may differ from its mean times the factor
	slopeShift   = 16      // last binary digits of a slope that are 0
	timeShift    = 44      // last binary digits of a time that is no mean times a factor that are 0: eight are left
)

// alike returns a call of the items of all ranks, with one block for each group of ranks that do the same. It returns nil
// if groups are small, or do not fit in a block.
func (w *writer) alike(ranks []outline, of func(*outline) []item) (*trace.Call, error) {
	if w.each != nil || len(ranks) < leastAlike {
		return nil, nil
	}
	call := &trace.Call{Site: siteAlike, Blocks: make([]int64, len(ranks)), Args: make([][]int64, alikeColumns)}
	for i := range call.Args {
		call.Args[i] = make([]int64, len(ranks))
	}
	// Ranks are of one group if the forms of all their steps are equal, in their order.
	var order []uint64
	var all []*group
	groups, empty := map[uint64][]int{}, true
	for rank := range ranks {
		hash, walker := uint64(0), w.loops.walk(of(&ranks[rank]), 1)
		for step, ok := walker.next(); ok; step, ok = walker.next() {
			hash = hash*multiplier + item{what: w.formOf(step)}.hash()
			empty = false
		}
		if groups[hash] == nil {
			order = append(order, hash)
		}
		groups[hash] = append(groups[hash], rank)
	}
	if len(order) == len(ranks) || empty {
		return nil, nil
	}
	for _, hash := range order {
		if !w.grouped(groups[hash], func(rank int) []item { return of(&ranks[rank]) }, func(g *group) { all = append(all, g) }) {
			return nil, nil
		}
	}
	for _, g := range all {
		if err := g.put(g.items); err != nil {
			return nil, err
		}
		block, err := w.w.Program().Add(g.Builder)
		if err != nil {
			return nil, err
		}
		for i, rank := range g.ranks {
			call.Blocks[rank] = int64(block)
			for j, column := range g.values {
				call.Args[j][rank] = column[i]
			}
		}
	}
	return call, nil
}

// grouped yields the groups of ranks that do the same: one, or its halves if that has too many columns. It reports
// whether they fit in blocks.
func (w *writer) grouped(ranks []int, of func(rank int) []item, yield func(*group)) bool {
	g := newGroup(w, ranks, of)
	switch n := len(ranks) / 2; {
	case g == nil:
		return false
	case len(g.values) > alikeColumns:
		return w.grouped(ranks[:n], of, yield) && w.grouped(ranks[n:], of, yield)
	}
	yield(g)
	return true
}

// formOf returns the number of the form of a step. Computations with a spread and without are of one form.
func (w *writer) formOf(step int32) int32 {
	for i := len(w.formNumbers); i < len(w.table.steps); i++ {
		f := w.table.steps[i].form
		f.spread = false
		n, ok := w.numberOfForm[f]
		if !ok {
			n = int32(len(w.numberOfForm))
			w.numberOfForm[f] = n
		}
		w.formNumbers = append(w.formNumbers, n)
	}
	return w.formNumbers[step]
}

// group is ranks that do the same, and their block.
type group struct {
	*trace.Builder
	w     *writer
	ranks []int
	loops *loops
	items []item    // of the group: their steps are numbers of joint
	joint [][]int32 // steps that the ranks take together, by rank

	computations map[int32]*computation   // by number of joint
	args         [][numArgs]trace.Operand // by number of joint; of a computation, what its block takes
	columns      map[string]int           // by the differences to their first value
	values       [][]int64                // of the columns, by rank
}

// computation is a place where the ranks compute.
type computation struct {
	turns        float64   // how often they come there
	times        []float64 // by rank, flop
	mean, spread float64
	own          bool // the ranks have their own times, not the mean times their factors
}

// newGroup folds the steps of the ranks, taken together, into loops. It returns nil if they do not fit in a block.
func newGroup(w *writer, ranks []int, of func(rank int) []item) *group {
	t := &table{lists: w.table.lists}
	g := &group{Builder: trace.NewBuilder("ranks", alikeColumns), w: w, ranks: ranks, loops: newLoops(t),
		computations: map[int32]*computation{}, columns: map[string]int{}}
	var walkers []*walker
	for _, rank := range ranks {
		walkers = append(walkers, w.loops.walk(of(rank), 1))
	}
	f, numbers, steps := newFolder(g.loops), map[string]int32{}, make([]int32, len(ranks))
	var name []byte
	for range w.loops.length(of(ranks[0])) {
		name = name[:0]
		for i, walker := range walkers {
			var ok bool
			if steps[i], ok = walker.next(); !ok || w.formOf(steps[i]) != w.formOf(steps[0]) {
				return nil // unequal forms with equal hashes
			}
			name = binary.LittleEndian.AppendUint32(name, uint32(steps[i]))
		}
		n, ok := numbers[string(name)]
		if !ok {
			n = int32(len(g.joint))
			numbers[string(name)] = n
			g.joint = append(g.joint, slices.Clone(steps))
			first := w.table.steps[steps[0]]
			if t.steps = append(t.steps, first); first.lists != [2]int32{} {
				return nil
			}
		}
		if f.add(n); len(f.items) > alikeItems || len(g.joint) > alikeItems {
			return nil
		}
	}
	if g.items = f.items; g.loops.bytes(f.items) > mostBytes {
		return nil
	}
	g.collect(g.items, 1)
	factors := g.pool()
	g.args = make([][numArgs]trace.Operand, len(g.joint))
	for n, steps := range g.joint {
		if c := g.computations[int32(n)]; c != nil {
			g.args[n][0] = g.column(c.amounts(factors))
			continue
		}
		for arg := range numArgs {
			var values []int64
			for _, step := range steps {
				values = append(values, w.table.steps[step].args[arg])
			}
			g.args[n][arg] = g.column(values)
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
			n := float64(len(g.ranks))
			for _, step := range g.joint[it.what] {
				args := &g.w.table.steps[step].args
				v, spread := math.Float64frombits(uint64(args[argPeer])), math.Float64frombits(uint64(args[argSpread]))
				c.times = append(c.times, v)
				c.mean += v / n
				c.spread += float64(spread*spread) / n
			}
			c.spread = rounded(math.Sqrt(c.spread))
		}
		c.turns += turns
	}
}

// scaled returns the bits of the mean times 1 + factor/factorUnit: they are linear in the factor up to the next power of
// two, and nearly so behind it.
func (c *computation) scaled(factor int64) (bits, slope int64) {
	fraction, _ := math.Frexp(c.mean)
	slope = int64(math.Round(math.Ldexp(fraction, 53-slopeShift)/factorUnit)) << slopeShift
	return trace.FloatArg(c.mean) + slope*factor, slope
}

// pool gives each rank a factor, with which the means of the computations add up to its time. Computations whose times
// then differ too much keep them, and do not count for the factors.
func (g *group) pool() (factors []int64) {
	numbers := slices.Sorted(maps.Keys(g.computations))
	busiest := 0.0
	for r := range g.ranks {
		sum := 0.0
		for _, n := range numbers {
			sum += float64(g.computations[n].turns * g.computations[n].times[r])
		}
		busiest = max(busiest, sum)
	}
	for again := true; again; {
		again = false
		factors = make([]int64, len(g.ranks))
		for r := range g.ranks {
			sum, means := 0.0, 0.0
			for _, n := range numbers {
				if c := g.computations[n]; !c.own {
					sum += float64(c.turns * c.times[r])
					means += float64(c.turns * c.mean)
				}
			}
			if means > 0 {
				factors[r] = int64(math.Round(min(max(sum/means-1, -0.5), 0.5) * factorUnit))
			}
		}
		for _, n := range numbers {
			c := g.computations[n]
			for r := range g.ranks {
				bits, _ := c.scaled(factors[r])
				off := math.Abs(c.times[r] - math.Float64frombits(uint64(bits)))
				if !c.own && off*c.turns > pooledShare*busiest {
					c.own, again = true, true
				}
			}
		}
	}
	return factors
}

// put adds items to the block.
func (g *group) put(items []item) (err error) {
	for _, it := range items {
		if it.turns > 0 {
			g.Loop(trace.Const(int64(it.turns)), func() { err = errors.Join(err, g.put(g.loops.bodies[it.what].items)) })
			continue
		}
		arg := func(i int) trace.Operand { return g.args[it.what][i] }
		if c := g.computations[it.what]; c != nil {
			err = errors.Join(err, g.compute(c, arg(0)))
		} else {
			g.loops.table.steps[it.what].form.put(g.Builder, g.w.table, arg, [2]trace.Operand{})
		}
	}
	return err
}

// amounts returns what the block of a computation takes from each rank: its factor, or the first digits of its time.
func (c *computation) amounts(factors []int64) (list []int64) {
	if !c.own {
		return factors
	}
	for _, v := range c.times {
		list = append(list, (trace.FloatArg(v)+1<<(timeShift-1))>>timeShift)
	}
	return list
}

// compute adds a computation: a call of a block that makes the bits of its time of an amount.
func (g *group) compute(c *computation, amount trace.Operand) error {
	b := trace.NewBuilder("computation", 1)
	// Coefficients of blocks have 32 bits, so that each product is one of two.
	mean, slope := c.scaled(0)
	bits := b.Scale(1<<slopeShift, b.Scale(slope>>slopeShift, b.Param(0))).Plus(mean)
	if c.own {
		bits = b.Scale(1<<(timeShift/2), b.Scale(1<<(timeShift/2), b.Param(0)))
	}
	if c.spread >= 1 {
		b.SpreadFlops(bits, trace.Const(trace.FloatArg(c.spread)))
	} else {
		b.Flops(bits)
	}
	block, err := g.w.w.Program().Add(b)
	if err == nil {
		g.Call(int(block), amount)
	}
	return err
}

// column returns an argument with a value for each rank. Columns that differ by a constant are one.
func (g *group) column(values []int64) trace.Operand {
	var name []byte
	same := true
	for _, v := range values {
		same = same && v == values[0]
		name = binary.AppendVarint(name, v-values[0])
	}
	if same {
		return trace.Const(values[0])
	}
	n, ok := g.columns[string(name)]
	if !ok {
		n = len(g.values)
		g.columns[string(name)] = n
		g.values = append(g.values, values)
	}
	// A group with more columns is divided.
	return g.Param(min(n, alikeColumns-1)).Plus(values[0] - g.values[n][0])
}
