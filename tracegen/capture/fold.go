package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"reprise/internal/portable"
	"reprise/trace"
)

// This file folds the steps of a rank into loops while they come (folder.add), stage 4 of a merge. A table numbers
// the steps, and loops the bodies of loops.

// step is an action of a rank as the trace has it: the form of its block, and the arguments of the block.
type step struct {
	form
	args  [numArgs]int64
	lists [2]int32 // counts by rank that are sent and received, as numbers of lists; 0: none
}

// form is what all steps of one block have in common. Fields without a meaning for the kind of the step are 0, so
// that equal actions have equal forms.
type form struct {
	kind               trace.Kind
	collective         trace.CollectiveKind
	operator           trace.Operator
	family             int32 // of communicators
	request            int32 // slot
	sendSize, recvSize int64 // bytes of an element
	marker             int32 // or the kernel
	dims               int32 // of the kernel
	spread             bool  // of a computation: it has one
	completion         trace.Completion
	slots              int32 // of a completion: the number of the list of its requests
	access             trace.AccessKind
	sync               trace.SyncKind
	file               trace.FileKind
	together           bool // of a file: all ranks of the family's group access it
}

// Arguments of a step, by its kind.
const (
	argPeer     = 0 // of a message; amount: of a computation; root
	argTag      = 1 // span: of a collective operation; window
	argBytes    = 2 // or the count that is sent, or assertions
	argReceived = 3 // or the count that is received
	argSource   = 4 // of a sendrecv
	argSent     = 5 // tag of what it receives
	argSpread   = 1 // of a computation
	numArgs     = 6
)

// bytes returns an upper bound of the bytes that a step takes in a block of the trace: five for a slot, two for
// an argument of 0, eleven for a large one.
func (s *step) bytes(t *table) int {
	n := 46 + 5*len(t.lists[s.slots])
	for _, a := range s.args {
		if a == 0 {
			n += 2
		} else {
			n += 11
		}
	}
	return n
}

// table numbers steps and lists; equal ones have one number.
type table struct {
	steps   []step
	numbers map[uint64]int32
	slots   int32     // of requests
	lists   [][]int64 // from 1
	named   map[string]int32
}

// newTable returns an empty table.
func newTable() *table {
	return &table{numbers: map[uint64]int32{}, lists: make([][]int64, 1), named: map[string]int32{}}
}

// numberOf returns the number of a thing, from 0 in the order of first calls.
func numberOf[T comparable](numbers map[T]int32, of T) int32 {
	n, ok := numbers[of]
	if !ok {
		n = int32(len(numbers))
		numbers[of] = n
	}
	return n
}

// seed is of the hashes of steps, on which no number depends.
var seed = maphash.MakeSeed()

// number returns the number of a step, which it adds at the first call, under the step's hash or the next free one.
func (t *table) number(s step) int32 {
	h := maphash.Comparable(seed, s)
	n, ok := t.numbers[h]
	for ; ok && t.steps[n] != s; n, ok = t.numbers[h] {
		h++
	}
	if !ok {
		n = int32(len(t.steps))
		t.numbers[h], t.steps, t.slots = n, append(t.steps, s), max(t.slots, 1+s.request)
	}
	return n
}

// list returns the number of a list, which it keeps.
func (t *table) list(values []int64) int32 {
	n := 1 + numberOf(t.named, fmt.Sprint(values))
	if int(n) == len(t.lists) {
		t.lists = append(t.lists, values)
	}
	return n
}

// item is an element of a rank's program as it is folded: a step, or a loop with a number of turns.
type item struct {
	what  int32 // number of the step, or of the loop
	turns int32 // 0: a step
}

func (it item) hash() uint64 {
	return portable.Mix(uint64(uint32(it.what))<<32 | uint64(uint32(it.turns)))
}

// Limits of folding. A trace bounds the sizes of its blocks and how deep they call each other.
const (
	mostPeriod  = 1 << 13 // items of a body
	mostBytes   = 1 << 20 // of a body in a trace
	mostDepth   = 12      // loops in loops
	mostTurns   = 1 << 30 // of a loop
	mostLists   = 8       // different lists of counts of a body
	bytesOfLoop = 64      // of another body in it
)

// multiplier is the base of polynomial hashes of sequences, modulo 2^64. The hash of x1 .. xn is the sum of xi
// multiplier^(n-i), so that the hash of a part follows from those of two beginnings (Karp and Rabin, 1987).
const multiplier = 0x9E3779B97F4A7C15 | 1

// powers are those of the multiplier.
var powers = func() (p [mostPeriod + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * multiplier
	}
	return p
}()

// body is what a loop repeats.
type body struct {
	items  []item
	hash   uint64
	depth  int     // loops in loops, itself included
	length int64   // steps of a turn
	lists  []int32 // numbers of the lists of counts in it, each once
}

// loops are the bodies of loops, each with its own number; equal bodies have one.
type loops struct {
	table   *table
	bodies  []body
	numbers map[string]int32
	name    []byte // of a body, as the key of numbers: reused
}

// newLoops returns no loops of the steps in a table.
func newLoops(t *table) *loops { return &loops{table: t, numbers: map[string]int32{}} }

// number returns the number of a body, which it copies and adds at the first call.
func (l *loops) number(items []item) int32 {
	// The key is the body itself and not its hash, so that a collision cannot exchange two loops.
	l.name = l.name[:0]
	depth := 1
	for _, it := range items {
		l.name = binary.AppendUvarint(l.name, uint64(it.what))
		l.name = binary.AppendUvarint(l.name, uint64(it.turns))
		if it.turns > 0 {
			depth = max(depth, 1+l.bodies[it.what].depth)
		}
	}
	n, ok := l.numbers[string(l.name)]
	if !ok {
		n = int32(len(l.bodies))
		l.bodies = append(l.bodies, body{slices.Clone(items), hashOf(items), depth, l.length(items), l.listsOf(items)})
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
			add(l.bodies[it.what].lists...)
		} else {
			add(l.table.steps[it.what].lists[:]...)
		}
	}
	return lists
}

// folder turns steps into loops while they come. Items that come twice in a row become a loop of two turns; if
// the items behind a loop are its body once more, they become another turn. Hashes find items that may be equal.
// They are compared before they are folded, so that a collision of hashes only costs time. Except for the tries
// of fold, a step costs constant time.
type folder struct {
	loops *loops
	items []item
	spots []spot  // of the items, from 1
	heads []int32 // by the last bits of a gram: 1 + the last place of its chain
	due   []int32 // by number of items: 1 + the last loop whose body those behind it may be then

	refused [2]int // a period that was not folded, with the number of items at the last refusal
	steps   int64  // that were added
	sum     uint64 // and a hash of them, for check
}

// spot is what the folder knows of an item's place. before and rival keep the values that heads and due had
// before the item came, so that pop can restore them.
type spot struct {
	hash   uint64 // of the items up to here, that included
	before int32  // 1 + the place before in the chain, 0: none
	rival  int32  // of a loop: 1 + the one before that is due when this one is, 0: none
}

// gram is a number of items in a row. A period of at least so many items ends with the same gram twice, so that only
// the places of this gram need to be tried. They are in one chain; as only the last mostPeriod of all places matter,
// chains for some times as many are short, though grams share them.
const gram, mostHeads = 4, 8 * mostPeriod

// newFolder returns a folder without steps.
func newFolder(l *loops) *folder { return &folder{loops: l, spots: make([]spot, 1)} }

// add adds a step.
func (f *folder) add(step int32) {
	f.steps++
	f.sum = f.sum*multiplier + item{what: step}.hash()
	f.put(item{what: step})
}

// put adds an item.
func (f *folder) put(it item) {
	f.push(it)
	for f.extend() || f.fold() {
	}
}

// push adds an item, and notes where it stands.
func (f *folder) push(it item) {
	// The place becomes the head of its two chains, whose former heads it keeps.
	n := len(f.items)
	f.items, f.spots = append(f.items, it), append(f.spots, spot{hash: f.spots[n].hash*multiplier + it.hash()})
	from := n
	if n == len(f.heads) && n < mostHeads { // all places go to chains that are more
		f.heads, from = make([]int32, max(gram, 4*n)), 0
	}
	for ; from <= n; from++ {
		head := f.head(from)
		f.spots[1+from].before, *head = *head, int32(1+from)
	}
	if it.turns > 0 {
		due := f.dueAt(n)
		f.due = append(f.due, make([]int32, max(0, due+1-len(f.due)))...)
		f.spots[1+n].rival, f.due[due] = f.due[due], int32(1+n)
	}
}

// head returns that of the chain of a place, by the hash of the items in a row that end there.
func (f *folder) head(place int) *int32 {
	return &f.heads[f.hash(max(0, place+1-gram), place+1)&uint64(len(f.heads)-1)]
}

// dueAt returns the number of items that the folder must have for the items behind a loop to be its body.
func (f *folder) dueAt(loop int) int { return loop + 1 + len(f.loops.bodies[f.items[loop].what].items) }

// pop takes the last n items away.
func (f *folder) pop(n int) {
	for range n {
		i := len(f.items) - 1
		*f.head(i) = f.spots[1+i].before
		if f.items[i].turns > 0 {
			f.due[f.dueAt(i)] = f.spots[1+i].rival
		}
		f.items, f.spots = f.items[:i], f.spots[:1+i]
	}
}

// hash returns that of the items [from, to).
func (f *folder) hash(from, to int) uint64 {
	return f.spots[to].hash - f.spots[from].hash*powers[to-from]
}

// extend makes the last items another turn of a loop before them, if they are its body.
func (f *folder) extend() bool {
	n := len(f.items)
	if n >= len(f.due) {
		return false
	}
	// Loops are due here whose body has as many items as stand behind them. Several may be, as loops are
	// nested: the last one is tried first.
	for next := f.due[n]; next > 0; next = f.spots[next].rival {
		i := int(next - 1)
		it := f.items[i]
		if it.turns < mostTurns && f.loops.bodies[it.what].hash == f.hash(i+1, n) && slices.Equal(f.loops.bodies[it.what].items, f.items[i+1:]) {
			f.pop(n - i)
			f.push(item{it.what, it.turns + 1})
			return true
		}
	}
	return false
}

// mostTries is how many earlier places of the last gram are tried at each step. Most repetitions contain rarer
// items, and are found behind these.
const mostTries = 64

// fold turns the last items into a loop if they repeat those before them; of several periods it takes the shortest.
func (f *folder) fold() bool {
	n := len(f.items)
	// Short periods are tried one by one. A longer period ends with the same gram as the items now, so the earlier
	// places of this gram are the only candidates; the nearest gives the shortest period.
	for p := 1; p < gram && 2*p <= n; p++ {
		if f.repeat(p) {
			return f.loop(p)
		}
	}
	tries := 0
	for next := int(f.spots[n].before); next >= gram && tries < mostTries; next = int(f.spots[next].before) {
		p := n - next
		if p > mostPeriod || n < 2*p {
			return false
		}
		if !slices.Equal(f.items[next-gram:next], f.items[n-gram:]) { // another gram of the chain
			continue
		}
		tries++
		if p >= gram && f.repeat(p) {
			return f.loop(p)
		}
	}
	return false
}

// repeat reports whether the last p items are those before them.
func (f *folder) repeat(p int) bool {
	n := len(f.items)
	return f.items[n-p] == f.items[n-2*p] && f.hash(n-p, n) == f.hash(n-2*p, n-p) &&
		slices.Equal(f.items[n-p:], f.items[n-2*p:n-p])
}

// loop turns the last p items, which repeat those before them, into a loop, if the limits allow it. If they do
// not, they do not allow it for the next items of the same period either, which are the same ones, shifted by
// one: refused remembers that.
func (f *folder) loop(p int) bool {
	n := len(f.items)
	body := f.items[n-p:]
	depth := 0
	// The body must fit in a block of the trace: by its bytes, by the depth of its loops, and by its lists of
	// counts, which become parameters.
	if f.refused != [2]int{p, n - 1} {
		for _, it := range body {
			if it.turns > 0 {
				depth = max(depth, f.loops.bodies[it.what].depth)
			}
		}
		if f.loops.bytes(body) <= mostBytes && depth < mostDepth && len(f.loops.listsOf(body)) <= mostLists {
			number := f.loops.number(body)
			f.pop(2 * p)
			f.push(item{number, 2})
			return true
		}
	}
	f.refused = [2]int{p, n}
	return false
}

// bytes returns an upper bound of the bytes that items take in a block.
func (l *loops) bytes(items []item) (n int) {
	for _, it := range items {
		if it.turns == 0 {
			n += l.table.steps[it.what].bytes(l.table)
		} else {
			n += bytesOfLoop
		}
	}
	return n
}

// check compares the steps that were added with those of the outline, for a run of runSteps steps. It finds
// errors of folding and splitting before a user gets a wrong trace.
func (f *folder) check(o outline, runSteps int) error {
	var steps int64
	var sum uint64
	// The outline is unrolled to single steps, so that all of its loops and splits are checked at once.
	walkers := []*walker{f.loops.walk(o.before, 1), f.loops.walk(o.step, int32(runSteps))}
	for _, part := range o.marked {
		walkers = append(walkers, f.loops.walk(part, 1))
	}
	for _, w := range append(walkers, f.loops.walk(o.after, 1)) {
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

// walker goes through items step by step, turn by turn.
type walker struct {
	loops *loops
	stack []frame // of loops in loops, the innermost last
}

// frame is a sequence of items with a number of passes, the one under way included.
type frame struct {
	items []item
	at    int
	turns int32
}

// next returns the next step; ok is false behind the last.
func (w *walker) next() (step int32, ok bool) {
	for len(w.stack) > 0 {
		// A frame at its end begins its next pass or goes; a loop opens a frame of its own.
		f := &w.stack[len(w.stack)-1]
		if f.at == len(f.items) {
			if f.turns--; f.turns <= 0 {
				w.stack = w.stack[:len(w.stack)-1]
			} else {
				f.at = 0
			}
			continue
		}
		it := f.items[f.at]
		f.at++
		if it.turns == 0 {
			return it.what, true
		}
		w.stack = append(w.stack, frame{items: w.loops.bodies[it.what].items, turns: it.turns})
	}
	return 0, false
}

// walk returns a walker through items, a number of times.
func (l *loops) walk(items []item, turns int32) *walker {
	w := &walker{loops: l}
	if len(items) > 0 && turns > 0 {
		w.stack = append(w.stack, frame{items: items, turns: turns})
	}
	return w
}

// length returns how many steps items have.
func (l *loops) length(items []item) (n int64) {
	for _, it := range items {
		if it.turns == 0 {
			n++
		} else {
			n += int64(it.turns) * l.bodies[it.what].length
		}
	}
	return n
}

// split divides items behind their first at steps. If that is within a loop, the loop becomes the turns before,
// the turn that is divided, and the turns behind.
func (l *loops) split(items []item, at int64) (head, tail []item) {
	for i, it := range items {
		n := l.length(items[i : i+1])
		// The item lies before the cut as a whole.
		if at >= n {
			at -= n
			continue
		}
		head = append(head, items[:i]...)
		if at > 0 {
			// The cut is in this loop, or at one of its turns: only the turn that it goes through is taken apart.
			body := l.bodies[it.what].length
			whole := int32(at / body)
			inner, rest := l.split(l.bodies[it.what].items, at%body)
			head = append(l.repeat(head, it.what, whole), inner...)
			if len(inner) > 0 {
				tail, whole = rest, whole+1
			}
			tail = l.repeat(tail, it.what, it.turns-whole)
			return head, append(tail, items[i+1:]...)
		}
		return head, append(tail, items[i:]...)
	}
	return append(head, items...), nil
}

// repeat appends a number of turns of a loop to items.
func (l *loops) repeat(items []item, loop, turns int32) []item {
	switch {
	case turns <= 0:
		return items
	case turns == 1:
		return append(items, l.bodies[loop].items...)
	}
	return append(items, item{loop, turns})
}
