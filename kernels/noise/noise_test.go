package noise

import (
	"math"
	"testing"
)

// TestPhilox: the known answers of Random123 (tests/kat_vectors, philox4x32 10).
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32}, [2]uint32{math.MaxUint32, math.MaxUint32},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := philox(c.counter, c.key); got != c.want {
			t.Errorf("philox(%08x, %08x) = %08x, want %08x", c.counter, c.key, got, c.want)
		}
	}
}

// TestNames: draws that differ in one part of their name differ, and so do seeds
// that differ above 32 bits.
func TestNames(t *testing.T) {
	s := NewSource(1)
	seen := map[Draw]bool{}
	for _, d := range []Draw{
		s.Draw(Computation, 0, 0, 0), s.Draw(Latency, 0, 0, 0), s.Draw(Computation, 1, 0, 0), s.Draw(Computation, 0, 1, 0),
		s.Draw(Computation, 0, 0, 1), NewSource(2).Draw(Computation, 0, 0, 0), NewSource(1<<32|1).Draw(Computation, 0, 0, 0),
	} {
		seen[d] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d different draws of 7 names", len(seen))
	}
}

// TestQuantile: the distribution function of the quantile of p is p, in both tails.
// Its relative error is that of z times z^2, some 75 at 1e-16.
func TestQuantile(t *testing.T) {
	for p := 0x1p-53; p < 0.5; p *= 1.031 {
		z := quantile(p)
		if back := math.Erfc(-z/math.Sqrt2) / 2; math.Abs(back-p) > 1e-13*p {
			t.Errorf("quantile(%g) = %g, which is that of %g", p, z, back)
		}
		if p > 0x1p-30 && math.Abs(quantile(1-p)+z) > 1e-5*math.Abs(z) {
			t.Errorf("quantile(1-%g) = %g, want %g", p, quantile(1-p), -z)
		}
	}
	// Published percentage points.
	for _, c := range []struct{ p, want float64 }{{0.975, 1.959963984540054}, {0.5, 0}, {0.84134474606854293, 1}, {1e-10, -6.361340902404056}} {
		if got := quantile(c.p); math.Abs(got-c.want) > 1e-14*max(1, math.Abs(c.want)) {
			t.Errorf("quantile(%g) = %.16g, want %.16g", c.p, got, c.want)
		}
	}
}

// TestUniform: the extreme draws have finite deviates, the same on both sides.
func TestUniform(t *testing.T) {
	low, high := Draw{}, Draw{math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32}
	if got := low.uniform(); got != 0x1p-53 {
		t.Errorf("smallest %g, want 2^-53", got)
	}
	if got := high.uniform(); got != 1-0x1p-53 {
		t.Errorf("largest %g, want 1-2^-53", got)
	}
	if low.Normal() != -high.Normal() || math.Abs(low.Normal()) > 8.3 {
		t.Errorf("deviates %g and %g", low.Normal(), high.Normal())
	}
	if high.mode() >= 1 {
		t.Errorf("mode %g", high.mode())
	}
}

// draws calls f with n draws of consecutive names.
func draws(n int, f func(Draw)) {
	s := NewSource(20210707)
	for i := range n {
		f(s.Draw(Computation, uint32(i>>10), 3, uint32(i&1023)))
	}
}

// TestMoments compares the first four moments of draws with the theory. The sample
// mean of x^k over n draws has the standard deviation sqrt(Var(x^k)/n); six of them
// are allowed. Moments of the shifted half-normal with a mean of 0 and an sd of 1:
// skewness sqrt(2)(4-pi)/(pi-2)^1.5 = 0.99527, kurtosis 3 + 8(pi-3)/(pi-2)^2 = 3.86918.
func TestMoments(t *testing.T) {
	const n = 1 << 18
	for _, c := range []struct {
		shape              Shape
		skewness, kurtosis float64
	}{{Normal, 0, 3}, {HalfNormal, math.Sqrt2 * (4 - math.Pi) / math.Pow(math.Pi-2, 1.5), 3 + 8*(math.Pi-3)/math.Pow(math.Pi-2, 2)}} {
		var sums [9]float64
		draws(n, func(d Draw) {
			x, power := c.shape.Deviate(d), 1.0
			for k := range sums {
				sums[k] += power
				power *= x
			}
		})
		want := [5]float64{1, 0, 1, c.skewness, c.kurtosis}
		for k := 1; k <= 4; k++ {
			got, square := sums[k]/n, sums[2*k]/n
			if bound := 6 * math.Sqrt((square-got*got)/n); math.Abs(got-want[k]) > bound {
				t.Errorf("%v: mean of x^%d is %.5f, want %.5f to %.5f", c.shape, k, got, want[k], bound)
			}
		}
	}
}

// TestLaw compares mean and variance of a mixture with the theory by hand, for base 10:
// weights 0.9 and 0.1, means 0 and 5 + 10*20 %, sd 10*10 % and 2; so a mean of 0.7 and
// a variance of 0.9*(0.7^2 + 1) + 0.1*(6.3^2 + 4) = 5.71.
func TestLaw(t *testing.T) {
	for _, shape := range []Shape{Normal, HalfNormal} {
		l := Law{Shape: shape, Modes: []Mode{
			{Weight: 0.9, SD: Amount{Relative: 0.1}},
			{Weight: 0.1, Mean: Amount{5, 0.2}, SD: Amount{Fixed: 2}},
		}}
		const wantMean, wantVariance = 0.7, 5.71
		if math.Abs(l.Mean(10)-wantMean) > 1e-12 || math.Abs(l.Variance(10)-wantVariance) > 1e-12 {
			t.Errorf("mean %g and variance %g, want %g and %g", l.Mean(10), l.Variance(10), wantMean, wantVariance)
		}
		const n = 1 << 18
		sum, squares, fourths := 0.0, 0.0, 0.0
		draws(n, func(d Draw) {
			x := l.Of(10, d)
			sum += x
			squares += (x - wantMean) * (x - wantMean)
			fourths += math.Pow(x-wantMean, 4)
		})
		if bound := 6 * math.Sqrt(wantVariance/n); math.Abs(sum/n-wantMean) > bound {
			t.Errorf("%v: mean %g, want %g to %g", shape, sum/n, wantMean, bound)
		}
		if bound := 6 * math.Sqrt((fourths/n-wantVariance*wantVariance)/n); math.Abs(squares/n-wantVariance) > bound {
			t.Errorf("%v: variance %g, want %g to %g", shape, squares/n, wantVariance, bound)
		}
	}
}

// TestNegativeDeviation: the sign is kept, so that the deviate is mirrored.
func TestNegativeDeviation(t *testing.T) {
	plus, minus := Law{HalfNormal, []Mode{{Weight: 1, SD: Amount{Fixed: 1}}}}, Law{HalfNormal, []Mode{{Weight: 1, SD: Amount{Fixed: -1}}}}
	draws(100, func(d Draw) {
		if plus.Of(0, d) != -minus.Of(0, d) {
			t.Errorf("%g and %g", plus.Of(0, d), minus.Of(0, d))
		}
	})
}

// TestScaled: flop at 4 flop/s.
func TestScaled(t *testing.T) {
	l := Law{Normal, []Mode{{Weight: 1, Mean: Amount{8, 0.5}, SD: Amount{Fixed: 2}}}}
	s := l.Scaled(4)
	draws(10, func(d Draw) {
		if got, want := s.Of(1, d), l.Of(4, d)/4; math.Abs(got-want) > 1e-14 {
			t.Errorf("%g, want %g", got, want)
		}
	})
	if l.IsRelative() || !(&Law{Normal, []Mode{{Weight: 1, SD: Amount{Relative: 1}}}}).IsRelative() {
		t.Error("IsRelative is wrong")
	}
	if got := (&Law{}).Of(3, Draw{}); got != 0 {
		t.Errorf("the zero law adds %g", got)
	}
}

// TestSkewed: draws have the mean and the deviation that they are asked for, within four standard
// errors, and are not below what they cannot be.
//
// An exponential of mean 1 has the moments n!, so that the variance of the square of what
// deviates from the mean is 9 - 1 = 8 deviations to the fourth, for p < 1 at most 24/p^3 means
// to the fourth.
func TestSkewed(t *testing.T) {
	const n = 200_000
	source := NewSource(3)
	for _, c := range []struct{ mean, deviation, least, error2 float64 }{
		{2, 0, 2, 0}, {2, 0.5, 1.5, math.Sqrt(8) * 0.25}, {2, 2, 0, math.Sqrt(8) * 4},
		{2, 4, 0, math.Sqrt(24/math.Pow(0.4, 3)) * 4}, // p = 2/(1+4)
	} {
		sum, squares, least := 0.0, 0.0, math.Inf(1)
		for i := range uint32(n) {
			v := Skewed(c.mean, c.deviation, source.Draw(Computation, 1, 2, i))
			sum += v
			squares += (v - c.mean) * (v - c.mean)
			least = min(least, v)
		}
		if off := math.Abs(sum/n - c.mean); off > 4*c.deviation/math.Sqrt(n)+1e-12 {
			t.Errorf("%g ± %g: mean %g", c.mean, c.deviation, sum/n)
		}
		if off := math.Abs(squares/n - c.deviation*c.deviation); off > 4*c.error2/math.Sqrt(n)+1e-12 {
			t.Errorf("%g ± %g: variance %g", c.mean, c.deviation, squares/n)
		}
		if least < c.least {
			t.Errorf("%g ± %g: %g, at least %g", c.mean, c.deviation, least, c.least)
		}
	}
}
