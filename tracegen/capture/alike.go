package capture

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"sort"

	"reprise/trace"
)

// This file writes ranks that do the same actions as one block (writer.alike). Arguments that differ between the ranks,
// such as peers, are columns with a value for each rank. All columns are parts of one vector, in which those that several
// blocks have, such as prologue and steps, are one; a block takes the value at the rank's place in its group. Times of
// computations are noisy, so that no two ranks have the same: a block has their mean over the ranks, and a column has a
// factor for each rank.

const (
	leastAlike   = 16             // ranks of a trace: with fewer, each rank has blocks and times of its own
	alikeColumns = 190            // of a block: each takes a register
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
func (w *writer) alike(ranks []outline, of func(*outline) []item) (*trace.Call, error) {
	if w.each != nil || len(ranks) < leastAlike || len(w.columns)+alikeColumns*len(ranks) > unitElements {
		return nil, nil
	}
	call := &trace.Call{Site: siteAlike, Blocks: make([]int64, len(ranks))}
	call.Args = [][]int64{make([]int64, len(ranks)), make([]int64, len(ranks))} // places, and the vector
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
		for i, name := range g.names {
			at, ok := w.offsets[name]
			if !ok {
				at = int64(len(w.columns))
				w.offsets[name], w.columns = at, append(w.columns, g.values[i]...)
			}
			g.taken = append(g.taken, g.VectorAt(g.Param(1), g.Param(0).Plus(at)))
		}
		if err := g.put(g.items); err != nil {
			return nil, err
		}
		block, err := w.w.Program().Add(g.Builder)
		if err != nil {
			return nil, err
		}
		for i, rank := range g.ranks {
			call.Blocks[rank], call.Args[0][rank] = int64(block), int64(i)
		}
	}
	return call, nil
}

// waiting is a call of a step that is not written, as the vector of ranks is not complete.
type waiting struct {
	step int
	call *trace.Call
}

// flush writes the calls that wait.
func (w *writer) flush() error {
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
		if err := w.w.Step(c.step); err != nil {
			return err
		}
		if err := w.w.Call(c.call); err != nil {
			return err
		}
	}
	w.waiting = nil
	return nil
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

	computations map[int32]*computation // by number of joint
	args         [][numArgs]argument    // by number of joint; of a computation, what its block takes
	columns      map[string]int         // from 1, by name
	names        []string               // of the columns
	values       [][]int64              // of the columns, by rank, from 0 for the first
	taken        []trace.Operand        // values of a rank, by column
}

// argument is a constant, more by a rank's value of a column if this is not 0.
type argument struct {
	column int
	plus   int64
}

// computation is a place where the ranks compute.
type computation struct {
	turns        float64   // how often they come there
	times        []float64 // by rank, flop
	mean, spread float64
	digits       int  // binary, of the mean or the times
	own          bool // the ranks have their own times, not the mean times their factors
}

// newGroup folds the steps of the ranks, taken together, into loops. It returns nil if they do not fit in a block.
func newGroup(w *writer, ranks []int, of func(rank int) []item) *group {
	t := &table{lists: w.table.lists}
	g := &group{Builder: trace.NewBuilder("ranks", 2), w: w, ranks: ranks, loops: newLoops(t),
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
	g.args = make([][numArgs]argument, len(g.joint))
	// Columns of messages come first, so that they have the same numbers in many groups.
	for n, steps := range g.joint {
		for arg := 0; arg < numArgs && g.computations[int32(n)] == nil; arg++ {
			var values []int64
			for _, step := range steps {
				values = append(values, w.table.steps[step].args[arg])
			}
			g.args[n][arg] = g.column(values)
		}
	}
	for n := range g.joint {
		if c := g.computations[int32(n)]; c != nil {
			g.args[n][0] = g.column(c.amounts(factors))
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
			sum += float64(g.computations[n].turns * g.computations[n].times[r])
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
					if c := g.computations[n]; !c.own {
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
		arg := func(i int) trace.Operand {
			a := g.args[it.what][i]
			if a.column == 0 {
				return trace.Const(a.plus)
			}
			return g.taken[a.column-1].Plus(a.plus)
		}
		if c := g.computations[it.what]; c != nil {
			err = errors.Join(err, g.compute(c, arg(0)))
		} else {
			g.loops.table.steps[it.what].form.put(g.Builder, g.w.table, arg, [2]trace.Operand{})
		}
	}
	return err
}

// amounts returns what the block of a computation takes from each rank: its factor, or the first bits of its time.
func (c *computation) amounts(factors []int64) (list []int64) {
	if !c.own {
		return factors
	}
	for _, v := range c.times {
		list = append(list, (trace.FloatArg(v)+1<<(c.shift()-1))>>c.shift())
	}
	return list
}

// shift returns how many of the last bits of a time are 0.
func (c *computation) shift() int { return 53 - c.digits }

// compute adds a computation: a call of a block that makes the bits of its time and of its deviation.
func (g *group) compute(c *computation, amount trace.Operand) error {
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
	block, err := g.w.w.Program().Add(b)
	if err == nil {
		g.Call(int(block), amount, trace.Const(exponent), trace.Const(digits), trace.Const(spread))
	}
	return err
}

// column returns an argument of each rank. Columns that differ by a constant are one.
func (g *group) column(values []int64) argument {
	var name []byte
	var column []int64
	for _, v := range values {
		column = append(column, v-values[0])
		name = binary.AppendVarint(name, v-values[0])
	}
	if slices.Max(column) == 0 && slices.Min(column) == 0 {
		return argument{0, values[0]}
	}
	n, ok := g.columns[string(name)]
	if !ok {
		n = len(g.values) + 1
		g.columns[string(name)] = n
		g.names, g.values = append(g.names, string(name)), append(g.values, column)
	}
	return argument{n, values[0]}
}
