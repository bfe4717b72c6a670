package study

import (
	"context"
	"strings"
	"testing"
	"time"
)

// BenchmarkEvaluate makes a run of a millisecond, of which the trace and the machine are known:
// what it takes beside the replay.
func BenchmarkEvaluate(b *testing.B) {
	s, err := Parse(strings.NewReader("program: hpl\nparameters: {N: 600, NB: 64, P: 2, Q: 2}\nmachine: dahu\n"), "bench.yaml")
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewPlan(s, "test")
	if err != nil {
		b.Fatal(err)
	}
	e := p.NewEvaluator()
	for b.Loop() {
		if _, err := e.Evaluate(context.Background(), p.Config(0), RunOptions{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWork is what a run takes beside its replay, which is next to nothing here: leases,
// journals, and finding the next one of 2,000.
func BenchmarkWork(b *testing.B) {
	s, err := Parse(strings.NewReader("program: hpl\nparameters: {N: 8, NB: 8, P: 1, Q: 1}\nmachine: dahu\nseed: 1..2000\n"), "bench.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, err := NewPlan(s, "test")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Create(b.TempDir()); err != nil {
			b.Fatal(err)
		}
		if _, err := p.Work(context.Background(), WorkOptions{Jobs: 1, Lease: time.Minute}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/2000, "us/run")
}
