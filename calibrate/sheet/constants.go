package sheet

// This file has all constants of the models that are no facts of a machine. "Fitted" ones minimise the error of public
// runs of HPL and HPCG on machines whose data sheets are known, each machine with the same weight; the others are
// measured or stated where their comment says.

// Clocks that processors hold in matrix products, in Hz, at a nominal clock of 2.4 GHz, by the flop of a cycle; fitted to
// runs of TOP500 lists, whose products reach tunedEfficiency of it.
const (
	heldClock16   = 2.18e9
	heldClock32   = 1.95e9
	clockExponent = 0.5 // of the nominal clock
)

// Parts of the peak at the clock held that matrix products without memory reach.
const (
	tunedEfficiency   = 0.92 // of a vendor's library, as measured and published for all of them
	typicalEfficiency = 0.62 // fitted to users' logs: libraries as they come, clocks of shared rooms, other processes
	typicalServer     = 0.8  // the same of processors with narrow units in nodes of two sockets
	typicalBoard      = 0.56 // and of one: small computers
)

// Matrix products besides flop. Lengths are of a dimension of which half of the time is not flop, where a core has a
// byte/s of memory for each flop/s; a core with less has longer ones.
const (
	// C is read and written, 16 bytes an element, of which this part is not hidden behind the flop.
	// Paravance: 6.1e-10 s an element, 16 bytes of 7.5 GB/s a core are 2.1e-9 s.
	exposedC = 0.3
	// A vendor's runs have blocks so wide that less is left.
	exposedTuned = 0.1
	// A and B are packed: bytes an element. Dahu: 1.6e-9 and 2.9e-9 s at 8 GB/s a core; Paravance: 2.7e-9 and 4.4e-9 s at
	// 7.5 GB/s.
	packA = 16.
	packB = 28.
	// A call: 0.5 us (Dahu), and the start of threads.
	callTime   = 0.5e-6
	threadTime = 2e-6
	// dtrsm reaches this part of dgemm's rate (Dahu: 5.4e-11 s against half of 6.9e-11).
	trsmPart = 0.63
)

// Memory.
const (
	// A stream gets this part of the peak of a socket (STREAM against channels x rate, as published).
	streamPart = 0.8
	// Boards of one channel get less (HPCC's STREAM on Raspberry Pi 4: 3.6 of 12.8 GB/s by four processes, 4.5 by threads).
	boardBandwidth, boardPart = 20e9, 0.35
	// A core by itself moves so many bytes a cycle at most (12 GB/s at 2 GHz); fitted to grids of one row.
	coreBytes = 6.
	// The last-level cache gives a core this many bytes a cycle.
	cacheBytes = 10.
	// Row swaps and copies move this many times their bytes (Dahu's dlacpy 1.9, dlatcpy 2.4, dlaswp03T 1.9, dlaswp01T 3.8,
	// dlaswp04T 4.2, of 16 bytes at 8 GB/s).
	swapFactor = 3.
	copyFactor = 2.
	// HPCG's loops reach this part of the peak of memory, a vendor's or the reference code's, where a core's share is little
	// against what a core can load; fitted.
	hpcgTuned   = 0.98
	hpcgTypical = 0.85
	loadBytes   = 20. // a cycle, in loops that wait for what they load
)

// Defaults of facts that a sheet leaves out.
const assumedL3 = 1.5e6 // bytes a core

// assumedBandwidth returns the byte/s of a socket of some flop/s: 1 GB/s at 1 Gflop/s (a Pentium III), 16 at 75 (a
// Raspberry Pi 5), 140 at 2000 (2020's servers).
func assumedBandwidth(peak float64) float64 { return 1e9 * power(peak/1e9, 0.65) }

// assumedNetwork returns the byte/s of the port of a node of some flop/s.
func assumedNetwork(peak float64) float64 {
	switch {
	case peak > 300e9:
		return 12.5e9
	case peak > 20e9:
		return 1.25e9
	case peak > 3e9:
		return 0.125e9
	}
	return 0.16e9
}

// class is what messages of a kind of network cost.
type class struct {
	latency   float64 // s between two nodes, if the sheet does not say it
	overhead  float64 // s of processor time a message, at refClock
	perByte   float64 // s of processor time a byte, at refClock: copies of a protocol stack
	bandwidth float64 // part of the port that messages get
	poll      float64 // s a probe
}

// refClock is the flop/s of the core for which overheads are stated; those of slower cores are longer.
const refClock = 30e9

// Kinds of networks. rdma: Dahu's Omni-Path, 0.3 to 1 us of overhead, 0.99 of 12.5 GB/s; ethernet: TCP; cloud: virtual
// ports, which share a host's.
var classes = map[string]class{
	rdma:     {latency: 1.5e-6, overhead: 0.5e-6, perByte: 0, bandwidth: 0.9, poll: 2e-7},
	ethernet: {latency: 40e-6, overhead: 5e-6, perByte: 3e-10, bandwidth: 0.9, poll: 5e-7},
	cloud:    {latency: 30e-6, overhead: 5e-6, perByte: 3e-10, bandwidth: 0.7, poll: 5e-7},
}

// Messages within a node are copied twice by ranks that share the memory.
const (
	copiesWithin  = 2.
	latencyWithin = 0.4e-6
)

// GPUs.
const (
	// Large products reach these parts of the peak: what power allows (cuBLAS on an A100 0.9 and more, on later and on
	// AMD's GPUs, whose peaks are at clocks that they do not hold, 0.6 to 0.8).
	gpuTuned    = 0.8
	gpuTypical  = 0.7
	gpuTrsmPart = 0.5
	gpuExposed  = 0.3  // of the bytes of products, as of processors
	gpuStream   = 0.85 // of the peak of the memory (BabelStream on A100, MI250X: 0.85 to 0.9)
	// A call of a kernel, one that copies over the link, a step of a kernel that nothing can be done beside, and asking the
	// host and back, in s.
	gpuCall      = 6e-6
	gpuCopy      = 12e-6
	gpuSerial    = 1e-6
	gpuRoundTrip = 8e-6
	// Rows that are swapped move this many times their bytes.
	gpuSwapFactor = 2.
	linkPart      = 0.8 // of a link's peak
	// assumedHostLink is PCIe 4.0 x16.
	assumedHostLink = 32e9
)

// Standard deviations of the logarithm of times, from the errors of predictions of machines that were left out of the
// fit.
const (
	errorTypical = 0.22 // matrix products of users' runs
	errorTuned   = 0.11 // of vendors' runs
	errorStated  = 0.05 // where the sheet states the efficiency
	errorMemory  = 0.22 // kernels bound by memory
	errorNetwork = 0.35
	errorPanel   = 0.35 // kernels of the panel
	errorGuessed = 0.15 // further, for each fact that is assumed or from memory
	errorGPU     = 0.2  // matrix products of GPUs
	errorLeaf    = 0.5  // kernels of GPUs that wait rather than work
	errorHosts   = 0.02 // between hosts of a machine (Dahu: 1 to 2 %)
)
