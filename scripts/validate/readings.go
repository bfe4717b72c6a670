package main

import (
	"fmt"
	"maps"
	"slices"
)

// Of the dgemm models of January 2020 the data have seven processors, with K = 128. Two figures of
// the published analyses (github.com/Ezibenroc/calibration_analysis) tell of others. The notebook
// dahu/hpl/hpl_trace_dgemm.ipynb applies the models of all processors to the dgemm calls of a run
// of HPL on the machine and draws for each rank the Gflop/s, 2*sum(M*N*K)/sum(seconds), that its
// processor would have: in revision 54c0f97 for a run on a single process row, tall, in 091d6fe for
// one on 32 x 16 ranks with N = 200,000, wide. The axis is the processor's number less 2.

// figure is what one of them shows. m and n are those of its calls: 1/m is sum(N*K)/sum(M*N*K), 1/n
// is sum(M*K)/sum(M*N*K).
type figure struct {
	k, m, n float64
	gflops  map[int]float64 // by processor, 2*node + socket; points are read to 0.05 %
}

// tall128 has m = 2/3 of 250,000 rows, and updates block by block. Its points form a group for each
// processor, in the lowest part of which its reading is; single points are ignored, and so are
// processors 47 and 65, whose points form no group.
var tall128 = figure{128, 166667, 128, map[int]float64{
	6: 24.62, 7: 25.37, 8: 25.62, 9: 25.18, 12: 24.11, 13: 26.95, 14: 25.37, 15: 27.17, 16: 24.30, 17: 25.77, 18: 26.12, 19: 26.12, 26: 24.81, 27: 26.20,
	46: 25.10, 50: 23.57, 51: 27.14, 52: 25.37, 53: 25.29, 54: 25.16, 55: 25.31, 56: 24.17, 57: 26.20, 58: 25.21, 59: 25.56, 62: 26.09, 63: 25.72, 64: 26.01,
}}

// wide128 has m = 2/3 of 6,250 rows. How many columns are updated block by block depends on when
// panels arrive: n is chosen so that the 14 processors in both figures are as quick in both, on
// average. (In a replay of the run it is 892.) Readings are in the middle of a processor's points.
var wide128 = figure{128, 4167, 1030, map[int]float64{
	34: 27.68, 35: 28.60, 36: 27.66, 37: 29.88, 38: 28.95, 39: 28.95, 40: 28.43, 41: 29.64, 42: 28.42, 43: 28.77, 44: 29.34, 45: 28.71, 46: 28.76, 47: 29.87, 48: 28.55, 49: 29.48,
	50: 26.64, 51: 30.82, 52: 28.98, 53: 28.23, 54: 28.52, 55: 28.52, 56: 27.39, 57: 29.66, 58: 28.50, 59: 28.81, 60: 29.39, 61: 29.87, 62: 29.32, 63: 28.86, 64: 29.48, 65: 29.65,
}}

// wide256 is of the same run with NB = 256. Its points are hidden behind those of K = 512 and are
// taken to have the same middle, which they miss by some 0.3 % at most if they spread less than
// those, 2.6 %, and more than those of K = 128, 2 %.
// n is that of wide128 times the ratio of the two in replays, 1,068 to 892.
var wide256 = figure{256, 4167, 1233, map[int]float64{
	34: 25.70, 35: 26.55, 36: 25.94, 37: 27.74, 38: 26.72, 39: 27.03, 40: 26.41, 41: 27.47, 42: 26.36, 43: 26.55, 44: 27.16, 45: 26.58, 46: 26.83, 47: 27.89, 48: 26.96, 49: 27.70,
	50: 24.82, 51: 28.54, 52: 26.75, 53: 26.11, 54: 26.23, 55: 26.19, 56: 25.70, 57: 27.62, 58: 27.02, 59: 26.90, 60: 27.54, 61: 27.98, 62: 27.80, 63: 27.10, 64: 28.12, 65: 27.84,
}}

// predict returns the Gflop/s that a model gives the calls of a figure; the constant of a call is
// below 1e-4 of its time.
func (f figure) predict(p polynomial) float64 { return 2e-9 / (p.mnk + p.mn/f.k + p.mk/f.n + p.nk/f.m) }

// factor returns how many times as long as a model a processor in the figure takes.
func (f figure) factor(id int, p polynomial) float64 { return f.predict(p) / f.gflops[id] }

// factor128 returns how many times as long as a model a processor takes with K = 128, if a figure
// shows it. The tall one is the surer of the two: all its calls are alike.
func factor128(id int, p polynomial) (factor float64, ok bool) {
	for _, f := range []figure{tall128, wide128} {
		if f.gflops[id] > 0 {
			return f.factor(id, p), true
		}
	}
	return 0, false
}

// reconstructed2020 is the data's set of them, of all processors with K = 128.
const reconstructed2020 = "het_poly_2020-01-14_reconstructed"

// january2020 are dgemm models of January 2020, by K.
type january2020 struct {
	k128, k256 gemmModel
	slower     float64 // K = 256 to K = 128 beyond the ratio of blocks, on average
}

// readJanuary2020 puts the models together.
func (d *dahu) readJanuary2020(blocks blockRatio) (january2020, error) {
	published, err := d.gemm("het_poly_2020-01-14_published7")
	if err != nil {
		return january2020{}, err
	}
	reconstructed, err := d.gemm(reconstructed2020)
	if err != nil {
		return january2020{}, err
	}
	if len(published.processors) == 0 {
		return january2020{}, fmt.Errorf("no published processors among the dgemm models of January 2020")
	}
	b := basis{published.processors, meanOf(published.processors), blocks, 1}
	b.slower = slowdown(b.mean.mean, b.mean.ofBlocks(blocks).mean)
	j := january2020{slower: b.slower}
	for _, p := range reconstructed.processors {
		k128, k256 := b.models(p)
		j.k128.processors = append(j.k128.processors, processor{p.host, p.cpu, k128})
		j.k256.processors = append(j.k256.processors, processor{p.host, p.cpu, k256})
	}
	j.k128.all, j.k256.all = meanOf(j.k128.processors), meanOf(j.k256.processors)
	return j, nil
}

// basis is what the models of a processor are made of.
type basis struct {
	published []processor
	mean      gemm       // of those, with K = 128
	blocks    blockRatio // of K = 256 to K = 128
	slower    float64    // by the figures, beyond that
}

// models returns those of a processor, which the data have reconstructed. One that is not published
// has the mean of those that are, times a factor. (They differ by a factor to 1.2 % in the term of
// M*K, 6 % in that of N*K.) With K = 128 the factor is by a figure or, without one, that of M*N*K
// as reconstructed from daily calibrations. With K = 256 the mean is changed by the ratio of blocks;
// processors that are in no figure have the factor of K = 128, and are slower as the others are.
func (b *basis) models(p processor) (k128, k256 gemm) {
	if i := slices.IndexFunc(b.published, p.same); i >= 0 {
		k128 = b.published[i].gemm
		return k128, k128.ofBlocks(b.blocks).times(b.slower)
	}
	id, mean256 := p.id(), b.mean.ofBlocks(b.blocks)
	factor, ok := factor128(id, b.mean.mean)
	if !ok {
		factor = p.mean.mnk / b.mean.mean.mnk
	}
	factor256 := factor * b.slower
	if wide256.gflops[id] > 0 {
		factor256 = wide256.factor(id, mean256.mean)
	}
	return b.mean.times(factor), mean256.times(factor256)
}

// slowdown returns how many times as large the factor of a processor is with K = 256 as with K =
// 128, on average over the run that is drawn with both.
func slowdown(mean, mean256 polynomial) float64 {
	sum := 0.0
	for _, id := range slices.Sorted(maps.Keys(wide256.gflops)) {
		sum += wide256.factor(id, mean256) / wide128.factor(id, mean)
	}
	return sum / float64(len(wide256.gflops))
}

// meanOf returns the mean of the models of processors.
func meanOf(processors []processor) gemm {
	var sum gemm
	for _, p := range processors {
		sum = gemm{sum.mean.plus(p.mean), sum.deviation.plus(p.deviation)}
	}
	return sum.times(1 / float64(len(processors)))
}
