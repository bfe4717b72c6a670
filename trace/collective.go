package trace

import (
	"cmp"
	"fmt"
	"math"
	"reprise/internal/portable"
)

// CollectiveKind is a collective operation of MPI, on all ranks of the trace or on those
// of a communicator.
type CollectiveKind uint8

// The collective operations. A comment names what a call of each says, beyond
// the sizes of the elements that are counted; "s" and "r": what it sends and
// receives, as numbers of elements, "per rank" one number for each rank. Ranks are those
// of the communicator.
const (
	CollBarrier       CollectiveKind = iota
	CollBcast                        // s, root
	CollReduce                       // s, root, flop
	CollAllreduce                    // s, flop
	CollAlltoall                     // s to each, r from each
	CollAlltoallv                    // s per rank, r per rank
	CollGather                       // s, r from each, root
	CollGatherv                      // s, r per rank, root
	CollAllgather                    // s, r from each
	CollAllgatherv                   // s, r per rank, span
	CollScatter                      // s to each, r, root
	CollScatterv                     // s per rank, r, root
	CollReduceScatter                // r per rank, flop
	CollScan                         // s, flop
	CollExscan                       // s, flop
	numCollectives
)

// NumCollectives is the number of collective operations.
const NumCollectives = int(numCollectives)

// countForm says how a call counts what it sends or receives.
type countForm uint8

const (
	noCount countForm = iota
	oneCount
	countPerRank // a vector with an element for each rank
)

// collectiveRule is what a call of an operation says. As arguments of an
// OpCollective these come in the order of the fields, a count before the size
// of its elements.
type collectiveRule struct {
	name              string
	send, recv        countForm
	root, flops, span bool
}

var collectiveRules = [numCollectives]collectiveRule{
	CollBarrier:       {name: "barrier"},
	CollBcast:         {name: "bcast", send: oneCount, root: true},
	CollReduce:        {name: "reduce", send: oneCount, root: true, flops: true},
	CollAllreduce:     {name: "allreduce", send: oneCount, flops: true},
	CollAlltoall:      {name: "alltoall", send: oneCount, recv: oneCount},
	CollAlltoallv:     {name: "alltoallv", send: countPerRank, recv: countPerRank},
	CollGather:        {name: "gather", send: oneCount, recv: oneCount, root: true},
	CollGatherv:       {name: "gatherv", send: oneCount, recv: countPerRank, root: true},
	CollAllgather:     {name: "allgather", send: oneCount, recv: oneCount},
	CollAllgatherv:    {name: "allgatherv", send: oneCount, recv: countPerRank, span: true},
	CollScatter:       {name: "scatter", send: oneCount, recv: oneCount, root: true},
	CollScatterv:      {name: "scatterv", send: countPerRank, recv: oneCount, root: true},
	CollReduceScatter: {name: "reducescatter", recv: countPerRank, flops: true},
	CollScan:          {name: "scan", send: oneCount, flops: true},
	CollExscan:        {name: "exscan", send: oneCount, flops: true},
}

// String returns MPI's name in small letters.
func (k CollectiveKind) String() string {
	if k < numCollectives {
		return collectiveRules[k].name
	}
	return fmt.Sprintf("collective %d", uint8(k))
}

// SendsPerRank reports whether a call counts what it sends rank by rank.
func (k CollectiveKind) SendsPerRank() bool { return collectiveRules[k].send == countPerRank }

// RecvsPerRank reports whether a call counts what it receives rank by rank.
func (k CollectiveKind) RecvsPerRank() bool { return collectiveRules[k].recv == countPerRank }

// Rooted reports whether a call names a root.
func (k CollectiveKind) Rooted() bool { return collectiveRules[k].root }

// Sends reports whether a call counts what it sends.
func (k CollectiveKind) Sends() bool { return collectiveRules[k].send != noCount }

// Receives reports whether a call counts what it receives.
func (k CollectiveKind) Receives() bool { return collectiveRules[k].recv != noCount }

// Reduces reports whether a call computes: it has flop.
func (k CollectiveKind) Reduces() bool { return collectiveRules[k].flops }

// Spans reports whether a call says what its receive buffer spans.
func (k CollectiveKind) Spans() bool { return collectiveRules[k].span }

// arguments returns the number of arguments of an OpCollective.
func (k CollectiveKind) arguments() int {
	n := 0
	new(CollectiveOperands).each(k, func(*Operand) { n++ })
	return n
}

// MaxElementSize bounds the size of an element that a collective counts, in bytes.
const MaxElementSize = 1 << 20

// MaxCount bounds the elements that a collective counts for one rank, so that
// sums of sizes fit.
const MaxCount = 1 << 40

const maxSpan = 1 << 60

// Collective is what a rank says in a call of a collective operation.
// Which fields have a meaning depends on Kind, see collectiveRules; the others are 0.
type Collective struct {
	Kind CollectiveKind
	Comm int32 // 1 + family of the communicator; 0: all ranks
	Root int32 // rank in the communicator

	// What the rank sends to each and receives from each, as numbers of elements.
	// Where the kind counts rank by rank, the running sums, from 0, of the counts of
	// ranks 0, 1, ... take their place.
	Send, Recv         int64
	SendSums, RecvSums []int64

	SendSize, RecvSize int64 // bytes of an element

	// Flops is computed after the communication. Span, of an allgatherv, is the
	// number of elements that the receive buffer spans, gaps included.
	Flops float64
	Span  int64

	Operator Operator // of a reduction

	Nonblocking bool // a wait for its request completes it
}

// Sums finds running sums by the number that an action has for them.
type Sums interface{ Sums(list int64) []int64 }

// Comm returns 1 + the family of the communicator of a collective operation, 0 for all ranks.
// It shares the action's Tag with the operator, which has the lowest 8 bits.
func (a *Action) Comm() int32 { return a.Tag >> operatorBits }

// Operator returns that of a collective operation.
func (a *Action) Operator() Operator { return Operator(a.Tag) }

// operatorBits is where the communicator begins in the tag of a collective operation.
const operatorBits = 8

// Collective decodes a KindCollective or KindIcollective action; lists holds its vectors.
func (a *Action) Collective(lists Sums) Collective {
	c := Collective{Kind: CollectiveKind(a.Sym), Nonblocking: a.Kind == KindIcollective, Comm: a.Comm(), Root: a.Peer,
		Operator: a.Operator(), Send: a.X[0], Recv: a.X[1],
		SendSize: a.X[3] & math.MaxUint32, RecvSize: a.X[3] >> 32}
	rule := &collectiveRules[c.Kind]
	if rule.send == countPerRank {
		c.SendSums, c.Send = lists.Sums(c.Send), 0
	}
	if rule.recv == countPerRank {
		c.RecvSums, c.Recv = lists.Sums(c.Recv), 0
	}
	if rule.span {
		c.Span = a.X[2]
	} else {
		c.Flops = math.Float64frombits(uint64(a.X[2]))
	}
	return c
}

// SetCollective makes a a KindCollective or KindIcollective action, without a request. Where c.Kind counts rank by
// rank, c.Send and c.Recv are the numbers of the running sums.
// It undoes Action.Collective: both know where an Action has room for the fields of a Collective.
func (a *Action) SetCollective(c *Collective) {
	*a = Action{Kind: KindCollective, Sym: uint16(c.Kind), Peer: c.Root, Tag: c.Comm<<operatorBits | int32(c.Operator)}
	if c.Nonblocking {
		a.Kind = KindIcollective
	}
	a.X = [4]int64{c.Send, c.Recv, FloatArg(c.Flops), c.SendSize | c.RecvSize<<32}
	if collectiveRules[c.Kind].span {
		a.X[2] = c.Span
	}
}

// Check reports what cannot be in a call by one of so many ranks of a communicator.
func (c *Collective) Check(ranks int) error {
	rule := &collectiveRules[c.Kind]
	if c.Root < 0 || int(c.Root) >= ranks {
		return fmt.Errorf("root %d out of [0,%d)", c.Root, ranks)
	}
	// The negation refuses NaN, too.
	if !(c.Flops >= 0) || math.IsInf(c.Flops, 1) {
		return fmt.Errorf("%v flop, want a number >= 0", c.Flops)
	}
	if c.Span < 0 || c.Span > maxSpan {
		return fmt.Errorf("span of %d elements", c.Span)
	}
	return cmp.Or(checkCounts("sends", rule.send, c.Send, c.SendSums, c.SendSize, ranks),
		checkCounts("receives", rule.recv, c.Recv, c.RecvSums, c.RecvSize, ranks))
}

// checkCounts checks one direction. Of a vector it looks at the length only: what
// the elements may be is checked once, when the vector is read.
func checkCounts(verb string, form countForm, count int64, sums []int64, size int64, ranks int) error {
	if form == noCount {
		return nil
	}
	if size < 1 || size > MaxElementSize {
		return fmt.Errorf("%s elements of %d bytes, allowed 1 to %d", verb, size, MaxElementSize)
	}
	if form == countPerRank {
		if len(sums) != ranks+1 {
			return fmt.Errorf("%s counts for %d ranks, want %d", verb, len(sums)-1, ranks)
		}
		return nil
	}
	if count < 0 || count > MaxCount {
		return fmt.Errorf("%s %d elements, allowed 0 to %d", verb, count, MaxCount)
	}
	return nil
}

// Collective appends a call of a collective operation. Counts that the kind makes
// rank by rank are handles of vectors, with an element for each rank; what the
// kind does not have is ignored.
func (b *Builder) Collective(kind CollectiveKind, c CollectiveOperands) {
	b.collective(Item{Op: OpCollective}, kind, &c)
}

// Icollective appends a call of a nonblocking collective operation, which a wait, or
// whatever else completes requests, completes.
func (b *Builder) Icollective(req int32, kind CollectiveKind, c CollectiveOperands) {
	b.collective(Item{Op: OpIcollective, Req: req}, kind, &c)
}

// collective appends an item with the operands that the kind has.
func (b *Builder) collective(it Item, kind CollectiveKind, c *CollectiveOperands) {
	it.Sym, it.Slot, it.Comm = int(kind), uint8(c.Operator), int(c.Comm)
	if kind < numCollectives {
		c.each(kind, func(o *Operand) { it.Args = append(it.Args, *o) })
	}
	b.Add(it)
}

// CollectiveOperands are the operands of Builder.Collective; Flops holds the bits
// of a float64. Operator may be left out. Comm is Communicator of a family; without it
// all ranks call the operation.
type CollectiveOperands struct {
	Send, SendSize, Recv, RecvSize, Root, Flops, Span Operand
	Operator                                          Operator
	Comm                                              Comm
}

// Comm names the communicator of a collective operation: 1 + a family, whose groups are
// communicators, or 0 for all ranks.
type Comm int

// Communicator returns the communicator that is the own group of a family.
func Communicator(family int) Comm { return Comm(family + 1) }

// each calls f with each operand that a kind has, in the order of an item's arguments.
// Builder, checker and linker all use this one order.
func (c *CollectiveOperands) each(k CollectiveKind, f func(o *Operand)) {
	r := &collectiveRules[k]
	if r.send != noCount {
		f(&c.Send)
		f(&c.SendSize)
	}
	if r.recv != noCount {
		f(&c.Recv)
		f(&c.RecvSize)
	}
	if r.root {
		f(&c.Root)
	}
	if r.flops {
		f(&c.Flops)
	}
	if r.span {
		f(&c.Span)
	}
}

// Operands takes the arguments of an OpCollective item apart.
func (k CollectiveKind) Operands(args []Operand) (c CollectiveOperands) {
	c.each(k, func(o *Operand) { *o, args = args[0], args[1:] })
	return c
}

// collective stores the action of a call; it fails on one that cannot be.
func (c *Cursor) collective(a *Action, in *instr, r *registers) bool {
	// Six operands come in two instructions: those of the one before are in aux.
	root, send, recv := r[in.a]+int64(in.x), r[in.b]+int64(in.y), r[in.c]+int64(in.z)
	call := Collective{Kind: CollectiveKind(in.flags), Nonblocking: in.op == opIcollective, Comm: int32(in.sym),
		Operator: Operator(in.d), Root: int32(root), Send: send, Recv: recv,
		SendSize: c.set.aux[0], RecvSize: c.set.aux[1]}
	rule := &collectiveRules[in.flags]
	if rule.span {
		call.Span = c.set.aux[2]
	} else {
		call.Flops = math.Float64frombits(uint64(c.set.aux[2]))
	}
	var ok bool
	if rule.send == countPerRank {
		if call.SendSums, ok = c.countSums(send); !ok {
			return false
		}
		// From here on the action names the list by its place among those of this Fill.
		call.Send = int64(len(c.lists) - 1)
	}
	if rule.recv == countPerRank {
		if call.RecvSums, ok = c.countSums(recv); !ok {
			return false
		}
		call.Recv = int64(len(c.lists) - 1)
	}
	// A root that does not fit is refused as any other root that is no rank.
	if root != int64(int32(root)) {
		call.Root = -1
	}
	size := c.set.ranks
	if in.sym > 0 {
		size = c.group(in.sym - 1).Count
	}
	if err := call.Check(int(size)); err != nil {
		c.fail("%v: %v", call.Kind, err)
		return false
	}
	a.SetCollective(&call)
	a.Req = in.w
	return true
}

// countSums notes the vector of a handle and returns its running sums.
func (c *Cursor) countSums(v int64) ([]int64, bool) {
	if v < 0 || v >= int64(len(c.win.vectors)) {
		c.fail("vector %d out of [0,%d)", v, len(c.win.vectors))
		return nil, false
	}
	if !c.win.vectors[v].counts {
		c.fail("vector %d has elements out of [0,%d], which are no counts", v, MaxCount)
		return nil, false
	}
	return c.list(v), true
}

// Sums returns running sums that an action of the last Fill names by their number.
// They are valid until the next Fill; nil if there are none of that number.
func (c *Cursor) Sums(list int64) []int64 {
	if uint64(list) >= uint64(len(c.lists)) {
		return nil
	}
	return c.lists[list].sums
}

// Operator is what a reduction does with two elements. No time depends on it.
type Operator uint8

// The operators: those that MPI predefines. NoOperator: the trace does not say.
const (
	NoOperator Operator = iota
	OperatorSum
	OperatorMax
	OperatorMin
	OperatorProd
	OperatorLand
	OperatorBand
	OperatorLor
	OperatorBor
	OperatorLxor
	OperatorBxor
	OperatorMaxloc
	OperatorMinloc
	numOperators
)

var operatorNames = [numOperators]string{"", "sum", "max", "min", "prod", "land", "band", "lor", "bor", "lxor", "bxor",
	"maxloc", "minloc"}

// String returns MPI's name in small letters, as in MPI_MAX; nothing for NoOperator.
func (o Operator) String() string { return nameOf(operatorNames[:], uint8(o), "operator") }

// Completion is how an operation completes several requests.
type Completion uint8

// The completions. Which requests there are, those that are pending, is found where the
// operation is played; which of them are completed is decided there, and nothing that follows
// depends on it.
const (
	CompleteAll  Completion = iota // waits for all
	CompleteAny                    // waits for one
	CompleteSome                   // waits for one and takes what else is complete
	TestAll                        // tests each, one after the other
	TestAny                        // takes one that is complete, if there is one
	TestSome                       // as TestAll
	numCompletions
)

// NumCompletions is the number of completions.
const NumCompletions = int(numCompletions)

var completionNames = [numCompletions]string{"waitall", "waitany", "waitsome", "testall", "testany", "testsome"}

// String returns MPI's name in small letters.
func (m Completion) String() string { return nameOf(completionNames[:], uint8(m), "completion") }

// maxCompleted bounds the requests that one operation completes.
const maxCompleted = 1 << 16

// Complete completes some of the requests in slots, as m says.
func (b *Builder) Complete(m Completion, slots ...int32) {
	it := Item{Op: OpComplete, Sym: int(m)}
	for _, s := range slots {
		it.Coefs = append(it.Coefs, int64(s))
	}
	b.Add(it)
}

// Probe waits for a message of a peer, which may be AnySource, with a tag, which may be AnyTag.
func (b *Builder) Probe(family int, peer, tag Operand) {
	b.Add(Item{Op: OpProbe, Sym: family, Args: []Operand{peer, tag}})
}

// Requests returns the request slots that a KindComplete action names by their number X[0];
// nil if there are none of that number. They stay as they are.
func (c *Cursor) Requests(list int64) []int32 {
	if uint64(list) >= uint64(len(c.set.code.slots)) {
		return nil
	}
	return c.set.code.slots[list]
}

// What ranks say in a collective operation must agree, as MPI has it: the operation and its
// root; what a rank sends another is what that receives from it (but what a root gathers
// from itself, or scatters to itself, where it may say MPI_IN_PLACE); and all reduce,
// or scan, as much. Compared are bytes.

// Agreement is what one rank adds to a sum over all ranks that is 0, modulo 2^64, if they
// agree in a call of a collective operation, the rank's of that number on the communicator,
// and with near certainty only then. Group is that of the communicator in its family, ranks
// are those of it. The call must have been checked.
func (c *Collective) Agreement(group int32, call int64, rank, ranks int) uint64 {
	// The sum of the terms of one rank. Terms cancel out over all ranks if they agree: equal values
	// in a ring, by alike, and pairs of sender and receiver, by transfer.
	sum := alike(rank, ranks, portable.Mix(uint64(c.Kind)<<32|uint64(uint32(c.Root))))
	if c.Nonblocking {
		sum += alike(rank, ranks, uint64(c.Kind))
	}
	// The name tells calls apart, so that disagreements in two of them do not cancel out.
	name := portable.Mix(uint64(call))
	if c.Comm > 0 {
		name = portable.Mix(name + uint64(c.Comm)<<32 + uint64(group))
	}
	switch c.Kind {
	case CollBarrier:
	// All ranks say the same size (MPI 4.1, chapter 6).
	case CollBcast, CollReduce, CollAllreduce, CollScan, CollExscan:
		sum += alike(rank, ranks, c.sends(0))
	// All ranks say the same list.
	case CollReduceScatter:
		sum += alike(rank, ranks, c.receivesAll(ranks))
	// All receive the same from each, and what a rank sends is what it receives from itself.
	case CollAllgather, CollAllgatherv, CollAlltoall:
		sum += alike(rank, ranks, c.receivesAll(ranks))
		if c.sends(rank) != c.receives(rank) {
			sum += portable.Mix(uint64(c.sends(rank) + 1))
		}
	// Pairs of ranks: what one sends is what the other receives. The sum runs over all pairs,
	// so each is looked at from both its ends, by ranks that know nothing of each other.
	default:
		first, end := 0, ranks
		if c.Kind.Rooted() && rank != int(c.Root) { // it exchanges with the root only
			first, end = int(c.Root), int(c.Root)+1
		}
		for other := first; other < end; other++ {
			if c.exchange(rank, other) {
				sum -= transfer(rank, other, c.sends(other))
			}
			if c.exchange(other, rank) {
				sum += transfer(other, rank, c.receives(other))
			}
		}
	}
	return sum * (name | 1)
}

// alike is 0 when it is added up over ranks that all have the same value.
// Each rank adds the hash of its own number and value, and subtracts that of its neighbour's number
// and its own value: in a ring of equal values each hash is there once with either sign.
func alike[T int64 | uint64](rank, ranks int, value T) uint64 {
	return portable.Mix(portable.Mix(uint64(rank))+uint64(value)) - portable.Mix(portable.Mix(uint64((rank+1)%ranks))+uint64(value))
}

// transfer stands for so many bytes from one rank to another: the sender subtracts it, the receiver adds
// it.
func transfer(from, to int, bytes int64) uint64 {
	return portable.Mix(portable.Mix(uint64(from)<<32|uint64(to)) + uint64(bytes))
}

// exchange reports whether from sends to something, in an operation that has senders and
// receivers, that both of them count.
func (c *Collective) exchange(from, to int) bool {
	switch c.Kind {
	case CollGather, CollGatherv:
		return to == int(c.Root) && from != to
	case CollScatter, CollScatterv:
		return from == int(c.Root) && from != to
	}
	rule := &collectiveRules[c.Kind]
	return rule.send != noCount && rule.recv != noCount
}

// sends returns the bytes that the rank sends another, or just sends.
func (c *Collective) sends(to int) int64 {
	if c.Kind.SendsPerRank() {
		return (c.SendSums[to+1] - c.SendSums[to]) * c.SendSize
	}
	return c.Send * c.SendSize
}

// receives returns the bytes that the rank receives from another one; of a reduce-scatter
// those that the other one receives.
func (c *Collective) receives(from int) int64 {
	if c.Kind.RecvsPerRank() {
		return (c.RecvSums[from+1] - c.RecvSums[from]) * c.RecvSize
	}
	return c.Recv * c.RecvSize
}

// receivesAll stands for all of receives.
// It is a polynomial of the counts, by Horner's rule, modulo 2^64.
func (c *Collective) receivesAll(ranks int) uint64 {
	if !c.Kind.RecvsPerRank() {
		return uint64(c.receives(0))
	}
	sum := uint64(0)
	for from := range ranks {
		sum = sum*0x9E3779B97F4A7C15 + uint64(c.receives(from))
	}
	return sum
}

// Disagreement finds a rank that disagrees with another one in a call of an operation of
// one kind and root, and says how; text is "" if there is none. A receiver is not to blame for
// what it gets.
func Disagreement(calls []Collective) (rank int, text string) {
	kind := calls[0].Kind
	for r := range calls {
		for other := range calls {
			if kind == CollReduceScatter {
				if a, b := calls[r].receives(other), calls[0].receives(other); a != b {
					return r, fmt.Sprintf("%v with %d bytes for rank %d where rank 0 has %d", kind, a, other, b)
				}
				continue
			}
			// Pairs that exchange something: both say how many bytes.
			if !calls[r].exchange(r, other) {
				continue
			}
			if a, b := calls[r].sends(other), calls[other].receives(r); a != b {
				return r, fmt.Sprintf("%v: it sends %d bytes to rank %d, which receives %d from it", kind, a, other, b)
			}
		}
		if rule := &collectiveRules[kind]; rule.send == oneCount && rule.recv == noCount {
			if a, b := calls[r].sends(0), calls[0].sends(0); a != b {
				return r, fmt.Sprintf("%v of %d bytes where rank 0 has %d", kind, a, b)
			}
		}
	}
	return 0, ""
}
