package path

import (
	"fmt"
	"io"
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
	return textutil.Write(w, b.String())
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
	text := p.Name
	if p.Phase != "" && p.Level == "" {
		text += " in " + p.Phase
	}
	for _, where := range [...]string{p.Level, p.Queue} {
		if where != "" {
			text += ", " + where
		}
	}
	return text
}
