package table_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"reprise/internal/replaytest"
	"reprise/replay"
	"reprise/report/table"
	"reprise/trace"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// header describes two kernels whose names come out the same, and a phase.
func header() *trace.Header {
	return &trace.Header{Ranks: 2, Steps: 2, Phases: []string{"up/date"}, Kernels: []trace.Kernel{{Name: "dgemm", Attrs: []trace.Param{{Name: "transa", Value: "N"}}}, {Name: "dgemm transa:N"}}}
}

func TestColumns(t *testing.T) {
	c, err := table.ColumnsOf(header())
	noError(t, err)
	want := strings.Fields("rank host step complete begin_s end_s messages bytes compute_s sleep_s send_s recv_s exchange_s wait_s collective_s poll_s overhead_s kernel_dgemm_transa_N_s kernel_dgemm_transa_N.2_s phase_up_date_s")
	var got []string
	for _, column := range c.All {
		got = append(got, column.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := table.ColumnsOf(&trace.Header{Kernels: make([]trace.Kernel, table.MaxColumns)}); err == nil {
		t.Error("more columns than there may be")
	}
}

func phase(end bool) trace.Action {
	a := trace.Action{Kind: trace.KindPhase}
	if end {
		a.Flags = trace.FlagEnd
	}
	return a
}

func step(n int64) trace.Action { return trace.Action{Kind: trace.KindStep, X: [4]int64{n}} }

// tell tells a recorder of a rank with time before its steps and a phase across two of them,
// and of one that does nothing.
func tell(r *table.Recorder) {
	o := r.Observer()
	o.TimePasses(0, replay.TimeSleep, -1, 0, 1)
	o.Marked(0, step(0), 1)
	o.TimePasses(0, replay.TimeCompute, 1, 1, 2)
	o.Marked(0, phase(false), 2)
	o.TimePasses(0, replay.TimeWait, -1, 2, 2.5)
	o.SendPosted(0, 0, 1, 5, 100, 2.5)
	o.SendPosted(1, 0, 1, 5, 20, 2.5)
	o.Marked(0, step(1), 2.5)
	o.TimePasses(0, replay.TimePoll, -1, 2.5, 3.25)
	o.Marked(0, phase(true), 3.25)
	o.TimePasses(0, replay.TimeCompute, -1, 3.25, 4)
	r.End(true) // the replay is stopped
}

const wantCSV = `rank,host,step,complete,begin_s,end_s,messages,bytes,compute_s,sleep_s,send_s,recv_s,exchange_s,wait_s,collective_s,poll_s,overhead_s,kernel_dgemm_transa_N_s,kernel_dgemm_transa_N.2_s,phase_up_date_s
0,a,,true,0,1,0,0,0,1,0,0,0,0,0,0,0,0,0,0
0,a,0,true,1,2.5,2,120,1,0,0,0,0,0.5,0,0,0,0,1,0.5
0,a,1,false,2.5,4,0,0,0.75,0,0,0,0,0,0,0.75,0,0,0,0.75
1,"b,c",,false,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
`

// csvOf returns the table of tell, of ranks on two hosts, with a label.
func csvOf(t *testing.T, label string, hosts ...string) string {
	t.Helper()
	c, err := table.ColumnsOf(header())
	noError(t, err)
	var out bytes.Buffer
	w := table.NewCSV(&out, c.All, label)
	tell(table.NewRecorder(c, hosts, w))
	noError(t, w.Close())
	return out.String()
}

// TestCSV: a label is the last column of every row. A spreadsheet must not take the name of a host, or a label, for a
// formula.
func TestCSV(t *testing.T) {
	if diff := cmp.Diff(wantCSV, csvOf(t, "", "a", "b,c")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const label = "steps 2:4 of 9 only; noise of seed 7"
	head, rows, _ := strings.Cut(wantCSV, "\n")
	want := head + ",label\n" + strings.ReplaceAll(rows, "\n", ","+label+"\n")
	if diff := cmp.Diff(want, csvOf(t, label, "a", "b,c")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	lines, err := csv.NewReader(strings.NewReader(csvOf(t, "@label", "=1+1", "-7"))).ReadAll()
	noError(t, err)
	if first, last := lines[1], lines[len(lines)-1]; first[1] != "'=1+1" || last[1] != "-7" || last[len(last)-1] != "'@label" {
		t.Errorf("%q, %q", first, last)
	}
}

// readParquet reads a file as the lines of a CSV.
func readParquet(t testing.TB, file []byte) string {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	noError(t, err)
	var names []string
	for _, path := range f.Schema().Columns() {
		names = append(names, strings.Join(path, "."))
	}
	var out strings.Builder
	w := csv.NewWriter(&out)
	w.Write(names)
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 16)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				var fields []string
				for _, v := range row {
					fields = append(fields, text(v))
				}
				w.Write(fields)
			}
			if err != nil {
				break
			}
		}
		noError(t, rows.Close())
	}
	w.Flush()
	return out.String()
}

func text(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.String()
}

// TestParquet: a Parquet file has the columns and rows of the CSV.
func TestParquet(t *testing.T) {
	c, err := table.ColumnsOf(header())
	noError(t, err)
	var out bytes.Buffer
	w := table.NewParquet(&out, c.All)
	tell(table.NewRecorder(c, []string{"a", "b,c"}, w))
	w.Label("interrupted at 4 s")
	noError(t, w.Close())
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	noError(t, err)
	if label, ok := f.Lookup("label"); !ok || label != "interrupted at 4 s" {
		t.Errorf("label %q", label)
	}
	if diff := cmp.Diff(wantCSV, readParquet(t, out.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTotals: of a run of HPL the rows add up to the tables of the result.
func TestTotals(t *testing.T) {
	run := replaytest.HPL(t, 400, 32)
	c, err := table.ColumnsOf(run.Trace.Header())
	noError(t, err)
	var out bytes.Buffer
	w := table.NewCSV(&out, c.All, "")
	r := table.NewRecorder(c, run.Hosts, w)
	res := run.Play(t, r.Observer())
	r.End(false)
	noError(t, w.Close())
	rows, err := csv.NewReader(&out).ReadAll()
	noError(t, err)
	if want := 6 * (res.Last + 1); len(rows)-1 != want {
		t.Errorf("%d rows, want %d", len(rows)-1, want)
	}
	sums := map[string]float64{}
	for _, row := range rows[1:] {
		for i, field := range row {
			v, _ := strconv.ParseFloat(field, 64) // a host is no number
			sums[rows[0][i]] += v
		}
	}
	if sums["messages"] != float64(res.Messages) || sums["bytes"] != float64(res.Bytes) {
		t.Errorf("%v messages, %v bytes, want %d, %d", sums["messages"], sums["bytes"], res.Messages, res.Bytes)
	}
	for prefix, shares := range map[string][]replay.Share{"": res.Kinds, "kernel_": res.Kernels, "phase_": res.Phases} {
		for _, want := range shares {
			name := prefix + strings.NewReplacer(" ", "_", "=", "_", "-", "_").Replace(want.Name) + "_s"
			if got := sums[name] / 6; math.Abs(got-want.Mean) > 1e-9*want.Mean {
				t.Errorf("%s: a mean of %v s, want %v", name, got, want.Mean)
			}
		}
	}
}

// TestGroupsOfRows: a file of several groups of rows holds all of them.
func TestGroupsOfRows(t *testing.T) {
	h := &trace.Header{Ranks: 1, Kernels: make([]trace.Kernel, 500)}
	for i := range h.Kernels {
		h.Kernels[i].Name = fmt.Sprint("k", i)
	}
	c, err := table.ColumnsOf(h)
	noError(t, err)
	var out bytes.Buffer
	w := table.NewParquet(&out, c.All)
	r := table.NewRecorder(c, []string{"a"}, w)
	o := r.Observer()
	const rows = 4100 // 516 columns: 2,032 rows are 1<<20 values
	for s := range rows {
		o.Marked(0, step(int64(s)), float64(s))
		o.TimePasses(0, replay.TimeCompute, int32(s%500), float64(s), float64(s+1))
	}
	r.End(false)
	noError(t, w.Close())
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	noError(t, err)
	if n := len(f.RowGroups()); f.NumRows() != rows || n != 3 {
		t.Errorf("%d rows in %d groups, want %d in 3", f.NumRows(), n, rows)
	}
}
