package replay

import (
	"fmt"

	"reprise/netmodel"
	"reprise/trace"
)

// Result is what a replay found out. Dates and times are in seconds; date 0 is
// when all ranks enter.
type Result struct {
	Header   *trace.Header
	From, To int // steps played; To = 0: to the end
	Makespan float64
	Ranks    []RankResult

	Kinds   []Share // what the time of a rank is spent on; the means add up to the mean end
	Kernels []Share // parts of the kind compute, free kernels left out
	Phases  []Share // from begin to end; phases may lie inside each other

	Messages int64 // point-to-point messages
	Bytes    int64 // in them
	Actions  int64
	Polls    int64 // probes and tests, those of busy waits included

	Network  netmodel.Stats
	Warnings []string // oddities that did not stop the run
}

// RankResult is what became of one rank.
type RankResult struct {
	Rank int     `json:"rank"`
	Host string  `json:"host"`
	End  float64 `json:"end_s"` // date of its end
}

// Gflops returns the rate of the program in Gflop/s, by its own count of flop; 0 if
// it has none or only some steps were played.
func (r *Result) Gflops() float64 {
	if r.Makespan <= 0 || !r.Complete() {
		return 0
	}
	return r.Header.Flops / r.Makespan / 1e9
}

// Complete reports whether all steps of the trace were played.
func (r *Result) Complete() bool { return r.From <= 0 && (r.To <= 0 || r.To >= r.Header.Steps) }

func (e *engine) result(h *trace.Header, o *Options) *Result {
	res := &Result{
		Header: h, From: o.From, To: o.To,
		Ranks:    make([]RankResult, len(e.ranks)),
		Messages: e.numMessages, Bytes: e.numBytes, Actions: e.numActions, Polls: e.numPolls,
		Network: e.network.Stats(),
	}
	for r := range e.ranks {
		rk := &e.ranks[r]
		res.Ranks[r] = RankResult{r, e.machine.Platform.Host(int(rk.host)).Name, rk.clock}
		res.Makespan = max(res.Makespan, rk.clock)
		e.book.close(int32(r), rk.clock)
	}
	res.Kinds = nonZero(e.book.shares(0, kindNames[:]))
	res.Kernels = nonZero(e.book.shares(int(numKinds), kernelNames(h)))
	res.Phases = nonZero(e.book.shares(int(numKinds)+e.book.kernels, h.Phases))
	res.Warnings = e.warnings()
	return res
}

func nonZero(shares []Share) []Share {
	kept := shares[:0]
	for _, s := range shares {
		if s.Max > 0 {
			kept = append(kept, s)
		}
	}
	return kept
}

// kernelNames returns the kernels' names with their attributes.
func kernelNames(h *trace.Header) []string {
	names := make([]string, len(h.Kernels))
	for i := range h.Kernels {
		sig := signatureOf(&h.Kernels[i])
		names[i] = sig.Name
		for _, a := range sig.Attrs {
			names[i] += " " + a.Name + "=" + a.Value
		}
	}
	return names
}

// warnings reports messages that were sent or expected to no end.
func (e *engine) warnings() []string {
	sends, recvs := 0, 0
	for r := range e.ranks {
		for m := e.ranks[r].sends.head; m >= 0; m = e.messages[m].next {
			sends++
		}
		for m := e.ranks[r].recvs.head; m >= 0; m = e.messages[m].next {
			recvs++
		}
	}
	var list []string
	if sends > 0 {
		list = append(list, fmt.Sprintf("%d messages were sent but never received", sends))
	}
	if recvs > 0 {
		list = append(list, fmt.Sprintf("%d receives were posted but never matched", recvs))
	}
	return list
}
