package study

import (
	"context"
	"strings"
	"testing"
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
