package kernels_test

import (
	"math"
	"testing"

	"reprise/kernels"
	"reprise/kernels/noise"
)

// drawn returns mean and standard deviation of n draws of a model, and the largest
// and smallest of them.
func drawn(m *kernels.Model, dims [4]int64, n int) (mean, sd, low, high float64) {
	s, squares := noise.NewSource(7), 0.0
	low = math.Inf(1)
	for i := range n {
		x := m.Draw(&dims, s.Draw(noise.Computation, 1, 2, uint32(i)))
		mean += x / float64(n)
		squares += x * x / float64(n)
		low, high = min(low, x), max(high, x)
	}
	return mean, math.Sqrt(squares - mean*mean), low, high
}

// TestNoise compares mean and standard deviation of draws of each form of noise with
// the theory, for M = 10, N = 20. The mean of n draws has the deviation sd/sqrt(n), their sd at
// most sd*sqrt((kurtosis-1)/4n), where the kurtosis of these laws is at most 9; six of them are
// allowed.
func TestNoise(t *testing.T) {
	const n = 1 << 16
	for _, c := range []struct {
		model    string
		mean, sd float64
	}{
		{"k: {terms: {M: 3}, noise: {normal: 2}}", 30, 2},
		{"k: {terms: {M: 3}, noise: {normal: 5%}}", 30, 1.5},
		{"k: {terms: {M: 3}, noise: {normal: {N: 0.1, 1: 0.5}}}", 30, 2.5},
		{"k: {terms: {M: 3}, noise: {half-normal: 2}}", 30, 2},
		{"k: {terms: {M: 3}, noise: {half-normal: {M*N: 0.01}}}", 30, 2},
		{"k: {terms: {M: 3}, noise: {half-normal: {M*N: -0.01}}}", 30, 2},
		// Mean 0.25*4 over 30; variance 0.75*1 + 0.25*4 + 0.75*1^2 + 0.25*3^2 = 4.75.
		{"k: {terms: {M: 3}, noise: {normal: [{weight: 0.75, sd: 1}, {weight: 0.25, mean: 4, sd: 2}]}}", 31, math.Sqrt(4.75)},
		{"k: {terms: {M: 3}, noise: {half-normal: [{weight: 0.75, sd: 1}, {weight: 0.25, mean: 4, sd: 2}]}}", 31, math.Sqrt(4.75)},
		// The same with 10 % of the mean time as 3: factors 1 and 1.1.
		{"k: {terms: {M: 3}, noise: {normal: [{weight: 0.5, sd: 1%}, {weight: 0.5, mean: 10%, sd: 1%}]}}", 31.5, math.Sqrt(0.3*0.3 + 1.5*1.5)},
		{"k: {noise: {normal: 2}, pieces: [{if: M > 10, terms: {M: 9}}, {terms: {M: 3}}]}", 30, 2},
		{"k: {noise: {normal: 2}, pieces: [{if: M <= 10, noise: {normal: 1}, terms: {M: 9}}, {terms: {M: 3}}]}", 90, 1},
		{"k: {unit: flop, terms: {M: 30}, noise: {normal: 20}}", 30, 2}, // at 10 flop/s
		{"k: {unit: flop, terms: {M: 30}, noise: {normal: {1: 20}}}", 30, 2},
		{"k: {unit: flop, terms: {M: 30}, noise: {normal: 5%}}", 30, 1.5},
	} {
		m := bind(parse(c.model), kernels.Host{Speed: 10}, sig("k", "", "M", "N"))
		if !m.Noisy() || m.Free() {
			t.Errorf("%s: no noise", c.model)
		}
		dims := [4]int64{10, 20}
		mean, sd, _, _ := drawn(&m, dims, n)
		if bound := 6 * c.sd / math.Sqrt(n); math.Abs(mean-c.mean) > bound {
			t.Errorf("%s: mean %g, want %g to %g", c.model, mean, c.mean, bound)
		}
		if bound := 6 * c.sd * math.Sqrt(8./4/n); math.Abs(sd-c.sd) > bound {
			t.Errorf("%s: sd %g, want %g to %g", c.model, sd, c.sd, bound)
		}
	}
}

// TestHalfNormalNoise: its least value is the mean less sd*sqrt(2/pi)/sqrt(1-2/pi), 1.3236 sd,
// and mirrored, for a negative deviation, that is its largest.
func TestHalfNormalNoise(t *testing.T) {
	const edge = 1.3235972
	m := bind(parse("k: {terms: {M: 3}, noise: {half-normal: {1: 2}}}"), kernels.Host{}, sig("k", "", "M"))
	if _, _, low, high := drawn(&m, [4]int64{10}, 1<<12); low < 30-2*edge-1e-6 || low > 30-2*edge+0.01 || high < 35 {
		t.Errorf("draws from %g to %g, want from %g", low, high, 30-2*edge)
	}
	m = bind(parse("k: {terms: {M: 3}, noise: {half-normal: {1: -2}}}"), kernels.Host{}, sig("k", "", "M"))
	if _, _, low, high := drawn(&m, [4]int64{10}, 1<<12); high > 30+2*edge+1e-6 || high < 30+2*edge-0.01 || low > 25 {
		t.Errorf("draws from %g to %g, want to %g", low, high, 30+2*edge)
	}
}

// TestNoNoise: what is free, empty or says none has no noise; and no total is negative.
func TestNoNoise(t *testing.T) {
	const file = "version: 1\nunit: s\nnoise: {normal: 50%}\nkernels:\n" +
		"  free: free\n  empty: {terms: {M: 1, 1: 1}}\n  none: {noise: none, terms: {M: 1}}\n  constant: 7\n" +
		"  own: {noise: {normal: 100}, terms: {M: 1}}\n  charged: {empty: charged, terms: {M: 1}, noise: {normal: 1}}\n"
	s := parseFile(file)
	for _, c := range []struct {
		kernel       string
		m            int64
		noisy        bool
		low, high    float64 // bounds of a thousand draws
		floor, spike float64 // one of them is below and one above
	}{
		{"free", 10, false, 0, 0, 0, 0},
		{"empty", 0, true, 0, 0, 0, 0},
		{"empty", 10, true, 0, 44, 5, 17},
		{"none", 10, false, 10, 10, 10, 10},
		{"constant", 1, true, 0, 28, 3, 11},
		{"own", 10, true, 0, 700, 0, 200},
		{"charged", 0, true, 0, 7, 0, 1.5},
	} {
		m := bind(s, kernels.Host{}, sig(c.kernel, "", "M"))
		if m.Noisy() != c.noisy {
			t.Errorf("%s: noisy %v", c.kernel, m.Noisy())
		}
		_, _, low, high := drawn(&m, [4]int64{c.m}, 1000)
		if low < c.low || high > c.high || low > c.floor || high < c.spike {
			t.Errorf("%s: draws from %g to %g", c.kernel, low, high)
		}
	}
}

// TestModelsWithNoise: models that differ in their noise only are different, equal ones
// are the same.
func TestModelsWithNoise(t *testing.T) {
	const file = "version: 1\nunit: s\nkernels:\n  k: {terms: {M: 1}, noise: {normal: 1}}\nhosts:\n" +
		"  - {host: a, kernels: {k: {terms: {M: 1}, noise: {normal: 1}}}}\n" +
		"  - {host: b, kernels: {k: {terms: {M: 1}, noise: {normal: {1: 1}}}}}\n" +
		"  - {host: c, kernels: {k: {terms: {M: 1}, noise: {half-normal: 1}}}}\n" +
		"  - {host: d, kernels: {k: {terms: {M: 1}, noise: {normal: 1%}}}}\n" +
		"  - {host: e, kernels: {k: {terms: {M: 1}}}}\n"
	s := parseFile(file)
	models := map[kernels.Model]string{}
	for _, host := range []string{"z", "a", "b", "c", "d", "e"} {
		m := bind(s, kernels.Host{Name: host}, sig("k", "", "M"))
		if other, ok := models[m]; ok != (host == "a") {
			t.Errorf("host %s has the model of %q", host, other)
		}
		models[m] = host
	}
}

// TestNoisy: noise in place of the file's, of the kernels of a pattern only; the last counts.
func TestNoisy(t *testing.T) {
	set := parse("k: {terms: {M: 3}, noise: {normal: 2}}\n  other: {terms: {M: 3}, noise: {normal: 2}}")
	quiet, loud := must(set.Noisy("k", 0)), must(set.Noisy("*", 0.1))
	for _, c := range []struct {
		set    *kernels.Set
		kernel string
		sd     float64 // of 30 s
	}{
		{set, "k", 2}, {quiet, "k", 0}, {quiet, "other", 2}, {loud, "other", 3}, {must(loud.Noisy("k", 0.05)), "k", 1.5},
	} {
		m := bind(c.set, kernels.Host{Speed: 10}, sig(c.kernel, "", "M"))
		if m.Noisy() != (c.sd > 0) {
			t.Errorf("%s: noisy: %t, want a deviation of %g", c.kernel, m.Noisy(), c.sd)
		}
		if _, sd, _, _ := drawn(&m, [4]int64{10}, 1<<16); math.Abs(sd-c.sd) > 0.02*c.sd {
			t.Errorf("%s: deviation %g, want %g", c.kernel, sd, c.sd)
		}
	}
}
