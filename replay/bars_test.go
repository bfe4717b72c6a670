package replay

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
)

// TestBar: 3/8 of a column, a column and a half, and no more than all.
func TestBar(t *testing.T) {
	for _, c := range []struct {
		share   float64
		columns int
		want    string
	}{
		{0.0375, 10, "  \u258d"}, {0.15, 10, "  \u2588\u258c"}, {1, 3, "  \u2588\u2588\u2588"}, {1.5, 3, "  \u2588\u2588\u2588"},
		{0, 10, ""}, {0.001, 10, ""}, {0.5, 0, ""},
	} {
		if got := bar(c.share, c.columns); got != c.want {
			t.Errorf("%v in %d columns: %q, want %q", c.share, c.columns, got, c.want)
		}
	}
}

// screen is a terminal of so many columns.
type screen struct {
	bytes.Buffer
	columns int
}

func (s *screen) Columns() int { return s.columns }

// TestBars: names take 14 columns, three numbers 13 each and the share 9, so that of 84 columns
// 20 are left for bars behind two blanks, and half of them is half of the time. Of 73 there are 9
// left, too few. Nothing of it is there where nobody looks.
func TestBars(t *testing.T) {
	r := NewReport(&Result{
		Header: &trace.Header{}, Complete: true, Makespan: 4, Ranks: []RankResult{{End: 4}},
		Kinds:   []Share{{"compute", 2, 2, 2}, {"recv", 2, 2, 2}},
		Kernels: []Share{{"dgemm", 1, 1, 1}},
	}, Provenance{})
	var plain bytes.Buffer
	wide, narrow := &screen{columns: 84}, &screen{columns: 73}
	for _, err := range []error{r.WriteText(&plain), r.WriteText(wide), r.WriteText(narrow)} {
		noError(t, err)
	}
	if plain.String() != narrow.String() || strings.ContainsRune(plain.String(), '\u2588') {
		t.Errorf("%s\non a narrow terminal\n%s", &plain, narrow)
	}
	half, quarter := strings.Repeat("\u2588", 10), strings.Repeat("\u2588", 5)
	for _, line := range []string{
		"recv                      2            2            2   50.00%  " + half + "\n",
		"dgemm                     1            1            1   25.00%  " + quarter + "\n",
	} {
		if !strings.Contains(wide.String(), line) {
			t.Errorf("no line\n%sin\n%s", line, wide)
		}
	}
}

// TestNarrowNames: of 70 columns numbers and share leave 22 for a name; where nobody looks it has its
// own length.
func TestNarrowNames(t *testing.T) {
	r := NewReport(&Result{
		Header: &trace.Header{}, Complete: true, Makespan: 1, Ranks: []RankResult{{End: 1}},
		Kinds: []Share{{"compute", 1, 1, 1}}, Kernels: []Share{{"dtrsm side=R uplo=U trans=N", 1, 1, 1}},
	}, Provenance{})
	var plain bytes.Buffer
	narrow := &screen{columns: 70}
	for _, err := range []error{r.WriteText(&plain), r.WriteText(narrow)} {
		noError(t, err)
	}
	const numbers = "            1            1            1  100.00%\n"
	if line := "dtrsm side=R uplo=U t…" + numbers; !strings.Contains(narrow.String(), line) {
		t.Errorf("no line\n%sin\n%s", line, narrow)
	}
	if line := "dtrsm side=R uplo=U trans=N" + numbers; !strings.Contains(plain.String(), line) {
		t.Errorf("no line\n%sin\n%s", line, &plain)
	}
}

// TestPartLabel: what was not played of a program, and what was not in its trace.
func TestPartLabel(t *testing.T) {
	whole, part := &trace.Header{Steps: 50}, &trace.Header{Steps: 50}
	part.SetPart("phase:MG to end")
	bare := &trace.Header{}
	bare.SetPart("collective:1 to end")
	for _, c := range []struct {
		h           *trace.Header
		first, last int
		want        string
	}{
		{whole, 3, 7, "steps 3:8 of 50 only"},
		{part, 3, 7, "phase:MG to end, steps 3:8 of 50 only"},
		{part, 0, 49, "phase:MG to end only"},
		{bare, 0, 0, "collective:1 to end only"},
	} {
		if got := PartLabel(c.h, c.first, c.last); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestStudent: the quantiles for 97.5 % of Abramowitz and Stegun, table 26.10, to all of its
// digits, and for one and two degrees of freedom, tan(0.475 Pi) and 0.95 sqrt(2/(1-0.95^2)).
func TestStudent(t *testing.T) {
	for freedom, want := range map[int]float64{3: 3.182, 4: 2.776, 5: 2.571, 10: 2.228, 19: 2.093, 30: 2.042, 120: 1.980} {
		if got := student(freedom, 0.95); math.Abs(got-want) > 5e-4 {
			t.Errorf("%d degrees of freedom: %.4f, want %.3f", freedom, got, want)
		}
	}
	for freedom, want := range map[int]float64{3: 2.353, 10: 1.812, 19: 1.729, 120: 1.658} { // for 95 %
		if got := student(freedom, 0.9); math.Abs(got-want) > 5e-4 {
			t.Errorf("%d degrees of freedom, 90 %%: %.4f, want %.3f", freedom, got, want)
		}
	}
	for freedom, want := range map[int]float64{1: math.Tan(0.475 * math.Pi), 2: 0.95 * math.Sqrt(2/(1-0.95*0.95))} {
		if got := student(freedom, 0.95); math.Abs(got-want) > 1e-13*want {
			t.Errorf("%d degrees of freedom: %.15g, want %.15g", freedom, got, want)
		}
	}
}

// TestSumUp: a part that takes time in some replays only has 0 in the others, those that
// share a name are one, and a replay that does not tell where its time went has none.
func TestSumUp(t *testing.T) {
	played := []*Played{
		{kinds: []Share{{Name: "compute", Mean: 3}, {Name: "wait", Mean: 1}}, kernels: []Share{{Name: "k", Mean: 1}, {Name: "k", Mean: 2}}},
		{},
		{kinds: []Share{{Name: "compute", Mean: 4}, {Name: "recv", Mean: 2}}, phases: []Share{{Name: "p", Mean: 6}}},
	}
	results, names, _ := sumUp(played)
	if diff := cmp.Diff(PartNames{Kinds: []string{"compute", "wait", "recv"}, Phases: []string{"p"}, Kernels: []string{"k"}}, names); diff != "" {
		t.Error(diff)
	}
	want := []SeedResult{
		{Times: &PartTimes{Kinds: []float64{3, 1, 0}, Phases: []float64{0}, Kernels: []float64{3}}},
		{},
		{Times: &PartTimes{Kinds: []float64{4, 0, 2}, Phases: []float64{6}, Kernels: []float64{0}}},
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Error(diff)
	}
}
