package path

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// shown is how many parts, and how many seeds, are printed: the rest is little.
const shown = 12

// WriteText writes the path for people.
func (d *Data) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\ncritical path of %.6g s", d.Seconds)
	if d.Rank >= 0 {
		fmt.Fprintf(&b, ", which ends at rank %d", d.Rank)
	}
	b.WriteByte('\n')

	// The longest parts, and the sum of the others. Columns are as wide as the labels that are shown.
	if len(d.Parts) > 0 {
		width := len("part")
		for _, p := range d.Parts[:min(shown, len(d.Parts))] {
			width = max(width, len(p.label()))
		}
		fmt.Fprintf(&b, "%-*s %12s %8s %12s\n", width, "part", "seconds", "share", "times")
		rest := 0.0
		for i, p := range d.Parts {
			if i >= shown {
				rest += p.Seconds
				continue
			}
			times := ""
			if p.Count > 0 {
				times = fmt.Sprint(p.Count)
			}
			fmt.Fprintf(&b, "%-*s %12.6g %7.2f%% %12s\n", width, p.label(), p.Seconds, d.percent(p.Seconds), times)
		}
		if rest > 0 {
			fmt.Fprintf(&b, "%-*s %12.6g %7.2f%%\n", width, fmt.Sprintf("%d more", len(d.Parts)-shown), rest, d.percent(rest))
		}
	}
	// The changes that gain most. Without a replay a gain is a slope, which other chains of nearly the same length cut
	// off.
	if len(d.WhatIfs) > 0 {
		b.WriteString("\nwhat if\n")
		for _, w := range d.WhatIfs[:min(5, len(d.WhatIfs))] {
			fmt.Fprintf(&b, "  %s: %.3g s (%.3g %%) less", w.What, w.Gain, d.percent(w.Gain))
			if w.Replayed != nil {
				fmt.Fprintf(&b, "; a replay with it takes %.3g s less", *w.Replayed)
			} else {
				b.WriteString("; not confirmed")
			}
			b.WriteByte('\n')
		}
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "%s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// percent returns what share of the path some of its seconds are.
func (d *Data) percent(seconds float64) float64 {
	if d.Seconds == 0 {
		return 0
	}
	return 100 * seconds / d.Seconds
}

// label names a part with where it happens.
func (p *Part) label() string {
	switch {
	case p.Level != "":
		return p.Name + ", " + p.Level
	case p.Phase != "":
		return p.Name + " in " + p.Phase
	}
	return p.Name
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

// longestFirst orders parts by their seconds, and those alike by what and where they are, which tells any two parts
// apart: the order is the same in every run.
func longestFirst(a, b Part) int {
	return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Level, b.Level))
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
	_, err := io.WriteString(w, b.String())
	return err
}
