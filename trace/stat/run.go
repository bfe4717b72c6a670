package stat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"reprise/trace"
)

// This file counts what a block does (runner.enter), by running its definition; stat.go calls it once for each
// group of ranks.

// runner adds up what blocks do. It runs a block once for all ranks that call it alike, and the body of a loop once for
// all its turns, and multiplies the counts by the number of ranks and turns.
//
// Registers have their values as in a replay; only the counts are multiplied. That is right since the values in a loop
// do not depend on the turn: registers are set once, and there is no memory beside them.
type runner struct {
	*tally
	// What is run: the definitions, and their plans, by number of the block.
	program *trace.Program
	late    bool // polls as trace.Late answers them, else as trace.Hit
	plans   []plan
	left    int64 // items that may still be run

	memberBodies bool // of a body that waits for a poll counts may depend on which rank polls

	// Calls of large blocks that were run before: see call.
	few     int                  // blocks of fewer items are not remembered
	known   map[string][]amounts // what large blocks came to, by block, phase and arguments
	scratch *tally
	key     []byte

	// What the ranks have in common: see grouping and states.
	groups *grouping
	states states // of the ranks between calls

	// The call at hand.
	used   []bool  // by parameter of the call site
	args   []int64 // of the item
	now    []int32 // by group: state after the call
	chunk  *trace.Chunk
	rank   int32 // one of those that make it
	phases []int32
	slots  []operation
	row    int // of the innermost phase, in the tally

	stack []int64 // registers of the blocks that are being run
	err   error   // nothing is run after it
}

// operation is a body that waits in a slot for a poll. Two operations are equal if a poll of them does the same.
type operation struct {
	pending, guarded bool
	block            int
	args             []int64 // those that nothing depends on are 0
}

// amounts are what a call adds to the counter at a place of the tally. An amount has the two parts that it has in
// a tally, exact and float.
type amounts struct {
	at         int
	int, exact int64
	float      float64
}

// mostItems bounds the items that are run, each of which takes some ns: 2^36 take some minutes. A small file can
// ask for any number of items by blocks that call blocks.
const mostItems = 1 << 36

// endless stands for all numbers of turns or calls that exceed 63 bits.
const endless = math.MaxInt64

// Errors of traces that are too large to be counted.
var (
	errTotals = errors.New("totals exceed 64 bits")
	errItems  = errors.New("blocks of too many items to be counted")
	errRelays = errors.New("what ranks do depends on when their requests are complete: want a file, not a pipe")
)

// fail notes the first thing that no action of the trace can mean.
func (r *runner) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", trace.ErrAction, fmt.Sprintf(format, args...))
	}
}

// add adds value to a counter of the innermost phase, times times. A negative value, which no action can mean,
// and a total that does not fit are errors.
func (r *runner) add(c counter, value, times int64) {
	if value < 0 {
		r.fail("a count or size of %d", value)
		return
	}
	sum := &r.ints[r.row+int(c)]
	hi, lo := bits.Mul64(uint64(value), uint64(times))
	if hi != 0 || lo > uint64(math.MaxInt64-*sum) || times == endless && value > 0 {
		r.err = errTotals
		return
	}
	*sum += int64(lo)
}

// amount adds to the amount of a counter of the innermost phase.
// The product is rounded before it is added, so that all processors make the same sum.
func (r *runner) amount(c counter, value float64, times int64) {
	r.floats[r.row+int(c)] += float64(float64(times) * value)
}

// enter runs a block. args are in the order of the block's parameters.
func (r *runner) enter(block int, args []int64, times int64) {
	p := &r.plans[block]
	if len(p.items) == 0 {
		return
	}
	regs := r.frame(p)
	copy(regs[1:], args)
	r.call(block, regs, times)
	r.stack = r.stack[:len(r.stack)-p.registers]
}

// mostKnown bounds how many calls are remembered. Blocks of fewer than fewItems are as quick to run again.
const (
	mostKnown = 1 << 14
	fewItems  = 1000
)

// call runs a block with its registers. The counts of a large block are remembered if they only depend on its
// arguments: process rows that differ in other ways often factor the same number of rows.
func (r *runner) call(block int, regs []int64, times int64) {
	p := &r.plans[block]
	if p.size < r.few || !p.even || p.member || p.loose {
		r.run(p.items, regs, times)
		return
	}
	key := binary.AppendUvarint(binary.AppendUvarint(r.key[:0], uint64(block)), uint64(r.row))
	for i, used := range p.used {
		if used {
			key = binary.AppendVarint(key, regs[1+i])
		}
	}
	r.key = key
	list, ok := r.known[string(key)]
	if !ok {
		name, whole := string(key), r.tally
		// What the block adds is found by running it once into an empty tally. That becomes the
		// scratch tally again, emptied, when its cells have been read.
		if r.tally = r.scratch; r.tally == nil { // else a block is recorded within another one
			r.tally = newTally(r.program.Header())
		}
		r.scratch = nil
		r.run(p.items, regs, 1)
		for i := range r.ints {
			if r.ints[i] != 0 || r.exact[i] != 0 || r.floats[i] != 0 {
				list = append(list, amounts{i, r.ints[i], r.exact[i], r.floats[i]})
				r.ints[i], r.exact[i], r.floats[i] = 0, 0, 0
			}
		}
		r.scratch, r.tally = r.tally, whole
		if r.err != nil {
			return
		}
		if len(r.known) >= mostKnown {
			clear(r.known)
		}
		r.known[name] = list
	}
	// The recorded places include their row, so that they are added from row 0.
	row := r.row
	r.row = 0
	for _, a := range list {
		r.add(counter(a.at), a.int, times)
		r.addTerm(a.at, uint64(a.exact), float64(a.exact), times)
		r.amount(counter(a.at), a.float, times)
	}
	r.row = row
}

// frame returns the registers of a block, of which the first is 0. Frames of callers stay where they
// are when the stack grows.
func (r *runner) frame(p *plan) []int64 {
	n := len(r.stack)
	if n+p.registers > cap(r.stack) {
		r.stack = make([]int64, n, 2*(n+p.registers))
	}
	r.stack = r.stack[:n+p.registers]
	regs := r.stack[n:]
	regs[0] = 0
	return regs
}

// value returns what an operand stands for.
func value(regs []int64, o trace.Operand) int64 { return regs[o.Reg] + o.Const }

// run runs items with the registers of their block. The counts are multiplied by times, as the values of the
// registers are the same each time. It ends at the first error.
func (r *runner) run(items []trace.Item, regs []int64, times int64) {
	for i := range items {
		if r.left--; r.left < 0 {
			r.err = errItems
		}
		if r.err != nil {
			return
		}
		it := &items[i]
		args := it.Args
		switch it.Op {
		case trace.OpLetAffine:
			sum := int64(0)
			for j, a := range args {
				sum += it.Coefs[j] * value(regs, a)
			}
			regs[it.Dst] = sum
		case trace.OpLetMul:
			regs[it.Dst] = value(regs, args[0]) * value(regs, args[1])
		case trace.OpLetMin:
			regs[it.Dst] = min(value(regs, args[0]), value(regs, args[1]))
		case trace.OpLetMax:
			regs[it.Dst] = max(value(regs, args[0]), value(regs, args[1]))
		case trace.OpLetEq:
			regs[it.Dst] = 0
			if value(regs, args[0]) == value(regs, args[1]) {
				regs[it.Dst] = 1
			}
		case trace.OpLetMember:
			g := &r.program.Header().CommFamilies[it.Sym].Groups[r.program.Group(it.Sym, r.rank)]
			i, n := value(regs, args[0]), int64(g.Len())
			regs[it.Dst] = int64(g.Member(int((i%n + n) % n)))
		case trace.OpLetSum:
			regs[it.Dst], r.err = r.chunk.Sum(value(regs, args[0]), value(regs, args[1]), value(regs, args[2]))
		case trace.OpIf:
			if value(regs, args[0]) != 0 {
				r.run(it.Body, regs, times)
			}
		case trace.OpLoop:
			// The turns are run together if they leave phases and slots as they are. Otherwise they are run one by one
			// until a turn changes nothing: then the later ones change nothing either.
			turns := value(regs, args[0])
			for ; turns > 0 && it.Slot == loopChanges; turns-- {
				phases, slots := slices.Clone(r.phases), slices.Clone(r.slots)
				if r.run(it.Body, regs, times); r.err != nil {
					return
				}
				if slices.Equal(phases, r.phases) && slices.EqualFunc(slots, r.slots, func(o, p operation) bool {
					return o.pending == p.pending && o.guarded == p.guarded && o.block == p.block && slices.Equal(o.args, p.args)
				}) {
					turns--
					break
				}
			}
			if turns > 0 {
				r.run(it.Body, regs, product(times, turns))
			}
		case trace.OpCall:
			p := &r.plans[it.Sym]
			callee := r.frame(p)
			for j, a := range args {
				callee[1+j] = value(regs, a)
			}
			r.call(it.Sym, callee, times)
			r.stack = r.stack[:len(r.stack)-p.registers]
		case trace.OpMark:
			if m := &r.program.Header().Markers[it.Sym]; !m.End {
				r.phases = append(r.phases, int32(m.Phase-1))
			} else if n := len(r.phases); n > 0 {
				r.phases = r.phases[:n-1]
			}
			r.setRow()
		case trace.OpDefine:
			if r.slots[it.Slot].pending {
				r.fail("pollable %d is defined again while pending", it.Slot)
				return
			}
			// The slot is part of the rank's state: arguments that nothing depends on must not tell states apart.
			body := make([]int64, len(args))
			for j, a := range args {
				if r.plans[it.Sym].used[j] {
					body[j] = value(regs, a)
				}
			}
			r.slots[it.Slot] = operation{true, it.Guard != nil, it.Sym, body}
		case trace.OpPoll:
			r.poll(it.Slot, false, times)
		case trace.OpPollWait:
			r.poll(it.Slot, true, times)
		case trace.OpWork:
			r.work(it, regs, times)
		case trace.OpCompute, trace.OpLaunch:
			r.compute(it, regs, times)
		default:
			r.action(it, regs, times)
		}
	}
}

// product returns the product of two numbers of times, endless if it does not fit.
func product(times, n int64) int64 {
	hi, lo := bits.Mul64(uint64(times), uint64(n))
	if hi != 0 || lo >= endless {
		return endless
	}
	return int64(lo)
}

// setRow sets the row of the tally to that of the innermost phase.
func (r *runner) setRow() {
	phase := int32(-1)
	if n := len(r.phases); n > 0 {
		phase = r.phases[n-1]
	}
	r.row = r.at(phase, 0)
}

// poll polls a slot; spin says that the rank has nothing else to do. If polls are answered as by trace.Hit, each
// guarded operation finds its message; as by trace.Late, only one that is polled with spin.
func (r *runner) poll(slot uint8, spin bool, times int64) {
	o := r.slots[slot]
	switch {
	case !o.pending:
		return
	case o.guarded && r.late && !spin:
		r.add(countMiss, 1, times)
		return
	case o.guarded:
		r.add(countIprobe, 1, times)
	}
	r.slots[slot] = operation{}
	r.enter(o.block, o.args, times)
}

// work runs work-while-pending: pieces of the columns with a poll after each while the operation is pending, then
// all columns that are left at once.
func (r *runner) work(it *trace.Item, regs []int64, times int64) {
	left, piece := value(regs, it.Args[0]), value(regs, it.Args[1])
	if piece < 1 {
		r.fail("work in chunks of %d", piece)
		return
	}
	args := make([]int64, len(it.Args)-1)
	for i, a := range it.Args[2:] {
		args[1+i] = value(regs, a)
	}
	body := func(columns, times int64) {
		args[0] = columns
		r.enter(it.Sym, args, times)
	}
	slot := &r.slots[it.Slot]
	for slot.pending && r.err == nil {
		if r.late && slot.guarded && left > piece && r.plans[it.Sym].even {
			// All turns but the last one miss. They are run at once, since they leave phases and slots as they are.
			misses := (left - 1) / piece
			body(piece, product(times, misses))
			r.add(countMiss, misses, times)
			left -= misses * piece
			continue
		}
		columns := min(piece, left)
		left -= columns
		body(columns, times)
		r.poll(it.Slot, left <= 0, times)
	}
	if left >= 1 {
		body(left, times)
	}
}

// compute counts a kernel and the terms of its flop count: in integers as long as they fit.
// Flop counts are polynomials of dimensions with large values, whose sums as float64 would depend
// on the order of addition, and so on how ranks are grouped. Sums of integers do not.
func (r *runner) compute(it *trace.Item, regs []int64, times int64) {
	c := r.kernels[it.Sym]
	r.add(c, 1, times)
	terms := r.program.Header().Kernels[it.Sym].Flops
	for i := range terms {
		c++
		exact, rounded := uint64(1), 1.0
		for d, a := range it.Args[:len(r.program.Header().Kernels[it.Sym].Dims)] { // parts of a launch do not count
			v := value(regs, a)
			if v < 0 {
				r.fail("kernel with a dimension of %d", v)
				return
			}
			for range terms[i].Pow[d] {
				hi, lo := bits.Mul64(exact, uint64(v))
				if exact = lo; hi != 0 || lo > math.MaxInt64 {
					exact = math.MaxInt64
				}
				rounded *= float64(v)
			}
		}
		r.addTerm(r.row+int(c), exact, rounded, times)
	}
}

// addTerm adds a term of a flop count: the integer exact, or the float64 rounded if exact is endless. A sum of
// integers that no longer fits is moved to the sum of float64s and begins again at 0.
func (r *runner) addTerm(at int, exact uint64, rounded float64, times int64) {
	hi, lo := bits.Mul64(exact, uint64(times))
	if exact < endless && hi == 0 && lo <= uint64(math.MaxInt64-r.exact[at]) {
		r.exact[at] += int64(lo)
		return
	}
	r.floats[at] += float64(r.exact[at]) + float64(rounded*float64(times))
	r.exact[at] = 0
}

// message counts a message, and its bytes if it is sent.
func (r *runner) message(c counter, it *trace.Item, regs []int64, times int64) {
	r.add(c, 1, times)
	if int(c) < numSenders {
		r.add(countBytes+c, value(regs, it.Args[2]), times)
	}
}

// moved counts an access to a window or a file, and its bytes.
func (r *runner) moved(c counter, bytes, times int64) {
	r.add(c, 1, times)
	r.add(countMoved+c-countAccess, bytes, times)
}

// null reports whether an operand is a peer to or from whom nothing is sent.
func (r *runner) null(regs []int64, peer trace.Operand) bool {
	return r.program.Header().Communicators && value(regs, peer) == trace.ProcNull
}

// action counts an item that stands for actions other than of a kernel. Of an empty side of an exchange nothing is
// sent. It follows Cursor.run: each case counts the action that the cursor yields for the same item.
func (r *runner) action(it *trace.Item, regs []int64, times int64) {
	switch it.Op {
	case trace.OpSend, trace.OpSsend, trace.OpIsend, trace.OpIssend, trace.OpStart,
		trace.OpRecv, trace.OpIrecv, trace.OpIprobe, trace.OpProbe:
		if r.null(regs, it.Args[0]) {
			r.add(countNull, 1, times)
		} else {
			r.message(opCounts[it.Op], it, regs, times)
		}
	case trace.OpExchange:
		in := value(regs, it.Args[3]) != 0
		switch out := value(regs, it.Args[2]) != 0; {
		case out:
			r.message(countSend, it, regs, times)
			if in {
				r.add(countIrecv, 1, times)
				r.add(countWait, 1, times)
			}
		case in:
			r.add(countRecv, 1, times)
		}
	case trace.OpSyncExchange:
		r.message(countIssend, it, regs, times)
		r.add(countRecv, 1, times)
		r.add(countWait, 1, times)
	case trace.OpSendrecv:
		// A side whose peer is null is left out, as in a replay.
		from := !r.null(regs, it.Args[3])
		switch to := !r.null(regs, it.Args[0]); {
		case to && from:
			r.message(countSendrecv, it, regs, times)
		case to:
			r.message(countSend, it, regs, times)
		case from:
			r.add(countRecv, 1, times)
		default:
			r.add(countNull, 1, times)
		}
	case trace.OpFlops, trace.OpSleep:
		r.add(opCounts[it.Op], 1, times)
		r.amount(opCounts[it.Op], math.Float64frombits(uint64(value(regs, it.Args[0]))), times)
	case trace.OpCollective, trace.OpIcollective:
		c, kind := countCollective+counter(it.Sym), trace.CollectiveKind(it.Sym)
		if it.Op == trace.OpIcollective {
			c = countIcollective + counter(it.Sym)
		}
		r.add(c, 1, times)
		if kind.Reduces() {
			r.amount(c, math.Float64frombits(uint64(value(regs, kind.Operands(it.Args).Flops))), times)
		}
	case trace.OpComplete:
		r.add(countComplete+counter(it.Sym), 1, times)
	case trace.OpAccess, trace.OpIaccess:
		c, kind, bytes := countAccess+counter(it.Slot), trace.AccessKind(it.Slot), value(regs, it.Args[2])
		if it.Op == trace.OpIaccess {
			c += countIaccess - countAccess
		}
		if kind == trace.AccessGet || kind.Fetches() && bytes == 0 {
			bytes = value(regs, it.Args[3])
		}
		r.moved(c, bytes, times)
	case trace.OpFile:
		r.moved(countFile+counter(it.Slot), value(regs, it.Args[0]), times)
	case trace.OpSync:
		r.add(countSync+counter(it.Slot), 1, times)
	case trace.OpQueue:
		v, _ := it.QueueVerb()
		r.add(countQueue+counter(v), 1, times)
	default:
		r.add(opCounts[it.Op], 1, times)
	}
}
