package profile_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	pprof "github.com/google/pprof/profile"

	"reprise/internal/replaytest"
	"reprise/replay"
	"reprise/report/profile"
	"reprise/trace"
)

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

// TestComments: what a profile is of stands in it.
func TestComments(t *testing.T) {
	h := &trace.Header{Ranks: 1}
	var out bytes.Buffer
	if err := profile.NewRecorder(h, profile.GroupsOf(h, []string{"a"})).Write(&out, "interrupted at 3 s"); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"interrupted at 3 s"}, p.Comments); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
