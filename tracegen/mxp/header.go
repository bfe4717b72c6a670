package mxp

import (
	"strings"

	"reprise/trace"
	"reprise/trace/text"
	"reprise/tracegen"
)

// This file makes the header of a trace: families, axes, call sites, kernels, markers.

// Program is the name of the program in headers.
const Program = "hpl-mxp"

// Families of communicators.
const (
	rowFamily = tracegen.RowFamily
	colFamily = tracegen.ColFamily
)

// Call sites. Those with a mask of process columns have blocks for process rows, and the other way round.
const (
	callRun     = iota // all ranks: rows, columns, number of an iteration
	callVectors        // all ranks: rows, entries of vectors, number of an iteration
	callProduct        // a column of blocks of the product with the matrix: root, rows, process row
	callStep           // a step of the factorization: k, its process row and column, blocks left, sizes of panels
	callRowcast        // a broadcast along process rows: root, elements, elements of a piece
	callColcast
	callSolve // a column of blocks of a triangular solve: process row and column, rest, first, forward
)

// Markers.
const (
	beginLU = iota
	endLU
	markStep // k
	beginRefine
	endRefine
	beginResidual // iteration
	endResidual
	beginTrsvL
	endTrsvL
	beginTrsvU
	endTrsvU
	beginCasts // of each broadcast of rocm
	numMarkers = beginCasts + 2*4
)

// casts are the names of the broadcasts of rocm.
var casts = []string{"Drow", "Dcol", "L", "U"}

// Broadcasts of rocm.
const (
	castDrow = iota
	castDcol
	castL
	castU
)

// Phases of a run, numbered as trace.Marker.Phase counts them.
const (
	phaseLU = 1 + iota
	phaseResidual
	phaseSolve
	phaseBroadcast
)

// Events of rocm, and the queue of its kernels.
const (
	eventGetrf = iota
	eventL
	eventU
	eventPiv
	queueCompute = 0
)

// header describes the trace of a run.
func (g *generator) header(tool, command string) *trace.Header {
	p := g.p
	groups := [2][][]int32{make([][]int32, p.P), make([][]int32, p.Q)}
	for r := range groups[rowFamily] {
		groups[rowFamily][r] = make([]int32, p.Q)
	}
	for q := range groups[colFamily] {
		groups[colFamily][q] = make([]int32, p.P)
	}
	for w := range p.P * p.Q {
		r, q := p.Place(w)
		groups[rowFamily][r][q], groups[colFamily][q][r] = int32(w), int32(w)
	}
	var families [2]trace.CommFamily
	for f, name := range []string{"row", "col"} {
		families[f].Name = name
		for _, ranks := range groups[f] {
			families[f].Groups = append(families[f].Groups, trace.GroupOf(ranks))
		}
	}
	site := tracegen.GridSite
	h := &trace.Header{
		Program: Program, Tool: tool, Command: command, Params: p.List(), Flops: p.Flops(),
		Ranks: p.P * p.Q, Steps: p.Steps(),
		Result:       tracegen.GridResult(p.Variant, p.N, p.NB, p.P, p.Q),
		CommFamilies: families[:],
		// Both programs have a communicator of each process row and column.
		Communicators: true,
		Axes:          tracegen.GridAxes(),
		Phases:        []string{"factorization", "residual", "solve", "broadcast"},
		Kernels:       g.kernelTable(),
		CallSites: []trace.CallSite{
			callRun:     site("run", "", "all", "rows:row, cols:col, it"),
			callVectors: site("vectors", "", "all", "rows:row, d:rank, it"),
			callProduct: site("product", "", "col", "root:col, rows:row, row:row"),
			callStep:    site("step", "col", "row", "k, prow, pcol, m:row, n:col, l:row, u:col"),
			callRowcast: site("row broadcast", "row", "col", "pcol, elements:row, piece:row"),
			callColcast: site("col broadcast", "col", "row", "prow, elements:col, piece:col"),
			callSolve:   site("solve", "col", "row", "row:row, col:col, rest:row, first, forward:row"),
		},
	}
	if p.Variant == rocm {
		h.Queues, h.Events = []string{"compute"}, []string{"getrf", "lbcast", "ubcast", "piv"}
	}
	h.Markers = make([]trace.Marker, numMarkers)
	pair := func(begin, phase int, text string) { tracegen.MarkPair(h.Markers, begin, phase, text, text) }
	pair(beginLU, phaseLU, "lu")
	h.Markers[markStep].Text = "step {}"
	pair(beginRefine, 0, "refine")
	pair(beginResidual, phaseResidual, "residual {}")
	pair(beginTrsvL, phaseSolve, "trsvL {}")
	pair(beginTrsvU, phaseSolve, "trsvU {}")
	for i, name := range casts {
		pair(beginCasts+2*i, phaseBroadcast, "bcast "+name)
	}
	return h
}

// kernelTable returns the kernels of the variant, and notes their numbers by name. Those that only move data have no
// flop.
func (g *generator) kernelTable() []trace.Kernel {
	var list []trace.Kernel
	g.kernels = map[string]int{}
	add := func(names, dims string, flops ...trace.Term) {
		for name := range strings.SplitSeq(names, ",") {
			k := trace.Kernel{Flops: flops}
			words := strings.Fields(name)
			k.Name = words[0]
			for _, value := range words[1:] { // precisions, or what BLAS calls characters
				attr := "precision"
				if len(value) == 1 && strings.Contains("LRU", value) {
					if attr = "uplo"; strings.HasSuffix(k.Name, "trsm") || k.Name == "convp" {
						attr = "side"
					}
				}
				k.Attrs = append(k.Attrs, trace.Param{Name: attr, Value: value})
			}
			for dim := range strings.FieldsSeq(dims) {
				if dim == "SET" {
					k.Dims = append(k.Dims, trace.Dim{Name: dim, Enum: []string{"", "set"}})
					continue
				}
				k.Dims = append(k.Dims, trace.Dim{Name: dim})
			}
			g.kernels[name] = len(list)
			list = append(list, k)
		}
	}
	term := tracegen.Term
	gemm, gemv, cube := term(2, 1, 1, 1), term(2, 1, 1), term(2.0/3, 3)
	if g.p.Variant == rocm {
		add("shgemm", "M N K SET", gemm)
		add("sgetrf", "N", cube)
		add("strtri U,strtri L", "N", term(1.0/3, 3))
		add("lacpy ss,lacpy sh,latcpy sh,lacpyL sh,latcpyU sh,lacpyL sd,lacpyU sd", "M N")
		add("otfgemv,gemv ds", "M N", gemv)
		add("dtrsv L,dtrsv U", "N", term(1, 2))
		add("set d,vinit,pcopy,paxpy,ptranspose", "N")
		add("axpy d,plange", "N", term(1, 1))
		add("d2h", "BYTES")
		return list
	}
	h := g.high
	add(g.gemm, "M N K", gemm)
	add(h+"trsm L", "M N", term(1, 2, 1))
	add(h+"trsm R", "M N", term(1, 1, 2))
	add(h+"getrf", "N", cube)
	add(h+"copy,"+h+"copy2,conv,convp L,convp R,lazy,lazyb,writeback,checksum,l1est", "M N")
	add("lazydiag,lazydiagb,"+h+"pack,"+h+"packl,"+h+"packu", "N")
	add("otfgemv,d"+h+"gemv", "M N", gemv)
	add("d"+h+"trsv L,d"+h+"trsv U", "N", term(1, 2))
	add("d"+h+"gemvp", "N", term(2, 2))
	add("vcopy,vrow,vinit,vzero", "N")
	add("vdiv,vadd,vsub,vmax", "N", term(1, 1))
	return list
}

// Words returns the lines of a listing as the recorded runs have them.
func Words() text.Words {
	return text.Words{Plain: true, Collectives: map[trace.CollectiveKind]string{
		trace.CollBarrier: "barrier {comm}", trace.CollBcast: "bcast {root} {bytes} {comm}",
		trace.CollAllreduce: "allreduce {bytes} {operator} {comm}"}}
}

// Steps returns the steps of the trace: those of the factorization, and one of each residual with the solve behind it.
func (p *Params) Steps() int { return int(p.LUSteps()) + p.Residuals }
