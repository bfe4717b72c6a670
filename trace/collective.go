package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// This file says what a collective operation is in a trace: its kinds and their arguments, Builder.Collective, which
// appends one to a block, and Collective, which is a KindCollective action taken apart.

// CollectiveKind is a collective operation of MPI, on all ranks of the trace or on those of a communicator.
type CollectiveKind uint8

// The collective operations. A comment names the arguments of a call, besides the sizes of elements: "s" is the number
// of elements that it sends, "r" the number that it receives; "per rank" is one number for each rank of the
// communicator.
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

// countForm says how a call counts what it sends or receives.
type countForm uint8

// Ways to count what goes in one direction.
const (
	noCount countForm = iota
	oneCount
	countPerRank // a vector with an element for each rank
)

// collectiveRule says which arguments a call of an operation has. In an OpCollective they come in the order of the
// fields, each count before the size of its elements.
type collectiveRule struct {
	name              string
	send, recv        countForm
	root, flops, span bool
}

// collectiveRules has the name and the arguments of each operation.
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

// CollectiveNamed returns the kind that has a name, and whether there is one.
func CollectiveNamed(name string) (CollectiveKind, bool) {
	i := slices.IndexFunc(collectiveRules[:], func(r collectiveRule) bool { return r.name == name })
	return CollectiveKind(max(0, i)), i >= 0
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

// MaxElementSize bounds the size of an element that a collective counts, in bytes.
const MaxElementSize = 1 << 20

// MaxCount bounds the elements that a collective counts for one rank, so that sums of sizes fit.
const MaxCount = 1 << 40

// maxSpan bounds the elements that a receive buffer spans.
const maxSpan = 1 << 60

// Collective is what a rank says in a call of a collective operation.
// Which fields have a meaning depends on Kind, see collectiveRules; the others are 0.
type Collective struct {
	Kind CollectiveKind
	Comm int32 // 1 + family of the communicator; 0: all ranks
	Root int32 // rank in the communicator

	// What the rank sends to each and receives from each, as numbers of elements. Where the kind counts rank by rank,
	// the running sums, from 0, of the counts of ranks 0, 1, ... take their place.
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

// Operator returns the operator of a collective operation.
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

// SetCollective makes of a a KindCollective or KindIcollective action, without a request. Where c.Kind counts rank by
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

// Check reports what is impossible in a call by a rank of a communicator of that many ranks.
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

// Collective appends a call of a collective operation. Counts that the kind makes rank by rank are handles of
// vectors, with an element for each rank; what the kind does not have is ignored.
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

// CollectiveOperands are the operands of Builder.Collective. Flops holds the bits of a float64. Operator may be
// left out. Comm is what Communicator returns for a family; 0 stands for all ranks.
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

// collective stores the action of a call in a; it returns false, and fails the cursor, if the call is impossible.
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

// operatorNames are MPI's names of the operators, without MPI_ and in small letters.
var operatorNames = [numOperators]string{"", "sum", "max", "min", "prod", "land", "band", "lor", "bor", "lxor", "bxor",
	"maxloc", "minloc"}

// String returns MPI's name in small letters, as in MPI_MAX; nothing for NoOperator.
func (o Operator) String() string { return nameOf(operatorNames[:], uint8(o), "operator") }
