package compare

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"reprise/internal/textutil"
)

// WriteText writes a comparison for people: for each of the others what differs, and at the end
// what follows from it.
func (c *Comparison) WriteText(w io.Writer) error {
	for i := range c.Others {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := c.writeText(w, &c.Others[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Comparison) writeText(w io.Writer, a *Against) error {
	if err := c.sides(a).Write(w); err != nil {
		return err
	}
	for _, t := range c.tables(a) {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s.\n", strings.Join(a.Says, ".\n"))
	for _, text := range a.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sides names both results.
func (c *Comparison) sides(a *Against) *textutil.Table {
	t := &textutil.Table{}
	for i, s := range []*Side{&c.Base, &a.Side} {
		t.Row("AB"[i:i+1] + "  " + s.text())
	}
	return t
}

func (s *Side) text() string {
	text := s.File + ": " + s.What
	if s.Trace != "" {
		text += ", " + s.Trace + " on " + s.Platform
	}
	return text
}

// tables are what changed, the figures, and the parts.
func (c *Comparison) tables(a *Against) []*textutil.Table {
	var list []*textutil.Table
	if len(a.Changes) > 0 {
		t := &textutil.Table{}
		t.Row("changed", "A", "B")
		for _, change := range a.Changes {
			t.Row(change.Name, orDash(change.A), orDash(change.B))
		}
		list = append(list, t)
	}
	t := &textutil.Table{}
	t.Row("", "A", "B", "change", "95 % interval", "p", "B is")
	for _, d := range []*Difference{&a.Makespan, a.Gflops} {
		if d != nil {
			t.Row(d.title(), number(d.A), number(d.B), d.change(), relativeInterval(d.RelativeInterval), probability(d.P),
				string(d.Verdict))
		}
	}
	list = append(list, t)
	for i, parts := range [][]Difference{a.ByKind, a.ByPhase, a.ByKernel} {
		if len(parts) > 0 {
			list = append(list, partTable(partTitles[i], parts))
		}
	}
	return list
}

// partTitles are the titles of times by kind, phase and kernel.
var partTitles = []string{"time of a rank, s", "phase, s", "kernel, s"}

func (d *Difference) title() string {
	if d.Name == "makespan" {
		return "makespan, s"
	}
	return d.Name
}

func partTable(title string, parts []Difference) *textutil.Table {
	t := &textutil.Table{}
	t.Row(title, "A", "B", "B - A", "95 % interval", "change", "p (Holm)", "B is")
	for i := range parts {
		d := &parts[i]
		t.Row(d.Name, number(d.A), number(d.B), signed(d.shown()), interval(d.Interval), d.change(), probability(d.Holm),
			string(d.Verdict))
	}
	return t
}

// sentences say what follows: how makespans differ, by which test, and what the gate says.
func (c *Comparison) sentences(a *Against) []string {
	list := []string{a.Makespan.sentence() + c.method(&a.Makespan)}
	if c.Threshold != nil {
		list = append(list, a.gate(*c.Threshold))
	}
	return list
}

// sentence says how the makespans differ.
func (d *Difference) sentence() string {
	switch {
	case d.Difference == 0, d.Verdict == Equal:
		return "A and B take the same time"
	case d.Relative == nil:
		return "A takes no time"
	}
	much := fmt.Sprintf("%s %%", digits(100*math.Abs(*d.Relative)))
	word := "longer"
	if d.Difference < 0 {
		word = "less time"
	}
	text := "B takes " + much + " " + word + " than A"
	if d.Verdict == Unclear && d.P != nil {
		text += ", which may be chance"
	}
	return text
}

// method says how that is known.
func (c *Comparison) method(d *Difference) string {
	if d.P == nil {
		return ""
	}
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
	return " (" + test + ", " + p + ")"
}

// gate says what the gate makes of a result.
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

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// number writes a time or a rate.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }

// signed writes a difference.
func signed(v float64) string {
	if v == 0 {
		return "="
	}
	return fmt.Sprintf("%+.3g", v)
}

func interval(i *Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3g to %+.3g", i.Low, i.High)
}

// shown is the difference but for rounding.
func (d *Difference) shown() float64 {
	if d.Verdict == Equal {
		return 0
	}
	return d.Difference
}

// change is the relative change but for rounding.
func (d *Difference) change() string {
	if d.Verdict == Equal {
		return "="
	}
	return changeText(d.Relative)
}

// changeText writes a relative change in percent.
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

func relativeInterval(i *Interval) string {
	if i == nil {
		return "-"
	}
	return changeText(&i.Low) + " to " + changeText(&i.High)
}

// digits writes a percentage with as many digits as matter.
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

func probability(p *float64) string {
	switch {
	case p == nil:
		return "-"
	case *p < leastShown:
		return "<0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}
