package sheet

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"reprise/internal/textutil"
)

// This file has what a sheet says of GPUs, and the models of kernels on them: gpus.

// gpus are the devices of a node, one for each rank.
type gpus struct {
	Count     int
	Peak      map[string]float64 // flop/s of a GPU in matrix products, by precision
	Memory    float64            // of a GPU
	Bandwidth float64            // of its memory
	HostLink  float64            // between a GPU and its host, each way
	Fabric    float64            // of a GPU to the others of its node, each way
	Ports     int                // of a node
}

// precisions are the keys of gpu_peak, with what is taken for one that is not said, in parts of double precision: units
// for matrices do single precision twice and half precision eight times as fast in most generations.
var precisions = []struct {
	name string
	part float64
}{{"fp64", 1}, {"fp32", 2}, {"fp16", 8}}

var speeds = []unit{{"Gflop/s", 1e9}, {"Tflop/s", 1e12}, {"Pflop/s", 1e15}, {"GFLOPS", 1e9}, {"TFLOPS", 1e12}, {"PFLOPS", 1e15},
	{"Gflops", 1e9}, {"Tflops", 1e12}, {"Pflops", 1e15}, {"Gf", 1e9}, {"Tf", 1e12}, {"Pf", 1e15}}

// maxGPUs is more than what nodes have.
const maxGPUs = 64

// gpuKeys are the keys of a sheet that need gpus.
var gpuKeys = []string{"gpu_peak", "gpu_memory", "gpu_memory_bandwidth", "host_link", "gpu_fabric", "nics"}

// devices reads the GPUs of a node.
func (r *reader) devices(root ast.Node, s *Sheet) {
	if r.fields["gpus"] == nil {
		for _, key := range gpuKeys {
			if n := r.fields[key]; n != nil {
				if key == "nics" {
					r.Stop(n, "nics: the sheet has no gpus; several ports of a node without them are one of their sum, as network: 200Gbps")
				}
				r.Stop(n, "%s: the sheet has no gpus: say how many a node has, as gpus: 8", key)
			}
		}
		return
	}
	g := gpus{Count: r.whole("gpus", 0, maxGPUs), Ports: r.whole("nics", 1, maxGPUs), Peak: map[string]float64{}}
	r.need(root, "gpu_peak", "{fp64: 23.9Tflop/s}")
	r.need(root, "gpu_memory", "64GB")
	r.need(root, "gpu_memory_bandwidth", "1.6TBps")
	var names []string
	for _, p := range precisions {
		names = append(names, p.name)
	}
	peak := r.fields["gpu_peak"]
	fields := r.Fields(peak, "gpu_peak", names...)
	for _, p := range precisions {
		if n := fields[p.name]; n != nil {
			g.Peak[p.name] = r.quantity(n, "gpu_peak: "+p.name, "23.9Tflop/s", speeds, 1e9, 1e18)
			continue
		}
		if p.name == "fp64" {
			r.Stop(peak, "gpu_peak: no fp64, double precision")
		}
		g.Peak[p.name] = p.part * g.Peak["fp64"]
		s.assume("gpu_peak: %s: %.4gTflop/s, %g times fp64", p.name, g.Peak[p.name]/1e12, p.part)
	}
	g.Memory = r.value("gpu_memory", "64GB", amounts, 1e8, 1e13)
	g.Bandwidth = r.value("gpu_memory_bandwidth", "1.6TBps", flows, 1e9, 1e15)
	if g.HostLink = r.value("host_link", "32GBps", flows, 1e8, 1e13); g.HostLink == 0 {
		g.HostLink = assumedHostLink
		s.assume("host_link: %.4gGBps", g.HostLink/1e9)
	}
	if g.Fabric = r.value("gpu_fabric", "100GBps", flows, 1e8, 1e13); g.Fabric == 0 {
		g.Fabric = g.HostLink
		s.assume("gpu_fabric: %.4gGBps, as host_link", g.Fabric/1e9)
	}
	s.GPU = g
}

// deviceRates are the speeds of a GPU.
type deviceRates struct {
	flop   map[string]float64 // flop/s of large matrix products, by precision
	memory float64            // byte/s of a stream
}

func (s *Sheet) deviceRates() deviceRates {
	r := deviceRates{map[string]float64{}, gpuStream * s.GPU.Bandwidth}
	part := gpuTypical
	switch {
	case s.Efficiency > 0:
		part = s.Efficiency
	case s.Software == "tuned":
		part = gpuTuned
	}
	for name, peak := range s.GPU.Peak {
		r.flop[name] = part * peak
	}
	return r
}

// deviceDeviations returns how sure the models of GPUs are, by kernels that are wrong together.
func (s *Sheet) deviceDeviations() []deviation {
	products := errorGPU
	switch {
	case s.Efficiency > 0:
		products = errorStated
	case s.Software == "":
		products = math.Hypot(products, math.Log(gpuTuned/gpuTypical))
	}
	return []deviation{
		{[]string{"dgemm", "dtrsm", "shgemm", "hgemm*", "strsm", "sgetrf", "strtri", "otfgemv"}, s.guessed(products, "gpu_peak")},
		{[]string{"pdpan*", "dtrsv", "dgemv"}, errorLeaf},
		{[]string{"dlaswp*", "dlacpy", "dlatcpy", "setZero", "daxpy", "dcopy", "lacpy*", "latcpy*", "gemv", "axpy"}, s.guessed(errorMemory, "gpu_memory_bandwidth")},
		{[]string{"copy", "copy2d"}, s.guessed(errorNetwork, "host_link")},
		{[]string{"host *"}, errorPanel},
	}
}

// writeDeviceKernels writes models of what GPUs do in rocHPL, and of its kernels on the host, which version 6 has.
func (s *Sheet) writeDeviceKernels(b *strings.Builder) {
	r, host := s.deviceRates(), s.rates()
	line := func(format string, args ...any) { fmt.Fprintf(b, "  "+format+"\n", args...) }
	flop, byteTime := 1/r.flop["fp64"], 1/r.memory

	// Products: flop, and of C, A and B the bytes that are not hidden behind them; a call.
	line("dgemm: {terms: {M*N*K: %.4g, M*N: %.4g, M*K: %.4g, N*K: %.4g, 1: %.3g}}", 2*flop, 16*gpuExposed*byteTime,
		8*gpuExposed*byteTime, 8*gpuExposed*byteTime, gpuCall)
	writeTriangular(line, "dtrsm", flop/gpuTrsmPart, 16*byteTime, gpuCall)

	// A leaf of the factorization: for each column the rest of the leaf is read and written, behind the chain of its pivot.
	line("pdpan*: {terms: {M*N^2: %.4g, M*N: %.4g, N: %.3g, 1: %.3g}}", 8*byteTime, 16*byteTime+gpuArrival, gpuColumn, gpuCall)

	// Kernels that only move bytes. Swapped rows are read and written in pieces of a cache line.
	line("dtrsv: {terms: {N^2: %.4g, N: %.3g, 1: %.3g}}", 4*byteTime, gpuSerial, gpuCall)
	line("dgemv: {terms: {M*N: %.4g, 1: %.3g}}", 8*byteTime, gpuCall)
	line("dlaswp*: {terms: {M*N: %.4g, 1: %.3g}}", 16*gpuSwapFactor*byteTime, gpuCall)
	for _, k := range []moving{{"dlacpy", "M*N", 16}, {"dlatcpy", "M*N", 16}, {"daxpy", "N", 24}, {"dcopy", "N", 16}, {"setZero", "N", 8}} {
		line("%s: {terms: {%s: %.4g, 1: %.3g}}", k.name, k.product, k.bytes*byteTime, gpuCall)
	}
	line("copy:")
	line("  - {when: {kind: d2d}, terms: {BYTES: %.4g, 1: %.3g}}", 2*byteTime, gpuCall)
	line("  - {terms: {BYTES: %.4g, 1: %.3g}}", 1/(linkPart*s.GPU.HostLink), gpuCopy)
	line("copy2d: {terms: {WIDTH*COLUMNS: %.4g, 1: %.3g}}", 1/(linkPart*s.GPU.HostLink), gpuCopy)

	writeMxP(line, mxpSpeeds{flop: r.flop, trsmPart: gpuTrsmPart, exposed: gpuExposed, memory: r.memory, call: gpuCall,
		serial: gpuSerial, link: 1 / (linkPart * s.GPU.HostLink)})

	// The host, as if it had no GPUs.
	line(`"host dgemm": {terms: {M*N*K: %.4g, 1: %.3g}}`, 2/host.flop, host.call)
	line(`"host dtrsm":`)
	line("  - {when: {side: L}, terms: {M^2*N: %.4g, 1: %.3g}}", 1/host.flop/trsmPart, host.call)
	line("  - {when: {side: R}, terms: {M*N^2: %.4g, 1: %.3g}}", 1/host.flop/trsmPart, host.call)
	for _, k := range []moving{{"dgemv", "M*N", 8}, {"dger", "M*N", 16}, {"dtrsv", "N^2", 4}, {"dscal", "N", 16}, {"daxpy", "N", 24}, {"idamax", "N", 8},
		{"dlacpy", "M*N", 16}, {"dlatcpy", "M*N", 16}} {
		line(`"host %s": {terms: {%s: %.4g, 1: %.3g}}`, k.name, k.product, k.bytes/host.panel, callTime)
	}
}

// writeDevices describes the GPUs for people.
func (s *Sheet) writeDevices(w io.Writer) {
	g, r := &s.GPU, s.deviceRates()
	fmt.Fprintf(w, "- %d GPUs a node, a rank each: %.4g Tflop/s in double precision by the sheet, %.4g in large products; %.4g GB of memory at %.4g"+
		" TB/s; %.4g GB/s to the host, %.4g to the others of the node; %s\n", g.Count, g.Peak["fp64"]/1e12, r.flop["fp64"]/1e12, g.Memory/1e9,
		g.Bandwidth/1e12, g.HostLink/1e9, g.Fabric/1e9, textutil.Count(g.Ports, "port"))
}
