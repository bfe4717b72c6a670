package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/tracegen/hpl"
)

// TestDat: HPL.dat has each combination, and all else is as in HPL's own file.
func TestDat(t *testing.T) {
	text := dat(slices.Repeat([]int{2000, 4000}, 3), []int{64, 128}, []grid{{1, 2}, {2, 1}})
	d, err := hpl.ReadDat(strings.NewReader(text), "HPL.dat")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for k := range d.Combinations() {
		got, err := d.Combination(k + 1)
		if err != nil {
			t.Fatal(err)
		}
		want := hpl.DefaultParams(got.N, got.P, got.Q)
		want.NB = got.NB
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		seen[point{got.N, got.NB, grid{got.P, got.Q}}.String()]++
	}
	if len(seen) != 8 || seen["n4000-nb128-2x1"] != 3 {
		t.Errorf("runs %v, want 2 sizes, 2 block sizes and 2 grids, each three times", seen)
	}
}

// TestMeasured: the machine is measured for both grids of two ranks at two sizes, with each block.
func TestMeasured(t *testing.T) {
	p := plan{sizes: []int{2000, 4000, 10000}, blocks: []int{64, 128}, grids: []grid{{1, 1}, {1, 2}, {2, 1}}}
	want := []point{{2000, 64, grid{1, 2}}, {10000, 64, grid{1, 2}}, {2000, 128, grid{1, 2}}, {10000, 128, grid{1, 2}},
		{2000, 64, grid{2, 1}}, {10000, 64, grid{2, 1}}, {2000, 128, grid{2, 1}}, {10000, 128, grid{2, 1}}}
	if diff := cmp.Diff(want, p.measured(), cmp.AllowUnexported(point{}, grid{})); diff != "" {
		t.Error(diff)
	}
}

// TestPredictions: one calibration serves all predictions, which are written down; a second call plays nothing.
func TestPredictions(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tracegen":  "#!/bin/sh\n",
		"calibrate": "#!/bin/sh\necho \"$*\" >> " + dir + "/calls\n",
		"replay":    "#!/bin/sh\ntest \"$4\" = " + dir + "/machine && echo '{\"gflops\": 7}'\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	l := lab{bin: dir, work: dir, budget: "9m", out: io.Discard, plan: &plan{sizes: []int{1000, 2000}, blocks: []int{64}, grids: []grid{{1, 1}, {1, 2}}}}
	for range 2 {
		list, err := l.predictions()
		if err != nil || len(list) != 4 || list["n1000-nb64-1x1"] != 7 {
			t.Fatal(list, err)
		}
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	want := "machine DIR/machine --budget 9m --for DIR/n1000-nb64-1x2.trace.zst --for DIR/n2000-nb64-1x2.trace.zst -- mpirun -np 2\n"
	if got := strings.ReplaceAll(string(calls), dir, "DIR"); err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestReadRuns(t *testing.T) {
	const text = `load 0.10 0.20 0.30 1/100 1234
Begin of HPL section.
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4        2000    64     1     2               0.37              1.427e+01
--------------------------------------------------------------------------------
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0045297 ...... PASSED
WR11C2R4       10000   192     2     1              12.50              5.336e+01
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0045297 ...... PASSED
`
	file := filepath.Join(t.TempDir(), "runs.txt")
	read := func(text string) (map[point][]float64, error) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		got := map[point][]float64{}
		return got, readRuns(file, got)
	}
	got, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[point][]float64{{2000, 64, grid{1, 2}}: {14.27}, {10000, 192, grid{2, 1}}: {53.36}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(point{}, grid{})); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{strings.Replace(text, "PASSED", "FAILED", 1), "HPL ERROR from process # 0\n" + text, "load\n"} {
		if got, err := read(bad); err == nil {
			t.Errorf("%v read of %q", got, bad)
		}
	}
}

func TestErrors(t *testing.T) {
	list := results{
		{point{4000, 64, grid{1, 1}}, 94, []float64{90, 100}},
		{point{6000, 64, grid{1, 1}}, 103, []float64{100}},
		{point{2000, 64, grid{1, 1}}, 60, []float64{40, 50}},
	}
	if mean, worst := list.errors(large); math.Abs(mean-0.045) > 1e-12 || math.Abs(worst-0.06) > 1e-12 {
		t.Errorf("mean %v, worst %v, want 0.045 and 0.06", mean, worst)
	}
	var out strings.Builder
	const want = "\nmean absolute error 4.5 %, worst 6.0 % (N >= 4000)\n"
	if err := list.write(&out); err != nil || !strings.HasSuffix(out.String(), want) {
		t.Errorf("%v, %q, want %q at the end", err, out.String(), want)
	}
	if right, pairs := list.ordered(); right != 2 || pairs != 2 {
		t.Errorf("%d of %d pairs in order, want 2 of 2", right, pairs)
	}
}
