package calibrate

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"reprise/calibrate/regress"
	"reprise/kernels"
	"reprise/noise"
)

// TestErrorsThroughPoint: a fit of n points through one of them is that of the n-1
// differences from it, with their degrees of freedom.
func TestErrorsThroughPoint(t *testing.T) {
	k := read(t, "function,m,n,k,seconds\ndgemm,10,10,10,1.0e-6\ndgemm,20,30,10,3.1e-6\ndgemm,40,30,20,1.35e-5\n"+
		"dgemm,50,50,20,2.3e-5\ndgemm,60,20,30,1.9e-5\ndgemm,80,70,30,8.7e-5\n", ReadOptions{})
	r, err := FitKernels(k, KernelOptions{Model: LinearOne, Criterion: "bic"})
	if err != nil {
		t.Fatal(err)
	}
	f := &r.Functions[0].All
	if last := f.Coefficients[len(f.Coefficients)-1]; !last.Fixed || last.Value < 0 {
		t.Fatalf("coefficients %+v, want a constant through the shortest time", f.Coefficients)
	}
	var x, y []float64
	for _, p := range [][2]float64{{6000, 3.1e-6}, {24000, 1.35e-5}, {50000, 2.3e-5}, {36000, 1.9e-5}, {168000, 8.7e-5}} {
		x, y = append(x, p[0]-1000), append(y, p[1]-1.0e-6)
	}
	want, err := regress.LeastSquares(x, y, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := f.Coefficients[0]
	for _, v := range [][2]float64{{c.Value, want.Coef[0]}, {c.StdErr, want.StdErr[0]}, {f.Sigma, want.Sigma()}} {
		if math.Abs(v[0]-v[1]) > 1e-9*math.Abs(v[1]) {
			t.Errorf("%+v, sd %g; want %+v, sd %g", c, f.Sigma, want, want.Sigma())
			break
		}
	}
}

// TestResidualGrowth: residuals of 1 at the five shortest times and of 3 at the longest.
func TestResidualGrowth(t *testing.T) {
	y := []float64{50, 10, 70, 20, 80, 30, 90, 40, 100, 60}
	fitted := make([]float64, len(y))
	for i, v := range y {
		if fitted[i] = v - 3; v <= 50 {
			fitted[i] = v + 1
		}
	}
	if got := residualGrowth(y, fitted); math.Abs(got-3) > 1e-12 {
		t.Errorf("%g, want 3", got)
	}
	if got := residualGrowth(y, y); got != 0 {
		t.Errorf("without residuals %g, want 0", got)
	}
	if got := residualGrowth(y[:9], fitted[:9]); got != 0 {
		t.Errorf("of 9 points %g, want 0", got)
	}
}

func TestCheckCPUs(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		ok      bool
	}{{nil, true}, {[]int{0}, true}, {[]int{1, 0, 1}, true}, {[]int{1, 2}, false}, {[]int{0, 1, 3}, false}} {
		if err := CheckCPUs(c.numbers); c.ok != (err == nil) || err != nil && !errors.Is(err, ErrMeaningless) {
			t.Errorf("%v: %v", c.numbers, err)
		}
	}
}

// TestNoiseOfBase: the noise of a base is not that of the models that are added to it.
func TestNoiseOfBase(t *testing.T) {
	k := read(t, "function,m,n,k,seconds\ndgemm,10,10,10,1.0e-6\ndgemm,20,20,20,8.0e-6\ndgemm,30,30,30,2.7e-5\ndgemm,40,40,40,6.4e-5\n", ReadOptions{})
	r, err := FitKernels(k, KernelOptions{Model: LinearOne, Criterion: "bic"})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	base := "version: 1\nunit: s\nnoise: {normal: 50%}\nkernels:\n  dtrsm: 1.0e-6\n"
	if err := r.WriteYAML(&file, FileOptions{Base: []byte(base)}); err != nil {
		t.Fatal(err)
	}
	set, err := kernels.Parse(&file, "fit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dims, s := [4]int64{100, 100, 100}, noise.NewSource(1)
	for name, noisy := range map[string]bool{"dgemm": false, "dtrsm": true} {
		m, err := set.Bind(kernels.Host{Name: "h"}, kernels.Signature{Name: name, Dims: []string{"M", "N", "K"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Draw(&dims, s.Draw(noise.Computation, 0, 0, 0)) != m.Seconds(&dims); got != noisy {
			t.Errorf("%s: noise %v, want %v", name, got, noisy)
		}
	}
}
