package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"reprise/internal/junit"
	"reprise/internal/textutil"
)

// WriteText writes a comparison for people: for each of the others what differs, and at the end what follows from it.
func (c *Comparison) WriteText(w io.Writer) error {
	var texts []string
	for i := range c.Others {
		texts = append(texts, c.text(&c.Others[i]))
	}
	return textutil.Write(w, strings.Join(texts, "\n"))
}

// text is the comparison with one of the others: who they are, tables, sentences, warnings.
func (c *Comparison) text(a *Against) string {
	var b strings.Builder
	c.sides(a).Write(&b) // a Builder has no errors
	for _, t := range c.tables(a) {
		b.WriteString("\n")
		t.Write(&b)
	}
	fmt.Fprintf(&b, "\n%s.\n", strings.Join(a.Says, ".\n"))
	for _, text := range a.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	return b.String()
}

// sides names both results, A and B, with the trace and the machine that they are of. Text and Markdown show them.
func (c *Comparison) sides(a *Against) *textutil.Table {
	t := &textutil.Table{}
	for i, s := range []*Side{&c.Base, &a.Side} {
		text := "AB"[i:i+1] + "  " + s.File + ": " + s.What
		if s.Trace != "" {
			text += ", " + s.Trace + " on " + s.Platform
		}
		t.Row(text)
	}
	return t
}

// tables are the changes, the figures, and the times of parts by kind, phase and kernel. Those without rows are left
// out. Columns differ, since of parts the seconds say more than the relative change, which is large for small parts.
func (c *Comparison) tables(a *Against) []*textutil.Table {
	var list []*textutil.Table
	table := func(titles ...string) *textutil.Table {
		t := &textutil.Table{}
		t.Row(titles...)
		list = append(list, t)
		return t
	}
	if len(a.Changes) > 0 {
		t := table("changed", "A", "B")
		for _, change := range a.Changes {
			t.Row(change.Name, cmp.Or(change.A, "-"), cmp.Or(change.B, "-"))
		}
	}
	// The makespan and the rate, whose interval is relative, as the change is.
	t := table("", "A", "B", "change", "95 % interval", "p", "B is")
	for i, d := range []*Difference{&a.Makespan, a.Gflops} {
		if d == nil {
			continue
		}
		interval := "-"
		if r := d.RelativeInterval; r != nil {
			interval = changeText(&r.Low) + " to " + changeText(&r.High)
		}
		t.Row([]string{"makespan, s", d.Name}[i], number(d.A), number(d.B), d.change(), interval, probability(d.P),
			string(d.Verdict))
	}
	// Parts have intervals in seconds, and probabilities that are corrected for their number.
	titles := []string{"time of a rank, s", "phase, s", "kernel, s", "device, s"}
	for i, parts := range [][]Difference{a.ByKind, a.ByPhase, a.ByKernel, a.ByDevice} {
		if len(parts) == 0 {
			continue
		}
		t := table(titles[i], "A", "B", "B - A", "95 % interval", "change", "p (Holm)", "B is")
		for _, d := range parts {
			difference, interval := "=", "-"
			if d.Verdict != Equal && d.Difference != 0 { // but for rounding
				difference = fmt.Sprintf("%+.3g", d.Difference)
			}
			if d.Interval != nil {
				interval = fmt.Sprintf("%+.3g to %+.3g", d.Interval.Low, d.Interval.High)
			}
			t.Row(d.Name, number(d.A), number(d.B), difference, interval, d.change(), probability(d.Holm), string(d.Verdict))
		}
	}
	return list
}

// sentences say how the makespans differ, by which test, and how the gate decides. They are part of the comparison
// (Against.Says), so that text, Markdown, JSON and pages say the same.
func (c *Comparison) sentences(a *Against) []string {
	d := &a.Makespan
	var text string
	switch {
	case d.Difference == 0, d.Verdict == Equal:
		text = "A and B take the same time"
	case d.Relative == nil:
		text = "A takes no time"
	default:
		word := "longer"
		if d.Difference < 0 {
			word = "less time"
		}
		text = fmt.Sprintf("B takes %s %% %s than A", digits(100*math.Abs(*d.Relative)), word)
		if d.Verdict == Unclear && d.P != nil {
			text += ", which may be chance"
		}
	}
	// A probability is told with the test that it is of, and as a bound where it has too few digits to be shown.
	if d.P != nil {
		test := "Welch's t-test"
		switch {
		case c.Test == Permutation && c.Paired:
			test = "a permutation test of pairs"
		case c.Test == Permutation:
			test = "a permutation test"
		case c.Paired:
			test = "Student's t-test of pairs"
		}
		p := "p = " + probability(d.P)
		if *d.P < leastShown {
			p = "p < 0.0001"
		}
		text += " (" + test + ", " + p + ")"
	}
	if c.Threshold != nil {
		return []string{text, a.gate(*c.Threshold)}
	}
	return []string{text}
}

// gate says what the gate makes of a result, and by which number: the lower limit of the slowdown, which without noise
// is the slowdown itself.
func (a *Against) gate(threshold float64) string {
	verdict := "not worse"
	if a.Worse {
		verdict = "WORSE"
	}
	limit := fmt.Sprintf("the threshold is %s %%", digits(100*threshold))
	switch d := &a.Makespan; {
	case d.AtLeast == nil:
		return verdict + ": how much slower B is than A cannot be told, as A may take no time"
	case d.P != nil:
		return fmt.Sprintf("%s: the slowdown is above %s with 95 %% confidence; %s", verdict, changeText(d.AtLeast), limit)
	default:
		return fmt.Sprintf("%s: the slowdown is %s; %s", verdict, changeText(d.AtLeast), limit)
	}
}

// number writes a time or a rate with 7 digits: more than noise leaves, and enough to see that exact ones differ.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }

// change is the relative change but for rounding.
func (d *Difference) change() string {
	if d.Verdict == Equal {
		return "="
	}
	return changeText(d.Relative)
}

// changeText writes a relative change in percent; nil is one from nothing, of which there is no share.
func changeText(relative *float64) string {
	switch {
	case relative == nil:
		return "new"
	case *relative == 0:
		return "="
	}
	sign := "+"
	if *relative < 0 {
		sign = "-"
	}
	return sign + digits(100*math.Abs(*relative)) + "%"
}

// digits writes a percentage with as many digits as matter: two behind the point, fewer of large ones.
func digits(v float64) string {
	switch {
	case v >= 1000:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.01 || v == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 1, 64)
}

// leastShown is the least probability that is written with digits.
const leastShown = 0.0001

// probability writes a p-value; "-": nothing was tested.
func probability(p *float64) string {
	switch {
	case p == nil:
		return "-"
	case *p < leastShown:
		return "<0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}

// WriteMarkdown writes what WriteText does for a comment on a change: the sentences come first.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	// File names and labels are texts of others: Escaped keeps them from being taken for markup.
	var b strings.Builder
	for i := range c.Others {
		a := &c.Others[i]
		if i > 0 {
			b.WriteString("\n")
		}
		sentences := make([]string, len(a.Says))
		for i, s := range a.Says {
			sentences[i] = "**" + textutil.Escaped(s) + ".**"
		}
		fmt.Fprintf(&b, "%s\n\n", strings.Join(sentences, "\n"))
		for _, side := range c.sides(a).Rows() {
			fmt.Fprintf(&b, "- %s\n", textutil.Escaped(side[0]))
		}
		for _, t := range c.tables(a) {
			b.WriteString("\n")
			t.WriteMarkdown(&b)
		}
		for _, text := range a.Warnings {
			fmt.Fprintf(&b, "\nWarning: %s\n", textutil.Escaped(text))
		}
	}
	return textutil.Write(w, b.String())
}

// WriteJSON writes everything; numbers have all the digits of the double.
func (c *Comparison) WriteJSON(w io.Writer) error { return textutil.WriteJSON(w, c) }

// WriteJUnit writes a check for each of the others, which fails if it is worse by the gate. Its text is the whole
// comparison, so that a build server shows where the time went.
func (c *Comparison) WriteJUnit(w io.Writer) error {
	var cases []junit.Case
	for i := range c.Others {
		a := &c.Others[i]
		check := junit.Case{Class: a.File, Name: "makespan against " + c.Base.File, Text: c.text(a)}
		if a.Worse {
			check.Failure = a.gate(*c.Threshold)
		}
		cases = append(cases, check)
	}
	return junit.Write(w, "replay compare", cases)
}
