package study

import (
	"math"
	"testing"

	"reprise/replay"
	"reprise/tracegen/programs"
)

// TestFirstSteps: the first steps take as long as they do in a whole trace of which only these
// are played; they have no Gflops, as the system is not solved. With all steps it is.
func TestFirstSteps(t *testing.T) {
	const whole = "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2}\nmachine: dahu\n"
	first, out := evaluated(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2, first-steps: 5}\nmachine: dahu\n")
	e := first.NewEvaluator()
	config := *first.Config(0)
	run := *config.Run.(*programs.HPL)
	run.FirstSteps = 0
	open, err := e.traceOf(t.Context(), &run)
	noError(t, err)
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	m, options, _, err := e.load(config.Machine, tr)
	noError(t, err)
	options.To = 5
	r, err := replay.Run(t.Context(), tr, m, options)
	noError(t, err)
	if out.Makespan != r.Makespan || out.Messages != r.Messages || out.Gflops != 0 {
		t.Errorf("%g s, %d messages, %g Gflops, want %g s and %d", out.Makespan, out.Messages, out.Gflops, r.Makespan, r.Messages)
	}
	_, all := evaluated(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2, first-steps: all}\nmachine: dahu\n")
	if _, same := evaluated(t, whole); all.Makespan != same.Makespan || !(all.Gflops > 0) || all.Makespan <= out.Makespan {
		t.Errorf("all: %g s, %g Gflops, want %g s", all.Makespan, all.Gflops, same.Makespan)
	}
}

// TestWorkOfFirstSteps: 2/3 * (1000^3 - 680^3) + 3/2 * (1000^2 - 680^2) of the first five panels
// of 64 columns: 457,045,333.3 + 806,400 flop. With look-ahead only four of them update:
// 392,112,810.7 + 669,696 flop, and the fifth is factored: 64^2 * (744 - 64/3) = 2,960,042.7
// flop. All are 666,666,666.7 + 1,500,000 flop.
func TestWorkOfFirstSteps(t *testing.T) {
	for steps, want := range map[string]float64{"5, DEPTH: 0": 457851733.3, "5, DEPTH: 1": 395742549.3, "15, DEPTH: 0": 668166666.7 - 2./3*40*40*40 - 1.5*40*40, "all": 668166666.7} {
		p := planOf(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2, first-steps: "+steps+"}\n")
		if got := p.Config(0).Run.Flops(); math.Abs(got-want) > 1 {
			t.Errorf("%s panels: %.1f flop, want %.1f", steps, got, want)
		}
	}
}

// TestAllSteps: as many steps as there are, or more, are all of them: one run, whatever they are
// called.
func TestAllSteps(t *testing.T) {
	p := planOf(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2}\nfactors: {first-steps: [15, 16, 17, 9223372036854775807, all]}\n")
	whole := planOf(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2}\n").Runs[0].ID
	for i, run := range p.Runs {
		if (run.ID == whole) != (i > 0) {
			t.Errorf("level %d: run %s, that of all is %s", i, run.ID, whole)
		}
	}
}
