package replay

import (
	"bytes"
	"strings"
	"testing"

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
		if err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Fatal(err)
		}
	}
	const numbers = "            1            1            1  100.00%\n"
	if line := "dtrsm side=R uplo=U t…" + numbers; !strings.Contains(narrow.String(), line) {
		t.Errorf("no line\n%sin\n%s", line, narrow)
	}
	if line := "dtrsm side=R uplo=U trans=N" + numbers; !strings.Contains(plain.String(), line) {
		t.Errorf("no line\n%sin\n%s", line, &plain)
	}
}
