package replay

import (
	"fmt"
	"math"

	"reprise/internal/invariants"
	"reprise/internal/textutil"
	"reprise/netmodel"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file has the results of a replay and the accounts that they come from. While ranks run, charge adds their time
// to accounts (timeAccounts); engine.result makes a Result of these and of the counters of the engine's parts. A result
// has the mean, the least and the most of each account, not a value for each rank, as ranks differ little.

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

	// Repeated is the number of steps that were not played, as all ranks began them as they had begun the step before:
	// they took the time of that step.
	Repeated int `json:"repeated_steps"`

	Messages int64 `json:"messages"` // those of collective operations included
	Bytes    int64 `json:"bytes"`    // in these messages
	// to windows: one-sided communication, whose messages are not among those above
	Accesses    int64 `json:"accesses,omitempty"`
	AccessBytes int64 `json:"access_bytes,omitempty"` // in them, one way
	FileBytes   int64 `json:"file_bytes,omitempty"`   // read from files and written to them

	// that were played: with the marks of steps and phases, without calls of kernels that cost nothing
	Actions int64 `json:"actions"`
	Polls   int64 `json:"polls"` // probes and tests, those of busy waits included

	Kinds  []Share `json:"time_by_kind"`  // what a rank's time is spent on; the means add up to the mean end
	Phases []Share `json:"time_by_phase"` // from begin to end; phases may lie inside each other
	// What the ranks' devices do: the states, whose means add up to the mean end, and the kernels in queues, which may run
	// at the same time. Nil: the trace has no queues.
	DeviceStates []Share `json:"device_by_state,omitempty"`
	Devices      []Share `json:"device_time,omitempty"`
	Kernels      []Share `json:"time_by_kernel"` // parts of the kind compute, without free ones

	// RootPhases has, by number of the phase, the seconds that rank 0 was in it: a program's own report says these.
	RootPhases []float64 `json:"-"`

	Seed *uint64 `json:"seed,omitempty"` // of the noise; nil if the models have none

	*Energy // nil: the platform does not say what anything draws

	Network  netmodel.Stats    `json:"network"`
	Warnings []warning.Warning `json:"warnings"` // oddities that did not stop the run
	Ranks    []RankResult      `json:"ranks"`

	// StoppedAt is the time up to which everything has happened, if the replay was stopped there; then Makespan is how
	// far the ranks have come, and the times are those up to now.
	StoppedAt *float64 `json:"stopped_at_s,omitempty"`
	// WallBefore is the wall time in seconds of the parts of the run before the one that was resumed.
	WallBefore float64 `json:"-"`

	// StepStarts, if Options.StepStarts asks for it, has the starts of the steps that were
	// played, and behind them the end.
	StepStarts []StepStart `json:"-"`
}

// StepStart says when the ranks begin a step, in seconds. Its parts are what the mean rank has spent until then on each
// kind, kernel and phase, the kinds first; those of the kinds add up to the mean.
type StepStart = sampling.StartTimes

// RankResult is the result of one rank.
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
	if e.devices.queues > 0 {
		res.DeviceStates = e.accounts.shares(e.accounts.device(), deviceStates[:])
		res.Devices = e.accounts.shares(e.accounts.device()+len(deviceStates), KernelNames(h))
	}
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

// collectiveShare returns which share of the ranks' time collective operations take.
func (r *Result) collectiveShare() float64 {
	for _, s := range r.Kinds {
		if s.Name == kindNames[TimeCollective] {
			return s.Mean / r.meanEnd()
		}
	}
	return 0
}

// meanEnd returns when the ranks end on average, in seconds.
func (r *Result) meanEnd() float64 {
	sum := 0.0
	for _, rank := range r.Ranks {
		sum += rank.End
	}
	return sum / float64(len(r.Ranks))
}

// warnings reports messages that did not fit, and what polls cost. If the replay is over it also reports sends,
// receives and collective calls without a partner.
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
	if e.meter != nil {
		list.Add(e.meter.warnings()...)
	}
	return list.All()
}

// The time of a rank is charged by clocks, not by durations: from the clock up to which it was charged last to its
// clock now. So no time is counted twice or left out, and the sum of the charges is the rank's clock, but for rounding.

// charge charges the time of rank r up to its clock to a kind.
func (e *engine) charge(r int32, k TimeKind) {
	rk := &e.ranks[r]
	since := rk.charged
	*e.accounts.at(int(k), r) += rk.clock - since
	rk.charged = rk.clock
	if e.devices.queues > 0 {
		e.chargeDevice(r, k, since, rk.clock)
	}
	if e.observers != nil {
		e.notifyTime(r, k, noKernel, since, rk.clock)
	}
}

// chargeKernel is charge for a kernel.
func (e *engine) chargeKernel(r int32, rk *rank, kernel uint16) {
	since := rk.charged
	*e.accounts.at(int(numKinds)+int(kernel), r) += rk.clock - since
	rk.charged = rk.clock
	if e.devices.queues > 0 {
		e.chargeDevice(r, TimeCompute, since, rk.clock)
	}
	if e.observers != nil {
		e.notifyTime(r, TimeCompute, int32(kernel), since, rk.clock)
	}
}

// chargeWait charges what rank r has waited for to its kind, up to the end of a message, which has released it.
func (e *engine) chargeWait(r, message int32) {
	rk := &e.ranks[r]
	since := rk.charged
	if rk.clock == since {
		return
	}
	*e.accounts.at(int(rk.charge), r) += rk.clock - since
	rk.charged = rk.clock
	if e.devices.queues > 0 {
		e.chargeDevice(r, rk.charge, since, rk.clock)
	}
	if e.observers != nil {
		e.notifyWaited(r, message, since, rk)
	}
}

// checkTimes says whether the accounts of each result are checked.
var checkTimes = invariants.Enabled

// timeTolerance is how far the sum of a rank's times may be from its end, relatively.
const timeTolerance = 1e-9

// timeAccounts adds up where the time of each rank went, in seconds: a number for each kind, kernel and phase, of its
// device for each state and kernel, and for the times at which the open phases began.
type timeAccounts struct {
	rows                     []float64 // [ranks][stride]
	ranks                    int
	stride                   int
	kernels, phases, devices int
}

// noTime marks a phase that is not open.
const noTime = -1

// newTimeAccounts returns accounts of the ranks of a trace, in which no time was spent and no phase is open.
func newTimeAccounts(h *trace.Header) timeAccounts {
	// The last rows are no sums but the times at which phases have begun: they lie with the rest of the rank, which
	// is what an action touches.
	ranks, kernels, phases := h.Ranks, len(h.Kernels), len(h.Phases)
	b := timeAccounts{ranks: ranks, kernels: kernels, phases: phases}
	if len(h.Queues) > 0 {
		b.devices = len(deviceStates) + kernels
	}
	b.stride = b.width() + phases
	b.rows = make([]float64, b.stride*ranks)
	for r := range ranks {
		for p := range phases {
			*b.at(b.width()+p, int32(r)) = noTime
		}
	}
	return b
}

// at returns the sum of rank r in a row.
func (b *timeAccounts) at(row int, r int32) *float64 { return &b.rows[int(r)*b.stride+row] }

// phase begins or ends a phase of rank r at a time. A phase that is entered
// twice counts once, from its first begin to its first end.
func (b *timeAccounts) phase(r int32, phase uint16, end bool, when float64) {
	row := int(numKinds) + b.kernels + int(phase)
	begin := b.at(b.width()+int(phase), r)
	switch {
	case end && *begin != noTime:
		*b.at(row, r) += when - *begin
		*begin = noTime
	case !end && *begin == noTime:
		*begin = when
	}
}

// begun returns when rank r began a phase, in seconds; noTime if it is not open.
func (b *timeAccounts) begun(r int32, phase uint16) float64 { return *b.at(b.width()+int(phase), r) }

// close ends the phases that are still open when the actions of rank r are over, and adds up its kernels.
func (b *timeAccounts) close(r int32, when float64) {
	for p := range b.phases {
		b.phase(r, uint16(p), true, when)
	}
	for k := range b.kernels {
		*b.at(int(TimeCompute), r) += *b.at(int(numKinds)+k, r)
	}
}

// device returns the first account of the device: of its states, then of the kernels that run there.
func (b *timeAccounts) device() int { return int(numKinds) + b.kernels + b.phases }

// width returns how many accounts a rank has: of kinds, kernels, phases and the device, in this order.
func (b *timeAccounts) width() int { return b.device() + b.devices }

// addSpent adds to sums, one for each account, what rank r has spent by a time up to which it
// has been charged. Kernels are part of the kind compute, open phases count up to now.
func (b *timeAccounts) addSpent(sums []float64, r int32, when float64) {
	spent := b.rows[int(r)*b.stride:][:len(sums)]
	// Rows of kernels are apart from that of the kind compute until the account is closed.
	for row, v := range spent {
		sums[row] += v
	}
	for _, v := range spent[numKinds:][:b.kernels] {
		sums[TimeCompute] += v
	}
	for p := range b.phases {
		if begin := b.begun(r, uint16(p)); begin != noTime {
			sums[int(numKinds)+b.kernels+p] += when - begin
		}
	}
}

// means returns what the mean rank has spent on each account. They are closed.
func (b *timeAccounts) means() []float64 {
	sums := make([]float64, b.width())
	for row := range sums {
		for r := range b.ranks {
			sums[row] += *b.at(row, int32(r))
		}
	}
	return averages(sums, b.ranks)
}

// A Share is how much of the ranks' time one thing took, in seconds.
type Share struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_s"` // over all ranks
	Min  float64 `json:"min_s"`
	Max  float64 `json:"max_s"`
}

// shares summarises the rows from first on under the given names, but for those of no time; it is never nil.
func (b *timeAccounts) shares(first int, names []string) []Share {
	// Rows of ranks lie one after the other; this goes through them once for each name, at the end of a replay.
	shares := []Share{}
	for i, name := range names {
		s := Share{Name: name}
		for r := range b.ranks {
			v := *b.at(first+i, int32(r))
			if r == 0 || v < s.Min {
				s.Min = v
			}
			s.Max = max(s.Max, v)
			s.Mean += v
		}
		s.Mean /= float64(b.ranks)
		if s.Max > 0 {
			shares = append(shares, s)
		}
	}
	return shares
}

// stepCounter knows which steps the ranks have begun: for progress, their number
// on average; for Result.StepStarts, when.
type stepCounter struct {
	ranks   int
	begun   int   // by all ranks together
	skipped int   // steps among them that repeat others (repeats)
	last    int64 // the highest step begun
	report  func(steps int)
	from    int64
	starts  []startSum // by step - from; empty unless asked for
}

// startSum sums up the beginnings of one step.
type startSum struct {
	ranks int
	sum   float64   // of the times, seconds
	last  float64   // time, seconds
	parts []float64 // of the ranks' accounts (timeAccounts.addSpent), seconds
}

// step notes that a rank begins step n at a time. It returns where to add what the rank has
// spent its time on until then, nil if nobody asks.
func (c *stepCounter) step(n int64, at float64) (parts []float64) {
	// Progress is told when so many steps have been begun that each rank is one further on average.
	c.last = max(c.last, n)
	if c.begun++; c.report != nil && c.begun%c.ranks == 0 {
		c.report(c.begun / c.ranks)
	}
	if i := n - c.from; uint64(i) < uint64(len(c.starts)) {
		b := &c.starts[i]
		b.ranks++
		b.sum += at
		b.last = max(b.last, at)
		return b.parts
	}
	return nil
}

// skip notes that all ranks have come n steps further.
func (c *stepCounter) skip(n int) {
	c.skipped += n
	c.last += int64(n)
	if c.begun += n * c.ranks; c.report != nil {
		c.report(c.begun / c.ranks)
	}
}

// averages returns the means over so many ranks, of which sums are the sums.
func averages(sums []float64, ranks int) []float64 {
	means := make([]float64, len(sums))
	for i, s := range sums {
		means[i] = s / float64(ranks)
	}
	return means
}
