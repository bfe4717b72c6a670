package replay

import (
	"fmt"
	"math"

	"reprise/internal/textutil"
	"reprise/netmodel"
	"reprise/trace"
	"reprise/trace/warning"
)

// The figures of a result are those of the ranks' accounts (charge.go) and of counters of the parts of the
// engine. Ranks differ little in most programs, so that of each account the mean, the least and the most are
// kept, not one value a rank.

// Result is what a replay found out. Times are in seconds; time 0 is
// when all ranks enter.
type Result struct {
	Header   *trace.Header `json:"-"`
	Makespan float64       `json:"makespan_s"`
	// by the program's own count of flop; 0: it has none, or not all steps were played
	Gflops   float64 `json:"gflops"`
	First    int     `json:"first_step"` // the steps that were played, if the trace marks its steps
	Last     int     `json:"last_step"`
	Complete bool    `json:"complete"` // all steps of the program were played

	// Repeated is how many of the steps took the time of the one before them and were not
	// played one by one: all ranks began them as they had begun that one.
	Repeated int `json:"repeated_steps"`

	Messages int64 `json:"messages"` // those of collective operations included
	Bytes    int64 `json:"bytes"`    // in them
	// to windows: one-sided communication, whose messages are not among those above
	Accesses    int64 `json:"accesses,omitempty"`
	AccessBytes int64 `json:"access_bytes,omitempty"` // in them, one way
	FileBytes   int64 `json:"file_bytes,omitempty"`   // read from files and written to them

	// that were played: with the marks of steps and phases, without calls of kernels that cost nothing
	Actions int64 `json:"actions"`
	Polls   int64 `json:"polls"` // probes and tests, those of busy waits included

	Kinds   []Share `json:"time_by_kind"`   // what a rank's time is spent on; the means add up to the mean end
	Phases  []Share `json:"time_by_phase"`  // from begin to end; phases may lie inside each other
	Kernels []Share `json:"time_by_kernel"` // parts of the kind compute, without free ones

	// RootPhases has, by number of the phase, the seconds that rank 0 was in it: a program's
	// own report says these.
	RootPhases []float64 `json:"-"`

	Seed *uint64 `json:"seed,omitempty"` // of the noise; nil if the models have none

	Network  netmodel.Stats    `json:"network"`
	Warnings []warning.Warning `json:"warnings"` // oddities that did not stop the run
	Ranks    []RankResult      `json:"ranks"`

	// StoppedAt is the time up to which everything has happened, if the replay was
	// stopped there; then Makespan is how far the ranks have come, and the times are those
	// up to now.
	StoppedAt *float64 `json:"stopped_at_s,omitempty"`
	// WallBefore is the wall time in seconds of the parts of the run before the one
	// that was resumed.
	WallBefore float64 `json:"-"`

	// StepStarts, if Options.StepStarts asks for it, has the starts of the steps that were
	// played, and behind them the end.
	StepStarts []StepStart `json:"-"`
}

// StepStart says when the ranks begin a step. In seconds.
type StepStart struct {
	Mean float64 // over the ranks
	Last float64
	// Parts are what the mean rank has spent until then on each kind, kernel and phase, the kinds
	// first; those of the kinds add up to Mean.
	Parts []float64
}

// RankResult is what became of one rank.
type RankResult struct {
	Rank int     `json:"rank"`
	Host string  `json:"host"`
	End  float64 `json:"end_s"` // time of its end
}

// result returns the result of a replay that has ended, or of one that has been stopped, up to now. It
// charges the ranks up to their clocks and closes their accounts, so it is called once.
func (e *engine) result(h *trace.Header, o *Options) *Result {
	res := &Result{
		Header: h, First: max(0, o.From), Last: int(e.progress.last), Repeated: e.progress.skipped,
		Ranks:    make([]RankResult, len(e.ranks)),
		Messages: e.matcher.numMessages, Bytes: e.matcher.numBytes, Actions: e.numActions, Polls: e.prober.numPolls,
		Accesses: e.windows.numAccesses, AccessBytes: e.windows.numBytes, FileBytes: e.files.numBytes,
		Network: e.network.Stats(),
	}
	if e.trace != nil { // of a stream, as far as it has come
		if chunks := e.trace.ChunkInfos(); len(chunks) > 0 {
			res.First = max(res.First, chunks[0].First)
		}
	}
	if e.costs.random != nil {
		res.Seed = &o.Seed
	}
	for r := range e.ranks {
		rk := &e.ranks[r]
		res.Ranks[r] = RankResult{r, e.machine.Platform.Host(int(e.machine.Hosts[r])).Name, rk.clock}
		res.Makespan = max(res.Makespan, rk.clock)
		// A stopped replay leaves ranks that wait, whose time is charged up to now. Only a probe moves the
		// clock of a rank that is not blocked before it is charged.
		kind := TimePoll
		if rk.waits > 0 {
			kind = rk.charge
		}
		e.charge(int32(r), kind)
		if e.observers != nil {
			e.notifySpent(int32(r), true)
		}
		e.accounts.close(int32(r), rk.clock)
		if checkTimes {
			// The charges of a rank add up to its time. Nothing is known once a clock is beyond all numbers.
			sum := 0.0
			for kind := range int(numKinds) {
				sum += *e.accounts.at(kind, int32(r))
			}
			addsUp := math.IsInf(rk.clock, 1) || math.Abs(sum-rk.clock) <= timeTolerance*rk.clock
			if rk.charged != rk.clock || !addsUp {
				panic(fmt.Sprintf("replay: rank %d ends at %v s, is charged up to %v s and for %v s", r, rk.clock, rk.charged, sum))
			}
		}
	}
	if e.observers != nil {
		e.observers.flushTransferred()
	}
	res.Kinds = e.accounts.shares(0, kindNames[:])
	res.Kernels = e.accounts.shares(int(numKinds), KernelNames(h))
	res.Phases = e.accounts.shares(int(numKinds)+e.accounts.kernels, h.Phases)
	for i := range h.Phases {
		res.RootPhases = append(res.RootPhases, *e.accounts.at(int(numKinds)+e.accounts.kernels+i, 0))
	}
	// A trace may hold fewer steps than its program has; one without step marks is whole.
	res.Complete = o.allSteps(h) && (e.progress.begun == 0 || res.Last+1-res.First >= h.Steps)
	if res.Complete && res.Makespan > 0 {
		res.Gflops = h.Flops / res.Makespan / 1e9
	}
	return res
}

// meanEnd returns when the ranks end on average, in seconds.
func (r *Result) meanEnd() float64 {
	sum := 0.0
	for _, rank := range r.Ranks {
		sum += rank.End
	}
	return sum / float64(len(r.Ranks))
}

// warnings reports messages that did not fit, and what polls cost; of a replay that is over also what
// was sent, expected or called to no end, which until then may get its partner.
func (e *engine) warnings(over bool) []warning.Warning {
	var list warning.List
	// Lists of posts hold what has found no partner.
	if over {
		sends, recvs := 0, 0
		for r := range e.ranks {
			for m := e.ranks[r].sends.head; m >= 0; m = e.matcher.after[m] {
				sends++
			}
			for m := e.ranks[r].recvs.head; m >= 0; m = e.matcher.after[m] {
				recvs++
			}
		}
		if sends > 0 {
			list.Add(warning.New("%s sent but never received", textutil.Count(sends, "message")))
		}
		if recvs > 0 {
			list.Add(warning.New("%s posted but never matched", textutil.Count(recvs, "receive")))
		}
	}
	if e.matcher.numTruncated > 0 {
		list.Add(warning.New("%s cut to the size of a receive, where an MPI ends with MPI_ERR_TRUNCATE",
			textutil.Count(e.matcher.numTruncated, "message")))
	}
	if over && e.collectives.agreement != 0 {
		list.Add(warning.New("the ranks' collective operations do not agree in kinds, roots or counts, where an MPI fails: trace verify, of text that of its conversion, names the first"))
	}
	if e.files.freeBytes > 0 {
		list.Add(warning.New("%s read from files or written to them take no time: --file-bandwidth RATE says how quick a rank's files are", size(e.files.freeBytes)))
	}
	if e.prober.numPolls > 0 {
		list.Add(e.machine.pollCost...)
	}
	return list.All()
}
