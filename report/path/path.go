// Package path finds the critical path of a replay while it runs: the longest chain of computations, overheads and
// transfers, each of which begins where the one before it ends, from the begin of the run to its makespan.
//
//	p := path.New(header, machine, options)
//	options.Observers = []replay.Observer{p.Observer()}
//	result, err := replay.Run(ctx, trace, machine, options)
//	if err != nil {
//		return err
//	}
//	for _, part := range p.Data().Parts { // none if nothing takes time
//		fmt.Println(part.Name, part.Seconds)
//	}
//
// Package [reprise/replay/eventlog] finds it; this one names what it consists of, and says how the
// makespan would change with that.
//
// [Windows] has the path of an estimate from those of its windows, [RunsOf] the mean of several seeds. A [WhatIf] can
// be applied to the machine, but replaying with it is left to the caller.
//
// # Units
//
// Times are in seconds of the replay, sizes in bytes.
//
// # Errors
//
// A replay of a trace that Check refuses fails. Data is for replays that did not.
//
// # Source
//
// That slopes follow from what the path consists of: S. Shen, T. Hoefler
// and others, "LLAMP: Assessing Network Latency Tolerance of HPC Applications with Linear
// Programming", SC 2024; contention is not in there: docs/replay.md says how it is charged.
package path

import (
	"cmp"
	"slices"

	"reprise/replay"
	"reprise/replay/eventlog"
	"reprise/report/typedarray"
	"reprise/trace"
)

// Path finds the critical path of one replay. Use New.
//
// The replay writes into the log while it runs, which keeps the chains of events that may still become the longest.
// What they consist of is named when the replay has ended.
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
	platform := m.Platform
	p := &Path{header: h}
	l := &p.levels
	l.platform, l.options, l.hosts, l.cables = platform, &o.Network, m.Hosts, platform.Cables()
	l.names = append(slices.Clone(platform.Levels()), severalLevels, windowLevel)
	l.recent = slices.Repeat([]pair{{src: -1}}, numRecent)
	l.ofLink = make([]int32, platform.NumLinks())
	for i := range l.ofLink {
		l.ofLink[i] = int32(platform.LevelOf(int32(i)))
	}
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

// Part is a use of time on the path, such as calls of a kernel within a phase.
type Part struct {
	Name    string  `json:"name"`            // of the kernel; the kind of others
	Kind    string  `json:"kind"`            // "kernel", "overhead", "latency", "wire", "contention", "poll", ...
	Phase   string  `json:"phase,omitempty"` // innermost, in which it happens
	Level   string  `json:"level,omitempty"` // of the links that it happens on
	Queue   string  `json:"queue,omitempty"` // of the device, in which the kernel runs: "queue compute"
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

// key is the part without amounts: its name, kind and place.
func (p *Part) key() Part {
	return Part{Name: p.Name, Kind: p.Kind, Phase: p.Phase, Level: p.Level, Queue: p.Queue}
}

// Kinds of parts, as Part.Kind names them.
const (
	KindKernel     = "kernel"     // calls of one
	KindFlop       = "flop"       // computation that is given in flop
	KindSleep      = "sleep"      // of ranks
	KindOverhead   = "overhead"   // that sends and receives cost a rank
	KindDevice     = "device"     // what rank and device hand over to each other
	KindPoll       = "poll"       // probes, and the time to the probe that sees a message
	KindLatency    = "latency"    // of messages
	KindWire       = "wire"       // messages carried at the rate that they would have alone
	KindContention = "contention" // time that they lose as they share links
	KindWait       = "wait"       // for what had not come when the replay was stopped
)

// rankKinds are the kinds of parts of the times of a rank, but for waits, which are never on the path.
var rankKinds = [...]string{
	replay.TimeCompute: KindFlop, replay.TimeSleep: KindSleep, replay.TimePoll: KindPoll,
	replay.TimeOverhead: KindOverhead, replay.TimeDevice: KindDevice,
}

// Data returns the critical path, once the replay has ended. The Path is of no use any more.
func (p *Path) Data() *Data {
	last, end := p.log.Last()
	spent, hop := p.log.Path(last)
	p.log.Close()
	d := &Data{Seconds: end, Rank: last, Parts: []Part{}, Notes: []string{}}

	// Calls of a kernel in a phase are one part, whatever their attributes are. Parts are added in the order of the log,
	// so that sums have the same bits in every run.
	rest, places := end, map[Part]int{}
	for _, s := range spent {
		rest -= s.Seconds
		part := p.part(s)
		key := part.key()
		place, ok := places[key]
		if !ok {
			place = len(d.Parts)
			places[key], d.Parts = place, append(d.Parts, key)
		}
		sum := &d.Parts[place]
		sum.Seconds += part.Seconds
		sum.Count += part.Count
		sum.Bytes += part.Bytes
	}
	if rest > 1e-9*end { // the rest by rounding is less
		d.Parts = append(d.Parts, Part{Name: "not yet there", Kind: KindWait, Seconds: rest})
	}
	slices.SortStableFunc(d.Parts, func(a, b Part) int { return cmp.Compare(b.Seconds, a.Seconds) })
	d.WhatIfs = p.levels.whatIfs(d.Parts)

	// The log leads from the end of the path to its begin.
	var ranks []uint32
	var times []float64
	for h := hop; h != nil; h = h.Before {
		ranks, times = append(ranks, uint32(h.Rank)), append(times, h.At)
	}
	slices.Reverse(ranks)
	slices.Reverse(times)
	d.Hops = Hops{Number: len(ranks), Ranks: typedarray.Of(ranks), Times: typedarray.Of(times)}
	return d
}

// part names a part of a path. Accounts of the log are the kinds of time, then the kernels of the header, then these in
// each queue.
func (p *Path) part(t eventlog.Part) Part {
	part := Part{Seconds: t.Seconds}
	switch t.Kind {
	case eventlog.OnAccount: // the time of a rank
		part.Count = int64(t.Amount)
		if t.Phase >= 0 {
			part.Phase = p.header.Phases[t.Phase]
		}
		if kernel := int(t.Account) - replay.NumTimeKinds; kernel >= 0 {
			n := len(p.header.Kernels)
			if part.Kind, part.Name = KindKernel, p.header.Kernels[kernel%n].Name; kernel >= n {
				part.Queue = "queue " + p.header.Queues[kernel/n-1]
			}
			return part
		}
		part.Kind = rankKinds[t.Account]
	case eventlog.InLatency:
		part.Kind, part.Count = KindLatency, int64(t.Amount)
	case eventlog.OnWire:
		part.Kind, part.Level, part.Bytes = KindWire, p.levels.names[t.Level], t.Amount
	case eventlog.InContention:
		part.Kind, part.Level = KindContention, p.levels.names[t.Level]
	}
	part.Name = part.Kind
	return part
}
