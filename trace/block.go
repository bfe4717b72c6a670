package trace

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
	// makes pollable Slot pending: body block Sym, Args its arguments; Guard: peer, tag (none: no guard); GuardSym: family
	OpDefine
	OpPoll     // polls Slot once, if pending
	OpPollWait // polls Slot until it is done
	// work-while-pending: Slot, Args: n, chunk, arguments of block Sym after its first parameter (the columns)
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
	numOps
)

// Item is one item of a block's definition.
type Item struct {
	Op       Op
	Dst      Reg
	Slot     uint8 // pollable, Operator of a collective operation, or kind of an access or synchronisation
	Req      int32 // request slot
	Sym      int   // kernel, family, marker, block number, collective operation or completion
	Comm     int   // 1 + family of the communicator of a collective operation; 0: all ranks
	GuardSym int   // family of the guard's communicator (OpDefine)
	Args     []Operand
	Coefs    []int64   // OpLetAffine; OpComplete: request slots
	Guard    []Operand // OpDefine: peer and tag, or none
	Body     []Item    // OpIf, OpLoop
}

// Block is a definition: what a call of it does. Calls are acyclic: a block
// calls blocks of smaller numbers only.
type Block struct {
	Name   string // for people; not part of the block's identity
	Params int
	Items  []Item
}
