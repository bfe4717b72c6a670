package main

import (
	"fmt"
	"io"
	"sort"
	"strings"
)

// tally counts the cases of one kind.
type tally struct {
	cases, bad, refused, ties, chaotic int
	worst                              deviance
}

func (t *tally) add(v *verdict) {
	t.cases++
	switch {
	case v.refused != nil:
		t.refused++
	case v.bad():
		t.bad++
	case v.tie:
		t.ties++
	case v.chaos:
		t.chaotic++
	}
	if v.worst.tolerances > t.worst.tolerances && !v.tie {
		t.worst = v.worst
	}
}

// summary gathers verdicts by kind of machine and kind of program.
type summary struct {
	machines, programs map[string]*tally
	all                tally
	long               []float64 // worst relative error of each long case
}

func newSummary() *summary {
	return &summary{machines: map[string]*tally{}, programs: map[string]*tally{}}
}

func (s *summary) add(v *verdict) {
	if v.c.long && v.refused == nil && v.failed == nil {
		s.long = append(s.long, v.worst.relativeError)
	}
	s.all.add(v)
	if v.c.long {
		return
	}
	for _, part := range []struct {
		tallies map[string]*tally
		name    string
	}{{s.machines, v.c.machine}, {s.programs, v.c.program}} {
		t := part.tallies[part.name]
		if t == nil {
			t = &tally{}
			part.tallies[part.name] = t
		}
		t.add(v)
	}
}

func (s *summary) write(w io.Writer) {
	for _, part := range []struct {
		title   string
		tallies map[string]*tally
	}{{"machine", s.machines}, {"program", s.programs}} {
		fmt.Fprintf(w, "\n%-12s %6s %5s %5s %8s %12s %10s\n", part.title, "cases", "off", "ties", "refused", "worst (s)", "allowed")
		for _, name := range sortedKeys(part.tallies) {
			t := part.tallies[name]
			off := t.worst.ours - t.worst.theirs
			fmt.Fprintf(w, "%-12s %6d %5d %5d %8d %12.2g %9.2g%%\n", name, t.cases, t.bad, t.ties, t.refused, off, 100*t.worst.tolerances)
		}
	}
	s.writeLong(w)
	fmt.Fprintf(w, "\n%d cases, %d off, %d depend on ties, %d chaotic, %d refused by smpirun\n",
		s.all.cases, s.all.bad, s.all.ties, s.all.chaotic, s.all.refused)
}

// err says what is wrong: times that are off, or a comparison with too few cases.
func (s *summary) err() error {
	switch {
	case s.all.bad > 0:
		return fmt.Errorf("%d of %d cases are off", s.all.bad, s.all.cases)
	case 4*s.all.refused > s.all.cases:
		return fmt.Errorf("%d of %d cases were refused by smpirun", s.all.refused, s.all.cases)
	}
	return nil
}

// writeLong prints the distribution of the long cases.
func (s *summary) writeLong(w io.Writer) {
	if len(s.long) == 0 {
		return
	}
	sort.Float64s(s.long)
	at := func(q float64) float64 { return s.long[int(q*float64(len(s.long)-1))] }
	fmt.Fprintf(w, "\n%d long cases, worst relative error of each: median %.2g, nine tenths below %.2g, largest %.2g (limit %g)\n",
		len(s.long), at(0.5), at(0.9), at(1), longLimit)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// write prints a case that is off.
func (v *verdict) write(w io.Writer, seed uint64) {
	again := fmt.Sprintf("go run ./scripts/crosscheck -seed %d -only %d", seed, v.c.number)
	if v.c.long {
		again += " -long 1"
	}
	switch d := v.worst; {
	case v.refused != nil:
		fmt.Fprintf(w, "%s: refused: %.200s\n", v.c.name(), strings.ReplaceAll(v.refused.Error(), "\n", " "))
	case v.failed != nil:
		fmt.Fprintf(w, "%s: %v\n", v.c.name(), v.failed)
	default:
		if v.tie {
			fmt.Fprint(w, "tie: ")
		}
		if v.chaos {
			fmt.Fprint(w, "chaotic: ")
		}
		fmt.Fprintf(w, "%s: %s: %.3g s off, %.3g tolerances\n", v.c.name(), d.describe(v.c), d.ours-d.theirs, d.tolerances)
		if v.found {
			fmt.Fprintf(w, "    first: %s\n", v.first.describe(v.c))
		}
	}
	if v.note != "" {
		fmt.Fprintf(w, "    %s\n", v.note)
	}
	fmt.Fprintf(w, "    %s\n", again)
}

// describe says which time is meant, and both values.
func (d deviance) describe(c *testCase) string {
	what := fmt.Sprintf("rank %d", d.rank)
	if d.action >= 0 {
		what = fmt.Sprintf("%q", c.script.ranks[d.rank][d.action].text)
	}
	return fmt.Sprintf("%s ends at %.12g, in SimGrid at %.12g", what, d.ours, d.theirs)
}
