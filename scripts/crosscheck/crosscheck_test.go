package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files returns the files that a case writes, by name.
func files(t *testing.T, write func(dir string) error) (map[string]string, string) {
	t.Helper()
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
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
	return texts, dir
}

// TestCasesReplay: every case is a program that ends, on a machine that exists.
func TestCasesReplay(t *testing.T) {
	cases := 300
	if testing.Short() {
		cases = 40
	}
	m := &options{seed: 99, collectives: []string{"default", "ompi", "mpich"}}
	for i := range cases {
		size := short
		switch i % 100 {
		case 7:
			size = long
		case 8:
			size = dense
		}
		c := m.draw(i, size)
		_, dir := files(t, c.write)
		if _, err := actionTimes(dir, c); err != nil {
			t.Errorf("%s: %v", c.name(), err)
		}
	}
}

// TestFiles: cases are the same for the same seed, others for another, and are read as they are written.
func TestFiles(t *testing.T) {
	shared := 0
	for i := range 40 {
		c := (&options{seed: 7}).draw(i, short)
		want, dir := files(t, c.write)
		if again, _ := files(t, (&options{seed: 7}).draw(i, short).write); !cmp.Equal(want, again) {
			t.Errorf("case %d is not reproducible", i)
		}
		if other, _ := files(t, (&options{seed: 6}).draw(i, short).write); cmp.Equal(want, other) {
			t.Errorf("case %d does not depend on the seed", i)
		}
		read, err := load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := files(t, read.write); !cmp.Equal(want, got) {
			t.Errorf("case %d: %s", i, cmp.Diff(want, got))
		}
		if c.shared {
			shared++
		}
	}
	if shared == 0 || shared == 40 {
		t.Errorf("%d of 40 traces in one file", shared)
	}
}

func TestSkewed(t *testing.T) {
	c := (&options{seed: 1}).draw(3, short)
	s := c.skewed(0, longSkew)
	for r, lines := range c.lines {
		if len(s.lines[r]) != 2*len(lines)-1 {
			t.Fatalf("rank %d: %d lines of %d", r, len(s.lines[r]), len(lines))
		}
		for i, l := range lines {
			if s.lines[r][2*i] != l {
				t.Errorf("rank %d line %d: %q, want %q", r, i, s.lines[r][2*i], l)
			}
		}
	}
}

func TestParseTimes(t *testing.T) {
	got, err := parseTimes("1 0.5 0 0.25 0.5\n0 2 2\n", 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&timeline{[]float64{2, 0.5}, [][]float64{{2}, {0, 0.25, 0.5}}}, got, cmp.AllowUnexported(timeline{})); d != "" {
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
	worst, first := compare(theirs, ours)
	if worst.rank != 1 || math.Abs(worst.tolerances-2) > 1e-6 {
		t.Errorf("%+v, want rank 1, 2 tolerances", worst)
	}
	if math.Abs(worst.relativeError-(4.01e-6-5e-9)/2) > 1e-12 {
		t.Errorf("relative error %g", worst.relativeError)
	}
	if first == nil || first.rank != 1 || first.action != 1 {
		t.Errorf("first: %+v", first)
	}
	if worst, first := compare(theirs, theirs); worst.tolerances != 0 || first != nil {
		t.Errorf("%+v, %+v", worst, first)
	}
}

func TestSummarise(t *testing.T) {
	c := &testCase{machine: "star", program: "ring"}
	list := []*verdict{
		{c: c, worst: deviance{tolerances: 0.5}}, {c: c, worst: deviance{tolerances: 9}, tie: true},
		{c: &testCase{long: true}, worst: deviance{relativeError: 1}, chaos: true},
	}
	var text strings.Builder
	if err := summarise(list, &text); err != nil {
		t.Error(err)
	}
	if err := summarise(append(list, &verdict{c: c, worst: deviance{tolerances: 2}}), &text); err == nil {
		t.Error("no error though a case is off")
	}
	if !strings.Contains(text.String(), "4 cases, 1 off, 1 depend on ties, 1 chaotic, 0 refused") {
		t.Error(text.String())
	}
}

// TestCommunicators: every case is a program, the same for the same seed, and is read as it is written.
func TestCommunicators(t *testing.T) {
	m := &options{seed: 3, collectives: []string{"default", "ompi", "mpich"}}
	for i := range 60 {
		c := m.drawCommunicators(i)
		want, dir := files(t, c.write)
		if again, _ := files(t, m.drawCommunicators(i).write); !cmp.Equal(want, again) {
			t.Errorf("%s is not reproducible", c.name())
		}
		got, err := load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got.text != c.text || len(got.lines) != len(c.lines) {
			t.Errorf("%s is read as %+v", c.name(), got)
		}
	}
}
