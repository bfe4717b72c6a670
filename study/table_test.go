package study

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
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

// TestParquetNames: a column is called as its factor, whatever that name means elsewhere, and
// columns keep their order.
func TestParquetNames(t *testing.T) {
	names := []string{"z", "a,list", "-", ",", "a,snappy", "x,optional", "NB, tuned", `"`, "`", `\`, "a.b", "größe ∑", "Z", " "}
	table := &Table{Factors: names, Labels: [][]string{names}, Seeds: []uint64{7}, Columns: []string{"makespan_s", "gflops"}, Rows: [][]float64{{1.5, 0}}, Known: [][]bool{{true, false}}, Errors: []string{"e"}}
	var file bytes.Buffer
	noError(t, table.WriteParquet(&file))
	f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	noError(t, err)
	rows := make([]parquet.Row, 2)
	if n, _ := f.RowGroups()[0].Rows().ReadRows(rows); n != 1 {
		t.Fatalf("%d rows, want 1", n)
	}
	want := append(names, "seed", "makespan_s", "gflops", "error")
	values := append(names[:len(names):len(names)], "7", "1.5", "<null>", "e")
	fields := f.Schema().Fields()
	if len(fields) != len(want) {
		t.Fatalf("%d columns, want %d", len(fields), len(want))
	}
	for i, field := range fields {
		if got := fmt.Sprint(rows[0][i]); field.Name() != want[i] || got != values[i] {
			t.Errorf("column %d: %q is %q, want %q, %q", i, field.Name(), got, want[i], values[i])
		}
	}
}
