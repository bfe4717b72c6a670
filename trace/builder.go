package trace

import "fmt"

// This file defines blocks: a Block is a list of Items, each with an operation (Op) over registers. A Builder,
// from NewBuilder, makes a block item by item; Program.Add takes it.

// Reg is a register of a block's frame. Register 0 is always zero; 1..n hold
// the n parameters; further ones are results of Let items. Each is set once.
type Reg uint8

// Operand is the value of a register plus a constant.
type Operand struct {
	Reg   Reg
	Const int64
}

// Const returns a constant operand.
func Const(v int64) Operand { return Operand{Const: v} }

// Plus returns the operand plus c.
func (o Operand) Plus(c int64) Operand { return Operand{o.Reg, o.Const + c} }

// Op is the operation of an item of a block.
type Op uint8

// Operations. Args in order; Sym as noted; Dst for the Let operations.
const (
	OpNone         Op = iota
	OpLetAffine       // Dst = sum of Coefs[i]*Args[i]
	OpLetMul          // Dst = Args[0]*Args[1]
	OpLetMin          // Dst = min(Args[0], Args[1])
	OpLetMax          // Dst = max(Args[0], Args[1])
	OpLetEq           // Dst = 1 if Args[0] = Args[1], else 0
	OpLetMember       // Dst = world rank of member Args[0] mod size of the own group in family Sym
	OpLetSum          // Dst = sum of the elements [Args[1], Args[2]) of vector Args[0], indices mod its length
	OpCompute         // kernel Sym, dimensions Args
	OpFlops           // Args: float64 bits of an amount of flop; of its spread, if there is one
	OpSleep           // Args: float64 bits of seconds
	OpSend            // Args: peer, tag, bytes; Sym: family of the communicator (listings only)
	OpSsend           //
	OpIsend           // with request Req
	OpIssend          // with request Req
	OpRecv            // Args: peer, tag, bytes
	OpIrecv           // with request Req
	OpWait            // Req
	OpTest            // Req
	OpWaitAll         //
	OpExchange        // Args: peer, tag, bytes out, bytes in: irecv, send, wait; of an empty side nothing is left
	OpSyncExchange    // Args: peer, tag, bytes out, bytes in: issend, recv, wait, empty or not
	OpSendrecv        // Args: peer, tag, bytes, source, tag, bytes
	OpIprobe          // Args: peer, tag: a recorded probe
	OpProbed          // Args: peer, tag; Sym: free mark of the probe that let a pollable's body run
	// makes pollable Slot pending, with body block Sym and its arguments Args; Guard: peer and tag, or none for
	// an operation without a guard; GuardSym: the guard's family
	OpDefine
	OpPoll     // polls Slot once, if pending
	OpPollWait // polls Slot until it is done
	// runs block Sym on columns while pollable Slot is pending: see Builder.Work. Args: n, chunk, and the
	// arguments of the block behind its first parameter, the columns
	OpWork
	OpMark        // marker Sym with Args (a vector argument is its handle)
	OpIf          // Body if Args[0] is not zero
	OpLoop        // Body Args[0] times
	OpCall        // block Sym with Args
	OpCollective  // collective operation Sym; Args as CollectiveKind says; Slot: Operator of a reduction
	OpFree        // Req
	OpIcollective // as OpCollective, completed by a wait on Req
	OpComplete    // completion Sym of the requests Coefs
	OpProbe       // Args: peer, tag: waits for the message, and leaves it there
	OpStart       // Args: peer, tag, bytes; Req: starts a persistent send
	OpAccess      // access of kind Slot to a window of family Sym; Args: peer, window, bytes out, bytes in
	OpIaccess     // as OpAccess, completed by a wait on Req
	OpSync        // synchronisation Slot of a window of family Sym; Args: peer or AllRanks, window, assertions
	OpFile        // access of kind Slot to a file of family Sym; Args: bytes
	OpLaunch      // kernel Sym in the queue of the Slot; Args: dimensions, and the number of parts
	OpQueue       // verb and queue of the Slot, event Sym
	OpRelay       // Args: bytes, root; Slot: relay; Sym: family; Coefs: least bytes of a chunk, most chunks, window
	OpAdvance     // verb and set of relays of the Slot
	// runs block Sym on slices of rows while requests Coefs, or the relays of the Slot, are not complete; Args as OpWork's;
	// Dst: rows that are left
	OpUntil
	OpRing   // Args: bytes, root; Slot: flags; Sym: family; Coefs: bytes of a chunk
	OpAfter  // Args: distance; Slot: 0 for the end, 1 for the begin
	OpBeside // processor of the Slot
	numOps
)

// Item is one item of a block's definition.
type Item struct {
	Op       Op
	Dst      Reg
	Slot     uint8 // pollable, Operator of a collective operation, Memory of a message, or kind, as Op says
	Req      int32 // request slot
	Sym      int   // kernel, family, marker, block number, collective operation or completion
	Comm     int   // 1 + family of the communicator of a collective operation; 0: all ranks
	GuardSym int   // family of the guard's communicator (OpDefine)
	Args     []Operand
	Coefs    []int64   // OpLetAffine; OpComplete: request slots
	Guard    []Operand // OpDefine: peer and tag, or none
	Body     []Item    // OpIf, OpLoop
}

// Block is a definition: what a call of it does. Calls are acyclic: a block calls blocks of smaller numbers only.
type Block struct {
	Name   string // for people; not part of the block's identity
	Params int
	Items  []Item
}

// Builder collects the items of one block. Its methods append an item; those that compute return the operand that holds
// the result. Mistakes (too many registers, a callee that does not exist) are reported by Program.Add.
type Builder struct {
	block  Block
	next   int      // next free register
	memory Memory   // of messages
	body   *[]Item  // where items go: the block's or an open If's or Loop's
	errs   []string // mistakes, reported by Program.Add
}

// NewBuilder starts a block of the given number of parameters.
func NewBuilder(name string, params int) *Builder {
	b := &Builder{block: Block{Name: name, Params: params}, next: params + 1}
	b.body = &b.block.Items
	if params < 0 || params > maxRegs-1 {
		b.errs = append(b.errs, fmt.Sprintf("%d parameters, at most %d", params, maxRegs-1))
	}
	return b
}

// maxRegs bounds the registers of a block, register 0 included. The code can name 256; the linker needs the
// others for loops and for constants that do not fit an instruction.
const maxRegs = 200

// Param returns parameter i, counted from 0.
func (b *Builder) Param(i int) Operand { return Operand{Reg: Reg(i + 1)} }

// Add appends an item as it is to the innermost open body.
func (b *Builder) Add(it Item) { *b.body = append(*b.body, it) }

// let appends an item that computes, and gives its result the next register. Registers are never used
// again: a block is short, and a register that is set once has one value wherever it is read.
func (b *Builder) let(it Item) Operand {
	if b.next >= maxRegs {
		b.errs = append(b.errs, fmt.Sprintf("more than %d registers", maxRegs))
		return Operand{}
	}
	it.Dst = Reg(b.next)
	b.next++
	b.Add(it)
	return Operand{Reg: it.Dst}
}

// Sum returns the operand a+b.
func (b *Builder) Sum(x, y Operand) Operand { return b.Affine([]int64{1, 1}, x, y) }

// Diff returns the operand x-y.
func (b *Builder) Diff(x, y Operand) Operand { return b.Affine([]int64{1, -1}, x, y) }

// Scale returns the operand c*x.
func (b *Builder) Scale(c int64, x Operand) Operand { return b.Affine([]int64{c}, x) }

// Affine returns the sum of coefs[i]*args[i].
func (b *Builder) Affine(coefs []int64, args ...Operand) Operand {
	var constant int64
	it := Item{Op: OpLetAffine}
	// Constants are added up here, and terms of constants alone cost nothing at run time.
	for i, a := range args {
		constant += coefs[i] * a.Const
		if a.Reg != 0 && coefs[i] != 0 {
			it.Args = append(it.Args, Operand{Reg: a.Reg})
			it.Coefs = append(it.Coefs, coefs[i])
		}
	}
	switch {
	case len(it.Args) == 0:
		return Const(constant)
	case len(it.Args) == 1 && it.Coefs[0] == 1:
		return it.Args[0].Plus(constant)
	}
	return b.let(it).Plus(constant)
}

// Mul returns the product of x and y.
func (b *Builder) Mul(x, y Operand) Operand {
	if x.Reg == 0 {
		return b.Scale(x.Const, y)
	}
	if y.Reg == 0 {
		return b.Scale(y.Const, x)
	}
	return b.let(Item{Op: OpLetMul, Args: []Operand{x, y}})
}

// Min returns the smaller of x and y.
func (b *Builder) Min(x, y Operand) Operand {
	if x.Reg == y.Reg {
		return Operand{x.Reg, min(x.Const, y.Const)}
	}
	return b.let(Item{Op: OpLetMin, Args: []Operand{x, y}})
}

// Max returns the larger of x and y.
func (b *Builder) Max(x, y Operand) Operand {
	if x.Reg == y.Reg {
		return Operand{x.Reg, max(x.Const, y.Const)}
	}
	return b.let(Item{Op: OpLetMax, Args: []Operand{x, y}})
}

// Eq returns 1 if x equals y, else 0.
func (b *Builder) Eq(x, y Operand) Operand { return b.let(Item{Op: OpLetEq, Args: []Operand{x, y}}) }

// Member returns the world rank of member i (mod the size) of the own group of a family.
func (b *Builder) Member(family int, i Operand) Operand {
	return b.let(Item{Op: OpLetMember, Sym: family, Args: []Operand{i}})
}

// VectorSum returns the sum of the elements [lo, hi) of the vector whose handle is
// v; indices are taken mod its length n, and 0 <= hi-lo <= n.
func (b *Builder) VectorSum(v, lo, hi Operand) Operand {
	return b.let(Item{Op: OpLetSum, Args: []Operand{v, lo, hi}})
}

// VectorAt returns element i, mod its length, of the vector whose handle is v.
func (b *Builder) VectorAt(v, i Operand) Operand { return b.VectorSum(v, i, i.Plus(1)) }

// Compute calls a kernel.
func (b *Builder) Compute(kernel int, dims ...Operand) {
	b.Add(Item{Op: OpCompute, Sym: kernel, Args: dims})
}

// Flops computes the amount whose float64 bits the operand holds.
func (b *Builder) Flops(amount Operand) { b.Add(Item{Op: OpFlops, Args: []Operand{amount}}) }

// SpreadFlops computes an amount that differs from call to call. The operands hold the float64 bits of its mean
// and its standard deviation.
func (b *Builder) SpreadFlops(mean, deviation Operand) {
	b.Add(Item{Op: OpFlops, Args: []Operand{mean, deviation}})
}

// Sleep pauses for the seconds whose float64 bits the operand holds.
func (b *Builder) Sleep(seconds Operand) { b.Add(Item{Op: OpSleep, Args: []Operand{seconds}}) }

// Message appends a point-to-point action: op is one of OpSend, OpSsend, OpRecv
// and, with a request slot, OpIsend, OpIssend, OpIrecv. Peer is a world rank.
func (b *Builder) Message(op Op, family int, req int32, peer, tag, bytes Operand) {
	if op < numOps && !opRules[op].req {
		req = 0
	}
	b.Add(Item{Op: op, Slot: uint8(b.memory), Sym: family, Req: req, Args: []Operand{peer, tag, bytes}})
}

// Wait completes a request.
func (b *Builder) Wait(req int32) { b.Add(Item{Op: OpWait, Req: req}) }

// Test tests a request, as recorded.
func (b *Builder) Test(req int32) { b.Add(Item{Op: OpTest, Req: req}) }

// Free lets go of a request without completing it: MPI_Request_free.
func (b *Builder) Free(req int32) { b.Add(Item{Op: OpFree, Req: req}) }

// WaitAll completes all pending requests.
func (b *Builder) WaitAll() { b.Add(Item{Op: OpWaitAll}) }

// Exchange starts to receive, sends, and waits for the receive. A side of zero bytes is left out: then only a
// send, only a blocking receive, or nothing remains.
func (b *Builder) Exchange(family int, peer, tag, out, in Operand) {
	b.Add(Item{Op: OpExchange, Slot: uint8(b.memory), Sym: family, Args: []Operand{peer, tag, out, in}})
}

// SyncExchange starts a synchronous send, receives, and waits for the send.
func (b *Builder) SyncExchange(family int, peer, tag, out, in Operand) {
	b.Add(Item{Op: OpSyncExchange, Sym: family, Args: []Operand{peer, tag, out, in}})
}

// Sendrecv sends and receives at once.
func (b *Builder) Sendrecv(family int, peer, tag, bytes, source, sourceTag, sourceBytes Operand) {
	b.Add(Item{Op: OpSendrecv, Slot: uint8(b.memory), Sym: family,
		Args: []Operand{peer, tag, bytes, source, sourceTag, sourceBytes}})
}

// Iprobe is a recorded probe that decided nothing.
func (b *Builder) Iprobe(family int, peer, tag Operand) {
	b.Add(Item{Op: OpIprobe, Sym: family, Args: []Operand{peer, tag}})
}

// Probed marks, in the body of a pollable, the probe that let it run.
func (b *Builder) Probed(family int, peer, tag Operand) {
	b.Add(Item{Op: OpProbed, Sym: family, Args: []Operand{peer, tag}})
}

// Define makes a pollable operation pending whose body runs at its first poll.
func (b *Builder) Define(slot, body int, args ...Operand) {
	b.Add(Item{Op: OpDefine, Slot: uint8(slot), Sym: body, Args: args})
}

// DefineGuarded makes a pollable operation pending whose body runs at the first
// poll that finds the message (peer, tag).
func (b *Builder) DefineGuarded(slot, family int, peer, tag Operand, body int, args ...Operand) {
	b.Add(Item{Op: OpDefine, Slot: uint8(slot), Sym: body, GuardSym: family, Guard: []Operand{peer, tag}, Args: args})
}

// Poll polls a pollable operation once, if it is pending, as HPL does with MPI_Iprobe.
func (b *Builder) Poll(slot int) { b.Add(Item{Op: OpPoll, Slot: uint8(slot)}) }

// PollWait polls a pollable operation until it is done.
func (b *Builder) PollWait(slot int) { b.Add(Item{Op: OpPollWait, Slot: uint8(slot)}) }

// Work runs the block body(columns, args...) on n columns. While the pollable operation is pending it runs on
// slices of chunk columns and polls after each (HPL's MPI_Iprobe in an update), with empty slices when no columns are
// left; once the operation is done it runs on all columns that are left.
func (b *Builder) Work(slot int, n, chunk Operand, body int, args ...Operand) {
	b.Add(Item{Op: OpWork, Slot: uint8(slot), Sym: body, Args: append([]Operand{n, chunk}, args...)})
}

// Mark appends a marker with the arguments that its text shows. For a vector the argument is the vector's handle.
func (b *Builder) Mark(marker int, args ...Operand) { b.Add(Item{Op: OpMark, Sym: marker, Args: args}) }

// If appends what body appends, executed only if the condition is not zero.
func (b *Builder) If(cond Operand, body func()) {
	if cond.Reg == 0 {
		if cond.Const != 0 {
			body()
		}
		return
	}
	b.nest(Item{Op: OpIf, Args: []Operand{cond}}, body)
}

// Loop appends what body appends, executed count times.
func (b *Builder) Loop(count Operand, body func()) {
	b.nest(Item{Op: OpLoop, Args: []Operand{count}}, body)
}

// nest appends an item whose body is what the function appends.
func (b *Builder) nest(it Item, body func()) {
	outer := b.body
	b.body = &it.Body
	body()
	b.body = outer
	b.Add(it)
}

// Call calls a block.
func (b *Builder) Call(block int, args ...Operand) { b.Add(Item{Op: OpCall, Sym: block, Args: args}) }
