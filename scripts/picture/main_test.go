package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestBetween: what the later report has more, per step and in milliseconds.
func TestBetween(t *testing.T) {
	earlier := &report{Kinds: []share{{"compute", 1}, {"poll", 1}}, Kernels: []share{{"dgemm transa=N", 1}}}
	later := &report{
		Kinds:   []share{{"compute", 4}, {"send", 0.25}, {"overhead", 0.25}, {"poll", 1.5}},
		Kernels: []share{{"dgemm transa=N", 2}, {"dgemm transa=T", 1}, {"dtrsm", 1}},
	}
	// dgemm 3 - 1, other kernels (4 - 3) - (1 - 1), messages 0.25 + 0.25, polls 1.5 - 1.
	want := bar{(3 - 1) / float64(stepsPerBar) * 1000, 1 / float64(stepsPerBar) * 1000, 0.5 / float64(stepsPerBar) * 1000, 0.5 / float64(stepsPerBar) * 1000}
	if got := between(earlier, later); !cmp.Equal(got, want, cmpopts.EquateApprox(1e-12, 0)) {
		t.Errorf("got %v, want %v", got, want)
	}
}
