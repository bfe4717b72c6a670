package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/platforms"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/trace"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// twoHosts has hosts of two cores of 3 Gflop/s; ranks 0 to 2 are on the first, rank 3 on the
// second, which is half as quick.
func twoHosts(t *testing.T) *replay.Machine {
	t.Helper()
	const xml = `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="3Gf" core="2" bw="125MBps" lat="50us"/></platform>`
	p, err := platforms.Parse(strings.NewReader(xml), "two.xml")
	noError(t, err)
	return &replay.Machine{Platform: p, Hosts: []int32{0, 0, 0, 1}, Factors: []float64{1, 0.5}}
}

// TestAnswer: the peak is that of two cores of 3 Gflop/s and one of 1.5.
func TestAnswer(t *testing.T) {
	header := &trace.Header{Result: []trace.Column{{Title: "N", Value: "1000"}}}
	r := &replay.Report{Provenance: replay.Provenance{WallSeconds: 2}, Result: &replay.Result{Header: header, Makespan: 4, Gflops: 6, Messages: 10, Bytes: 1000}}
	want := Answer{Makespan: 4, Gflops: 6, Peak: 7.5, Efficiency: 0.8, Columns: []Column{{"N", "1000"}}, Messages: 10, Bytes: 1000, Wall: 2}
	if diff := cmp.Diff(want, NewAnswer(r, twoHosts(t))); diff != "" {
		t.Error(diff)
	}
	// A rate that the cores cannot have is that of kernels timed elsewhere.
	if r.Gflops = 8; NewAnswer(r, twoHosts(t)).Peak != 0 {
		t.Error("a peak below the rate")
	}
	// Built-in machines, whose speeds are nominal, state their peak: a core of Dahu has 2.1 GHz times 32 flop, a node of
	// Stampede, which is a rank's, its part of 8,520.1 Tflop/s of 6,006 nodes.
	for name, want := range map[string]float64{"dahu": 4 * 2.1 * 32, "stampede": 8520.1e3 / 6006} {
		p, err := platforms.Builtin(name, 4)
		noError(t, err)
		r.Gflops = 1
		a := NewAnswer(r, &replay.Machine{Platform: p, Hosts: make([]int32, 4)})
		if math.Abs(a.Peak/want-1) > 1e-5 || a.Efficiency != 1/a.Peak {
			t.Errorf("%s: a peak of %v Gflop/s, want %v", name, a.Peak, want)
		}
	}
}

// TestSeveralTables: the mean of 1 and 3 s is 2 s.
func TestSeveralTables(t *testing.T) {
	names := &replay.PartNames{Kinds: []string{"compute"}, Kernels: []string{"dgemm", "dtrsm"}}
	list := []replay.SeedResult{{Times: &replay.PartTimes{Kinds: []float64{3}, Kernels: []float64{2, 1}}}, {Times: &replay.PartTimes{Kinds: []float64{1}, Kernels: []float64{1, 0}}}}
	want := []TimeTable{
		{By: "kind", Rows: []TimeRow{{Name: "compute", Mean: 2, Min: 1, Max: 3}}}, {By: "phase", Rows: []TimeRow{}},
		{By: "kernel", Rows: []TimeRow{{Name: "dgemm", Mean: 1.5, Min: 1, Max: 2}, {Name: "dtrsm", Mean: 0.5, Max: 1}}},
	}
	if diff := cmp.Diff(want, NewSeveralTables(names, list)); diff != "" {
		t.Error(diff)
	}
	if list[1].Times = nil; NewSeveralTables(names, list) != nil {
		t.Error("tables of runs of which one is an estimate")
	}
}

// TestAnswerIntervals: each says what it covers.
func TestAnswerIntervals(t *testing.T) {
	header, m := &trace.Header{}, twoHosts(t)
	e := NewEstimateAnswer(&replay.EstimateReport{Confidence: 0.95, Estimate: &replay.Estimate{Header: header, Estimate: &sampling.Estimate{Seconds: 10, Interval: 0.5}}}, m)
	if e.Makespan != 10 || e.Interval.Low != 9.5 || e.Interval.High != 10.5 || e.Interval.Level != 0.95 || !strings.Contains(e.Interval.Covers, "a replay of all steps") {
		t.Errorf("estimate: %+v, %+v", e, e.Interval)
	}
	s := NewEnsembleAnswer(&replay.EnsembleReport{Ensemble: &replay.Ensemble{Header: header, Figures: replay.Figures[replay.Summary]{Makespan: replay.Summary{Mean: 3, SD: 0.4, Interval: 0.25}}, Runs: make([]replay.SeedResult, 2)}}, m)
	if s.Makespan != 3 || s.Interval.Low != 2.75 || s.Interval.High != 3.25 || !strings.Contains(s.Interval.Covers, "scatters by 400 ms around it") {
		t.Errorf("seeds: %+v, %+v", s, s.Interval)
	}
	u := NewUncertaintyAnswer(&replay.UncertaintyReport{Uncertainty: &replay.Uncertainty{
		Header: header, Level: 0.9, Covers: "what it covers", Figures: replay.Figures[replay.Interval]{Makespan: replay.Interval{Mean: 5, Low: 4, High: 6}}, Draws: make([]replay.SeedResult, 3)}}, m)
	if u.Makespan != 5 || *u.Interval != (Interval{4, 6, 0.9, "what it covers"}) {
		t.Errorf("draws: %+v, %+v", u, u.Interval)
	}
}

// TestInputs: files are named by their content, what is built in by its name.
func TestInputs(t *testing.T) {
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, &trace.Header{Program: "x", Ranks: 1, Params: []trace.Param{{Name: "N", Value: "7"}}}, trace.WriterOptions{})
	noError(t, err)
	noError(t, w.Close())
	tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "x.trace.zst")
	noError(t, err)
	kernelFile := filepath.Join(t.TempDir(), "k.yaml")
	noError(t, os.WriteFile(kernelFile, []byte("kernels"), 0o600))
	m := twoHosts(t)
	p := &replay.Provenance{Tool: "replay v1", Trace: "x.trace.zst", Platform: "two.xml", KernelFile: kernelFile, HostSpeeds: []string{"n1=0.5"}}
	traceSum, _ := tr.Hash()
	platform, kernelSum := m.Platform.Hash(), sha256.Sum256([]byte("kernels"))
	want := Inputs{Command: "replay x.trace.zst", Tool: "replay v1", Parameters: []Column{{"N", "7"}}, Files: []Input{
		{"trace", "x.trace.zst", hex.EncodeToString(traceSum[:])}, {"platform", "two.xml", hex.EncodeToString(platform[:])},
		{"kernel models", kernelFile, hex.EncodeToString(kernelSum[:])}, {"speeds of hosts", "n1=0.5", ""},
	}}
	if diff := cmp.Diff(want, NewInputs(p, tr, m, "replay x.trace.zst")); diff != "" {
		t.Error(diff)
	}
	p.KernelFile = "dahu"
	if in := NewInputs(p, tr, m, ""); in.Files[2] != (Input{What: "kernel models", Name: "dahu"}) {
		t.Errorf("%+v", in.Files[2])
	}
}

// TestLabels: what is not a whole run is called what it is.
func TestLabels(t *testing.T) {
	header, seed, at := &trace.Header{Steps: 100}, uint64(7), 3.25
	for _, c := range []struct {
		name   string
		result replay.Result
		speeds []string
		want   []string
	}{
		{"whole", replay.Result{Complete: true}, nil, []string{}},
		{"part", replay.Result{First: 4, Last: 7}, nil, []string{"steps 4:8 of 100 only"}},
		{"interrupted", replay.Result{StoppedAt: &at, Last: 20}, nil, []string{"interrupted at 3.25 s in step 20 of 100: figures up to there"}},
		{"resumed", replay.Result{Complete: true, WallBefore: 2}, nil, []string{"resumed from a checkpoint: pictures begin there, totals are of the whole run"}},
		{"noisy", replay.Result{Complete: true, Seed: &seed}, []string{"*=0.9"}, []string{"noise of seed 7", "speeds of hosts changed: *=0.9"}},
	} {
		c.result.Header = header
		r := &replay.Report{Result: &c.result, Provenance: replay.Provenance{HostSpeeds: c.speeds}}
		if got := Labels(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	e := &replay.EstimateReport{Confidence: 0.95, Estimate: &replay.Estimate{Header: header, First: 0, Last: 49, Estimate: &sampling.Estimate{Seconds: 10, Interval: 0.05, Steps: 50, Simulated: 20}}}
	if got, want := EstimateLabels(e), []string{"estimate from 20 of 50 steps, ± 0.5 %, about 95 % sure", "steps 0:50 of 100 only"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	runs := &replay.EnsembleReport{Ensemble: &replay.Ensemble{Header: header, Complete: true, Runs: []replay.SeedResult{{Seed: 3}, {Seed: 4}, {Seed: 5}}}}
	if got, want := EnsembleLabels(runs), []string{"mean of 3 runs, noise of seeds 3 to 5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	draws := &replay.UncertaintyReport{Uncertainty: &replay.Uncertainty{Header: header, Complete: true, Draws: []replay.SeedResult{{Seed: 3}, {Seed: 4}}}}
	if got, want := UncertaintyLabels(draws), []string{"mean of 2 drawn machines, seeds 3 to 4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
