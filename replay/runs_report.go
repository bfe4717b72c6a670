package replay

import (
	"fmt"
	"io"
	"strings"
)

// EnsembleReport is an ensemble with what it was made from and what making it cost.
type EnsembleReport struct {
	*Ensemble
	Provenance
	Ranks   int `json:"ranks"`
	Workers int `json:"workers"` // replays at once
}

// NewEnsembleReport returns the report of an ensemble.
func NewEnsembleReport(e *Ensemble, p Provenance) *EnsembleReport {
	return &EnsembleReport{Ensemble: e, Provenance: p.of(e.Header), Ranks: e.Header.Ranks}
}

// WriteJSON writes everything.
func (r *EnsembleReport) WriteJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// WriteText writes the spread of the runs.
func (r *EnsembleReport) WriteText(w io.Writer) error {
	var b strings.Builder
	first, last := r.Runs[0].Seed, r.Runs[len(r.Runs)-1].Seed
	fmt.Fprintf(&b, "%d runs, seeds %d to %d: %s on %s, %d ranks", len(r.Runs), first, last, r.Trace, r.Platform, r.Ranks)
	b.WriteString(r.models())
	if !r.Complete {
		b.WriteString("\n" + PartLabel(r.Header, r.First, r.Last))
	}
	fmt.Fprintf(&b, "\n\n%-14s %13s %10s %12s %13s %13s\n", "", "mean", "± (95 %)", "sd of a run", "min", "max")
	r.Makespan.write(&b, "makespan s")
	if r.Gflops.Max > 0 {
		r.Gflops.write(&b, "Gflops")
	}
	if r.Rating != nil {
		r.Rating.write(&b, ratingName)
	}
	fmt.Fprintf(&b, "\nreplayed in %.3g s, %d at once, %s of memory\n", r.WallSeconds, r.Workers, size(r.PeakRSS))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %v\n", w)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ratingName is what reports call a program's own rating: HPCG's, in its words.
const ratingName = "GFLOP/s rating"

func (s *Summary) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "%-14s %13.8g %10.3g %12.3g %13.8g %13.8g\n", name, s.Mean, s.Interval, s.SD, s.Min, s.Max)
}
