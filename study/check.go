package study

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/report/compare"
)

// Check is what became of a study's configurations since another one.
type Check struct {
	A              string           `json:"a"` // directories; A is the base
	B              string           `json:"b"`
	Threshold      float64          `json:"threshold"`
	Worse          bool             `json:"worse"`
	Configurations []compare.Judged `json:"configurations"` // seconds
	Warnings       []string         `json:"warnings"`
}

// NewCheck compares the makespans of a study, B, with those of another, A, configuration by
// configuration, by the names of their factors and levels in any order. B is worse if a configuration is
// slower by more than the threshold, relatively, with 95 % confidence for all of them together.
func NewCheck(a, b *Plan, ra, rb *Results, threshold float64) (*Check, error) {
	c := &Check{A: a.dir, B: b.dir, Threshold: threshold, Warnings: differences(a, b)}
	base := map[string]*Configuration{}
	listA, listB := a.Configurations(ra), b.Configurations(rb)
	for i := range listA {
		base[a.key(&listA[i])] = &listA[i]
	}
	var pairs []compare.Pair
	for i := range listB {
		of := &listB[i]
		key := b.key(of)
		other := base[key]
		delete(base, key)
		if other == nil {
			c.warn("%s has no %s", a.dir, of.Name)
			continue
		}
		if err := c.comparable(other, of); err != nil {
			return nil, err
		}
		pairs = append(pairs, PairOf(of.Name, other, of))
	}
	for i := range listA {
		if base[a.key(&listA[i])] != nil {
			c.warn("%s has no %s", b.dir, listA[i].Name)
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%s and %s have no configuration in common: their factors or levels have other names", a.dir,
			b.dir)
	}
	c.Configurations = compare.Many(pairs, threshold)
	for _, j := range c.Configurations {
		c.Worse = c.Worse || j.Worse
	}
	return c, nil
}

// key names the levels of a configuration, whatever the order of factors.
func (p *Plan) key(c *Configuration) string {
	var parts []string
	for f, level := range c.Levels {
		parts = append(parts, fmt.Sprintf("%q %q", p.Factors[f].Name, p.Factors[f].Levels[level].Label))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// comparable refuses configurations without a result, and those that do different work.
func (c *Check) comparable(a, b *Configuration) error {
	switch {
	case a.Failed != "":
		return fmt.Errorf("%s: %s: %s", c.A, a.Name, a.Failed)
	case b.Failed != "":
		return fmt.Errorf("%s: %s: %s", c.B, b.Name, b.Failed)
	case a.Work != b.Work:
		return fmt.Errorf("%s: %s does %.6g Gflop, and in %s %.6g: the times of different work say nothing of each other",
			c.B, b.Name, b.Work, c.A, a.Work)
	}
	return nil
}

func (c *Check) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// WriteText writes the check for people.
func (c *Check) WriteText(w io.Writer) error {
	var t textutil.Table
	t.Row("configuration", "A (s)", "B (s)", "change", "95 % interval", "p, corrected", "")
	worse := 0
	for _, j := range c.Configurations {
		verdict := map[compare.Verdict]string{compare.Equal: "the same", compare.More: "slower", compare.Less: "quicker",
			compare.Unclear: "cannot be told"}[j.Verdict]
		if j.Worse {
			verdict = "WORSE"
			worse++
		}
		t.Row(j.Name, fmt.Sprintf("%.6g", j.A), fmt.Sprintf("%.6g", j.B), relative(j.Relative), between(j.RelativeInterval),
			probability(j.Holm), verdict)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	for _, text := range c.Warnings {
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	text := "not worse: no configuration is slower"
	if c.Worse {
		text = fmt.Sprintf("WORSE: %d of %s slower", worse, textutil.Count(len(c.Configurations), "configuration"))
	}
	_, err := fmt.Fprintf(w, "%s by more than %.3g %%, with 95 %% confidence for all together (A is %s, B is %s)\n", text,
		100*c.Threshold, c.A, c.B)
	return err
}

// relative writes a relative change.
func relative(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3g %%", 100**v)
}

func between(i *compare.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3g to %+.3g %%", 100*i.Low, 100*i.High)
}

func probability(p *float64) string {
	switch {
	case p == nil || math.IsNaN(*p):
		return "-"
	case *p < 1e-4:
		return "< 0.0001"
	}
	return fmt.Sprintf("%.2g", *p)
}
