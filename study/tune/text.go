package tune

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/study"
	"reprise/tracegen/hpl"
)

// datOf returns the HPL.dat of a run.
func datOf(p *hpl.Params) string {
	var b strings.Builder
	_ = p.WriteDat(&b) // a Builder takes all
	return b.String()
}

// mostListed is how many configurations that cannot be told apart are listed.
const mostListed = 12

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	var t textutil.Table
	t.Row("best", r.Best.Name)
	t.Row("Gflops", fmt.Sprintf("%.5g ± %.2g (± %.2g %%), mean of %s that the search did not use", r.Gflops,
		r.GflopsInterval, 100*r.GflopsInterval/r.Gflops, textutil.Count(r.FreshSeeds, "seed")))
	searched := textutil.Count(r.Configurations, "configuration")
	if r.N > 0 {
		searched += " for N = " + textutil.Thousands(r.N)
	}
	t.Row("searched", searched)
	t.Row("replays", r.replays())
	t.Row("cost", r.costs())
	if err := t.Write(w); err != nil {
		return err
	}
	if err := r.writeIndistinct(w); err != nil {
		return err
	}
	var names []string
	for _, c := range r.Deciding {
		names = append(names, c.Name)
	}
	text := "\nReal runs that would decide: " + strings.Join(names, "; ") + ".\n"
	if len(names) == 1 {
		text = "\nNo other was replayed that would be worth a real run.\n"
	}
	if len(r.Edges) > 0 {
		text += fmt.Sprintf("\nThe best is at an end of what was searched of %s: beyond it there may be better ones.\n",
			strings.Join(r.Edges, " and "))
	}
	switch {
	case r.Dat != "":
		text += "\nHPL.dat:\n\n" + r.Dat
	case r.HPCGDat != "":
		text += "\nhpcg.dat:\n\n" + r.HPCGDat
	}
	_, err := io.WriteString(w, text)
	return err
}

// replays says how many were made how well.
func (r *Result) replays() string {
	count := map[float64]int{}
	for _, made := range r.Runs[:len(r.Runs)-r.FreshSeeds] {
		if made.Interval == 0 { // an estimate would not have paid
			made.Tolerance = 0
		}
		count[made.Tolerance]++
	}
	var parts []string
	for _, tolerance := range slices.Backward(slices.Sorted(maps.Keys(count))) {
		parts = append(parts, fmt.Sprintf("%d %s", count[tolerance], ToleranceName(tolerance)))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d of the best with other seeds", r.FreshSeeds)), ", ")
}

// ToleranceName names a tolerance, as "within 3 %".
func ToleranceName(t float64) string {
	if t == 0 {
		return "exact"
	}
	return fmt.Sprintf("within %.3g %%", 100*t)
}

func (r *Result) costs() string {
	text := fmt.Sprintf("%.1f %% of what exact replays of all would cost", 100*r.Share)
	if r.User > 0 {
		text += fmt.Sprintf("; now %v of processor time", study.Round(r.User))
	}
	if r.Known > 0 {
		text += fmt.Sprintf(" (%d of the runs were known from before)", r.Known)
	}
	return text
}

// writeIndistinct writes the table of those that cannot be told apart.
func (r *Result) writeIndistinct(w io.Writer) error {
	if len(r.Indistinct) == 1 {
		_, err := fmt.Fprintf(w, "\nEach other that was replayed is slower by more than %.3g %%.\n", 100*r.Indifference)
		return err
	}
	if _, err := fmt.Fprintf(w, "\nNot slower than the best by more than %.3g %%, as far as can be told (95 %% for all together): %d, the best included\n\n", 100*r.Indifference, len(r.Indistinct)); err != nil {
		return err
	}
	var t textutil.Table
	t.Row("configuration", "makespan, s", "±, s", "Gflops", "behind, %")
	for _, c := range r.Indistinct[:min(len(r.Indistinct), mostListed)] {
		t.Row(c.Name, fmt.Sprintf("%.5g", c.Makespan), fmt.Sprintf("%.2g", c.Interval), fmt.Sprintf("%.5g", c.Gflops),
			fmt.Sprintf("%.2f", 100*c.Behind))
	}
	return t.Write(w)
}
