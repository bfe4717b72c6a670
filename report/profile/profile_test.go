package profile_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pprof "github.com/google/pprof/profile"

	"reprise/internal/replaytest"
	"reprise/replay"
	"reprise/report/profile"
	"reprise/trace"
)

// read writes a profile and reads it back: nanoseconds by stack, the outermost first.
func read(t testing.TB, r *profile.Recorder) map[string]int64 {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, "interrupted at 3 s"); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Comments, []string{"interrupted at 3 s"}) {
		t.Errorf("comments %q", p.Comments)
	}
	for _, f := range p.Function {
		if f.SystemName == f.Name {
			t.Errorf("pprof takes %q for the name of a symbol, and parts out of it", f.Name)
		}
	}
	if v := p.SampleType[0]; len(p.SampleType) != 1 || v.Type != "time" || v.Unit != "nanoseconds" {
		t.Errorf("samples are %v", v)
	}
	stacks := map[string]int64{}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		slices.Reverse(names)
		stacks[strings.Join(names, ";")] += s.Value[0]
	}
	return stacks
}

func mark(phase uint16, end bool) trace.Action {
	a := trace.Action{Kind: trace.KindPhase, Sym: phase}
	if end {
		a.Flags = trace.FlagEnd
	}
	return a
}

// TestStacks: phases within each other and across, kernels and other time, two hosts; names
// that are taken are told apart.
func TestStacks(t *testing.T) {
	h := &trace.Header{
		Ranks: 3, Phases: []string{"solve", "wait"},
		Kernels: []trace.Kernel{{Name: "dgemm", Attrs: []trace.Param{{Name: "transa", Value: "N"}}}, {Name: "solve"}},
	}
	r := profile.NewRecorder(h, profile.GroupsOf(h, []string{"a", "b", "a"}))
	o := r.Observer()
	o.TimePasses(0, replay.TimeCompute, 0, 0, 1)
	o.Marked(0, mark(0, false), 1)
	o.Marked(0, mark(0, false), 1) // entered twice: counts once
	o.TimePasses(0, replay.TimeCompute, 0, 1, 3)
	o.TimePasses(0, replay.TimeCompute, 1, 3, 3.5)
	o.Marked(0, mark(1, false), 3.5)
	o.TimePasses(0, replay.TimeWait, -1, 3.5, 7.5)
	o.Marked(0, mark(0, true), 7.5) // before the phase within it
	o.TimePasses(0, replay.TimeWait, -1, 7.5, 15.5)
	o.Marked(0, mark(1, true), 15.5)
	o.TimePasses(0, replay.TimeCompute, -1, 15.5, 16)
	o.TimePasses(1, replay.TimeCompute, 0, 0, 1e-9)
	o.TimePasses(2, replay.TimeCompute, 0, 0, 2)
	want := map[string]int64{
		"compute;dgemm transa=N;a":               3e9, // ranks 0 and 2
		"compute;dgemm transa=N;b":               1,
		"solve (phase);compute;dgemm transa=N;a": 2e9,
		"solve (phase);compute;solve (kernel);a": 5e8,
		"solve (phase);wait (phase);wait;a":      4e9,
		"wait (phase);wait;a":                    8e9,
		"compute;a":                              5e8,
	}
	if diff := cmp.Diff(want, read(t, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// sumOf returns the nanoseconds of the stacks that a frame is in; "": of all.
func sumOf(stacks map[string]int64, name string) float64 {
	sum := 0.0
	for stack, ns := range stacks {
		if name == "" || slices.Contains(strings.Split(stack, ";"), name) {
			sum += float64(ns)
		}
	}
	return sum
}

// TestGroups: hosts, rows of the grid where these are too many, blocks where there is no grid.
func TestGroups(t *testing.T) {
	many := make([]string, 600)
	for i := range many {
		many[i] = fmt.Sprint("host", i)
	}
	rows := trace.CommFamily{Name: "row", Groups: []trace.Group{{Start: 0, Stride: 2, Count: 300}, {Start: 1, Stride: 2, Count: 300}}}
	for _, c := range []struct {
		hosts     []string
		h         *trace.Header
		groups    int
		name      string // of the second
		firstRank int    // in it
	}{
		{[]string{"a", "a", "b", "a"}, &trace.Header{}, 2, "b", 2},
		{many, &trace.Header{CommFamilies: []trace.CommFamily{rows}}, 2, "row 1", 1},
		{many, &trace.Header{}, 200, "ranks 3 to 5", 3},
	} {
		g := profile.GroupsOf(c.h, c.hosts)
		if len(g.Names) != c.groups || g.Names[1] != c.name || slices.Index(g.Of, 1) != c.firstRank || len(g.Of) != len(c.hosts) {
			t.Errorf("%d groups, the second is %q from rank %d on; want %+v", len(g.Names), g.Names[1], slices.Index(g.Of, 1), c.groups)
		}
	}
}

// TestRefused: too many sums, and more time than the format holds.
func TestRefused(t *testing.T) {
	h := &trace.Header{Ranks: 1, Phases: make([]string, 1<<16), Kernels: make([]trace.Kernel, 1<<15)}
	r := profile.NewRecorder(h, profile.Groups{Names: []string{"a"}, Of: []int{0}})
	o := r.Observer()
	for p := range 1 << 10 {
		o.Marked(0, mark(uint16(p), false), 0)
	}
	if err := r.Write(&bytes.Buffer{}); err == nil {
		t.Error("a thousand nestings of 32,768 kernels: accepted")
	}
	r = profile.NewRecorder(&trace.Header{Ranks: 1}, profile.Groups{Names: []string{"a"}, Of: []int{0}})
	o = r.Observer()
	o.TimePasses(0, replay.TimeSleep, -1, 0, 1e10)
	if err := r.Write(&bytes.Buffer{}); err == nil {
		t.Error("300 years: accepted")
	}
}

// TestMean: of two seeds each stack has half of what both have, though they come to the phases
// in another order.
func TestMean(t *testing.T) {
	h := &trace.Header{Ranks: 1, Phases: []string{"one", "two"}}
	s := profile.NewSeveral(h, profile.GroupsOf(h, []string{"a"}))
	for seed, phases := range [][]uint16{{0, 1}, {1, 0}, {0}} { // the third is not asked for
		list, ended := s.ObserveSeed(uint64(seed))
		o := list[0]
		at := 0.0
		for _, phase := range phases {
			o.Marked(0, mark(phase, false), at)
			o.TimePasses(0, replay.TimeWait, -1, at, at+1+float64(phase)+4*float64(seed))
			o.Marked(0, mark(phase, true), at)
		}
		ended()
	}
	// Seed 0: 1 s in one, 2 s in two; seed 1: 5 s in one, 6 s in two.
	if diff := cmp.Diff(map[string]int64{"one;wait;a": 3e9, "two;wait;a": 4e9}, read(t, s.Mean([]uint64{0, 1}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEstimated: kinds and kernels have the totals of the estimate, and phases those of the
// exact replay, to 2 % of the whole.
func TestEstimated(t *testing.T) {
	run := replaytest.HPL(t, 20000, 16)
	s := profile.NewSeveral(run.Trace.Header(), profile.GroupsOf(run.Trace.Header(), run.Hosts))
	e, err := replay.Sample(t.Context(), run.Open, run.Machine, run.Options, replay.SampleOptions{Tolerance: 0.05, Workers: 2, Observe: s.Observe})
	if err != nil {
		t.Fatal(err)
	}
	stacks, ranks := read(t, s.Estimated(e)), float64(len(run.Hosts))
	for _, table := range [][]replay.EstimatedShare{e.Kinds, e.Kernels} {
		for _, want := range table {
			if sum := sumOf(stacks, want.Name); math.Abs(sum-1e9*want.Mean*ranks) > 1e-9*sum+float64(len(stacks)) {
				t.Errorf("%s: %v ns, want %v s of each of %v ranks", want.Name, sum, want.Mean, ranks)
			}
		}
	}
	exact := run.Play(t)
	for _, want := range exact.Phases {
		if sum := sumOf(stacks, want.Name) / 1e9 / ranks; math.Abs(sum-want.Mean) > 0.02*exact.Makespan {
			t.Errorf("%s: %v s of a rank, want %v s of %v s", want.Name, sum, want.Mean, exact.Makespan)
		}
	}
}
