package cut

import (
	"fmt"

	"reprise/trace"
)

// Columns of the call sites: what an argument means depends on the block.
const (
	numArgs    = 6
	numCounted = numArgs + 2 // with vectors of counts, sent and received
)

// Call sites of a part that is written action by action.
const (
	siteFlat = iota
	siteCounted
)

func callSites() []trace.CallSite {
	sites := []trace.CallSite{{Name: "calls"}, {Name: "counts"}}
	for i := range sites {
		sites[i].Block = trace.PerItem
		for j, name := range []string{"peer", "tag", "bytes", "source", "source tag", "received", "sent",
			"counts received"}[:numArgs+2*i] {
			sites[i].Params = append(sites[i].Params, trace.ParamColumn{Name: name, Axis: trace.PerItem, Vector: j >= numArgs})
		}
	}
	return sites
}

// form is what actions of one block share.
type form struct {
	kind     trace.Kind
	sym      uint16
	req      int32
	labels   int32 // communicator and operator of a collective operation; kind of what concerns a window or file
	sizes    int64 // of its elements
	spread   bool
	end      bool // of a phase; of an access to a file: it is collective
	requests string
}

// formOf returns the form of an action and its arguments.
func formOf(a *trace.Action, c *trace.Cursor) (f form, args [numArgs]int64) {
	f = form{kind: a.Kind, sym: a.Sym, req: a.Req}
	args[0], args[1], args[2] = int64(a.Peer), int64(a.Tag), a.X[0]
	switch a.Kind {
	case trace.KindCompute:
		copy(args[:], a.X[:])
	case trace.KindFlops:
		f.spread, args = a.X[1] != 0, [numArgs]int64{a.X[0], a.X[1]}
	case trace.KindSleep:
		args = [numArgs]int64{a.X[0]}
	case trace.KindNull:
		f.kind = trace.Kind(a.X[1])
		if f.kind == trace.KindSendrecv {
			args[3] = trace.ProcNull
		}
	case trace.KindExchange, trace.KindSyncExchange:
		args[3] = a.X[1]
	case trace.KindSendrecv:
		source, tag := a.Source()
		args[3], args[4], args[5] = int64(source), int64(tag), a.X[1]
	case trace.KindCollective, trace.KindIcollective:
		f.labels, f.sizes = a.Tag, a.X[3]
		args = [numArgs]int64{int64(a.Peer), a.X[0], a.X[1], a.X[2]}
	case trace.KindAccess, trace.KindIaccess:
		f.labels, args[3] = int32(a.AccessKind()), a.X[1]
	case trace.KindSync:
		f.labels, args[2] = int32(a.SyncKind()), a.X[1]
	case trace.KindFile:
		f.labels, f.end, args = int32(a.X[1]), a.X[2] != 0, [numArgs]int64{a.X[0]}
	case trace.KindPhase:
		f.end, args = a.Flags&trace.FlagEnd != 0, [numArgs]int64{}
	case trace.KindComplete:
		f.requests, args = fmt.Sprint(c.Requests(a.X[0])), [numArgs]int64{}
	case trace.KindWait, trace.KindTest, trace.KindFree, trace.KindWaitAll:
		args = [numArgs]int64{}
	}
	return f, args
}

// counted reports whether an action has lists of counts.
func counted(a *trace.Action) bool {
	k := trace.CollectiveKind(a.Sym)
	return operates(a) && (k.SendsPerRank() || k.RecvsPerRank())
}

// blocks are those of the part, by form.
type blocks struct {
	program *trace.Program
	forms   map[form]int64
}

func (b *blocks) of(f form, a *trace.Action, c *trace.Cursor) (int64, error) {
	if n, ok := b.forms[f]; ok {
		return n, nil
	}
	params := numArgs
	if counted(a) {
		params = numCounted
	}
	builder := trace.NewBuilder(f.kind.String(), params)
	f.put(builder, a, c, b.program.Header())
	n, err := b.program.Add(builder)
	b.forms[f] = int64(n)
	return int64(n), err
}

var messageOps = map[trace.Kind]trace.Op{
	trace.KindSend: trace.OpSend, trace.KindSsend: trace.OpSsend, trace.KindIsend: trace.OpIsend, trace.KindIssend: trace.OpIssend,
	trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv, trace.KindStart: trace.OpStart,
}

// put adds the action of a form to its block.
func (f *form) put(b *trace.Builder, a *trace.Action, c *trace.Cursor, h *trace.Header) {
	arg, family := b.Param, int(f.sym)
	switch f.kind {
	case trace.KindCompute:
		var dims []trace.Operand
		for i := range h.Kernels[f.sym].Dims {
			dims = append(dims, arg(i))
		}
		b.Compute(int(f.sym), dims...)
	case trace.KindFlops:
		if f.spread {
			b.SpreadFlops(arg(0), arg(1))
		} else {
			b.Flops(arg(0))
		}
	case trace.KindSleep:
		b.Sleep(arg(0))
	case trace.KindWait:
		b.Wait(f.req)
	case trace.KindTest:
		b.Test(f.req)
	case trace.KindFree:
		b.Free(f.req)
	case trace.KindWaitAll:
		b.WaitAll()
	case trace.KindExchange:
		b.Exchange(family, arg(0), arg(1), arg(2), arg(3))
	case trace.KindSyncExchange:
		b.SyncExchange(family, arg(0), arg(1), arg(2), arg(3))
	case trace.KindSendrecv:
		b.Sendrecv(family, arg(0), arg(1), arg(2), arg(3), arg(4), arg(5))
	case trace.KindIprobe:
		b.Iprobe(family, arg(0), arg(1))
	case trace.KindProbe:
		b.Probe(family, arg(0), arg(1))
	case trace.KindAccess, trace.KindIaccess:
		req := int32(-1)
		if f.kind == trace.KindIaccess {
			req = f.req
		}
		b.Access(trace.AccessKind(f.labels), family, req, arg(0), arg(1), arg(2), arg(3))
	case trace.KindSync:
		b.Sync(trace.SyncKind(f.labels), family, arg(0), arg(1), arg(2))
	case trace.KindFile:
		b.File(trace.FileKind(f.labels), f.end, family, arg(0))
	case trace.KindPhase:
		marker := 2 * int(f.sym) // markers come in pairs: begin and end of each phase
		if f.end {
			marker++
		}
		b.Mark(marker)
	case trace.KindComplete:
		b.Complete(trace.Completion(f.sym), c.Requests(a.X[0])...)
	case trace.KindCollective, trace.KindIcollective:
		f.putCollective(b, a)
	default:
		b.Message(messageOps[f.kind], family, f.req, arg(0), arg(1), arg(2))
	}
}

func (f *form) putCollective(b *trace.Builder, a *trace.Action) {
	kind := trace.CollectiveKind(f.sym)
	o := trace.CollectiveOperands{
		Root:     b.Param(0),
		Send:     b.Param(1),
		SendSize: trace.Const(f.sizes & (1<<32 - 1)),
		Recv:     b.Param(2),
		RecvSize: trace.Const(f.sizes >> 32),
		Flops:    b.Param(3),
		Span:     b.Param(3),
		Operator: a.Operator(),
		Comm:     trace.Comm(a.Comm()),
	}
	if kind.SendsPerRank() {
		o.Send = b.Param(numArgs)
	}
	if kind.RecvsPerRank() {
		o.Recv = b.Param(numArgs + 1)
	}
	if f.kind == trace.KindIcollective {
		b.Icollective(f.req, kind, o)
	} else {
		b.Collective(kind, o)
	}
}
