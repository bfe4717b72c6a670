package network

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/calibrate/measure"
)

const output = `mpi Some MPI 1.0
rank 0|node-0|Some CPU|0-3|0.10 0.05 0.01 1/100 1
rank 1|node-1|Some CPU|0-3|0.10 0.05 0.01 1/100 1
planned 6
t pingpong nodes 1 1024 2.000000000e-06
t pingpong nodes 2 65536 4.000000000e-05
busy 1 0.90 1.00
t iprobe-miss nodes 1 8 1.000000000e-07
t iprobe-first-miss nodes 1 8 2.000000000e-07
t iprobe-first-hit nodes 1 8 3.000000000e-07
end budget
`

func TestRead(t *testing.T) {
	r, err := read(strings.NewReader(output + "t send nodes 1 8 1.0")) // cut off
	must(t, err)
	want := []Timing{
		{"pingpong", Nodes, 1, 1024, 2e-6}, {"pingpong", Nodes, 2, 65536, 4e-5},
		{"iprobe-miss", Nodes, 1, 8, 1e-7}, {"iprobe-first-miss", Nodes, 1, 8, 2e-7}, {"iprobe-first-hit", Nodes, 1, 8, 3e-7},
	}
	if diff := cmp.Diff(want, r.Timings); diff != "" {
		t.Error(diff)
	}
	if r.Library != "Some MPI 1.0" || r.Planned != 6 || r.Ended != OverBudget || r.Hosts() != "node-0: ranks 0; node-1: ranks 1" {
		t.Errorf("got %+v", r)
	}
	if w := r.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0].Text, "rank 1 had a processor for 90 % of the time") {
		t.Errorf("warnings %q", w)
	}
	var table bytes.Buffer
	must(t, r.WriteCSV(&table, []measure.Fact{{Name: "seed", Value: "1"}}))
	if want := "# seed: 1\noperation,bytes,seconds,between,pairs\npingpong,1024,2.000000000e-06,nodes,1\n"; !strings.HasPrefix(table.String(), want) {
		t.Errorf("table %q, want it to begin with %q", table.String(), want)
	}
}

func TestReadErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"hello\n", `timings:1: found "hello"`},
		{"planned -1\n", `timings:1: found "-1", want a whole number`},
		{"mpi x\nrank 1|a|b|c|d\n", "timings:2: found"},
		{"t send nodes 1 8\n", "timings:1: found"},
		{"t bcast nodes 1 8 1e-6\n", "which is no timing"},
		{"t send moon 1 8 1e-6\n", "which is no timing"},
		{"t send cores 1 8 0\n", "which is no timing"},
		{"t send cores 1 8 NaN\n", "which is no timing"},
		{"busy 0 1 0\n", "want rank, processor time and time"},
	} {
		if _, err := read(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.text, err, test.want)
		}
	}
}

// TestSpread: of three timings 1, 3 and 3 of one size the median is three times the least; large ones do not count.
func TestSpread(t *testing.T) {
	var r Result
	for _, s := range []float64{1, 3, 3} {
		r.Timings = append(r.Timings, Timing{"pingpong", Cores, 1, 8, s}, Timing{"pingpong", Cores, 1, 1 << 20, 1}, Timing{"pingpong", Cores, 2, 8, 1})
	}
	if got := r.Spread(Cores); got != 3 {
		t.Errorf("got %g, want 3", got)
	}
	if got := r.Spread(Nodes); got != 0 {
		t.Errorf("of none: got %g, want 0", got)
	}
	if w := r.Warnings(); len(w) != 1 || !strings.Contains(w[0].Text, "3.0 times as long as the quickest") {
		t.Errorf("warnings %q", w)
	}
}

func TestCheck(t *testing.T) {
	failure := errors.New("exit status 3")
	for _, test := range []struct {
		text    string
		between Between
		failure error
		want    string
	}{
		{output, Auto, nil, ""}, {output, Nodes, nil, ""},
		{output, Both, nil, "nothing was timed between cores"},
		{output, Auto, failure, "exit status 3"},
		{"error one rank\n", Auto, failure, "start more (-np 2)"},
		{"error all ranks on one host\n", Nodes, failure, "--between nodes needs two"},
		{"error no two ranks on one host\n", Cores, failure, "--between cores needs"},
		{"mpi x\n", Auto, nil, "the ranks did not finish"},
	} {
		r, err := read(strings.NewReader(test.text))
		must(t, err)
		err = r.check(&Options{Launcher: []string{"mpirun"}, Between: test.between}, test.failure)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.text, err, test.want)
		}
	}
}

// FuzzRead: all that is read of any file are possible timings.
func FuzzRead(f *testing.F) {
	f.Add(output)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, timing := range r.Timings {
			if !slices.Contains(operations, timing.Operation) || !(timing.Seconds > 0) {
				t.Fatalf("%+v", timing)
			}
		}
		r.Warnings()
		must(t, r.WriteCSV(&bytes.Buffer{}, nil))
	})
}
