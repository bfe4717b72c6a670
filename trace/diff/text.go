package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace/stat"
)

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
	_, err := io.WriteString(w, text)
	return err
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
		fmt.Fprintf(&b, "\n%s\n", g.title())
		g.lines(&b)
	}
	return b.String()
}

// group is ranks that diverge in the same way.
type group struct {
	*Divergence // of the first of them
	ranks       []int32
}

// title names the ranks of a group and their step.
func (g *group) title() string { return fmt.Sprintf("%s, step %d", rankList(g.ranks), g.Step) }

// groups puts the divergences together whose lines are the same.
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
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		switch {
		case j-i >= 2:
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[j]))
			i = j + 1
		default:
			parts = append(parts, fmt.Sprint(ranks[i]))
			i++
		}
	}
	if len(ranks) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + strings.Join(parts, " ")
}
