package sheet

// This file writes models of the kernels of HPL-MxP (tracegen/mxp), whose precision is part of their names.

// mxpSpeeds are what they go by: flop/s of large products by precision and the part that triangular solves reach,
// byte/s, seconds of a call, and of a step of a kernel that nothing can be done beside.
type mxpSpeeds struct {
	flop                       map[string]float64
	trsmPart, exposed          float64
	memory, call, serial, link float64 // link: seconds of a byte to the host; 0 without a device
}

// generated is the flop that an entry of the matrix takes, in double precision: a step of a linear congruential
// generator, its conversion, and a multiply-add, two for each instruction.
const generated = 10

// writeMxP writes the models. Those of programs on devices are those of processors with other names.
func writeMxP(line func(string, ...any), s mxpSpeeds) {
	// Products: flop, and the bytes of C, A and B that are not hidden behind them. The names with p have packed operands.
	for _, k := range []struct {
		name, precision string
		operand, result float64 // bytes of an element
	}{{"hgemm*", "fp16", 2, 2}, {"shgemm", "fp16", 2, 4}, {"sgemm*", "fp32", 4, 4}, {"dsgemm*", "fp32", 4, 8}} {
		operand := k.operand * s.exposed / s.memory
		line(`"%s": {terms: {M*N*K: %.4g, M*N: %.4g, M*K: %.4g, N*K: %.4g, 1: %.3g}}`, k.name, 2/s.flop[k.precision],
			2*k.result*s.exposed/s.memory, operand, operand, s.call)
	}
	single := 1 / s.flop["fp32"] / s.trsmPart
	writeTriangular(line, "strsm", single, 8*s.exposed/s.memory, s.call)
	line("sgetrf: {terms: {N^3: %.4g, N: %.3g, 1: %.3g}}", single*2/3, s.serial, s.call)
	line("strtri: {terms: {N^3: %.4g, N: %.3g, 1: %.3g}}", single/3, s.serial, s.call)
	// Kernels that move bytes, of which those of the matrix in double precision are generated.
	for _, k := range []struct {
		name, product string
		bytes, flop   float64
	}{
		{"scopy", "M*N", 8, 0}, {"scopy2", "M*N", 12, 0}, {"conv", "M*N", 6, 0}, {"convp", "M*N", 6, 0}, {"writeback", "M*N", 6, 0},
		{"lazy", "M*N", 6, generated}, {"lazyb", "M*N", 6, generated}, {"lazydiag", "N^2", 6, generated},
		{"lazydiagb", "N^2", 6, generated}, {"otfgemv", "M*N", 0, generated}, {"checksum", "M*N", 4, 0},
		{"l1est", "M*N", 4, 0}, {"spack", "N^2", 8, 0}, {"spackl", "N^2", 4, 0}, {"spacku", "N^2", 4, 0},
		{"dsgemv", "M*N", 4, 0}, {"gemv", "M*N", 4, 0}, {"dsgemvp", "N^2", 4, 0}, {"dstrsv", "N^2", 2, 0}, {"lacpy*", "M*N", 8, 0}, {"latcpy*", "M*N", 8, 0},
		{"vcopy", "N", 16, 0}, {"vrow", "N", 16, 0}, {"vinit", "N", 8, 0}, {"vzero", "N", 8, 0}, {"set", "N", 8, 0},
		{"vdiv", "N", 24, 0}, {"vadd", "N", 24, 0}, {"vsub", "N", 24, 0}, {"vmax", "N", 8, 0}, {"axpy", "N", 24, 0},
		{"pcopy", "N", 16, 0}, {"paxpy", "N", 24, 0}, {"ptranspose", "N", 16, 0}, {"plange", "N", 8, 0},
	} {
		line(`"%s": {terms: {%s: %.4g, 1: %.3g}}`, k.name, k.product, k.bytes/s.memory+float64(k.flop/s.flop["fp64"]), s.call)
	}
	if s.link > 0 {
		line("d2h: {terms: {BYTES: %.4g, 1: %.3g}}", s.link, gpuCopy)
	}
}
