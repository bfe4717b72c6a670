package mpiscript

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/trace"
)

// deed is what one rank does in one line.
type deed struct {
	*program
	line    *line
	rank    int32
	words   []string // not yet read
	b       *trace.Builder
	vectors [2][]int64 // of the call: parameters 0 and 1 of the block
}

func (d *deed) failure(format string, args ...any) string {
	return fmt.Sprintf("mpiscript: case %s: %s: ", d.Name, d.line.text) + fmt.Sprintf(format, args...)
}

func (d *deed) word() string {
	if len(d.words) == 0 {
		panic(d.failure("words are missing"))
	}
	w := d.words[0]
	d.words = d.words[1:]
	return w
}

// slots reads all that are left.
func (d *deed) slots() (list []int32) {
	for len(d.words) > 0 {
		list = append(list, d.slot())
	}
	return list
}

func (d *deed) slot() int32 { return int32(number(strings.TrimPrefix(d.word(), "@"))) }

// group is the communicator of a call.
type group struct {
	family  int
	members []int32
	me      int // which of them
}

func (d *deed) group() group {
	name := d.word()
	if name == "world" {
		g := group{me: int(d.rank)}
		for r := range int32(d.Ranks) {
			g.members = append(g.members, r)
		}
		return g
	}
	for i, m := range d.comms {
		for _, g := range m.groups {
			if me := slices.Index(g, d.rank); m.name == name && me >= 0 {
				return group{i + 1, g, me}
			}
		}
	}
	panic(d.failure("rank %d is in no communicator %s", d.rank, name))
}

// peer reads a rank of the communicator and returns it as one of the world.
func (d *deed) peer(g *group) trace.Operand {
	w := d.word()
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

func (d *deed) tag() trace.Operand {
	if w := d.word(); w != "any" {
		return trace.Const(int64(number(w)))
	}
	return trace.Const(trace.AnyTag)
}

func (d *deed) number() int64 { return int64(number(d.word())) }

var messages = map[string]trace.Op{"send": trace.OpSend, "ssend": trace.OpSsend, "recv": trace.OpRecv,
	"isend": trace.OpIsend, "issend": trace.OpIssend, "irecv": trace.OpIrecv}

func (d *deed) do(op string) {
	switch op {
	case "sleep":
		base, step := float(d.word()), 0.0
		if len(d.words) > 0 {
			step = float(d.word())
		}
		micro := math.Floor((base+step*float64(d.rank))*1e6 + 0.5)
		d.b.Sleep(trace.Const(trace.FloatArg(micro / 1e6)))
	case "compute":
		d.b.Flops(trace.Const(trace.FloatArg(float(d.word()))))
	case "send", "ssend", "recv", "isend", "issend", "irecv":
		g := d.group()
		peer, tag, bytes := d.peer(&g), d.tag(), d.number()
		req := int32(0)
		if op[0] == 'i' {
			req = d.slot()
		}
		d.b.Message(messages[op], g.family, req, peer, tag, trace.Const(bytes))
	case "sendrecv":
		g := d.group()
		to, tag, out := d.peer(&g), d.tag(), d.number()
		from, with, in := d.peer(&g), d.tag(), d.number()
		d.b.Sendrecv(g.family, to, tag, trace.Const(out), from, with, trace.Const(in))
	case "sendinit", "recvinit":
		g := d.group()
		m := persistent{trace.OpStart, g.family, d.peer(&g), d.tag(), d.number()}
		if op == "recvinit" {
			m.op = trace.OpIrecv
		}
		d.persistent[persistentKey{d.rank, d.slot()}] = m
	case "start":
		for _, slot := range d.slots() {
			m := d.persistent[persistentKey{d.rank, slot}]
			d.b.Message(m.op, m.family, slot, m.peer, m.tag, trace.Const(m.bytes))
		}
	case "probe":
		g := d.group()
		d.b.Probe(g.family, d.peer(&g), d.tag())
	case "iprobe":
		g := d.group()
		d.b.Iprobe(g.family, d.peer(&g), d.tag())
	case "wait":
		d.b.Wait(d.slot())
	case "test":
		d.b.Test(d.slot())
	case "waitall", "waitany", "waitsome", "testall", "testany", "testsome":
		d.b.Complete(completions[op], d.slots()...)
	case "drain":
		slots := d.slots()
		d.b.Loop(trace.Const(int64(len(slots))), func() {
			d.b.Complete(trace.CompleteAny, slots...)
			d.b.Flops(trace.Const(trace.FloatArg(1e5)))
		})
	case "wincreate":
		g := d.group()
		w := d.number()
		d.windows[windowKey{d.rank, w}] = g
		d.b.Sync(trace.SyncCreate, g.family, trace.Const(trace.AllRanks), trace.Const(w), trace.Const(0))
	case "winfree", "fence":
		w := d.number()
		kind, assert := trace.SyncFree, int64(0)
		if op == "fence" {
			kind, assert = trace.SyncFence, d.number()
		}
		d.b.Sync(kind, d.windows[windowKey{d.rank, w}].family, trace.Const(trace.AllRanks), trace.Const(w), trace.Const(assert))
	case "put", "get", "accumulate", "getaccumulate", "fetchandop", "compareandswap":
		d.access(op)
	default:
		d.collective(op)
	}
}

// windowKey is a window of a rank.
type windowKey struct {
	rank   int32
	number int64
}

var accesses = map[string]trace.AccessKind{"put": trace.AccessPut, "get": trace.AccessGet, "accumulate": trace.AccessAccumulate,
	"getaccumulate": trace.AccessGetAccumulate, "fetchandop": trace.AccessFetchAndOp, "compareandswap": trace.AccessCompareAndSwap}

// access makes an access to a window: of bytes, or where it computes of numbers of 8 bytes.
func (d *deed) access(op string) {
	kind, w := accesses[op], d.number()
	g := d.windows[windowKey{d.rank, w}]
	peer, bytes := d.peer(&g), int64(8)
	switch kind {
	case trace.AccessPut, trace.AccessGet:
		bytes = d.number()
	case trace.AccessAccumulate, trace.AccessGetAccumulate:
		bytes = 8 * d.number()
	}
	out, back := bytes, bytes
	if !kind.Fetches() {
		back = 0
	} else if kind == trace.AccessGet {
		out = 0
	}
	d.b.Access(kind, g.family, -1, peer, trace.Const(w), trace.Const(out), trace.Const(back))
}

// persistent is a persistent request: what its start begins.
type persistent struct {
	op     trace.Op
	family int
	peer   trace.Operand
	tag    trace.Operand
	bytes  int64
}

type persistentKey struct{ rank, slot int32 }

var (
	kinds       = map[string]trace.CollectiveKind{}
	completions = map[string]trace.Completion{}
)

func init() {
	for m := trace.CompleteAll; m <= trace.TestSome; m++ {
		completions[m.String()] = m
	}
	for k := range trace.CollectiveKind(trace.NumCollectives) {
		kinds[k.String()] = k
	}
}

// collective makes the call of a collective operation; an i before its name makes it
// nonblocking.
func (d *deed) collective(op string) {
	kind, blocking := kinds[op]
	if !blocking {
		var ok bool
		if kind, ok = kinds[strings.TrimPrefix(op, "i")]; !ok {
			panic(d.failure("no operation"))
		}
	}
	g := d.group()
	c := d.operands(kind, &g)
	if g.family > 0 {
		c.Comm = trace.Communicator(g.family)
	}
	if blocking {
		d.b.Collective(kind, c)
	} else {
		d.b.Icollective(d.slot(), kind, c)
	}
}

// operands reads those of a call, in the order in which program.c does.
func (d *deed) operands(kind trace.CollectiveKind, g *group) (c trace.CollectiveOperands) {
	n, step := int64(0), int64(0)
	if kind != trace.CollBarrier {
		n = d.number()
	}
	perRank := kind.SendsPerRank() || kind.RecvsPerRank()
	if perRank {
		step = d.number()
	}
	if kind.Rooted() {
		c.Root = trace.Const(d.number())
	}
	size := trace.Const(1)
	if kind.Reduces() {
		size, c.Operator = trace.Const(8), trace.OperatorSum
	}
	c.Send, c.SendSize, c.Recv, c.RecvSize = trace.Const(n), size, trace.Const(n), size
	if !perRank {
		return c
	}
	var parts, out, in []int64
	p := len(g.members)
	for i := range p {
		parts = append(parts, n+step*int64(i))
		out = append(out, n+step*int64((3*g.me+i)%p))
		in = append(in, n+step*int64((3*i+g.me)%p))
	}
	mine := trace.Const(parts[g.me])
	switch kind {
	case trace.CollAlltoallv:
		d.vectors = [2][]int64{out, in}
		c.Send, c.Recv = d.b.Param(0), d.b.Param(1)
	case trace.CollScatterv:
		d.vectors[0] = parts
		c.Send, c.Recv = d.b.Param(0), mine
	default:
		d.vectors[1] = parts
		c.Send, c.Recv = mine, d.b.Param(1)
	}
	for _, v := range parts {
		c.Span.Const += v
	}
	return c
}
