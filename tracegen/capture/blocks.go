package capture

import (
	"slices"

	"reprise/trace"
)

// blocks makes the blocks of the trace: one for each form of steps, with their arguments as
// its own, and one for each loop, whose steps are constant and whose arguments are the turns and
// the lists of counts.
type blocks struct {
	program *trace.Program
	table   *table
	loops   *loops
	sharing *sharing
	forms   map[form]int64
	ofLoops map[int32]int64
}

// form returns the block of steps of a form.
func (b *blocks) form(f form) (int64, error) {
	n, ok := b.forms[f]
	if ok {
		return n, nil
	}
	params := numArgs
	if f.counted() {
		params = numArgs + 2
	}
	builder := trace.NewBuilder(f.name(), params)
	var lists [2]trace.Operand
	if f.counted() {
		lists = [2]trace.Operand{builder.Param(numArgs), builder.Param(numArgs + 1)}
	}
	f.put(builder, b.table, builder.Param, lists)
	id, err := b.program.Add(builder)
	b.forms[f] = int64(id)
	return int64(id), err
}

func (f *form) name() string {
	switch f.kind {
	case trace.KindCollective:
		return f.collective.String()
	case trace.KindIcollective:
		return "i" + f.collective.String()
	case trace.KindAccess:
		return f.access.String()
	case trace.KindIaccess:
		return "r" + f.access.String()
	case trace.KindSync:
		return f.sync.String()
	case trace.KindFile:
		return f.file.String()
	}
	return f.kind.String()
}

// counted reports whether steps of the form have lists of counts.
func (f *form) counted() bool {
	return (f.kind == trace.KindCollective || f.kind == trace.KindIcollective) &&
		(f.collective.SendsPerRank() || f.collective.RecvsPerRank())
}

// put adds a step to a block, with its arguments as operands.
func (f *form) put(b *trace.Builder, t *table, arg func(int) trace.Operand, lists [2]trace.Operand) {
	family := int(f.family)
	switch f.kind {
	case trace.KindFlops:
		if f.spread {
			b.SpreadFlops(arg(argPeer), arg(argSpread))
		} else {
			b.Flops(arg(argPeer))
		}
	case trace.KindCompute:
		var dims []trace.Operand
		for i := range f.dims {
			dims = append(dims, arg(int(i)))
		}
		b.Compute(int(f.marker), dims...)
	case trace.KindSendrecv:
		b.Sendrecv(family, arg(argPeer), arg(argTag), arg(argBytes), arg(argSource), arg(argSent), arg(argReceived))
	case trace.KindWait:
		b.Wait(f.request)
	case trace.KindTest:
		b.Test(f.request)
	case trace.KindFree:
		b.Free(f.request)
	case trace.KindWaitAll:
		b.WaitAll()
	case trace.KindIprobe:
		b.Iprobe(family, arg(argPeer), arg(argTag))
	case trace.KindProbe:
		b.Probe(family, arg(argPeer), arg(argTag))
	case trace.KindComplete:
		var slots []int32
		for _, slot := range t.lists[f.slots] {
			slots = append(slots, int32(slot))
		}
		b.Complete(f.completion, slots...)
	case trace.KindMark:
		b.Mark(int(f.marker))
	case trace.KindAccess:
		b.Access(f.access, family, -1, arg(argPeer), arg(argTag), arg(argBytes), arg(argReceived))
	case trace.KindIaccess:
		b.Access(f.access, family, f.request, arg(argPeer), arg(argTag), arg(argBytes), arg(argReceived))
	case trace.KindSync:
		b.Sync(f.sync, family, arg(argPeer), arg(argTag), arg(argBytes))
	case trace.KindFile:
		b.File(f.file, f.together, family, arg(argBytes))
	case trace.KindCollective, trace.KindIcollective:
		f.putCollective(b, arg, lists)
	default:
		b.Message(messageOps[f.kind], family, f.request, arg(argPeer), arg(argTag), arg(argBytes))
	}
}

var messageOps = map[trace.Kind]trace.Op{
	trace.KindSend: trace.OpSend, trace.KindSsend: trace.OpSsend, trace.KindIsend: trace.OpIsend, trace.KindIssend: trace.OpIssend,
	trace.KindRecv: trace.OpRecv, trace.KindIrecv: trace.OpIrecv, trace.KindStart: trace.OpStart,
}

func (f *form) putCollective(b *trace.Builder, arg func(int) trace.Operand, lists [2]trace.Operand) {
	c := trace.CollectiveOperands{Root: arg(argPeer), Flops: trace.Const(0), Span: arg(argTag), Operator: f.operator,
		Send: arg(argBytes), SendSize: trace.Const(f.sendSize), Recv: arg(argReceived), RecvSize: trace.Const(f.recvSize)}
	if f.collective.SendsPerRank() {
		c.Send = lists[0]
	}
	if f.collective.RecvsPerRank() {
		c.Recv = lists[1]
	}
	if f.family != world {
		c.Comm = trace.Communicator(int(f.family))
	}
	if f.kind == trace.KindIcollective {
		b.Icollective(f.request, f.collective, c)
		return
	}
	b.Collective(f.collective, c)
}

// loop returns the block of a loop.
func (b *blocks) loop(number int32) (int64, error) {
	n, ok := b.ofLoops[number]
	if ok {
		return n, nil
	}
	lists := b.loops.lists[number]
	builder := trace.NewBuilder("loop", numArgs+len(lists))
	var err error
	builder.Loop(builder.Param(0), func() { err = b.items(builder, b.loops.bodies[number], lists, numArgs) })
	if err != nil {
		return 0, err
	}
	id, err := b.program.Add(builder)
	b.ofLoops[number] = int64(id)
	return int64(id), err
}

// ofStep returns the block of a step of the run.
func (b *blocks) ofStep(items []item) (int64, error) {
	lists := b.loops.listsOf(items)
	builder := trace.NewBuilder("step", len(lists))
	if err := b.items(builder, items, lists, 0); err != nil {
		return 0, err
	}
	id, err := b.program.Add(builder)
	return int64(id), err
}

// items adds steps and loops of a loop's body. Its lists of counts are parameters, from one on.
func (b *blocks) items(builder *trace.Builder, items []item, lists []int32, from int) error {
	param := func(list int32) trace.Operand { return builder.Param(from + slices.Index(lists, list)) }
	for _, it := range b.sharing.share(items) {
		if it.turns > 0 {
			block, err := b.loop(it.what)
			if err != nil {
				return err
			}
			args := make([]trace.Operand, numArgs, numArgs+mostLists)
			args[0] = trace.Const(int64(it.turns))
			for _, list := range b.loops.lists[it.what] {
				args = append(args, param(list))
			}
			builder.Call(int(block), args...)
			continue
		}
		s := &b.table.steps[it.what]
		var counts [2]trace.Operand
		for i, list := range s.lists {
			if list > 0 {
				counts[i] = param(list)
			}
		}
		s.put(builder, b.table, func(i int) trace.Operand { return trace.Const(s.args[i]) }, counts)
	}
	return nil
}
