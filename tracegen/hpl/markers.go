package hpl

import "reprise/trace"

// Phases of a run, numbered as trace.Marker.Phase counts them, from 1.
const (
	phaseFactorization = iota + 1
	phasePivotExchange
	phaseBroadcast
	phaseUpdate
	phaseSwap
	phaseSolve
)

var phaseNames = []string{"factorization", "pivot exchange", "broadcast", "update", "swap", "solve"}

// Markers of the trace, in the order of markerTable: which routine of HPL the
// actions between them belong to.
const (
	beginSolver = iota // N NB
	endSolver
	markPanel   // j jb mp nq prow pcol tag len
	beginFact   // column
	endFact     // column
	beginRecur  // M N column
	endRecur    //
	beginLeaf   // M N column
	endLeaf     //
	beginPivot  // M column
	endPivot    //
	beginInit   // column
	endInit     //
	beginBcast  // column
	endBcast    // column
	markWaited  // column
	beginUpdate // panel, column of the polled panel or -1, columns asked or -1, columns
	endUpdate   //
	beginSwap00 // panel, columns
	endSwap00   //
	beginSwap01 // panel, columns
	endSwap01   //
	beginRight  // columns, source
	beginLeft   // columns, source
	endSpread   //
	beginEquil  // columns
	endEquil    //
	beginRoll   // columns, lengths, order
	endRoll     //
	beginSolve  //
	endSolve    //
	beginTree   // count, root
	endTree     //
)

// markerTable gives the markers their texts; names of routines depend on the
// variants and forms of a run.
func markerTable(p *Params) []trace.Marker {
	variant := []string{"ll", "cr", "rl"}
	l1, u := p.L1.letter(), p.U.letter()
	recur := "pdrpan" + variant[p.RFact] + l1
	leaf := "pdpan" + variant[p.PFact] + l1
	update := "pdupdate" + l1 + u
	// Markers with a phase also bound the time that profiles count for it; the others are for
	// listings alone, which tests compare line by line with recordings of HPL.
	mark := func(text string) trace.Marker { return trace.Marker{Text: text} }
	begin := func(phase int, text string) trace.Marker {
		return trace.Marker{Text: "begin " + text, Phase: phase}
	}
	end := func(phase int, text string) trace.Marker {
		return trace.Marker{Text: "end " + text, Phase: phase, End: true}
	}
	return []trace.Marker{
		beginSolver: mark("begin pdgesv {} {}"),
		endSolver:   mark("end pdgesv"),
		markPanel:   mark("panel j={} jb={} mp={} nq={} prow={} pcol={} tag={} len={}"),
		beginFact:   begin(phaseFactorization, "pdfact {}"),
		endFact:     end(phaseFactorization, "pdfact {}"),
		beginRecur:  mark("begin " + recur + " {} {} {}"),
		endRecur:    mark("end " + recur),
		beginLeaf:   mark("begin " + leaf + " {} {} {}"),
		endLeaf:     mark("end " + leaf),
		beginPivot:  begin(phasePivotExchange, "pdmxswp {} {}"),
		endPivot:    end(phasePivotExchange, "pdmxswp"),
		beginInit:   mark("begin binit {}"),
		endInit:     mark("end binit"),
		beginBcast:  begin(phaseBroadcast, "bcast {}"),
		endBcast:    end(phaseBroadcast, "bcast {}"),
		markWaited:  mark("bwait {}"),
		beginUpdate: begin(phaseUpdate, update+" panel={} bcast={} NN={} n={}"),
		endUpdate:   end(phaseUpdate, update),
		beginSwap00: begin(phaseSwap, "pdlaswp00"+u+" panel={} n={}"),
		endSwap00:   end(phaseSwap, "pdlaswp00"+u),
		beginSwap01: begin(phaseSwap, "pdlaswp01"+u+" panel={} n={}"),
		endSwap01:   end(phaseSwap, "pdlaswp01"+u),
		beginRight:  mark("begin spread" + u + " R n={} src={}"),
		beginLeft:   mark("begin spread" + u + " L n={} src={}"),
		endSpread:   mark("end spread" + u),
		beginEquil:  mark("begin equil n={}"),
		endEquil:    mark("end equil"),
		beginRoll:   mark("begin roll" + u + " n={} iplen={sums} ipmap={list}"),
		endRoll:     mark("end roll" + u),
		beginSolve:  begin(phaseSolve, "pdtrsv"),
		endSolve:    end(phaseSolve, "pdtrsv"),
		beginTree:   mark("begin broadcast {} root={}"),
		endTree:     mark("end broadcast"),
	}
}
