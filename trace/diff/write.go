package diff

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"reprise/internal/junit"
	"reprise/internal/textutil"
)

// mostGroups is how many divergences a page shows, the first ones: each has a dozen lines.
const mostGroups = 20

// WriteMarkdown writes what WriteText does for a comment on a change; a and b name the traces.
func (d *Difference) WriteMarkdown(w io.Writer, a, b string) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "**%s.**\n\n- A %s\n- B %s\n", textutil.Escaped(d.sentence()), textutil.Escaped(a),
		textutil.Escaped(b))
	for _, t := range d.tables() {
		out.WriteString("\n")
		if err := t.WriteMarkdown(&out); err != nil {
			return err
		}
	}
	groups, left := d.firstGroups()
	for _, g := range groups {
		var lines strings.Builder
		g.lines(&lines)
		fmt.Fprintf(&out, "\n%s:\n\n```\n%s```\n", g.title(), lines.String())
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
	var first *Divergence
	for i := range d.Ranks {
		if first == nil || d.Ranks[i].Step < first.Step {
			first = &d.Ranks[i]
		}
	}
	return first
}

// firstGroups returns the divergences to show, by steps, and a sentence about others.
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

// WriteJUnit writes three checks: of parameters, of counts and of actions; a and b name the
// traces.
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

// pageTemplate is the page, for a pageData.
var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageData is what the page shows.
type pageData struct {
	Sentence, A, B string
	Tables         []pageTable
	Groups         []pageGroup
	Left           string
}

// pageTable is a table of text, the first row apart.
type pageTable struct {
	Head []string
	Rows [][]string
}

// pageGroup is a divergence, each of its parts as lines of text.
type pageGroup struct {
	Title, Before, A, B string
	Unlisted            bool
}

// WriteHTML writes one page that needs nothing else: what differs, with what changed by phase and
// kernel, and where ranks diverge first; a and b name the traces.
func (d *Difference) WriteHTML(w io.Writer, a, b string) error {
	p := pageData{Sentence: d.sentence(), A: a, B: b}
	for _, t := range d.tables() {
		p.Tables = append(p.Tables, pageTable{t.Rows()[0], t.Rows()[1:]})
	}
	groups, left := d.firstGroups()
	for _, g := range groups {
		p.Groups = append(p.Groups, pageGroup{g.title(), strings.Join(g.Before, "\n"), side(g.A), side(g.B), g.Unlisted})
	}
	p.Left = left
	return pageTemplate.Execute(w, p)
}

// side is the lines of a trace from the first that differs.
func side(lines []string) string {
	if len(lines) == 0 {
		return "(end)"
	}
	return strings.Join(lines, "\n")
}
