package testprogram

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/trace"
)

// This file turns the lines of a program into actions of a trace, rank by rank: operation.do.

// operation is the call of one rank in one line.
type operation struct {
	*program
	line    *line
	rank    int32
	words   []string // not yet read
	b       *trace.Builder
	vectors [2][]int64 // of the call: parameters 0 and 1 of the block
}

// failure is the text of a panic: it names the case and the line.
func (o *operation) failure(format string, args ...any) string {
	return fmt.Sprintf("testprogram: case %s: %s: ", o.Name, o.line.text) + fmt.Sprintf(format, args...)
}

// word reads the next operand.
func (o *operation) word() string {
	if len(o.words) == 0 {
		panic(o.failure("words are missing"))
	}
	w := o.words[0]
	o.words = o.words[1:]
	return w
}

// slots reads all that are left.
func (o *operation) slots() (list []int32) {
	for len(o.words) > 0 {
		list = append(list, o.slot())
	}
	return list
}

// slot reads the number of a request, written @3: requests are called by it from their begin to their end.
func (o *operation) slot() int32 { return int32(number(strings.TrimPrefix(o.word(), "@"))) }

// group is the communicator of a call.
type group struct {
	family  int
	members []int32
	me      int // which of them
}

// group reads the name of a communicator, of which the rank must be a member.
func (o *operation) group() group {
	name := o.word()
	if name == "world" {
		g := group{me: int(o.rank)}
		for r := range int32(o.Ranks) {
			g.members = append(g.members, r)
		}
		return g
	}
	for i, m := range o.comms {
		for _, g := range m.groups {
			if me := slices.Index(g, o.rank); m.name == name && me >= 0 {
				return group{i + 1, g, me}
			}
		}
	}
	panic(o.failure("rank %d is in no communicator %s", o.rank, name))
}

// peer reads a rank of the communicator and returns it as one of the world.
// It is written as a number, as +N or -N for one N further in a ring of all members, as ^N for the one whose number
// differs in the bits of N, as any, or as null for MPI_PROC_NULL.
func (o *operation) peer(g *group) trace.Operand {
	w := o.word()
	n := len(g.members)
	switch w[0] {
	case 'n':
		return trace.Const(trace.ProcNull)
	case 'a':
		return trace.Const(trace.AnySource)
	case '+', '-':
		return trace.Const(int64(g.members[((g.me+number(w))%n+n)%n]))
	case '^':
		return trace.Const(int64(g.members[g.me^number(w[1:])]))
	}
	return trace.Const(int64(g.members[number(w)]))
}

// tag reads a tag, or any.
func (o *operation) tag() trace.Operand {
	if w := o.word(); w != "any" {
		return trace.Const(int64(number(w)))
	}
	return trace.Const(trace.AnyTag)
}

func (o *operation) number() int64 { return int64(number(o.word())) }

// messages are the operations on one message, by their words.
var messages = map[string]trace.Op{"send": trace.OpSend, "ssend": trace.OpSsend, "recv": trace.OpRecv,
	"isend": trace.OpIsend, "issend": trace.OpIssend, "irecv": trace.OpIrecv}

// do appends an operation to the block of the rank. These are the words behind the operation:
//
//	sleep                                SECONDS [SECONDS TIMES THE RANK]
//	compute                              FLOP
//	send, ssend, recv                    COMM PEER TAG BYTES
//	isend, issend, irecv                 COMM PEER TAG BYTES SLOT
//	sendrecv                             COMM PEER TAG BYTES PEER TAG BYTES
//	sendinit, recvinit                   COMM PEER TAG BYTES SLOT
//	start, waitall, testany and alike    SLOT ...
//	wait, test                           SLOT
//	probe, iprobe                        COMM PEER TAG
//	drain                                SLOT ...     waits for any until none is left, and computes behind each
//	wincreate                            COMM WINDOW
//	winfree                              WINDOW
//	fence                                WINDOW ASSERTION
//	put, get                             WINDOW PEER BYTES
//	accumulate, getaccumulate            WINDOW PEER NUMBERS
//	fetchandop, compareandswap           WINDOW PEER
//
// Collective operations are in the method of that name. Times are rounded to microseconds, as program.c sleeps.
func (o *operation) do(op string) {
	switch op {
	case "sleep":
		base, step := float(o.word()), 0.0
		if len(o.words) > 0 {
			step = float(o.word())
		}
		micro := math.Floor((base+step*float64(o.rank))*1e6 + 0.5)
		o.b.Sleep(trace.Const(trace.FloatArg(micro / 1e6)))
	case "compute":
		o.b.Flops(trace.Const(trace.FloatArg(float(o.word()))))
	case "send", "ssend", "recv", "isend", "issend", "irecv":
		g := o.group()
		peer, tag, bytes := o.peer(&g), o.tag(), o.number()
		req := int32(0)
		if op[0] == 'i' {
			req = o.slot()
		}
		o.b.Message(messages[op], g.family, req, peer, tag, trace.Const(bytes))
	case "sendrecv":
		g := o.group()
		to, tag, out := o.peer(&g), o.tag(), o.number()
		from, with, in := o.peer(&g), o.tag(), o.number()
		o.b.Sendrecv(g.family, to, tag, trace.Const(out), from, with, trace.Const(in))
	case "sendinit", "recvinit":
		g := o.group()
		m := persistent{trace.OpStart, g.family, o.peer(&g), o.tag(), o.number()}
		if op == "recvinit" {
			m.op = trace.OpIrecv
		}
		o.persistent[key{o.rank, int64(o.slot())}] = m
	case "start":
		for _, slot := range o.slots() {
			m := o.persistent[key{o.rank, int64(slot)}]
			o.b.Message(m.op, m.family, slot, m.peer, m.tag, trace.Const(m.bytes))
		}
	case "probe":
		g := o.group()
		o.b.Probe(g.family, o.peer(&g), o.tag())
	case "iprobe":
		g := o.group()
		o.b.Iprobe(g.family, o.peer(&g), o.tag())
	case "wait":
		o.b.Wait(o.slot())
	case "test":
		o.b.Test(o.slot())
	case "waitall", "waitany", "waitsome", "testall", "testany", "testsome":
		mode := trace.CompleteAll
		for mode.String() != op {
			mode++
		}
		o.b.Complete(mode, o.slots()...)
	case "drain":
		slots := o.slots()
		o.b.Loop(trace.Const(int64(len(slots))), func() {
			o.b.Complete(trace.CompleteAny, slots...)
			o.b.Flops(trace.Const(trace.FloatArg(1e5)))
		})
	case "wincreate":
		g := o.group()
		w := o.number()
		o.windows[key{o.rank, w}] = g
		o.b.Sync(trace.SyncCreate, g.family, trace.Const(trace.AllRanks), trace.Const(w), trace.Const(0))
	case "winfree", "fence":
		w := o.number()
		kind, assert := trace.SyncFree, int64(0)
		if op == "fence" {
			kind, assert = trace.SyncFence, o.number()
		}
		o.b.Sync(kind, o.windows[key{o.rank, w}].family, trace.Const(trace.AllRanks), trace.Const(w),
			trace.Const(assert))
	case "put", "get", "accumulate", "getaccumulate", "fetchandop", "compareandswap":
		// Accesses to a window: of bytes, or where they compute of numbers of 8 bytes.
		kind, w := accesses[op], o.number()
		g := o.windows[key{o.rank, w}]
		peer, bytes := o.peer(&g), int64(8)
		switch kind {
		case trace.AccessPut, trace.AccessGet:
			bytes = o.number()
		case trace.AccessAccumulate, trace.AccessGetAccumulate:
			bytes = 8 * o.number()
		}
		out, back := bytes, bytes
		if !kind.Fetches() {
			back = 0
		} else if kind == trace.AccessGet {
			out = 0
		}
		o.b.Access(kind, g.family, -1, peer, trace.Const(w), trace.Const(out), trace.Const(back))
	default:
		o.collective(op)
	}
}

// key is a window or a persistent request of a rank.
type key struct {
	rank   int32
	number int64
}

// accesses are the operations on windows, by their words.
var accesses = map[string]trace.AccessKind{"put": trace.AccessPut, "get": trace.AccessGet,
	"accumulate":    trace.AccessAccumulate,
	"getaccumulate": trace.AccessGetAccumulate, "fetchandop": trace.AccessFetchAndOp, "compareandswap": trace.AccessCompareAndSwap}

// persistent is a persistent request: what its start begins.
type persistent struct {
	op     trace.Op
	family int
	peer   trace.Operand
	tag    trace.Operand
	bytes  int64
}

// collective makes the call of a collective operation, whose words are in the order in which program.c reads them;
// an i before its name makes it nonblocking.
func (o *operation) collective(op string) {
	kind, blocking := trace.CollectiveNamed(op)
	if !blocking {
		var ok bool
		if kind, ok = trace.CollectiveNamed(strings.TrimPrefix(op, "i")); !ok {
			panic(o.failure("no operation"))
		}
	}
	g := o.group()
	c := trace.CollectiveOperands{}
	if g.family > 0 {
		c.Comm = trace.Communicator(g.family)
	}
	n, step := int64(0), int64(0)
	if kind != trace.CollBarrier {
		n = o.number()
	}
	// Where ranks have counts of their own, a second number says by how many elements they differ.
	perRank := kind.SendsPerRank() || kind.RecvsPerRank()
	if perRank {
		step = o.number()
	}
	if kind.Rooted() {
		c.Root = trace.Const(o.number())
	}
	size := trace.Const(1)
	if kind.Reduces() {
		size, c.Operator = trace.Const(8), trace.OperatorSum
	}
	c.Send, c.SendSize, c.Recv, c.RecvSize = trace.Const(n), size, trace.Const(n), size

	if perRank { // rank i has n+step*i, and to and from others in an order of its own
		var parts, out, in []int64
		p := len(g.members)
		for i := range p {
			parts = append(parts, n+step*int64(i))
			out = append(out, n+step*int64((3*g.me+i)%p))
			in = append(in, n+step*int64((3*i+g.me)%p))
			c.Span.Const += parts[i]
		}
		mine := trace.Const(parts[g.me])
		switch kind {
		case trace.CollAlltoallv:
			o.vectors = [2][]int64{out, in}
			c.Send, c.Recv = o.b.Param(0), o.b.Param(1)
		case trace.CollScatterv:
			o.vectors[0] = parts
			c.Send, c.Recv = o.b.Param(0), mine
		default:
			o.vectors[1] = parts
			c.Send, c.Recv = mine, o.b.Param(1)
		}
	}
	if blocking {
		o.b.Collective(kind, c)
	} else {
		o.b.Icollective(o.slot(), kind, c)
	}
}
