package hpl

import (
	"reprise/trace"
	"reprise/tracegen"
)

// This file makes the header of the trace (header): families, axes, call sites, phases, markers.

// Families of communicators: the process rows, of q members each, and the process columns.
const (
	rowFamily = tracegen.RowFamily
	colFamily = tracegen.ColFamily
)

// slotBcast is the one pollable operation: the broadcast of a panel.
const slotBcast = 0

// Call sites of the stream, in the order of callSiteTable.
const (
	callBegin      = iota
	callPanel      // a panel is set up
	callFact       // its process column factors it
	callSkip       // other process columns do not
	callInit       // its broadcast becomes pending
	callFinish     // the broadcast is waited for
	callUpdate     // trailing update, swap by binary exchange included
	callUpdateHead // the begin of an update whose swap may be spread-roll
	callSpreadRoll // its swap
	callUpdateWork // its rest
	callRHS        // the solve's first message: the right-hand side
	callDiag       // a diagonal block is solved
	callBlock      // the process column of the block above passes the solution on
	callPartial    // the next process column adds partial sums
	callRest       // rows above the window
	callTree       // the last block's broadcast
	callEnd
)

// callSiteTable says which arguments the blocks called from each place have, and on what axis they vary.
func callSiteTable() []trace.CallSite {
	site := tracegen.GridSite
	return []trace.CallSite{
		callBegin:      site("begin", "", "all", ""),
		callPanel:      site("panel", "", "row", "j, ml2:row, nq:col, prow, pcol, tag"),
		callFact:       site("factorize", "col", "row", "j, ml2:row, prow, pivots[]"),
		callSkip:       site("skip", "col", "all", "j"),
		callInit:       site("bcast", "", "col", "j, tag, pcol, ml2:row, piece:row"),
		callFinish:     site("finish", "", "all", "j"),
		callUpdate:     site("update", "col", "row", "j, bcast, n:col, ml2:row, prow, swapped[]"),
		callUpdateHead: site("update head", "col", "row", "j, bcast, n:col, prow, swapped[]"),
		callSpreadRoll: site("spread-roll", "col", "row", "j, n:col, jb, k0, uneven, order[], lengths[], equal[]"),
		callUpdateWork: site("update work", "col", "row", "n:col, ml2:row"),
		callRHS:        site("right-hand side", "", "col", "m:row, peer:col"),
		callDiag:       site("diagonal", "row col", "all", "kp"),
		callBlock:      site("block", "col", "row", "window blocks:row, kp, prow, pcol, row tag, column tag"),
		callPartial:    site("partial sums", "col", "all", "window blocks:row, pcol, row tag"),
		callRest:       site("rest", "col", "all", "rest blocks:row, kp"),
		callTree:       site("tree", "col", "row", "kp, prow"),
		callEnd:        site("end", "", "all", ""),
	}
}

// header describes the trace of a run.
func header(p *Params, o *Options) *trace.Header {
	// Row-major: members of a process row are neighbours, and the rows begin Q ranks apart. Column-major: the
	// other way round.
	rowStart, rowStride, colStart, colStride := p.Q, 1, 1, p.Q // of the process grid on world ranks
	if p.PMap == ColumnMajor {
		rowStart, rowStride, colStart, colStride = 1, p.P, p.P, 1
	}
	h := &trace.Header{
		Program: "hpl",
		Tool:    o.Tool,
		Command: o.Command,
		Params:  p.List(),
		Result:  tracegen.GridResult(p.Variant(), p.N, p.NB, p.P, p.Q),
		Flops:   p.Flops(),
		Ranks:   p.P * p.Q,
		Steps:   p.Steps() + 1, // the drain and the solve are the last
		CommFamilies: []trace.CommFamily{
			rowFamily: {Name: "row", Groups: tracegen.Groups(p.P, rowStart, rowStride, p.Q)},
			colFamily: {Name: "col", Groups: tracegen.Groups(p.Q, colStart, colStride, p.P)},
		},
		Axes:      tracegen.GridAxes(),
		Phases:    phaseNames,
		Kernels:   Kernels(),
		Markers:   markerTable(p),
		CallSites: callSiteTable(),
		Pollables: 1,
	}
	if p.Program.roc() {
		rocHeader(p, h)
	}
	return h
}

// Phases of a run, numbered as trace.Marker.Phase counts them, from 1.
const (
	phaseFactorization = iota + 1
	phasePivotExchange
	phaseBroadcast
	phaseUpdate
	phaseSwap
	phaseSolve
)

// phaseNames are the names of the phases, in the order of their numbers.
var phaseNames = []string{"factorization", "pivot exchange", "broadcast", "update", "swap", "solve"}

// Markers of the trace, in the order of markerTable: which routine of HPL the actions between them belong to.
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
	numMarkers
)

// markerTable gives the markers their texts; names of routines depend on the variants and forms of a run.
func markerTable(p *Params) []trace.Marker {
	variant := []string{"ll", "cr", "rl"}
	// HPL has a routine for each variant and form, with these in its name.
	l1, u := "TN"[p.L1:p.L1+1], "TN"[p.U:p.U+1] // the letters of forms in names of routines
	recur := "pdrpan" + variant[p.RFact] + l1
	leaf := "pdpan" + variant[p.PFact] + l1
	update := "pdupdate" + l1 + u
	// Markers with a phase also bound the time that profiles count for it; the others are for
	// listings alone, which tests compare line by line with recordings of HPL.
	markers := make([]trace.Marker, numMarkers)
	pair := func(begin, phase int, text, end string) { tracegen.MarkPair(markers, begin, phase, text, end) }
	pair(beginSolver, 0, "pdgesv {} {}", "pdgesv")
	markers[markPanel].Text = "panel j={} jb={} mp={} nq={} prow={} pcol={} tag={} len={}"
	pair(beginFact, phaseFactorization, "pdfact {}", "pdfact {}")
	pair(beginRecur, 0, recur+" {} {} {}", recur)
	pair(beginLeaf, 0, leaf+" {} {} {}", leaf)
	pair(beginPivot, phasePivotExchange, "pdmxswp {} {}", "pdmxswp")
	pair(beginInit, 0, "binit {}", "binit")
	pair(beginBcast, phaseBroadcast, "bcast {}", "bcast {}")
	markers[markWaited].Text = "bwait {}"
	pair(beginUpdate, phaseUpdate, update+" panel={} bcast={} NN={} n={}", update)
	pair(beginSwap00, phaseSwap, "pdlaswp00"+u+" panel={} n={}", "pdlaswp00"+u)
	pair(beginSwap01, phaseSwap, "pdlaswp01"+u+" panel={} n={}", "pdlaswp01"+u)
	markers[beginRight].Text = "begin spread" + u + " R n={} src={}"
	pair(beginLeft, 0, "spread"+u+" L n={} src={}", "spread"+u) // and of the other direction
	pair(beginEquil, 0, "equil n={}", "equil")
	pair(beginRoll, 0, "roll"+u+" n={} iplen={sums} ipmap={list}", "roll"+u)
	pair(beginSolve, phaseSolve, "pdtrsv", "pdtrsv")
	pair(beginTree, 0, "broadcast {} root={}", "broadcast")
	return markers
}
