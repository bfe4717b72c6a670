package calibrate

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/calibrate/table"
	"reprise/kernels"
)

// loopTable has timings of HPCG's kernels: a piece of what a loop works on takes as long as rate says of its level and size. Each size
// is timed as often as there are factors, each time by one of these longer.
func loopTable(rows [][4]int64, rate func(d [4]int64) float64, factors ...float64) string {
	var b strings.Builder
	b.WriteString("function,n,level,rows,nnz,cols,vectors,operands,seconds\n")
	for _, d := range rows {
		for _, f := range factors {
			fmt.Fprintf(&b, "symgs,,%d,%d,%d,%d,,run,%.17g\n", d[0], d[1], d[2], d[3], f*rate(d)*float64(d[2]))
			fmt.Fprintf(&b, "dot,%d,,,,,%d,run,%.17g\n", d[1], d[0]%2, f*rate(d)*float64(d[1]))
		}
	}
	return b.String()
}

// learned returns the models of a table as a kernel file's.
func learned(t *testing.T, text string) (*LearnReport, *kernels.Set) {
	t.Helper()
	timings := NewTimings()
	r, err := table.NewReader(strings.NewReader(text), "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := timings.Read(r, ReadOptions{Keep: true}); err != nil {
		t.Fatal(err)
	}
	report, err := LearnKernels(timings, DefaultLearnOptions())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := report.WriteYAML(&file, FileOptions{}); err != nil {
		t.Fatal(err)
	}
	set, err := kernels.Parse(bytes.NewReader(file.Bytes()), "learned.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, file.Bytes())
	}
	return report, set
}

var (
	symgsSignature = kernels.Signature{Name: "symgs", Dims: []string{"LEVEL", "ROWS", "NNZ", "COLS"}}
	dotSignature   = kernels.Signature{Name: "dot", Dims: []string{"N", "VECTORS"}}
)

func secondsBy(t *testing.T, set *kernels.Set, sig kernels.Signature, d [4]int64) float64 {
	t.Helper()
	m, err := set.Bind(kernels.Host{Name: "h", Speed: 1}, sig)
	if err != nil {
		t.Fatal(err)
	}
	return m.Seconds(&d)
}

// TestWorkingSets: boxes of 16 and 32 points in each direction share sizes on different levels, which are in other caches; each
// level and size comes back as it was timed, however much its rate differs from those beside it. Sizes between are nearer to
// the one or the other by their ratio: of 4096 and 32768 rows the border is 11585.
func TestWorkingSets(t *testing.T) {
	matrix := func(level, n, faces int64) [4]int64 {
		return [4]int64{level, n * n * n, (3*n - 2 + faces) * (3*n - 2) * (3*n - 2), (n + faces) * n * n}
	}
	var rows [][4]int64
	for level := range int64(4) {
		rows = append(rows, matrix(level, 16>>level, 1), matrix(level, 32>>level, 1))
	}
	rate := func(d [4]int64) float64 { return 1e-9 * float64(1+d[0]*d[0]+d[1]%7) }
	report, set := learned(t, loopTable(rows, rate, 1))
	for _, d := range rows {
		if got, want := secondsBy(t, set, symgsSignature, d), rate(d)*float64(d[2]); math.Abs(got-want) > 1e-12*want {
			t.Errorf("symgs %v: %g s, want %g", d, got, want)
		}
	}
	for _, c := range []struct{ rows, like int64 }{{11585, 4096}, {11586, 32768}, {1, 4096}, {1 << 30, 32768}} {
		like := matrix(0, 16, 1)
		if c.like == 32768 {
			like = matrix(0, 32, 1)
		}
		if got, want := secondsBy(t, set, symgsSignature, [4]int64{0, c.rows, 1000, c.rows}), 1000*rate(like); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%d rows: %g s, want %g", c.rows, got, want)
		}
	}
	if got := secondsBy(t, set, symgsSignature, [4]int64{}); got != 0 {
		t.Errorf("an empty call takes %g s", got)
	}
	for _, k := range report.Kernels {
		if k.WorstError > 1e-12 {
			t.Errorf("%s: %+v", k.Function, k)
		}
	}
}

// TestLabelsOfZero: a call whose label is zero is not empty.
func TestLabelsOfZero(t *testing.T) {
	_, set := learned(t, loopTable([][4]int64{{0, 100, 2000, 120}, {1, 100, 2000, 120}}, func(d [4]int64) float64 { return float64(1+d[0]) * 1e-9 }, 1))
	for label, want := range []float64{1e-7, 2e-7} {
		if got := secondsBy(t, set, dotSignature, [4]int64{100, int64(label)}); math.Abs(got-want) > 1e-12*want {
			t.Errorf("dot of label %d: %g s, want %g", label, got, want)
		}
	}
}

// TestMiddleHalf: symgs is called before and after the coarser grids, and takes 1 or 2 units; of as many of both the mean is 1.5, which no single call takes;
// with a disturbed one of 3, of 21 timings the middle half are 9, from the 7th to the 15th: four of 1 and five of 2.
func TestMiddleHalf(t *testing.T) {
	size := [][4]int64{{0, 100, 2000, 120}}
	unit := func([4]int64) float64 { return 1e-9 }
	var ten []float64
	for range 10 {
		ten = append(ten, 1, 2)
	}
	for _, c := range []struct {
		factors []float64
		want    float64
	}{{ten, 1.5}, {append(ten, 3), 14.0 / 9}} {
		_, set := learned(t, loopTable(size, unit, c.factors...))
		if got, want := secondsBy(t, set, symgsSignature, size[0]), c.want*2000e-9; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v: %g s, want %g", c.factors, got, want)
		}
	}
}

// TestManyWorkingSets: of more sizes than have pieces of their own thresholds are learned, here one between 20^3 and 21^3 rows, below
// which a nonzero takes 2 ns, above it 4.
func TestManyWorkingSets(t *testing.T) {
	var rows [][4]int64
	for n := int64(2); n < 40; n++ {
		rows = append(rows, [4]int64{0, n * n * n, 27 * n * n * n, n * n * n})
	}
	rate := func(d [4]int64) float64 {
		if d[1] <= 8000 {
			return 2e-9
		}
		return 4e-9
	}
	report, set := learned(t, loopTable(rows, rate, 1, 1))
	for n, want := range map[int64]float64{8000: 2e-9, 9261: 4e-9} {
		if got := secondsBy(t, set, symgsSignature, [4]int64{0, n, 27 * n, n}); math.Abs(got-want*27*float64(n)) > 1e-12*got || len(report.Kernels[0].Pieces) != 2 {
			t.Errorf("%d rows: %g s of %d pieces, want %g s a nonzero, of two", n, got, len(report.Kernels[0].Pieces), want)
		}
	}
}

// TestManyLabels: a column that has the name of a label and hundreds of values is none.
func TestManyLabels(t *testing.T) {
	var text strings.Builder
	text.WriteString("function,jb,role,seconds\n")
	for i := range 257 {
		fmt.Fprintf(&text, "dlocswpT,%d,%d,1e-6\n", 1+i%7, i)
	}
	_, err := LearnKernels(read(t, text.String(), ReadOptions{Keep: true}), DefaultLearnOptions())
	if err == nil || !strings.Contains(err.Error(), "257 values of the label ROLE") {
		t.Errorf("%v, want that there are too many", err)
	}
	_, err = LearnKernels(read(t, text.String(), ReadOptions{Keep: true, Dims: []string{"jb"}}), DefaultLearnOptions())
	if err != nil {
		t.Errorf("without it: %v", err)
	}
}
