package stat

import "reprise/trace"

// counter numbers what is counted for each phase: actions by kind, bytes of those
// that send, and calls of each kernel. A counter holds an integer and, beside it, an
// amount: the flop of countFlops and of collectives, the seconds of countSleep. A
// kernel's counter is followed by one for each term of its flop count, which
// holds the sum over the calls as an amount.
type counter int32

const (
	countSend counter = iota // the kinds that send come first
	countSsend
	countIsend
	countIssend
	countStart
	countSendrecv
	countRecv
	countIrecv
	countWait
	countTest
	countWaitAll
	countFree
	countProbe  // recorded probes that decide nothing
	countIprobe // polls that find their message
	countMiss   // polls that do not
	countFlops
	countSleep
	countNull                                                       // messages to or from nobody
	countBlocked                                                    // probes that wait for their message
	countComplete                                                   // and more: one for each Completion
	countCollective = countComplete + counter(trace.NumCompletions) // and more: one for each CollectiveKind
)

const (
	numSenders       = int(countSendrecv) + 1
	countIcollective = countCollective + counter(trace.NumCollectives)  // nonblocking ones, likewise
	countAccess      = countIcollective + counter(trace.NumCollectives) // and more: one for each AccessKind
	countIaccess     = countAccess + counter(trace.NumAccesses)         // with a request, likewise
	countFile        = countIaccess + counter(trace.NumAccesses)        // and more: one for each FileKind
	countFileAll     = countFile + counter(trace.NumFileKinds)          // collective ones, likewise
	countSync        = countFileAll + counter(trace.NumFileKinds)       // and more: one for each SyncKind
	countBytes       = countSync + counter(trace.NumSyncs)              // and more: bytes of countSend to countSendrecv
	countMoved       = countBytes + counter(numSenders)                 // and more: bytes of countAccess up to countSync
	firstKernel      = countMoved + (countSync - countAccess)
)

var countNames = [countComplete]string{"send", "ssend", "isend", "issend", "start", "sendrecv", "recv", "irecv", "wait",
	"test", "waitall", "free",
	"probe", "iprobe", "miss", "flops", "sleep", "null", "probewait"}

// name returns the verb of a counter of actions.
func (c counter) name() string {
	switch {
	case c < countComplete:
		return countNames[c]
	case c < countCollective:
		return trace.Completion(c - countComplete).String()
	case c >= countSync:
		return "win_" + trace.SyncKind(c-countSync).String()
	case c >= countFileAll:
		return trace.FileKind(c-countFileAll).String() + "_all"
	case c >= countFile:
		return trace.FileKind(c - countFile).String()
	case c >= countIaccess:
		return "r" + trace.AccessKind(c-countIaccess).String()
	case c >= countAccess:
		return trace.AccessKind(c - countAccess).String()
	case c >= countIcollective:
		return "i" + trace.CollectiveKind(c-countIcollective).String()
	}
	return trace.CollectiveKind(c - countCollective).String()
}

// opCounts are the counters of operations that are one action each.
var opCounts = [...]counter{trace.OpSend: countSend, trace.OpSsend: countSsend, trace.OpIsend: countIsend,
	trace.OpIssend:   countIssend,
	trace.OpSendrecv: countSendrecv, trace.OpRecv: countRecv, trace.OpIrecv: countIrecv, trace.OpWait: countWait, trace.OpTest: countTest,
	trace.OpWaitAll: countWaitAll, trace.OpFree: countFree, trace.OpIprobe: countProbe,
	trace.OpStart: countStart, trace.OpProbe: countBlocked, trace.OpFlops: countFlops, trace.OpSleep: countSleep}

// tally holds totals: a row of counters for each phase, row 0 for what is in none. Rows have the same
// counters, so that rows can be added.
type tally struct {
	kernels []counter // by kernel: its calls; its terms follow
	width   int       // counters in a row
	ints    []int64
	floats  []float64 // amounts
	exact   []int64   // amounts of kernels as far as they are integers that fit, not added yet
}

// newTally returns a tally of nothing. Kernels have as many counters as their flop counts have terms.
func newTally(h *trace.Header) *tally {
	t, next := &tally{}, firstKernel
	for i := range h.Kernels {
		t.kernels = append(t.kernels, next)
		next += counter(1 + len(h.Kernels[i].Flops))
	}
	t.width = int(next)
	n := (1 + len(h.Phases)) * t.width
	t.ints, t.floats, t.exact = make([]int64, n), make([]float64, n), make([]int64, n)
	return t
}

// at returns the index of a counter of a phase (-1: none).
func (t *tally) at(phase int32, c counter) int { return (1+int(phase))*t.width + int(c) }
