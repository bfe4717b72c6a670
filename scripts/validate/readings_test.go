package main

import (
	"math"
	"strings"
	"testing"
)

// TestReadings: three processors in the figure are in print, too (the coefficients), and of two
// others the notebook prints the Gflop/s of some ranks.
func TestReadings(t *testing.T) {
	for id, p := range map[int]polynomial{
		6: {6.942250e-11, -7.899432e-12, 1.515947e-09, 4.582450e-09, 0},
		7: {6.713937e-11, -5.219192e-12, 1.500195e-09, 4.321300e-09, 0},
		8: {6.638571e-11, 1.991924e-11, 1.471767e-09, 4.476257e-09, 0},
	} {
		if got := tall128.factor(id, p); math.Abs(got-1) > 5e-4 {
			t.Errorf("processor %d: %.3f Gflop/s by its coefficients, %.2f in the figure", id, tall128.predict(p), tall128.gflops[id])
		}
	}
	for id, want := range map[int]float64{16: 24.307345, 26: 24.804404} {
		if got := tall128.gflops[id]; math.Abs(got/want-1) > 5e-4 {
			t.Errorf("processor %d: %.2f read, %.3f printed", id, got, want)
		}
	}
}

// TestFiguresAgree on processors in both, on average: that is how wide128.n is chosen. The
// coefficients are the mean of the seven in print.
func TestFiguresAgree(t *testing.T) {
	p := polynomial{6.854762e-11, -8.590091e-12, 1.514781e-09, 4.539577e-09, 0}
	sum, n := 0.0, 0.0
	for id := range tall128.gflops {
		if wide128.gflops[id] > 0 {
			sum, n = sum+math.Log(wide128.factor(id, p)/tall128.factor(id, p)), n+1
		}
	}
	if n != 14 || math.Abs(sum/n) > 1e-3 {
		t.Errorf("%v processors, %.2f %% apart on average", n, 100*sum/n)
	}
}

// TestJanuary2020: a published processor stays as it is; one in a figure takes as long there as
// that says; others differ by their share of M*N*K.
func TestJanuary2020(t *testing.T) {
	published := gemm{mean: polynomial{mnk: 8e-11, mk: 1e-9}, deviation: polynomial{mnk: 1e-12}}
	d := &dahu{gemms: map[string]*gemmModel{
		"het_poly_2020-01-14_published7": {processors: []processor{{1, 0, published}}},
		reconstructed2020:                {processors: []processor{{1, 0, published}, {25, 0, published}, {17, 0, published}, {5, 0, gemm{mean: polynomial{mnk: 8.8e-11}}}}},
	}}
	j, err := d.readJanuary2020(blockRatio{1.1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, got, want float64) {
		if math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	k128, k256 := j.k128.processors, j.k256.processors
	same("published, K = 128", k128[0].mean.mnk, 8e-11)
	same("published, K = 256", k256[0].mean.mnk, 8.8e-11*j.slower)
	same("in both figures, K = 128", tall128.predict(k128[1].mean), tall128.gflops[50])
	same("in both figures, K = 256", wide256.predict(k256[1].mean), wide256.gflops[50])
	same("in one, K = 128", wide128.predict(k128[2].mean), wide128.gflops[34])
	same("in none, M*N*K", k128[3].mean.mnk, 8.8e-11)
	same("in none, M*K", k128[3].mean.mk, 1.1e-9)
	same("in none, noise", k128[3].deviation.mnk, 1.1e-12)
	same("in none, K = 256", k256[3].mean.mnk, 9.68e-11*j.slower)
	same("default", j.k128.all.mean.mnk, (k128[0].mean.mnk+k128[1].mean.mnk+k128[2].mean.mnk+k128[3].mean.mnk)/4)

	d.gemms["het_poly_2020-01-14_published7"].processors = nil
	if _, err := d.readJanuary2020(blockRatio{1.1, 1, 1}); err == nil || !strings.Contains(err.Error(), "no published processors") {
		t.Error(err)
	}
}
