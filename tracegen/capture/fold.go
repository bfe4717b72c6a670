package capture

import (
	"encoding/binary"
	"errors"
	"slices"
)

// item is an element of what a rank does: a step, or a loop with a number of turns.
type item struct {
	what  int32 // number of the step, or of the loop
	turns int32 // 0: a step
}

func (it item) hash() uint64 {
	h := (uint64(uint32(it.what))<<32 | uint64(uint32(it.turns))) + 0x9E3779B97F4A7C15
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}

// Limits of folding.
const (
	mostPeriod = 512 // items of a body
	mostDepth  = 12  // loops in loops
	mostTurns  = 1 << 30
	mostLists  = 8 // different lists of counts of a body
	multiplier = 0x9E3779B97F4A7C15 | 1
)

var powers = func() (p [mostPeriod + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * multiplier
	}
	return p
}()

// loops are the bodies of loops, those that are equal once.
type loops struct {
	table   *table
	bodies  [][]item
	hashes  []uint64
	depths  []int
	lengths []int64   // steps of a turn
	lists   [][]int32 // numbers of the lists of counts in it, each once
	numbers map[string]int32
	name    []byte
}

func newLoops(t *table) *loops { return &loops{table: t, numbers: map[string]int32{}} }

// number returns the number of a body.
func (l *loops) number(body []item) int32 {
	l.name = l.name[:0]
	depth, hash := 1, uint64(0)
	for _, it := range body {
		l.name = binary.AppendUvarint(l.name, uint64(it.what))
		l.name = binary.AppendUvarint(l.name, uint64(it.turns))
		hash = hash*multiplier + it.hash()
		if it.turns > 0 {
			depth = max(depth, 1+l.depths[it.what])
		}
	}
	n, ok := l.numbers[string(l.name)]
	if !ok {
		n = int32(len(l.bodies))
		l.bodies, l.hashes, l.depths = append(l.bodies, slices.Clone(body)), append(l.hashes, hash), append(l.depths, depth)
		l.lengths, l.lists = append(l.lengths, l.length(body)), append(l.lists, l.listsOf(body))
		l.numbers[string(l.name)] = n
	}
	return n
}

// listsOf returns the numbers of the lists of counts in items, each once.
func (l *loops) listsOf(items []item) (lists []int32) {
	add := func(numbers ...int32) {
		for _, n := range numbers {
			if n > 0 && !slices.Contains(lists, n) {
				lists = append(lists, n)
			}
		}
	}
	for _, it := range items {
		if it.turns > 0 {
			add(l.lists[it.what]...)
		} else {
			add(l.table.steps[it.what].lists[:]...)
		}
	}
	return lists
}

// folder turns steps into loops while they come: what has just been done twice becomes a
// loop of two turns, and what its body says once more another turn. It never takes two things
// for equal that differ.
type folder struct {
	loops  *loops
	items  []item
	hashes []uint64       // hash of the items up to each, that included
	before []int32        // where an item stood last, -1 for nowhere
	last   map[item]int32 // where it stands now

	steps int64  // that were added
	sum   uint64 // and a hash of them
}

func newFolder(l *loops) *folder { return &folder{loops: l, last: map[item]int32{}} }

// add adds a step.
func (f *folder) add(step int32) {
	f.steps++
	f.sum = f.sum*multiplier + item{what: step}.hash()
	f.push(item{what: step})
	for f.extend() || f.fold() {
	}
}

func (f *folder) push(it item) {
	at, ok := f.last[it]
	if !ok {
		at = -1
	}
	f.last[it] = int32(len(f.items))
	f.before = append(f.before, at)
	f.hashes = append(f.hashes, f.prefix(len(f.items))*multiplier+it.hash())
	f.items = append(f.items, it)
}

func (f *folder) pop(n int) {
	for range n {
		i := len(f.items) - 1
		if at := f.before[i]; at >= 0 {
			f.last[f.items[i]] = at
		} else {
			delete(f.last, f.items[i])
		}
		f.items, f.hashes, f.before = f.items[:i], f.hashes[:i], f.before[:i]
	}
}

// prefix returns the hash of the first n items.
func (f *folder) prefix(n int) uint64 {
	if n == 0 {
		return 0
	}
	return f.hashes[n-1]
}

// hash returns that of the items [from, to).
func (f *folder) hash(from, to int) uint64 { return f.prefix(to) - f.prefix(from)*powers[to-from] }

// extend makes the last items another turn of a loop before them, if they are its body.
func (f *folder) extend() bool {
	n := len(f.items)
	for i := n - 2; i >= max(0, n-1-mostPeriod); i-- {
		it := f.items[i]
		if it.turns == 0 || len(f.loops.bodies[it.what]) != n-1-i || it.turns == mostTurns {
			continue
		}
		if f.loops.hashes[it.what] == f.hash(i+1, n) && slices.Equal(f.loops.bodies[it.what], f.items[i+1:]) {
			f.pop(n - i)
			f.push(item{it.what, it.turns + 1})
			return true
		}
	}
	return false
}

// fold makes a loop of what the last items repeat.
func (f *folder) fold() bool {
	n := len(f.items)
	for at := f.before[n-1]; at >= 0; at = f.before[at] {
		p := n - 1 - int(at)
		if p > mostPeriod || n < 2*p {
			return false
		}
		if f.hash(n-p, n) != f.hash(n-2*p, n-p) || !slices.Equal(f.items[n-p:], f.items[n-2*p:n-p]) {
			continue
		}
		number := f.loops.number(f.items[n-p:])
		if f.loops.depths[number] > mostDepth || len(f.loops.lists[number]) > mostLists {
			return false
		}
		f.pop(2 * p)
		f.push(item{number, 2})
		return true
	}
	return false
}

// check compares what was added with what it has become, with so many steps of the run.
func (f *folder) check(o outline, runSteps int) error {
	var steps int64
	var sum uint64
	for _, w := range []*walker{f.loops.walk(o.before, 1), f.loops.walk(o.step, int32(runSteps)), f.loops.walk(o.after, 1)} {
		for step, ok := w.next(); ok; step, ok = w.next() {
			steps++
			sum = sum*multiplier + item{what: step}.hash()
		}
	}
	if steps != f.steps || sum != f.sum {
		return errors.New("the loops that were found do not say what was recorded")
	}
	return nil
}
