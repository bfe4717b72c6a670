package study

import (
	"strings"
	"testing"
)

// TestTableFormulas: a spreadsheet must not take a factor, a value or an error for a formula;
// numbers stay what they are.
func TestTableFormulas(t *testing.T) {
	table := Table{Factors: []string{"+factor", "delay"}, Columns: []string{"makespan_s"}, Labels: [][]string{{"=1+1", "-0.5"}}, Seeds: []uint64{1},
		Rows: [][]float64{{-2}}, Known: [][]bool{{true}}, Errors: []string{"-x is no option"}}
	var out strings.Builder
	noError(t, table.WriteCSV(&out))
	const want = "'+factor,delay,seed,makespan_s,error\n'=1+1,-0.5,1,-2,'-x is no option\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
