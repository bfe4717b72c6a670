// Package path finds the critical path of a replay while it runs: the longest chain of
// computations, overheads and transfers, each of which begins where the one before it ends,
// from the begin of the run to its makespan.
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
	"sync"

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
func (p *Part) key() Part { return Part{Name: p.Name, Kind: p.Kind, Phase: p.Phase, Level: p.Level} }

// Kinds of parts, as Part.Kind names them.
const (
	KindKernel     = "kernel"     // calls of one
	KindFlop       = "flop"       // computation that is given in flop
	KindSleep      = "sleep"      // of ranks
	KindOverhead   = "overhead"   // that sends and receives cost a rank
	KindPoll       = "poll"       // probes, and the time to the probe that sees a message
	KindLatency    = "latency"    // of messages
	KindWire       = "wire"       // messages carried at the rate that they would have alone
	KindContention = "contention" // time that they lose as they share links
	KindWait       = "wait"       // for what had not come when the replay was stopped
)

// rankKinds are the kinds of parts of the times of a rank, but for waits, which are never on the path.
var rankKinds = [...]string{
	replay.TimeCompute: KindFlop, replay.TimeSleep: KindSleep, replay.TimePoll: KindPoll,
	replay.TimeOverhead: KindOverhead,
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

// part names a part of a path. Accounts of the log are the kinds of time, then the kernels of the header.
func (p *Path) part(t eventlog.Part) Part {
	part := Part{Seconds: t.Seconds}
	switch t.Kind {
	case eventlog.OnAccount: // the time of a rank
		part.Count = int64(t.Amount)
		if t.Phase >= 0 {
			part.Phase = p.header.Phases[t.Phase]
		}
		if kernel := int(t.Account) - replay.NumTimeKinds; kernel >= 0 {
			part.Kind, part.Name = KindKernel, p.header.Kernels[kernel].Name
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

// Windows finds the critical paths of the windows of an estimate, by replay.SampleOptions.
// Its methods may be called from several goroutines. Use NewWindows.
type Windows struct {
	header  *trace.Header
	machine replay.Machine
	options replay.Options

	ended sync.Map // windowPath by span, of those that have been played
}

// span is the steps [from, to).
type span struct{ from, to int }

// windowPath is the path of a window. All windows have the same levels; any of them names those of the estimate.
type windowPath struct {
	data   *Data
	levels *levels
}

// NewWindows returns a Windows for estimates of a trace with that header, on a machine, with
// options.
func NewWindows(h *trace.Header, m replay.Machine, o replay.Options) *Windows {
	return &Windows{header: h, machine: m, options: o}
}

// Observe returns the observer of a window, for replay.SampleOptions.Observe.
func (w *Windows) Observe(from, to int) (list []replay.Observer, ended func()) {
	p := New(w.header, w.machine, w.options)
	return []replay.Observer{p.Observer()}, func() {
		w.ended.Store(span{from, to}, windowPath{p.Data(), &p.levels})
	}
}

// Data returns what the critical path of the run consists of as far as the windows of an
// estimate tell: each stands for the steps of replay.Estimate.WindowWeight, with its warm-up, and all together
// for the makespan. Where the path is in between is not known: there are no hops.
//
// The sleep with which ranks enter is in the run once, and stands in each window for itself.
func (w *Windows) Data(e *replay.Estimate) *Data {
	entry := 0.0 // seconds that ranks sleep before they begin
	if o := &w.options.Network; o.InitTime > 0 {
		entry = max(o.InitTime, o.TimePrecision)
	}
	enters := func(p *Part) bool { return p.Kind == KindSleep && p.Phase == "" }

	// The parts of all windows, each by its weight, without the sleep.
	sums, total := map[Part]Part{}, 0.0
	var l *levels
	for i, window := range e.Windows {
		played, _ := w.ended.Load(span{window.From, window.To})
		path, ok := played.(windowPath)
		if !ok || path.data.Seconds <= entry {
			continue
		}
		l = path.levels
		weight := e.WindowWeight(i) / float64(window.To-window.From)
		for _, part := range path.data.Parts {
			if enters(&part) {
				part.Seconds -= entry
			}
			key := part.key()
			sum := sums[key]
			sum.Seconds += part.Seconds * weight
			sum.Bytes += part.Bytes * weight
			sums[key] = sum
			total += part.Seconds * weight
		}
	}

	// Together with the sleep they are the makespan of the estimate: it is known better than the sum of the parts, to
	// which the parts are scaled. The sleep is added to the sleep that is there, or is a part of its own.
	d := &Data{Seconds: e.Seconds, Rank: -1, Parts: make([]Part, 0, len(sums)), WhatIfs: []WhatIf{}}
	factor := 0.0
	if total > 0 {
		factor = (e.Seconds - entry) / total
	}
	for key, sum := range sums {
		key.Seconds, key.Bytes = sum.Seconds*factor, sum.Bytes*factor
		if enters(&key) {
			key.Seconds, entry = key.Seconds+entry, 0
		}
		d.Parts = append(d.Parts, key)
	}
	if entry > 0 {
		d.Parts = append(d.Parts, Part{Name: KindSleep, Kind: KindSleep, Seconds: entry})
	}
	slices.SortFunc(d.Parts, longestFirst)
	d.Notes = []string{"An estimate: the path is that of the windows, with their warm-ups, each of which stands for the " +
		"steps nearest to it; where steps repeat, for those of the same work, as near as windows with several kinds of " +
		"work allow."}
	if l != nil {
		d.WhatIfs = l.whatIfs(d.Parts)
	}
	return d
}
