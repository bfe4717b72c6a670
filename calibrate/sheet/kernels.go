package sheet

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// This file makes models of kernels: seconds from flop and bytes, and from who shares the memory.

// rates are the speeds of a rank while all ranks of its node compute.
type rates struct {
	flop   float64 // flop/s of a matrix product without memory
	memory float64 // byte/s: the rank's share of the memory
	panel  float64 // byte/s of a panel, by few ranks at once, partly from cache
	cache  float64 // byte/s of the last-level cache
	call   float64 // s of a call of the library
}

// rates returns what a rank gets.
//
// All ranks of a node update at the same time and share its memory. Those that factorize a panel are one column of the
// process grid, few of a node, so that each has what a core gets by itself.
func (s *Sheet) rates() rates {
	threads := float64(s.Threads())
	socket := streamPart * s.MemoryBandwidth // what all cores get
	if s.board() {
		socket = boardPart * s.MemoryBandwidth
	}
	memory := socket * float64(s.Sockets) / float64(s.RanksPerHost)
	alone := min(socket, coreBytes*s.Clock*math.Sqrt(threads))
	r := rates{
		flop:   s.product() * threads,
		memory: memory,
		panel:  max(memory, alone),
		cache:  max(memory, cacheBytes*s.Clock*threads),
		call:   callTime * max(1, refClock/s.Peak()),
	}
	if s.RanksPerHost > s.coresOfNode() { // ranks take turns
		r.flop *= float64(s.coresOfNode()) / float64(s.RanksPerHost)
	}
	if threads > 1 {
		r.call += threadTime
	}
	return r
}

// board reports whether the node is a small computer, with a channel of memory.
func (s *Sheet) board() bool { return s.Sockets == 1 && s.MemoryBandwidth < boardBandwidth }

// product returns the flop/s of a core in large matrix products.
func (s *Sheet) product() float64 {
	switch {
	case s.Efficiency > 0: // of the peak of the sheet
		return s.Efficiency * s.Peak()
	case s.Software == "tuned":
		return s.tuned()
	case s.FlopPerCycle >= 16:
		return min(s.tuned(), s.part()*typicalClock*s.FlopPerCycle)
	case s.Sockets > 1 && s.Cores > 1:
		return typicalServer * s.Peak()
	}
	return typicalNarrow * s.Peak()
}

// part returns the part of the peak at the nominal clock that a vendor's matrix products reach.
func (s *Sheet) part() float64 {
	switch {
	case s.FlopPerCycle >= 32:
		return tuned32
	case s.FlopPerCycle >= 16:
		return tuned16
	}
	return tunedNarrow
}

// tuned returns the flop/s of a core in a vendor's matrix products.
//
// A clock under load is often the one that the vendor guarantees: half of it (in the logarithm) is what processors of
// wide units hold, and half what others do, of which 2.4 GHz is a usual nominal clock.
func (s *Sheet) tuned() float64 {
	if s.ClockKind == "nominal" || s.FlopPerCycle < 16 {
		return s.part() * s.Peak()
	}
	return math.Sqrt(float64(tunedNarrow*s.Clock)*float64(s.part()*2.4e9)) * s.FlopPerCycle
}

// A deviation is the standard deviation of what kernels of some patterns have in common.
type deviation struct {
	patterns []string
	sd       float64
}

// deviations returns how sure the models are, by kernels that are wrong together.
func (s *Sheet) deviations() (list []deviation, network float64) {
	network = s.guessed(errorNetwork, "network", "latency", "network_kind", "topology")
	if s.GPU.Count > 0 {
		return s.deviceDeviations(), network
	}
	products := errorTypical
	if s.FlopPerCycle < 16 {
		products = errorNarrow
	}
	switch {
	case s.Efficiency > 0:
		products = errorStated
	case s.Software == "tuned":
		products = errorTuned
	case s.Software == "": // up to tuned, at the same probability
		products = math.Hypot(products, math.Log(s.tuned()/s.product()))
	}
	return []deviation{
		{[]string{"dgemm", "dtrsm", "*hgemm*", "sgemm*", "dsgemm*", "strsm", "sgetrf", "lazy*", "otfgemv"},
			s.guessed(products, "clock", "flop_per_cycle")},
		{[]string{"dgemv", "dger", "dtrsv", "dscal", "daxpy", "dcopy", "dswap", "idamax", "dlocswp*"}, s.guessed(errorPanel, "memory_bandwidth")},
		{[]string{"dlaswp*", "dlacpy", "dlatcpy"}, s.guessed(errorPanel, "memory_bandwidth")},
		{[]string{"spmv", "symgs", "restrict", "prolong", "pack", "dot", "waxpby", "zero", "copy"}, s.guessed(errorMemory, "memory_bandwidth")},
	}, network
}

// guessed returns a standard deviation with that of facts that nobody has looked up.
func (s *Sheet) guessed(sd float64, keys ...string) float64 {
	for _, key := range keys {
		if slices.Contains(s.FromMemory, key) || slices.ContainsFunc(s.Assumed, func(a string) bool { return strings.HasPrefix(a, key+":") }) {
			sd = math.Hypot(sd, errorGuessed)
		}
	}
	return sd
}

// writeKernels writes the kernel file.
func (s *Sheet) writeKernels(w io.Writer) error {
	r := s.rates()
	var b strings.Builder
	list, network := s.deviations()
	fmt.Fprintf(&b, "# Made by calibrate machine --sheet, from %d cores of %.4g Gflop/s and %.4g GB/s a socket.\n"+
		"# A rank has %d of the cores: %.4g Gflop/s in products, %.4g GB/s of memory, %.4g of a panel, %.4g of the cache.\n"+
		"version: 1\ndescription: from a data sheet, nothing measured\nsource: data sheet\nunit: s\n",
		s.coresOfNode(), s.Peak()/1e9, s.MemoryBandwidth/1e9, s.Threads(), r.flop/1e9, r.memory/1e9, r.panel/1e9, r.cache/1e9)
	fmt.Fprintf(&b, "host_scatter: %g%%\nnetwork_error: %.3g%%\nshared_errors:\n", 100*errorHosts, 100*network)
	for _, d := range list {
		fmt.Fprintf(&b, "  - {kernels: [%s], sd: %.3g%%}\n", `"`+strings.Join(d.patterns, `", "`)+`"`, 100*d.sd)
	}
	b.WriteString("kernels:\n")
	if s.GPU.Count > 0 {
		s.writeDeviceKernels(&b)
		return textutil.Write(w, b.String())
	}

	// Matrix products: flop beside the traffic of C, packing of A and B, the call. In a panel, of few columns, C is where the
	// panel is. The root of squares is a chord between powers of two of K.
	flop := 1 / r.flop
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	traffic := 16 / r.memory * trafficTypical
	if s.Software == "tuned" {
		traffic = 16 / r.memory * trafficTuned
	}
	a, bb := packA/r.panel, packB/r.panel
	line("dgemm:")
	line("  - {if: N <= 128 and K < 128, terms: {M*N*K: %.4g, M*N: %.4g, M*K: %.4g, N*K: %.4g, 1: %.3g}}", 2*flop, 16*exposedPanel/r.panel, a, bb, r.call)
	for low, high := 0., 32.; ; low, high = high, 2*high {
		from, to := math.Hypot(2*flop*low, traffic), math.Hypot(2*flop*high, traffic)
		limit, slope := fmt.Sprintf("if: K <= %g, ", high), (to-from)/(high-low)
		if high > 1024 {
			limit, slope = "", 2*flop
		}
		line("  - {%sterms: {M*N*K: %.4g, M*N: %.4g, M*K: %.4g, N*K: %.4g, 1: %.3g}}", limit, slope, from-float64(slope*low), a, bb, r.call)
		if limit == "" {
			break
		}
	}
	writeTriangular(line, "dtrsm", flop/trsmPart, 16*exposedPanel/r.memory, r.call)

	// The panel.
	for _, k := range []moving{{"dgemv", "M*N", 8}, {"dger", "M*N", 16}, {"dtrsv", "N^2", 4}, {"dscal", "N", 16},
		{"daxpy", "N", 24}, {"dcopy", "N", 16}, {"dswap", "N", 32}, {"idamax", "N", 8}} {
		line("%s: {terms: {%s: %.4g, 1: %.3g}}", k.name, k.product, k.bytes/r.panel, callTime/5)
	}
	line("dlocmax: free # beyond its idamax")
	line("dlocswp*: {terms: {JB: %.4g}} # a cache line an element", 64/r.panel)

	// Swaps and copies of the update.
	line("dlaswp*: {terms: {M*N: %.4g}}", 16*swapFactor/r.memory)
	line("dlaswp04*: {terms: {M1*N: %.4g}} # M1 rows in all, M0 of them swapped", 16*swapFactor/r.memory)
	line("dlacpy: {terms: {M*N: %.4g}}", 16*copyFactor/r.memory)
	line("dlatcpy: {terms: {M*N: %.4g}}", 16*copyFactor/r.memory)

	// LAPACK and FFTW, as in the built-in set default: 70 %% of a product's rate, and passes over the points.
	line("dgetrf: {terms: {M*N*K: %.4g, M*K^2: %.4g, N*K^2: %.4g, K^3: %.4g, 1: %.3g}}", 2.6*flop, -1.3*flop, -1.3*flop, 0.86*flop, r.call)
	line("dpotrf: {terms: {N^3: %.4g, 1: %.3g}}", 0.43*flop, r.call)
	line("dgeqrf: {terms: {M*N*K: %.4g, M*K^2: %.4g, N*K^2: %.4g, K^3: %.4g, 1: %.3g}}", 5.2*flop, -2.6*flop, -2.6*flop, 1.73*flop, r.call)
	line("fftw: {terms: {FLOP: %.4g, 1: %.3g}}", 2.1/r.cache, r.call)
	line("fftwf: {terms: {FLOP: %.4g, 1: %.3g}}", 1.1/r.cache, r.call)
	// Vectors of most processors hold twice and four times as many numbers of lower precisions.
	writeMxP(line, mxpSpeeds{flop: map[string]float64{"fp64": r.flop, "fp32": 2 * r.flop, "fp16": 4 * r.flop}, trsmPart: trsmPart,
		exposed: exposedPanel, memory: r.memory, call: r.call})
	s.writeHPCG(line, r)
	return textutil.Write(w, b.String())
}

// moving is a kernel that moves so many bytes for each unit of a product of its dimensions.
type moving struct {
	name, product string
	bytes         float64
}

// writeTriangular writes a solve with a triangle on either side: seconds of a flop, of an element of the result, of a call.
func writeTriangular(line func(string, ...any), name string, flop, element, call float64) {
	line("%s:", name)
	line("  - {when: {side: L}, terms: {M^2*N: %.4g, M*N: %.4g, 1: %.3g}}", flop, element, call)
	line("  - {when: {side: R}, terms: {M*N^2: %.4g, M*N: %.4g, 1: %.3g}}", flop, element, call)
}

// hpcgRate returns the byte/s of memory that a rank gets in HPCG's loops.
func (s *Sheet) hpcgRate() float64 {
	part := hpcgTypical
	if s.Software == "tuned" {
		part = hpcgTuned
	}
	if s.board() {
		part *= boardPart / streamPart
	}
	share := s.MemoryBandwidth * float64(s.Sockets) / float64(s.RanksPerHost)
	return part * share / (1 + share/(loadBytes*s.Clock*float64(s.Threads())))
}

// writeHPCG writes the models of HPCG's loops: bytes that must move (docs/hpcg.md), from the cache where the level of a
// rank, 400 bytes a row, is in its share of it.
func (s *Sheet) writeHPCG(line func(string, ...any), r rates) {
	memory := s.hpcgRate()
	rows := int(s.L3 * float64(s.Sockets) / float64(s.RanksPerHost) / 400)
	call := callTime / 5
	two := func(limit int, when string, cached, bytes float64) {
		within, beyond := "", ""
		if when != "" {
			within, beyond = " and "+when, "if: "+when+", "
		}
		line("  - {if: N <= %d%s, terms: {N: %.4g, 1: %.3g}}", limit, within, cached/r.cache, call)
		line("  - {%sterms: {N: %.4g, 1: %.3g}}", beyond, bytes/memory, call)
	}
	for _, k := range []struct {
		name     string
		nnz, row float64
	}{{"spmv", 12, 41}, {"symgs", 24, 98}} {
		line("%s:", k.name)
		line("  - {if: ROWS <= %d, terms: {NNZ: %.4g, ROWS: %.4g, 1: %.3g}}", rows, k.nnz/r.cache, k.row/r.cache, call)
		line("  - {terms: {NNZ: %.4g, ROWS: %.4g, 1: %.3g}}", k.nnz/memory, k.row/memory, call)
	}
	for _, k := range []struct {
		name           string
		limit          int
		cached, memory float64
	}{
		{"restrict", rows / 8, 28, 150}, {"prolong", rows / 8, 28, 150}, {"pack", rows * 2 / 5, 44, 44},
		{"zero", rows, 16, 16}, {"copy", rows, 24, 24}, {"fill", rows, 16, 16}, {"getdiag", rows, 88, 88},
		{"setdiag", rows, 144, 144}, {"maxdiff", rows, 16, 16},
	} {
		line("%s:", k.name)
		two(k.limit, "", k.cached, k.memory)
	}
	line("dot:")
	two(rows, "VECTORS == 0", 8, 8)
	two(rows, "", 16, 16)
	line("waxpby:")
	two(rows, "ALIAS == 0", 32, 32)
	two(rows, "", 24, 24)
}
