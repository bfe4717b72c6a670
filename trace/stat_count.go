package trace

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
	countCollective // and more: one for each CollectiveKind
)

const (
	numSenders  = int(countSendrecv) + 1
	countBytes  = countCollective + counter(numCollectives) // and more: bytes of countSend to countSendrecv
	firstKernel = countBytes + counter(numSenders)
)

var countNames = [countCollective]string{"send", "ssend", "isend", "issend", "sendrecv", "recv", "irecv", "wait", "test", "waitall", "free",
	"probe", "iprobe", "miss", "flops", "sleep"}

// name returns the verb of a counter of actions.
func (c counter) name() string {
	if c < countCollective {
		return countNames[c]
	}
	return CollectiveKind(c - countCollective).String()
}

// kindCounts are the counters of kinds that are one action each.
var kindCounts = [numKinds]counter{KindSend: countSend, KindSsend: countSsend, KindIsend: countIsend, KindIssend: countIssend,
	KindSendrecv: countSendrecv, KindRecv: countRecv, KindIrecv: countIrecv, KindWait: countWait, KindTest: countTest,
	KindWaitAll: countWaitAll, KindFree: countFree, KindIprobe: countProbe, KindFlops: countFlops, KindSleep: countSleep}

// counters is the numbering for a header: kernel k has its calls at calls[k] and
// its terms after that.
type counters struct {
	calls []counter
	n     int
}

func newCounters(h *Header) *counters {
	c := &counters{}
	next := firstKernel
	for i := range h.Kernels {
		c.calls = append(c.calls, next)
		next += counter(1 + len(h.Kernels[i].Flops))
	}
	c.n = int(next)
	return c
}

// tally holds totals: a row of counters for each phase, row 0 for what is in none.
type tally struct {
	counters *counters
	ints     []int64
	floats   []float64 // amounts
}

func newTally(h *Header) *tally {
	c := newCounters(h)
	n := (1 + len(h.Phases)) * c.n
	return &tally{c, make([]int64, n), make([]float64, n)}
}

// at returns the index of a counter of a phase (-1: none).
func (t *tally) at(phase int32, c counter) int { return (1+int(phase))*t.counters.n + int(c) }
