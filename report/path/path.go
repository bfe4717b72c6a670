package path

import (
	"reprise/replay"
	"reprise/replay/eventlog"
	"reprise/report/typedarray"
	"reprise/trace"
)

// Path finds the critical path of one replay. Use New.
type Path struct {
	header *trace.Header
	levels levels
	log    *eventlog.Log
}

// Check returns why critical paths of a trace with that header cannot be found: of so many kernels in
// so many phases. A replay that is to find one fails with that.
func Check(h *trace.Header) error { return eventlog.Check(h, replay.NumTimeKinds) }

// New returns a Path for a replay of a trace with that header, on a machine, with options.
func New(h *trace.Header, m replay.Machine, o replay.Options) *Path {
	p := &Path{header: h, levels: newLevels(&m, &o.Network)}
	p.log = eventlog.New(h, replay.NumTimeKinds, int32(replay.TimePoll), &p.levels)
	return p
}

// Observer returns an observer with the event log of the path, for replay.Options.Observers.
func (p *Path) Observer() replay.Observer { return replay.Observer{Log: p.log} }

// Data is what a critical path consists of. Times are in seconds.
type Data struct {
	Seconds float64 `json:"seconds_s"` // its length: the makespan
	Rank    int     `json:"rank"`      // at which it ends; -1: of an estimate, it is not known
	Parts   []Part  `json:"parts"`     // their seconds add up to Seconds; the longest first
	// WhatIfs say how the makespan changes with the machine, the greatest gain first.
	WhatIfs []WhatIf `json:"what_if"`
	Hops    Hops     `json:"hops"`
	Notes   []string `json:"notes"` // what limits it, in sentences
}

// Part is one thing that the path spends time on.
type Part struct {
	Name    string  `json:"name"`            // of the kernel, or what it is otherwise
	Kind    string  `json:"kind"`            // "kernel", "overhead", "latency", "wire", "contention", "poll", ...
	Phase   string  `json:"phase,omitempty"` // innermost, in which it happens
	Level   string  `json:"level,omitempty"` // of the links that it happens on
	Seconds float64 `json:"seconds_s"`
	Count   int64   `json:"count,omitempty"` // of calls, latencies, overheads and polls
	Bytes   float64 `json:"bytes,omitempty"` // of messages on the wire
}

// WhatIf is a change of the machine with what it would do to the makespan.
type WhatIf struct {
	Kind string `json:"kind"`           // "kernel", "speed", "overhead", "latency" or "bandwidth"
	Name string `json:"name,omitempty"` // of the kernel, or of the level of links
	What string `json:"what"`           // such as "dgemm 1 % quicker"
	// Slope is the seconds of the path that go by it: dT/d(log) of its times.
	Slope float64 `json:"slope_s"`
	Gain  float64 `json:"gain_s"` // seconds by which the makespan falls with the change
	// Replayed is the gain that a replay with the change has; nil where none was made.
	Replayed *float64 `json:"replayed_s,omitempty"`
}

// Hops is where the path is, from the begin to the end: at Times[i] it comes to Ranks[i], at
// the latest where that rank begins a step.
type Hops struct {
	Number int              `json:"number"`
	Ranks  typedarray.Bytes `json:"ranks"` // uint32, [Number]
	Times  typedarray.Bytes `json:"times"` // float64 seconds, [Number], ascending
}
