package mixture

import (
	"errors"
	"math"
	"testing"
)

// quantiles returns n quantiles of a normal law: the closest that n numbers come to it.
func quantiles(n int, mean, sd float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + sd*math.Sqrt2*math.Erfinv(float64(2*i+1-n)/float64(n))
	}
	return x
}

var options = Options{LeastVariance: 1e-6, LeastMembers: 3}

// TestOne: a single law has the moments of the numbers, and -2 log L = n (log(2 pi s²) + 1).
func TestOne(t *testing.T) {
	x := []float64{1, 2, 3, 6}
	f, err := New(x, 1, options)
	if err != nil {
		t.Fatal(err)
	}
	if l := f.Laws[0]; l != (Law{1, 3, 3.5}) {
		t.Errorf("law %+v, want mean 3, variance 3.5", l)
	}
	want := 4*(math.Log(2*math.Pi*3.5)+1) + 2*math.Log(4)
	if got := f.BIC(); math.Abs(got-want) > 1e-12*want {
		t.Errorf("BIC %g, want %g", got, want)
	}
}

// TestTwo: laws far from each other come back with the moments of their numbers, and
// the BIC is smallest for two.
func TestTwo(t *testing.T) {
	x := append(quantiles(300, 1, 0.1), quantiles(100, 5, 0.3)...)
	bic := map[int]float64{}
	for k := 1; k <= 3; k++ {
		f, err := New(x, k, options)
		if errors.Is(err, ErrTooFew) && k == 3 {
			bic[k] = math.Inf(1)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		bic[k] = f.BIC()
		if k != 2 {
			continue
		}
		for i, want := range []Law{{0.75, 1, 0.01}, {0.25, 5, 0.09}} {
			got := f.Laws[i]
			if math.Abs(got.Weight-want.Weight) > 1e-6 || math.Abs(got.Mean-want.Mean) > 1e-6 || math.Abs(got.Variance/want.Variance-1) > 0.05 {
				t.Errorf("law %+v, want %+v", got, want)
			}
		}
		if f.Members[0] != 300 || f.Members[1] != 100 || f.Class(1.1) != 0 || f.Class(4) != 1 {
			t.Errorf("members %v, classes %d and %d", f.Members, f.Class(1.1), f.Class(4))
		}
		if s := f.Skewness(x); math.Abs(s) > 1e-6 {
			t.Errorf("skewness %g, want 0", s)
		}
	}
	if bic[2] > bic[1] || bic[2] > bic[3] {
		t.Errorf("BIC %v, want the smallest for 2", bic)
	}
}

// TestSkewness: that of |Z|, sqrt(2)(4-pi)/(pi-2)^1.5, for its quantiles.
func TestSkewness(t *testing.T) {
	x := quantiles(20000, 0, 1)
	for i, v := range x {
		x[i] = math.Abs(v)
	}
	f, err := New(x, 1, options)
	if err != nil {
		t.Fatal(err)
	}
	want := math.Sqrt2 * (4 - math.Pi) / math.Pow(math.Pi-2, 1.5)
	if got := f.Skewness(x); math.Abs(got-want) > 2e-3 {
		t.Errorf("skewness %g, want %g", got, want)
	}
}

func TestTooFew(t *testing.T) {
	for _, c := range []struct {
		x []float64
		k int
	}{{nil, 1}, {[]float64{1, 2, 3, 4, 5}, 2}, {append(quantiles(50, 0, 1), 100), 2}} {
		if _, err := New(c.x, c.k, options); !errors.Is(err, ErrTooFew) {
			t.Errorf("%d laws of %d numbers: %v", c.k, len(c.x), err)
		}
	}
}

// TestEqual: numbers that are all the same have one law, of the least variance.
func TestEqual(t *testing.T) {
	f, err := New([]float64{2, 2, 2, 2, 2, 2}, 2, options)
	if err == nil && (f.Laws[0].Variance != 1e-6 || f.Laws[0].Mean != 2) {
		t.Errorf("laws %+v", f.Laws)
	}
	if one, err := New([]float64{2, 2, 2}, 1, options); err != nil || one.Laws[0] != (Law{1, 2, 1e-6}) {
		t.Errorf("law %+v, %v", one, err)
	}
}

// TestMany: numbers that are gathered have the laws of those that are not, and the
// outermost stay alone.
func TestMany(t *testing.T) {
	rare := quantiles(20, 5, 0.3)
	variance := 0.0
	for _, v := range rare {
		variance += (v - 5) * (v - 5) / 20
	}
	x := append(quantiles(60000, 1, 0.1), rare...)
	f, err := New(x, 2, options)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Law{{60000. / 60020, 1, 0.01}, {20. / 60020, 5, variance}} {
		if got := f.Laws[i]; math.Abs(got.Weight/want.Weight-1) > 1e-6 || math.Abs(got.Mean-want.Mean) > 1e-6 || math.Abs(got.Variance/want.Variance-1) > 1e-3 {
			t.Errorf("law %+v, want %+v", got, want)
		}
	}
	few, weights := gathered(x)
	total, sum, all := 0.0, 0.0, 0.0
	for i, w := range weights {
		total += w
		sum += w * few[i]
	}
	for _, v := range x {
		all += v
	}
	if len(few) > mostAlone || total != 60020 || math.Abs(sum/all-1) > 1e-12 || few[len(few)-1] != x[len(x)-1] || weights[outermost-1] != 1 || weights[outermost] == 1 {
		t.Errorf("%d numbers that stand for %g", len(few), total)
	}
}
