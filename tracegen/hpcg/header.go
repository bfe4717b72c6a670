package hpcg

import (
	"reprise/trace"
	"reprise/trace/text"
	"reprise/tracegen"
)

// This file makes the header of the trace (header): families, axes, the call site, phases, markers.

// Families of ranks: all, those of equal position in x, and the lines of ranks along x, in
// which the own rank is found by its position.
const (
	familyWorld = iota
	familyX
	familyLine
)

// Axes: columns have a value for each position in x, or for each line, which is a position in y and z.
const (
	axisX = iota
	axisLine
)

// callWork is the one call site: each line calls its block with the position in x.
const callWork = 0

// header describes the trace of a run.
func header(p *Params, o *Options) *trace.Header {
	g := p.Grid
	return &trace.Header{
		Program: Program,
		Tool:    o.Tool,
		Command: o.Command,
		Params:  p.List(),
		Flops:   Total(p.Flops()),
		Ranks:   p.Ranks,
		Steps:   p.Steps(),
		CommFamilies: []trace.CommFamily{
			familyWorld: {Name: "-", Groups: tracegen.Groups(1, 0, 1, p.Ranks)}, // "-": messages are not listed with one
			familyX:     {Name: "x", Groups: tracegen.Groups(g.NX, 1, g.NX, g.NY*g.NZ)},
			familyLine:  {Name: "line", Groups: tracegen.Groups(g.NY*g.NZ, g.NX, 1, g.NX)},
		},
		Axes: []trace.Axis{
			axisX:    {Name: "x", Kind: trace.AxisFamily, Family: familyX},
			axisLine: {Name: "line", Kind: trace.AxisFamily, Family: familyLine},
		},
		Phases:  phaseNames,
		Kernels: Kernels(),
		Markers: markerTable(),
		CallSites: []trace.CallSite{
			callWork: {Name: "work", Counts: trace.NoAxis, Block: axisLine,
				Params: []trace.ParamColumn{{Name: "x", Axis: axisX}}},
		},
	}
}

// Program is the name of the program in headers.
const Program = "hpcg"

// Phases of a run, numbered as trace.Marker.Phase counts them, from 1: HPCG's clocks, and the halo exchanges,
// which are part of SpMV and MG. Only the timed sets have phases.
const (
	phaseDDOT = 1 + iota // as the parts
	phaseWAXPBY
	phaseSpMV
	phaseMG
	phaseCG
	phaseHalo
)

// phaseNames are the names of the phases, in the order of their numbers.
var phaseNames = []string{"DDOT", "WAXPBY", "SpMV", "MG", "CG", "halo"}

// Markers of the trace, in the order of markerTable: which routine of HPCG the actions between them belong to.
const (
	beginClock = 0              // of the clocks: no text; of the first part, with the others behind it
	endClock   = beginClock + 5 // likewise
)

const (
	beginTimed     = 10 + iota // MAXITER
	endTimed                   // ITERATIONS
	beginMG                    // LEVEL
	endMG                      // LEVEL
	beginHalo                  // LEVEL
	endHalo                    // LEVEL
	beginTimedHalo             // LEVEL
	endTimedHalo               // LEVEL
	beginRef                   // MAXITER
	endRef                     // ITERATIONS
	beginPlain                 // MAXITER; without preconditioner
	beginCG                    // MAXITER; with it
	endCG                      // ITERATIONS
	beginGenerate              // LEVEL
	endGenerate                // LEVEL ROWS NNZ
	beginSetupHalo             // LEVEL
	endSetupHalo               // LEVEL NEIGHBOURS VALUES COLS
	beginCoarsen               // LEVEL
	endCoarsen                 // LEVEL
	beginCheck                 // LEVEL
	endCheck                   // LEVEL
	beginOptimize
	endOptimize
	beginTestCG
	endTestCG
	beginSymmetry
	endSymmetry
	beginReport
	endReport
	numMarkers
)

// markerTable gives the markers their texts.
func markerTable() []trace.Marker {
	// Clocks have no text: a recording of HPCG does not list them.
	markers := make([]trace.Marker, numMarkers)
	for clock := range endClock {
		markers[beginClock+clock] = trace.Marker{Phase: phaseDDOT + clock}
		markers[endClock+clock] = trace.Marker{Phase: phaseDDOT + clock, End: true}
	}
	pair := func(begin int, first, last string) {
		markers[begin].Text, markers[begin+1].Text = "begin "+first, "end "+last
	}
	pair(beginTimed, "cg {} zero mg", "cg {}")
	pair(beginMG, "mg {}", "mg {}")
	pair(beginHalo, "halo {}", "halo {}")
	pair(beginTimedHalo, "halo {}", "halo {}")
	markers[beginTimedHalo].Phase, markers[endTimedHalo].Phase, markers[endTimedHalo].End = phaseHalo, phaseHalo, true
	pair(beginRef, "cgref {} zero mg", "cgref {}")
	markers[beginPlain].Text = "begin cg {} tol none" // ends as beginCG does
	pair(beginCG, "cg {} tol mg", "cg {}")
	pair(beginGenerate, "generate {}", "generate {} rows {} nnz {}")
	pair(beginSetupHalo, "setuphalo {}", "setuphalo {} neighbours {} values {} cols {}")
	pair(beginCoarsen, "coarsen {}", "coarsen {}")
	pair(beginCheck, "check {}", "check {}")
	pair(beginOptimize, "optimize", "optimize")
	pair(beginTestCG, "testcg", "testcg")
	pair(beginSymmetry, "testsymmetry", "testsymmetry")
	pair(beginReport, "report", "report")
	return markers
}

// Words returns the lines of a listing that the recorded runs of HPCG write in another way.
func Words() text.Words {
	return text.Words{
		Wait: "wait {peer} {bytes}",
		Collectives: map[trace.CollectiveKind]string{
			trace.CollAllreduce: "allreduce {count} {size} {operator}",
			trace.CollBcast:     "bcast {count} {size} {root}",
		},
	}
}
