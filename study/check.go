package study

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/report/compare"
)

// This file compares a study with another one, for study check: NewCheck.

// Check compares a study's configurations with those of another study.
type Check struct {
	A              string           `json:"a"` // directories; A is the base
	B              string           `json:"b"`
	Threshold      float64          `json:"threshold"`
	Worse          bool             `json:"worse"`
	Configurations []compare.Judged `json:"configurations"` // seconds
	Warnings       []string         `json:"warnings"`
}

// NewCheck compares the makespans of a study, B, with those of another, A, configuration by configuration, by the names
// of their factors and levels in any order. B is worse if a configuration is slower by more than the threshold,
// relatively, with 95 % confidence for all of them together.
//
// Studies of different work, such as of another order of the matrix, are refused: which of two times
// is the better one would have no meaning. Differences of fixed settings, inputs, tolerance and
// version are no errors, as one of them may be what the check is about: they are warnings.
func NewCheck(a, b *Plan, ra, rb *Results, threshold float64) (*Check, error) {
	c := &Check{A: a.dir, B: b.dir, Threshold: threshold, Warnings: differences(a, b)}
	// Configurations are matched by a key that does not depend on the order of the factors. It is quoted,
	// as names and labels may contain commas.
	key := func(p *Plan, c *Configuration) string {
		var parts []string
		for f, level := range c.Levels {
			parts = append(parts, fmt.Sprintf("%q %q", p.Factors[f].Name, p.Factors[f].Levels[level].Label))
		}
		slices.Sort(parts)
		return strings.Join(parts, ", ")
	}
	base := map[string]*Configuration{}
	listA, listB := a.Configurations(ra), b.Configurations(rb)
	for i := range listA {
		base[key(a, &listA[i])] = &listA[i]
	}
	var pairs []compare.Pair
	for i := range listB {
		of := &listB[i]
		at := key(b, of)
		other := base[at]
		delete(base, at)
		switch {
		case other == nil:
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s has no %s", a.dir, of.Name))
			continue
		// A configuration without its time is an error, and not left out: a check must not pass
		// because a run has failed.
		case other.Failed != "":
			return nil, fmt.Errorf("%s: %s: %s", c.A, other.Name, other.Failed)
		case of.Failed != "":
			return nil, fmt.Errorf("%s: %s: %s", c.B, of.Name, of.Failed)
		case other.Work != of.Work:
			return nil, fmt.Errorf("%s: %s does %.6g Gflop, and in %s %.6g: the times of different work say nothing of each other",
				c.B, of.Name, of.Work, c.A, other.Work)
		}
		pairs = append(pairs, PairOf(of.Name, other, of))
	}
	// Configurations that are left in base have no counterpart.
	for i := range listA {
		if base[key(a, &listA[i])] != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s has no %s", b.dir, listA[i].Name))
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%s and %s have no configuration in common: their factors or levels have other names", a.dir,
			b.dir)
	}
	// Holm's correction is over all pairs: of many configurations some seem slower by chance.
	c.Configurations = compare.Many(pairs, threshold)
	c.Worse = slices.ContainsFunc(c.Configurations, func(j compare.Judged) bool { return j.Worse })
	return c, nil
}

// differences returns the differences of two studies beside their levels: possible reasons of
// different times, whether they are meant or not.
func differences(a, b *Plan) []string {
	list := []string{}
	add := func(what, x, y string) {
		if x != y {
			list = append(list, fmt.Sprintf("%s is %s in %s and %s in %s", what, x, a.dir, y, b.dir))
		}
	}
	fixed := func(p *Plan) map[string]string {
		values := map[string]string{}
		for _, s := range p.Fixed {
			values[s.Word] = textutil.Quote(s.Value)
		}
		return values
	}
	// Settings that only one of them has are differences, too; of several that are there the last counts.
	fixedA, fixedB := fixed(a), fixed(b)
	for _, word := range slices.Sorted(maps.Keys(fixedA)) {
		add(word, fixedA[word], cmp.Or(fixedB[word], "not set"))
	}
	for _, word := range slices.Sorted(maps.Keys(fixedB)) {
		if fixedA[word] == "" {
			add(word, "not set", fixedB[word])
		}
	}
	// Inputs of the same name with other content: a platform that was edited, or, of another version, a
	// built-in one that has changed.
	for _, in := range b.Inputs {
		if other := a.input(in.Word, in.Name); other != nil && other.SHA256 != in.SHA256 {
			list = append(list, fmt.Sprintf("%s %s of %s is not that of %s: the text is another one", in.Word, in.Name, b.dir,
				a.dir))
		}
	}
	tolerance := func(t float64) string {
		if t == 0 {
			return "exact"
		}
		return fmt.Sprintf("%.3g %%", 100*t)
	}
	add("tolerance", tolerance(a.Tolerance), tolerance(b.Tolerance))
	add("Reprise's version", a.Version, b.Version)
	return list
}

// WriteText writes the check for people.
func (c *Check) WriteText(w io.Writer) error {
	var t textutil.Table
	t.Row("configuration", "A (s)", "B (s)", "change", "95 % interval", "p, corrected", "")
	worse := 0
	for _, j := range c.Configurations {
		// Slower is a fact that the data show; worse is slower by more than the threshold.
		verdict := map[compare.Verdict]string{compare.Equal: "the same", compare.More: "slower", compare.Less: "quicker",
			compare.Unclear: "cannot be told"}[j.Verdict]
		if j.Worse {
			verdict = "WORSE"
			worse++
		}
		// A dash stands for what is not known: of exact times there is no interval, and no test.
		change, interval, p := "-", "-", "-"
		if j.Relative != nil {
			change = fmt.Sprintf("%+.3g %%", 100**j.Relative)
		}
		if i := j.RelativeInterval; i != nil {
			interval = fmt.Sprintf("%+.3g to %+.3g %%", 100*i.Low, 100*i.High)
		}
		switch {
		case j.Holm == nil || math.IsNaN(*j.Holm):
		case *j.Holm < 1e-4:
			p = "< 0.0001"
		default:
			p = fmt.Sprintf("%.2g", *j.Holm)
		}
		t.Row(j.Name, fmt.Sprintf("%.6g", j.A), fmt.Sprintf("%.6g", j.B), change, interval, p, verdict)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	text := strings.Join(append(c.Warnings, ""), "\n")
	if c.Worse {
		text += fmt.Sprintf("WORSE: %d of %s slower", worse, textutil.Count(len(c.Configurations), "configuration"))
	} else {
		text += "not worse: no configuration is slower"
	}
	_, err := fmt.Fprintf(w, "%s by more than %.3g %%, with 95 %% confidence for all together (A is %s, B is %s)\n", text,
		100*c.Threshold, c.A, c.B)
	return err
}
