package tune

import (
	"fmt"
	"io"

	"reprise/internal/textutil"
	"reprise/study"
)

// WriteText writes the result for people.
func (r *BoxResult) WriteText(w io.Writer) error {
	seeds := "nothing is random"
	if r.FreshSeeds > 0 {
		seeds = fmt.Sprintf("mean of %s that the search did not use", textutil.Count(r.FreshSeeds, "seed"))
	}
	cost := fmt.Sprintf("%s of few iterations each", textutil.Count(r.Replays, "replay"))
	if r.User > 0 {
		cost += fmt.Sprintf("; %v of processor time", study.Round(r.User))
	}
	var t textutil.Table
	t.Row("best", r.Best.Name)
	t.Row("Gflops", fmt.Sprintf("%.5g ± %.2g, raw; %s", r.Gflops, r.GflopsInterval, seeds))
	t.Row("memory", study.Bytes(int64(r.Best.Memory))+" of a node")
	t.Row("searched", fmt.Sprintf("%s for %s", textutil.Count(r.Configurations, "configuration"),
		textutil.Count(r.Ranks, "rank")))
	t.Row("cost", cost)
	if err := t.Write(w); err != nil {
		return err
	}
	if err := r.writeIndistinct(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nhpcg.dat:\n\n%s", r.Dat)
	return err
}

// writeIndistinct writes the table of those that are as good.
func (r *BoxResult) writeIndistinct(w io.Writer) error {
	if len(r.Indistinct) == 1 {
		_, err := fmt.Fprintf(w, "\nEach other that was replayed is slower by more than %.3g %%.\n", 100*r.Indifference)
		return err
	}
	if _, err := fmt.Fprintf(w, "\nNot slower than the best by more than %.3g %%: %d, the best included\n\n",
		100*r.Indifference, len(r.Indistinct)); err != nil {
		return err
	}
	var t textutil.Table
	t.Row("configuration", "Gflops", "memory of a node", "behind, %")
	for _, c := range r.Indistinct[:min(len(r.Indistinct), mostListed)] {
		t.Row(c.Name, fmt.Sprintf("%.5g", c.Gflops), study.Bytes(int64(c.Memory)), fmt.Sprintf("%.2f", 100*c.Behind))
	}
	return t.Write(w)
}

// WritePrediction says what would be searched.
func (b *Boxes) WritePrediction(w io.Writer) error {
	space, list, _, err := b.candidates()
	if err != nil {
		return err
	}
	var t textutil.Table
	t.Row("ranks", textutil.Thousands(list[0].Ranks))
	t.Row("process grids", textutil.Thousands(space.Factors[0].Levels))
	t.Row("configurations", textutil.Thousands(len(list)))
	t.Row("replays", "of few iterations each, within 1 %, of those that may be the best")
	return t.Write(w)
}
