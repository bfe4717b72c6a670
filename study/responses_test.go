package study

import (
	"context"
	"math"
	"testing"
)

// evaluated makes the only run of a study.
func evaluated(t *testing.T, text string) (*Plan, *Outcome) {
	t.Helper()
	p := planOf(t, text)
	out, err := p.NewEvaluator().Evaluate(context.Background(), p.Config(0), RunOptions{Tolerance: p.Tolerance, Seed: 1, Responses: p.Responses})
	noError(t, err)
	return p, out
}

const asked = "program: hpl\nparameters: {N: 1000, NB: 32, P: 2, Q: 4}\nmachine: dahu\nranks-per-host: 1\n"

// TestResponses: the parts of the critical path add up to the makespan, POP's efficiencies
// multiply to that of all; neither changes what the run takes, and without them there are none.
func TestResponses(t *testing.T) {
	_, plain := evaluated(t, asked)
	_, out := evaluated(t, asked+"responses: [critical-path, pop]\n")
	if out.Makespan != plain.Makespan || plain.Path != nil || plain.POP != nil {
		t.Errorf("makespan %g with responses, %g without; path %v, POP %v", out.Makespan, plain.Makespan, plain.Path, plain.POP)
	}
	sum, seen := 0.0, map[string]bool{}
	for _, part := range out.Path {
		sum += part.Seconds
		if seen[part.Name] {
			t.Errorf("part %s is there twice", part.Name)
		}
		seen[part.Name] = true
	}
	if math.Abs(sum-out.Makespan) > 1e-9*out.Makespan || !seen["dgemm"] || !seen["wire"] {
		t.Errorf("parts of %g s of a run of %g: %v", sum, out.Makespan, out.Path)
	}
	e := out.POP
	if p := e.LoadBalance * e.Serialisation * e.Wire * e.Contention; math.Abs(p-e.Parallel) > 1e-12 || !(e.Parallel > 0 && e.Parallel < 1) {
		t.Errorf("%+v, product %g", e, p)
	}
}

// TestEstimatedPath: the parts of an estimate's path add up to the estimate.
func TestEstimatedPath(t *testing.T) {
	_, out := evaluated(t, "program: hpl\nparameters: {N: 30000, NB: 16, P: 2, Q: 2, DEPTH: 0, BCAST: long}\nmachine: dahu\ntolerance: 2%\nresponses: [critical-path]\n")
	sum := 0.0
	for _, part := range out.Path {
		sum += part.Seconds
	}
	if out.Interval == 0 || math.Abs(sum-out.Makespan) > 1e-9*out.Makespan {
		t.Errorf("an estimate of %g ± %g s, parts of %g", out.Makespan, out.Interval, sum)
	}
}
