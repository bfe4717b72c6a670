package main

import (
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
