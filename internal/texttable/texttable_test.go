package texttable_test

import (
	"strings"
	"testing"

	"reprise/internal/texttable"
)

// screen is a terminal of so many columns.
type screen struct {
	strings.Builder
	columns int
}

func (s *screen) Columns() int { return s.columns }

// TestWithin: of 34 columns a table of as many is left as it is; of 33 a column without values is left
// out, and of fewer than the 31 of that names are cut, to 12 at least.
func TestWithin(t *testing.T) {
	table := &texttable.Table{}
	table.Row("kernel", "s", "p", "B is")
	table.Row("dgemm transa=N trans", "1.5", "-", "=")
	table.Row("dscal", "2", "-", "-")
	const whole = "kernel                  s  p  B is\ndgemm transa=N trans  1.5  -     =\ndscal                   2  -     -\n"
	for _, c := range []struct {
		columns int
		want    string
	}{
		{34, whole},
		{33, "kernel                  s  B is\ndgemm transa=N trans  1.5     =\ndscal                   2     -\n"},
		{30, "kernel                 s  B is\ndgemm transa=N tra…  1.5     =\ndscal                  2     -\n"},
		{5, "kernel          s  B is\ndgemm trans…  1.5     =\ndscal           2     -\n"}, // no shorter
	} {
		s := &screen{columns: c.columns}
		if err := table.Write(s); err != nil || s.String() != c.want {
			t.Errorf("%d columns, %v:\n%swant\n%s", c.columns, err, s.String(), c.want)
		}
	}
	var file strings.Builder
	if err := table.Write(&file); err != nil || file.String() != whole {
		t.Errorf("a file, %v:\n%s", err, file.String())
	}
}
