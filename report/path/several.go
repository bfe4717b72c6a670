package path

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/trace"
)

// This file puts critical paths of several replays together: of the windows of an estimate (Windows), and of replays
// with several seeds (RunsOf).

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

// NewWindows returns a Windows for estimates of a trace with that header, on a machine, with options.
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
// for the makespan. The path between two windows is not known, so it has no hops.
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

// Runs are the critical paths of replays that differ in their seeds only, and their mean.
type Runs struct {
	*Data        // the mean: of a part that a path lacks it has 0 s, and no hops
	Runs  []Seed `json:"runs"` // by seed
}

// Seed is the critical path of the replay with a seed.
type Seed struct {
	Seed uint64 `json:"seed"`
	*Data
}

// RunsOf returns the critical paths of replays, at least one, with their mean.
//
// Counts are means, too, rounded. What-ifs are means of slopes: those of a path that a seed does not have are 0 there.
func RunsOf(seeds []Seed) *Runs {
	n := float64(len(seeds))
	mean := &Data{Rank: -1, Parts: []Part{}}
	sums, counts, ifs := map[Part]Part{}, map[Part]float64{}, map[WhatIf]float64{}
	// Parts and changes of all seeds by their keys, each with its n-th of the seconds.
	for _, s := range seeds {
		mean.Seconds += s.Seconds / n
		for _, part := range s.Parts {
			key := part.key()
			sum := sums[key]
			sum.Seconds += part.Seconds / n
			sum.Bytes += part.Bytes / n
			sums[key] = sum
			counts[key] += float64(part.Count) / n
		}
		for _, w := range s.WhatIfs {
			ifs[WhatIf{Kind: w.Kind, Name: w.Name, What: w.What}] += w.Slope / n
		}
	}
	for key, sum := range sums {
		key.Seconds, key.Bytes, key.Count = sum.Seconds, sum.Bytes, int64(counts[key]+0.5)
		mean.Parts = append(mean.Parts, key)
	}
	slices.SortFunc(mean.Parts, longestFirst) // a map has no order
	mean.WhatIfs = sorted(ifs)
	mean.Notes = []string{fmt.Sprintf("The mean of the critical paths of %s, with a seed each.",
		textutil.Count(len(seeds), "replay"))}
	return &Runs{mean, seeds}
}

// WriteText writes the mean, and of each path where it ends and what is most of it.
func (r *Runs) WriteText(w io.Writer) error {
	if err := r.Data.WriteText(w); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-10s %12s %10s   %s\n", "seed", "path s", "ends at", "most of it")
	for _, s := range r.Runs[:min(shown, len(r.Runs))] {
		fmt.Fprintf(&b, "%-10d %12.6g %10s", s.Seed, s.Seconds, fmt.Sprint("rank ", s.Rank))
		if len(s.Parts) > 0 {
			fmt.Fprintf(&b, "   %s, %.2f%%", s.Parts[0].label(), s.percent(s.Parts[0].Seconds))
		}
		b.WriteByte('\n')
	}
	if more := len(r.Runs) - shown; more > 0 {
		fmt.Fprintf(&b, "%d more: --json has all\n", more)
	}
	return textutil.Write(w, b.String())
}

// longestFirst orders parts by their seconds, and those alike by what and where they are, which tells any two parts
// apart: the order is the same in every run.
func longestFirst(a, b Part) int {
	return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Level, b.Level), cmp.Compare(a.Queue, b.Queue))
}
