package replay

import (
	"fmt"
	"io"
	"strings"
)

// UncertaintyReport is an uncertainty with what it was made from and what making it cost.
type UncertaintyReport struct {
	*Uncertainty
	Provenance
	Ranks int `json:"ranks"`
}

// NewUncertaintyReport returns the report of an uncertainty.
func NewUncertaintyReport(u *Uncertainty, p Provenance) *UncertaintyReport {
	return &UncertaintyReport{Uncertainty: u, Provenance: p.of(u.Header), Ranks: u.Header.Ranks}
}

// WriteJSON writes everything.
func (r *UncertaintyReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes the intervals and their parts.
func (r *UncertaintyReport) WriteText(w io.Writer) error {
	var b strings.Builder
	first, last := r.Draws[0].Seed, r.Draws[len(r.Draws)-1].Seed
	fmt.Fprintf(&b, "%d draws, seeds %d to %d: %s on %s, %d ranks", len(r.Draws), first, last, r.Trace, r.Platform,
		r.Ranks)
	b.WriteString(r.models())
	if !r.Complete {
		b.WriteString("\n" + PartLabel(r.Header, r.First, r.Last))
	}
	level := fmt.Sprintf("%.0f %% interval", 100*r.Level)
	fmt.Fprintf(&b, "\n\n%-14s %14s  %-29s %10s\n", "", "mean", level, "sd")
	r.Makespan.write(&b, "makespan s")
	if r.Gflops.High > 0 {
		r.Gflops.write(&b, "Gflops")
	}
	if r.Rating != nil {
		r.Rating.write(&b, ratingName)
	}
	fmt.Fprintf(&b, "\n%-14s %14s\n", "part", "sd, % of mean")
	for _, p := range r.Parts {
		fmt.Fprintf(&b, "%-14s %14.2g\n", p.Name, 100*p.SD/r.Makespan.Mean)
	}
	fmt.Fprintf(&b, "\n%s\nreplayed in %.3g s, %s of memory\n", folded(r.Covers), r.WallSeconds, size(r.PeakRSS))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %v\n", w)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (i *Interval) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "%-14s %14.8g  %-29s %10.3g\n", name, i.Mean, fmt.Sprintf("%.6g to %.6g", i.Low, i.High), i.SD)
}

// lineWidth is that of folded text, in bytes.
const lineWidth = 100

// folded breaks a text into lines.
func folded(text string) string {
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(text) {
		switch {
		case used == 0:
		case used+1+len(word) > lineWidth:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += len(word)
	}
	return b.String() + "\n"
}
