package calibrate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/noise"
)

// TestSkewnessSeen: the mean over 40,000 samples of n half-normal deviates, whose error is
// below 1 %.
func TestSkewnessSeen(t *testing.T) {
	const samples = 40000
	s := noise.NewSource(11)
	for _, n := range []int64{3, 4, 5, 6, 8, 10, 20, 50} {
		sum := 0.0
		for k := range uint32(samples) {
			var m moments
			for i := range uint32(n) {
				m.add(noise.HalfNormal.Deviate(s.Draw(noise.Computation, k, 0, i)))
			}
			sum += m.skewness()
		}
		if got, want := skewnessSeen(n), sum/samples/halfNormalSkewness; math.Abs(got-want) > 0.025 {
			t.Errorf("%d values: %.3f, want %.3f", n, got, want)
		}
	}
}

// TestNoiseOfFewTimings: which law noise has is seen however seldom each size was timed.
func TestNoiseOfFewTimings(t *testing.T) {
	for _, shape := range []noise.Shape{noise.Normal, noise.HalfNormal} {
		for reps := range uint32(4) {
			for seed := range uint64(5) {
				r, err := FitKernels(read(t, fewTimings(shape, 3+reps, seed), ReadOptions{}), KernelOptions{Model: LinearOne, Criterion: "bic"})
				if err != nil {
					t.Fatal(err)
				}
				law := r.Functions[0].All.noise(Auto)
				want := map[noise.Shape]string{noise.Normal: "{normal:", noise.HalfNormal: "{half-normal:"}[shape]
				if !strings.HasPrefix(law, want) {
					t.Errorf("%d timings of each size, seed %d: %s, want %s", 3+reps, seed, law, want)
				}
			}
		}
	}
}

// fewTimings returns timings of 300 sizes, 5e-11 s per M*N*K with noise of 3 %.
func fewTimings(shape noise.Shape, reps uint32, seed uint64) string {
	var b strings.Builder
	b.WriteString("function,m,n,k,seconds\n")
	s := noise.NewSource(seed)
	for size := range uint32(300) {
		m, n, k := 100+7*size, 200+11*((size*5)%300), 32+size%128
		for i := range reps {
			mean := 5e-11 * float64(m) * float64(n) * float64(k)
			fmt.Fprintf(&b, "dgemm,%d,%d,%d,%.17g\n", m, n, k, mean*(1+0.03*shape.Deviate(s.Draw(noise.Computation, size, 0, i))))
		}
	}
	return b.String()
}
