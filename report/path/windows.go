package path

import (
	"slices"
	"sync"

	"reprise/replay"
	"reprise/trace"
)

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
