package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files returns the files of a directory by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[e.Name()] = string(text)
	}
	return texts
}

// written draws a case and returns its files.
func written(t *testing.T, c *testCase) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := c.write(dir); err != nil {
		t.Fatal(err)
	}
	return files(t, dir)
}

// TestCasesReplay: whatever is drawn is a program that ends, on a machine that exists.
func TestCasesReplay(t *testing.T) {
	cases := 300
	if testing.Short() {
		cases = 40
	}
	m := &menu{seed: 99, collectives: []string{"default", "ompi", "mpich"}}
	for i := range cases {
		c := m.draw(i, i%100 == 7)
		dir := t.TempDir()
		if err := c.write(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := (&tools{}).actions(dir, c); err != nil {
			t.Errorf("%s: %v", c.name(), err)
		}
	}
}

func TestCasesAreReproducible(t *testing.T) {
	m := &menu{seed: 5}
	for i := range 20 {
		a, b := written(t, m.draw(i, false)), written(t, (&menu{seed: 5}).draw(i, false))
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("case %d: %s", i, d)
		}
		if other := written(t, (&menu{seed: 6}).draw(i, false)); cmp.Equal(a, other) {
			t.Errorf("case %d does not depend on the seed", i)
		}
	}
}

// TestLoad: what is written is read as the same.
func TestLoad(t *testing.T) {
	m := &menu{seed: 7}
	shared := 0
	for i := range 40 {
		c := m.draw(i, false)
		dir := t.TempDir()
		if err := c.write(dir); err != nil {
			t.Fatal(err)
		}
		again, err := load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if c.script.shared {
			shared++
		}
		if d := cmp.Diff(files(t, dir), written(t, again)); d != "" {
			t.Errorf("case %d: %s", i, d)
		}
	}
	if shared == 0 || shared == 40 {
		t.Errorf("%d of 40 traces in one file", shared)
	}
}

func TestWithout(t *testing.T) {
	s := newScript(2)
	s.all(0, "init")
	g, h := s.group(), s.group()
	s.add(g, 0, "send 1 0 8")
	s.add(g, 1, "recv 0 0 8")
	s.add(h, 1, "compute 5")
	left := s.without(func(group int) bool { return group == g })
	if d := cmp.Diff([]string{"0 init\n", "1 init\n1 compute 5\n"}, []string{left.text(0), left.text(1)}); d != "" {
		t.Error(d)
	}
	if s.actions() != 5 || left.actions() != 3 {
		t.Errorf("%d and %d actions", s.actions(), left.actions())
	}
}

func TestSkewed(t *testing.T) {
	c := (&menu{seed: 1}).draw(3, false)
	s := c.skewed(0, longSkew)
	for r, lines := range c.script.ranks {
		skewed := s.script.ranks[r]
		if len(skewed) != 2*len(lines)-1 {
			t.Fatalf("rank %d: %d lines of %d", r, len(skewed), len(lines))
		}
		for i, l := range lines {
			if skewed[2*i].text != l.text {
				t.Errorf("rank %d line %d: %q, want %q", r, i, skewed[2*i].text, l.text)
			}
		}
	}
}

func TestParseDates(t *testing.T) {
	got, err := parseTimes("1 0.5 0 0.25 0.5\n0 2 2\n", 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float64{2, 0.5}, got.ends); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]float64{{2}, {0, 0.25, 0.5}}, got.actions); d != "" {
		t.Error(d)
	}
	for _, text := range []string{"", "0 1\n", "0 1\n2 1\n", "0 1\n1 x\n", "0 1\n1\n"} {
		if _, err := parseTimes(text, 2); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// TestCompare: 5e-9 + 1e-6*2 = 2.005e-6 is allowed at time 2.
func TestCompare(t *testing.T) {
	theirs := &timeline{[]float64{1, 2}, [][]float64{{0.5}, {1, 2}}}
	ours := &timeline{[]float64{1, 2 + 4.01e-6}, [][]float64{{math.NaN()}, {1, 2 + 4.01e-6}}}
	worst := compare(theirs, ours)
	if worst.rank != 1 || math.Abs(worst.tolerances-2) > 1e-6 {
		t.Errorf("%+v, want rank 1, 2 tolerances", worst)
	}
	if math.Abs(worst.relativeError-(4.01e-6-5e-9)/2) > 1e-12 {
		t.Errorf("relative error %g", worst.relativeError)
	}
	if d, ok := first(theirs, ours); !ok || d.rank != 1 || d.action != 1 {
		t.Errorf("first: %+v, %v", d, ok)
	}
	if d := compare(theirs, theirs); d.tolerances != 0 {
		t.Errorf("%+v", d)
	}
	if _, ok := first(theirs, theirs); ok {
		t.Error("equal timelines differ")
	}
}

func TestSummary(t *testing.T) {
	c := &testCase{machine: "star", program: "ring"}
	s := newSummary()
	s.add(&verdict{c: c, worst: deviance{tolerances: 0.5}})
	s.add(&verdict{c: c, worst: deviance{tolerances: 9}, tie: true})
	s.add(&verdict{c: &testCase{long: true}, worst: deviance{relativeError: 1}, chaos: true})
	if err := s.err(); err != nil {
		t.Error(err)
	}
	s.add(&verdict{c: c, worst: deviance{tolerances: 2}})
	if err := s.err(); err == nil {
		t.Error("no error though a case is off")
	}
	var text strings.Builder
	s.write(&text)
	if !strings.Contains(text.String(), "4 cases, 1 off, 1 depend on ties, 1 chaotic, 0 refused") {
		t.Error(text.String())
	}
}

// TestCommunicators: what is drawn is a program, the same for the same seed.
func TestCommunicators(t *testing.T) {
	m := &menu{seed: 3, collectives: []string{"default", "ompi", "mpich"}}
	for i := range 60 {
		c := m.drawCommunicators(i)
		dir := t.TempDir()
		if err := c.write(dir); err != nil {
			t.Fatal(err)
		}
		again := t.TempDir()
		if err := m.drawCommunicators(i).write(again); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(files(t, dir), files(t, again)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		list, err := (&config{dirs: []string{dir}}).listCommunicators()
		if err != nil {
			t.Fatal(err)
		}
		if got := list[0]; got.name != c.name || got.text != c.text || got.ranks != c.ranks {
			t.Errorf("%s is read as %+v", c.name, got)
		}
	}
}

// TestProduct: the recorded cases are of every operation, selection and size.
func TestProduct(t *testing.T) {
	m := &menu{seed: 1, collectives: []string{"default", "ompi", "mpich"}}
	list := m.product()
	if want := len(operations) * 3 * 8; len(list) != want {
		t.Errorf("%d cases, want %d", len(list), want)
	}
}
