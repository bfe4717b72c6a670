package sheet

// This file has all constants of the models that are no facts of a machine. "Fitted" ones minimise the error of public
// runs of HPL and HPCG on machines whose data sheets are known, each machine with the same weight; the others are
// measured or stated where their comment says.

// Parts of the peak at the nominal clock that large matrix products reach in a vendor's runs, by the flop of a cycle;
// fitted to TOP500 lists. Wide units draw so much power that their clock falls below the nominal one.
const (
	tunedNarrow = 0.92 // fewer than 16
	tuned16     = 0.88
	tuned32     = 0.75
)

// Rates of matrix products in users' runs, fitted to users' logs.
const (
	// Cores of 16 or more reach what a vendor's reach at this clock, whatever their nominal clock is: 18 to 28 Gflop/s of 16
	// flop a cycle at 2.0 to 3.4 GHz. High nominal clocks fall further, and libraries as they come use less of wide units.
	typicalClock  = 1.5e9
	typicalServer = 0.89 // of the peak of narrow units, in nodes of several sockets of several cores
	typicalNarrow = 0.58 // and in others: small computers
)

// Matrix products besides flop.
const (
	// C is read and written, 16 bytes an element and call, at the rank's share of the memory, while flop go on: the time is
	// the root of the sum of both squares, of flop and of this many times the bytes. Fitted to runs that differ in NB: a Core
	// i7 with 20 ranks gets 259 Gflop/s with NB 64 and 430 with 256, a Raspberry Pi 5 21 and 34, a Xeon E5 234 and 230.
	trafficTypical = 1.4
	trafficTuned   = 0.5 // a vendor's blocks are wider than NB, and larger pages are used
	// In a panel, whose columns stay in the cache, this part of the bytes is not hidden (Paravance: 6.1e-10 s an element, 16
	// bytes of 7.5 GB/s a core are 2.1e-9 s).
	exposedPanel = 0.3
	// A and B are packed, by a core alone: bytes an element. Dahu: 1.6e-9 and 2.9e-9 s, Paravance 2.7e-9 and 4.4e-9 s.
	packA = 24.
	packB = 42.
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
	// Boards of one socket and channel get less (HPCC's STREAM on Raspberry Pi 4: 3.6 of 12.8 GB/s by four processes).
	boardBandwidth, boardPart = 20e9, 0.3
	// A core by itself moves so many bytes a cycle at most (Dahu 12 GB/s at 2.1 GHz, EPYC of 2 GHz more than 20).
	coreBytes = 10.
	// The last-level cache gives a core this many bytes a cycle.
	cacheBytes = 10.
	// Row swaps and copies move this many times their bytes, of 16 an element at 8 GB/s: Dahu's dlaswp03T 1.9, dlaswp01T
	// 3.8, dlaswp04T 4.2, dlaswp02N 14, whose geometric mean is 4.6 and whose mean 6; dlacpy 1.9, dlatcpy 2.4.
	swapFactor = 5.
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
func assumedNetwork(peak float64, kind string) float64 {
	switch {
	case kind == ethernet && peak > 20e9: // 10 of 19 machines of TOP500 lists that have Ethernet
		return 1.25e9
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

// Kinds of networks. rdma: Dahu's Omni-Path, 0.3 to 1 us of overhead, 0.99 of 12.5 GB/s for one message, less of many;
// ethernet: TCP, 0.94 by iperf3 at 1 and 10 Gb/s; cloud: virtual ports, which share a host's.
var classes = map[string]class{
	rdma:     {latency: 1.5e-6, overhead: 0.5e-6, perByte: 0, bandwidth: 0.75, poll: 2e-7},
	ethernet: {latency: 50e-6, overhead: 5e-6, perByte: 3e-10, bandwidth: 0.94, poll: 5e-7},
	cloud:    {latency: 30e-6, overhead: 5e-6, perByte: 3e-10, bandwidth: 0.75, poll: 5e-7},
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
	// A call of a kernel, what launching it takes the host, one that copies over the link, a step of a kernel that nothing can
	// be done beside, and handing over between device and host, one way, in s.
	gpuCall     = 6e-6
	gpuLaunch   = 3e-6
	gpuCopy     = 12e-6
	gpuSerial   = 1e-6
	gpuHandOver = 4e-6
	// A column of a panel's leaf is a chain of accesses to the GPU's memory, each behind the one before (rocHPL 7, kernel
	// pdpanrlN: the pivot row to L1, arrival and flag of the barrier, pivot, column, row of the candidate, its copy, arrival
	// and flag again, candidates of the blocks, the best one's row), of 600 cycles (HBM3 of an H100), and two reductions
	// over the threads of a block. Blocks of 1,024 rows arrive at a barrier one after the other (58 us for 2,048 on an
	// MI355X, github.com/ROCm/llvm-project, pull request 3464).
	gpuColumn  = 11*gpuAccess + 2*gpuSerial
	gpuAccess  = 0.4e-6
	gpuArrival = 58e-6 / 2048 / 1024 // a row
	// Rows that are swapped move this many times their bytes.
	gpuSwapFactor = 2.
	linkPart      = 0.8 // of a link's peak
	// assumedHostLink is PCIe 4.0 x16.
	assumedHostLink = 32e9
)

// Standard deviations of the logarithm of times, from the errors of predictions of machines that were left out of the
// fit.
const (
	errorTypical = 0.35 // matrix products of users' runs, by the mean error of a machine's runs, of 11 machines
	errorNarrow  = 0.51 // the same with narrow units, boards and old processors, of 21
	errorTuned   = 0.17 // of vendors' runs
	errorStated  = 0.05 // where the sheet states the efficiency
	errorMemory  = 0.22 // kernels bound by memory
	errorNetwork = 0.35
	errorPanel   = 0.35 // kernels of the panel
	errorGuessed = 0.15 // further, for each fact that is assumed or from memory
	errorGPU     = 0.2  // matrix products of GPUs
	errorLeaf    = 0.5  // kernels of GPUs that wait rather than work
	errorHosts   = 0.02 // between hosts of a machine (Dahu: 1 to 2 %)
)
