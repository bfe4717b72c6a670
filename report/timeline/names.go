package timeline

import (
	"math"
	"strconv"

	"reprise/trace"
)

// This file names actions and their arguments as trace cat does: actionNames.

// Arg is an argument of an action, as trace cat prints it: a number, or a text.
type Arg struct {
	Name  string // such as "bytes"
	Named bool   // trace cat prints the name, too
	Kind  ArgKind
	Int   int64
	Float float64
	Text  string
}

// ArgKind says which field of an Arg holds it.
type ArgKind uint8

// Kinds of arguments.
const (
	IntArg ArgKind = iota
	FloatArg
	TextArg
)

// appendArgs appends the arguments, a space between them.
func appendArgs(out []byte, args []Arg) []byte {
	for i := range args {
		if i > 0 {
			out = append(out, ' ')
		}
		if args[i].Named {
			out = append(append(out, args[i].Name...), ' ')
		}
		out = args[i].append(out)
	}
	return out
}

// append appends the value; whole numbers as integers, up to those that a double has no longer all digits of.
func (a *Arg) append(out []byte) []byte {
	switch {
	case a.Kind == TextArg:
		return append(out, a.Text...)
	case a.Kind == IntArg:
		return strconv.AppendInt(out, a.Int, 10)
	case a.Float == math.Trunc(a.Float) && math.Abs(a.Float) < 1e18:
		return strconv.AppendInt(out, int64(a.Float), 10)
	}
	return strconv.AppendFloat(out, a.Float, 'g', -1, 64)
}

// actionNames knows what the actions of a trace are called: kernels by their names, all else by the verbs of trace cat.
type actionNames struct {
	header *trace.Header
	list   []string               // kernels first
	begins [math.MaxUint8 + 1]int // by kind of action: the place of its first name in list
	busy   int                    // that of the busy wait
}

func newActionNames(h *trace.Header) actionNames {
	// The list has blocks: first the kernels in the order of the header, then a name for each kind of action, then those
	// of calls, whose kinds are in Action.Sym or X.
	n := actionNames{header: h}
	for i := range h.Kernels {
		n.list = append(n.list, h.Kernels[i].FullName())
	}
	block := func(kind trace.Kind, count int, name func(i int) string) {
		n.begins[kind] = len(n.list)
		for i := range count {
			n.list = append(n.list, name(i))
		}
	}
	// Kinds that another block names have a name here, too, which is never asked for.
	for k := trace.KindNone; k <= trace.KindNull; k++ {
		name := k.String()
		switch k {
		case trace.KindIprobe:
			name = "probe"
		case trace.KindProbe:
			name = "probewait"
		}
		block(k, 1, func(int) string { return name })
	}
	for _, k := range []trace.Kind{trace.KindAsk, trace.KindRound} {
		block(k, 1, func(int) string { return k.String() })
	}
	n.begins[trace.KindCompute] = 0
	n.busy = len(n.list)
	n.list = append(n.list, "busy wait")
	collective := func(i int) string { return trace.CollectiveKind(i).String() }
	access := func(i int) string { return trace.AccessKind(i).String() }
	block(trace.KindComplete, trace.NumCompletions, func(i int) string { return trace.Completion(i).String() })
	block(trace.KindCollective, trace.NumCollectives, collective)
	block(trace.KindIcollective, trace.NumCollectives, func(i int) string { return "i" + collective(i) })
	block(trace.KindAccess, trace.NumAccesses, access)
	block(trace.KindIaccess, trace.NumAccesses, func(i int) string { return "r" + access(i) })
	block(trace.KindSync, trace.NumSyncs, func(i int) string { return "win_" + trace.SyncKind(i).String() })
	block(trace.KindFile, trace.NumFileKinds, func(i int) string { return trace.FileKind(i).String() })
	block(trace.KindLaunch, 1, func(int) string { return trace.KindLaunch.String() })
	block(trace.KindQueue, trace.NumQueueVerbs, func(i int) string { return trace.QueueVerb(i).String() })
	return n
}

// of returns the number of an action's name. It is called for each action of the span, so names are found by
// arithmetic, not by their texts.
func (n *actionNames) of(a *trace.Action) int {
	first := n.begins[a.Kind]
	switch a.Kind {
	case trace.KindCompute, trace.KindCollective, trace.KindIcollective, trace.KindComplete:
		return first + int(a.Sym)
	case trace.KindAccess, trace.KindIaccess:
		return first + int(a.AccessKind())
	case trace.KindSync:
		return first + int(a.SyncKind())
	case trace.KindFile:
		return first + int(a.X[1])
	case trace.KindQueue:
		return first + int(a.X[0])
	case trace.KindPoll:
		if a.Flags&trace.FlagSpin != 0 {
			return n.busy
		}
	}
	return first
}

// args appends the arguments of an action, in the order and with the names of trace cat, so that people can find an
// action of a timeline in the listing. of is its request; nil: none that is known.
func (n *actionNames) args(args []Arg, a *trace.Action, of *request) []Arg {
	switch a.Kind {
	case trace.KindQueue, trace.KindAsk, trace.KindRound:
		return args
	case trace.KindCompute, trace.KindLaunch:
		for i, d := range n.header.Kernels[a.Sym].Dims {
			if v := a.X[i]; d.Enum != nil && v >= 0 && v < int64(len(d.Enum)) {
				args = append(args, Arg{Name: d.Name, Kind: TextArg, Text: d.Enum[v]})
			} else {
				args = append(args, Arg{Name: d.Name, Int: v})
			}
		}
		return args
	case trace.KindFlops:
		return append(args, Arg{Name: "flop", Kind: FloatArg, Float: a.Flops()})
	case trace.KindSleep:
		return append(args, Arg{Name: "seconds", Kind: FloatArg, Float: a.Seconds()})
	// Of a request it says which message that is, as far as that is known.
	case trace.KindWait, trace.KindTest, trace.KindFree:
		if of == nil { // it was posted before the span
			return append(args, Arg{Name: "request", Named: true, Int: int64(a.Req)})
		}
		return append(args, Arg{Name: "of", Kind: TextArg, Text: of.verb}, peerArg("peer", of.peer),
			bytesArg("bytes", of.bytes), tagArg("tag", of.tag))
	case trace.KindWaitAll, trace.KindComplete:
		return args
	case trace.KindAccess, trace.KindIaccess:
		return n.comm(append(args, peerArg("peer", a.Peer), bytesArg("sends", a.X[0]), bytesArg("receives", a.X[1]),
			Arg{Name: "window", Named: true, Int: int64(a.Tag)}), a)
	case trace.KindSync:
		if a.Peer != trace.AllRanks {
			args = append(args, peerArg("peer", a.Peer))
		}
		return n.comm(append(args, Arg{Name: "window", Named: true, Int: int64(a.Tag)}), a)
	case trace.KindFile:
		return n.comm(append(args, bytesArg("bytes", a.X[0])), a)
	case trace.KindIprobe, trace.KindPoll, trace.KindProbe:
		return n.comm(append(args, peerArg("peer", a.Peer), tagArg("tag", a.Tag)), a)
	case trace.KindExchange, trace.KindSyncExchange:
		return n.comm(append(args, peerArg("peer", a.Peer), bytesArg("sends", a.X[0]), bytesArg("receives", a.X[1]),
			tagArg("tag", a.Tag)), a)
	case trace.KindSendrecv:
		source, tag := a.Source()
		args = append(args, peerArg("peer", a.Peer), bytesArg("sends", a.X[0]), tagArg("tag", a.Tag))
		return n.comm(append(args, peerArg("source", source), bytesArg("receives", a.X[1]), tagArg("source tag", tag)), a)
	// Which counts a collective operation has depends on its kind.
	case trace.KindCollective, trace.KindIcollective:
		c := a.Collective(unknownLists{}) // counts rank by rank are left out
		if c.Kind.Rooted() {
			args = append(args, Arg{Name: "root", Named: true, Int: int64(c.Root)})
		}
		if c.Kind.Sends() {
			args = append(args, elements("send", c.Kind.SendsPerRank(), c.Send, c.SendSize))
		}
		if c.Kind.Receives() {
			args = append(args, elements("recv", c.Kind.RecvsPerRank(), c.Recv, c.RecvSize))
		}
		if c.Kind.Reduces() {
			args = append(args, Arg{Name: "flops", Named: true, Kind: FloatArg, Float: c.Flops})
		}
		if c.Kind.Spans() {
			args = append(args, Arg{Name: "span", Named: true, Int: c.Span})
		}
		return n.comm(args, a)
	}
	return n.comm(append(args, peerArg("peer", a.Peer), bytesArg("bytes", a.X[0]), tagArg("tag", a.Tag)), a)
}

// comm appends the communicator's family, if that has a name.
func (n *actionNames) comm(args []Arg, a *trace.Action) []Arg {
	if f := a.Family(); f >= 0 && f < len(n.header.CommFamilies) {
		if name := n.header.CommFamilies[f].Name; name != "" && name != "-" {
			return append(args, Arg{Name: "communicator", Kind: TextArg, Text: name})
		}
	}
	return args
}

// peerArg is a rank, or a wildcard of MPI (MPI 4.1, 3.2.4 and 3.10).
func peerArg(name string, rank int32) Arg {
	switch rank {
	case trace.AnySource:
		return Arg{Name: name, Kind: TextArg, Text: "any"}
	case trace.ProcNull:
		return Arg{Name: name, Kind: TextArg, Text: "null"}
	}
	return Arg{Name: name, Int: int64(rank)}
}

// tagArg is a tag of a message, or the wildcard.
func tagArg(name string, tag int32) Arg {
	if tag == trace.AnyTag {
		return Arg{Name: name, Kind: TextArg, Text: "any"}
	}
	return Arg{Name: name, Int: int64(tag)}
}

// bytesArg is a size, which a receiver may not know: it is negative then.
func bytesArg(name string, bytes int64) Arg {
	if bytes < 0 {
		return Arg{Name: name, Kind: TextArg, Text: "?"}
	}
	return Arg{Name: name, Int: bytes}
}

// unknownLists stand for the counts of an action rank by rank, which only a cursor knows.
type unknownLists struct{}

func (unknownLists) Sums(int64) []int64 { return nil }

// elements is a count of elements and their size in bytes, as trace cat prints them.
func elements(name string, perRank bool, count, size int64) Arg {
	text := strconv.FormatInt(count, 10)
	if perRank {
		text = "..."
	}
	return Arg{Name: name, Named: true, Kind: TextArg, Text: text + "x" + strconv.FormatInt(size, 10)}
}
