package study

import (
	"fmt"
	"maps"
	"slices"

	"reprise/internal/textutil"
)

// differences says what differs between two studies beside their levels: what their times may differ
// by, whatever is meant to be compared.
func differences(a, b *Plan) []string {
	list := []string{}
	add := func(what, x, y string) {
		if x != y {
			list = append(list, fmt.Sprintf("%s is %s in %s and %s in %s", what, x, a.dir, y, b.dir))
		}
	}
	fixedA, fixedB := a.fixed(), b.fixed()
	for _, word := range slices.Sorted(maps.Keys(fixedA)) {
		add(word, fixedA[word], orNotSet(fixedB[word]))
	}
	for _, word := range slices.Sorted(maps.Keys(fixedB)) {
		if fixedA[word] == "" {
			add(word, orNotSet(""), fixedB[word])
		}
	}
	for _, in := range b.Inputs {
		if other := a.input(in.Word, in.Name); other != nil && other.SHA256 != in.SHA256 {
			list = append(list, fmt.Sprintf("%s %s of %s is not that of %s: the text is another one", in.Word, in.Name, b.dir,
				a.dir))
		}
	}
	add("tolerance", toleranceText(a.Tolerance), toleranceText(b.Tolerance))
	add("Reprise's version", a.Version, b.Version)
	return list
}

// fixed returns the values of what all runs have, by words.
func (p *Plan) fixed() map[string]string {
	values := map[string]string{}
	for _, s := range p.Fixed {
		values[s.Word] = textutil.Quote(s.Value)
	}
	return values
}

func orNotSet(value string) string {
	if value == "" {
		return "not set"
	}
	return value
}

func toleranceText(t float64) string {
	if t == 0 {
		return "exact"
	}
	return fmt.Sprintf("%.3g %%", 100*t)
}
