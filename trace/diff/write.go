package diff

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"reprise/internal/junit"
	"reprise/internal/textutil"
	"reprise/trace/stat"
)

// This file writes a Difference: WriteText for a terminal, WriteMarkdown, WriteJUnit and WriteHTML.

// mostGroups is how many divergences a page shows, the first ones: each has a dozen lines.
const mostGroups = 20

// WriteMarkdown writes what WriteText does for a comment on a change; a and b name the traces.
// The text goes out in one write, once all of it is there.
func (d *Difference) WriteMarkdown(w io.Writer, a, b string) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "**%s.**\n\n- A %s\n- B %s\n", textutil.Escaped(d.sentence()), textutil.Escaped(a),
		textutil.Escaped(b))
	for _, t := range d.tables() {
		out.WriteString("\n")
		_ = t.WriteMarkdown(&out) // memory takes all
	}
	groups, left := d.firstGroups()
	for _, g := range groups {
		var lines strings.Builder
		g.lines(&lines)
		fmt.Fprintf(&out, "\n%s:\n\n```\n%s```\n", g.Title(), lines.String())
	}
	if left != "" {
		fmt.Fprintf(&out, "\n%s\n", left)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// sentence says what came out in one.
func (d *Difference) sentence() string {
	first := d.first()
	switch {
	case d.Same:
		return "A and B are the same"
	case d.ActionsEqual:
		return "A and B differ, but no action does"
	case d.NotCompared != "":
		return "A and B differ; actions are not compared: " + d.NotCompared
	case first != nil:
		return fmt.Sprintf("A and B differ, first in step %d, rank %d", first.Step, first.Rank)
	}
	return "A and B differ"
}

// first returns the divergence in the earliest step, nil if there is none.
func (d *Difference) first() *Divergence {
	if len(d.Ranks) == 0 {
		return nil
	}
	return new(slices.MinFunc(d.Ranks, func(x, y Divergence) int { return cmp.Compare(x.Step, y.Step) }))
}

// firstGroups returns the divergences to show, by steps, and a sentence about others.
// Groups that begin in the same step keep the order of their ranks.
func (d *Difference) firstGroups() (list []group, left string) {
	list = d.groups()
	slices.SortStableFunc(list, func(x, y group) int { return x.Step - y.Step })
	if n := len(list) - mostGroups; n > 0 {
		list, left = list[:mostGroups], textutil.Count(n, "more divergence")+" not shown; --actions prints all."
	}
	return list, left
}

// tables are what differs in parameters and counts.
func (d *Difference) tables() []*textutil.Table {
	list := []*textutil.Table{d.headerTable(), d.countTable()}
	return slices.DeleteFunc(list, func(t *textutil.Table) bool { return t.Len() == 1 }) // nothing but the heading
}

// WriteJUnit writes three checks: of parameters, of counts and of actions; a and b name the traces. A check that
// passes shows its counts, too.
func (d *Difference) WriteJUnit(w io.Writer, a, b string) error {
	parameters, counts, actions := junit.Case{Name: "parameters"}, junit.Case{Name: "counts"}, junit.Case{Name: "actions"}
	if n := len(d.Header); n > 0 {
		parameters.Failure, parameters.Text = textutil.Count(n, "parameter")+" changed", tableText(d.headerTable())
	}
	counts.Text = tableText(d.countTable())
	if d.countsDiffer() {
		counts.Failure = "counts changed"
	}
	if first := d.first(); first != nil {
		actions.Failure, actions.Text = fmt.Sprintf("%s changed, first in step %d, rank %d",
			textutil.Count(len(d.Ranks), "rank"), first.Step, first.Rank), d.rankText()
	}
	if d.NotCompared != "" {
		actions.Failure = "not compared: " + d.NotCompared
	}
	cases := []junit.Case{parameters, counts, actions}
	for i := range cases {
		cases[i].Class = a + " and " + b
	}
	return junit.Write(w, "trace diff", cases)
}

// tableText returns a table as text.
func tableText(t *textutil.Table) string {
	var b strings.Builder
	_ = t.Write(&b) // memory takes all
	return b.String()
}

//go:embed page.html
var pageText string

// pageTemplate is the page, for the map that WriteHTML makes. Of a side it shows the lines from the first that differs.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"lines": func(lines []string) string {
	if len(lines) == 0 {
		return "(end)"
	}
	return strings.Join(lines, "\n")
}}).Parse(pageText))

// WriteHTML writes one page that needs nothing else: what differs, with what changed by phase and
// kernel, and where ranks diverge first; a and b name the traces.
func (d *Difference) WriteHTML(w io.Writer, a, b string) error {
	groups, left := d.firstGroups()
	return pageTemplate.Execute(w, map[string]any{"Sentence": d.sentence(), "A": a, "B": b, "Tables": d.tables(),
		"Groups": groups, "Left": left})
}

// WriteText prints the differences for people; a and b name the traces.
func (d *Difference) WriteText(w io.Writer, a, b string) error {
	if d.Same {
		_, err := fmt.Fprintf(w, "%s and %s are the same\n", a, b)
		return err
	}
	if _, err := fmt.Fprintf(w, "A  %s\nB  %s\n", a, b); err != nil {
		return err
	}
	for _, t := range d.tables() {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	text := d.rankText()
	switch { // where a reader would otherwise wonder
	case d.ActionsEqual:
		text = "\nno action differs\n" + text
	case d.NotCompared != "":
		text = "\nactions not compared: " + d.NotCompared + "\n" + text
	}
	return textutil.Write(w, text)
}

// headerTable lists the parameters and other facts that differ.
func (d *Difference) headerTable() *textutil.Table {
	t := &textutil.Table{}
	t.Row("parameter", "A", "B")
	for _, c := range d.Header {
		t.Row(c.Name, cmp.Or(c.A, "-"), cmp.Or(c.B, "-"))
	}
	return t
}

// countTable lists the totals, and of phases and kernels what changed.
func (d *Difference) countTable() *textutil.Table {
	t := &textutil.Table{}
	t.Row("count", "A", "B", "change")
	// equal says whether counts without a change get a row.
	add := func(name string, equal bool, counts []CountChange) {
		for _, c := range counts {
			if c.A != c.B || equal && c.A != 0 {
				noun := c.Name
				if noun == "flops" {
					noun = "flop"
				}
				t.Row(name+" "+noun, textutil.Flop(c.A), textutil.Flop(c.B), changeText(c))
			}
		}
	}
	add("all", true, d.Totals)
	for _, p := range d.Phases {
		name := "phase " + p.Name
		if p.Name == stat.NoPhase {
			name = "outside of phases:"
		}
		add(name, false, p.Counts)
	}
	for _, k := range d.Kernels {
		add("kernel "+k.Name, false, k.Counts)
	}
	return t
}

// changeText writes a change in percent, with fewer digits the larger it is.
func changeText(c CountChange) string {
	switch {
	case c.A == c.B:
		return "="
	case c.Percent == nil:
		return "new"
	}
	switch p := *c.Percent; {
	case math.Abs(p) >= 1000:
		return "+" + textutil.Thousands(int64(math.Round(p))) + "%" // a fall is 100% at most
	case math.Abs(p) >= 1:
		return fmt.Sprintf("%+.1f%%", p)
	case math.Abs(p) >= 0.01:
		return fmt.Sprintf("%+.2f%%", p)
	default:
		return fmt.Sprintf("%+.1g%%", p)
	}
}

// rankText returns the divergences, a paragraph for each group.
func (d *Difference) rankText() string {
	var b strings.Builder
	for _, g := range d.groups() {
		fmt.Fprintf(&b, "\n%s\n", g.Title())
		g.lines(&b)
	}
	return b.String()
}

// group is ranks that diverge in the same way.
type group struct {
	*Divergence // of the first of them
	ranks       []int32
}

// Title names the ranks of a group and their step.
func (g *group) Title() string { return fmt.Sprintf("%s, step %d", rankList(g.ranks), g.Step) }

// groups puts the divergences together whose lines are the same.
// Hundreds of ranks often diverge at the same line: one paragraph shows them all.
func (d *Difference) groups() []group {
	var list []group
	done := make([]bool, len(d.Ranks))
	for i := range d.Ranks {
		if done[i] {
			continue
		}
		g := group{Divergence: &d.Ranks[i]}
		for j := i; j < len(d.Ranks); j++ {
			if x := &d.Ranks[j]; !done[j] && x.Step == g.Step && slices.Equal(x.Before, g.Before) &&
				slices.Equal(x.A, g.A) && slices.Equal(x.B, g.B) {
				done[j] = true
				g.ranks = append(g.ranks, x.Rank)
			}
		}
		list = append(list, g)
	}
	return list
}

// lines writes the lines of a divergence: those of both, of A, of B.
func (x *Divergence) lines(b *strings.Builder) {
	for _, l := range x.Before {
		b.WriteString("    " + l + "\n")
	}
	if x.Unlisted {
		b.WriteString("    (different request slots or flags, which a listing does not show)\n")
		return
	}
	for i, side := range [][]string{x.A, x.B} {
		name := "AB"[i : i+1]
		if len(side) == 0 {
			b.WriteString("  " + name + " (end)\n")
		}
		for _, l := range side {
			b.WriteString("  " + name + " " + l + "\n")
		}
	}
}

// rankList writes ascending ranks, runs of three and more as first-last.
func rankList(ranks []int32) string {
	var parts []string
	for i := 0; i < len(ranks); {
		text, end := fmt.Sprint(ranks[i]), i+1
		// The run of ranks from i to end has no gap.
		for end < len(ranks) && ranks[end] == ranks[end-1]+1 {
			end++
		}
		if end-i >= 3 {
			text += fmt.Sprint("-", ranks[end-1])
		} else {
			end = i + 1
		}
		parts, i = append(parts, text), end
	}
	if len(ranks) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + strings.Join(parts, " ")
}
