package replay

import (
	"fmt"
	"io"
	"strings"

	"reprise/internal/textutil"
)

// EstimateReport is an estimate with what it was made from and what making it cost.
// Nothing in it looks like an exact result.
type EstimateReport struct {
	IsEstimate bool `json:"estimate"` // true
	*Estimate
	Confidence float64 `json:"confidence"` // of the interval
	Tolerance  float64 `json:"tolerance"`  // that was asked for; 0: none
	Budget     float64 `json:"budget_s"`   // likewise
	Provenance
	Hosts int `json:"hosts"`
}

// NewEstimateReport returns the report of an estimate for a machine.
func NewEstimateReport(e *Estimate, m *Machine, p Provenance) *EstimateReport {
	used := map[int32]bool{}
	for _, h := range m.Hosts {
		used[h] = true
	}
	return &EstimateReport{IsEstimate: true, Estimate: e, Confidence: 0.95, Provenance: p.of(e.Header), Hosts: len(used)}
}

// WriteJSON writes everything.
func (r *EstimateReport) WriteJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// WriteText writes the estimate and its interval, the windows that it comes from,
// and what it cost.
func (r *EstimateReport) WriteText(w io.Writer) error {
	var b strings.Builder
	if r.Complete {
		resultLine(&b, r.Header, r.Seconds, r.Gflops, " estimate")
	} else {
		b.WriteString(PartLabel(r.Header, r.First, r.Last) + ": no result line\n")
	}
	fmt.Fprintf(&b, "\nmakespan %.6g \u00b1 %.2g s (\u00b1 %.2g %%, about %g %% sure)", r.Seconds, r.Interval,
		100*r.Relative(), 100*r.Confidence)
	if r.Gflops > 0 {
		fmt.Fprintf(&b, ", %.4e \u00b1 %.1e Gflops", r.Gflops, r.GflopsInterval)
	}
	fmt.Fprintf(&b, ": an estimate\n%s on %s, %s on %s", r.Trace, r.Platform, textutil.Count(r.Header.Ranks, "rank"),
		textutil.Count(r.Hosts, "host"))
	b.WriteString(r.models())
	if r.Seed != nil {
		fmt.Fprintf(&b, ", noise of seed %d: the interval is that of this seed", *r.Seed)
	}
	b.WriteByte('\n')
	l := layoutOf(w, 2, estimatedNames(r.Kinds, r.Kernels, r.Phases))
	r.shareTable(&b, l, "time of a rank", r.Kinds)
	r.shareTable(&b, l, "compute", r.Kernels)
	r.shareTable(&b, l, "phase", r.Phases)
	r.windowTable(&b)
	fmt.Fprintf(&b, "\nsimulated %s of %s steps (%.2g %%), %s messages; sampled in %.3g s with %s, %s of memory\n",
		textutil.Thousands(int64(r.Simulated)), textutil.Thousands(int64(r.Steps)), 100*float64(r.Simulated)/float64(r.Steps), textutil.Thousands(r.Messages),
		r.WallSeconds, textutil.Count(r.Workers, "worker"), size(r.PeakRSS))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %v\n", w)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shareTable writes what the mean rank spends its time on, in the order given.
func (r *EstimateReport) shareTable(b *strings.Builder, l layout, title string, shares []EstimatedShare) {
	if len(shares) == 0 {
		return
	}
	width := l.width(title, estimatedNames(shares))
	fmt.Fprintf(b, "\n%-*s %12s %12s %8s\n", width, title, "mean s", "\u00b1 s", "share")
	for _, s := range shares {
		share := shareOf(s.Mean, r.MeanEnd)
		fmt.Fprintf(b, "%-*s %12.6g %12.2g %7.2f%%%s\n", width, l.name(s.Name), s.Mean, s.Interval, 100*share,
			bar(share, l.bars))
	}
}

func estimatedNames(tables ...[]EstimatedShare) (names []string) {
	for _, shares := range tables {
		for _, s := range shares {
			names = append(names, s.Name)
		}
	}
	return names
}

func (r *EstimateReport) windowTable(b *strings.Builder) {
	seen := "long enough as far as the steps after it tell"
	if r.Coupled {
		seen = "after which the cold start is forgotten"
	}
	fmt.Fprintf(b, "\n%s in %s; warm-up of %s, %s\n", textutil.Count(len(r.Windows), "window"),
		textutil.Count(r.Rounds, "round"), textutil.Count(r.Warmup, "step"), seen)
	fmt.Fprintf(b, "%14s %14s %14s\n", "simulated", "counted", "mean step s")
	for _, w := range r.Windows {
		fmt.Fprintf(b, "%14s %14s %14.6g\n", fmt.Sprintf("%d:%d", w.From, w.To), fmt.Sprintf("%d:%d", w.Start, w.To),
			w.Seconds)
	}
}
