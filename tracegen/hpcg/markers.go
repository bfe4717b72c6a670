package hpcg

import (
	"reprise/trace"
	"reprise/trace/text"
)

// Phases of a run, numbered as trace.Marker.Phase counts them, from 1: HPCG's clocks, and
// the halo exchanges, which are part of SpMV and MG. They are those of the timed sets only.
const (
	phaseDDOT = 1 + iota // as the parts
	phaseWAXPBY
	phaseSpMV
	phaseMG
	phaseCG
	phaseHalo
)

var phaseNames = []string{"DDOT", "WAXPBY", "SpMV", "MG", "CG", "halo"}

// Markers of the trace, in the order of markerTable: which routine of HPCG the actions
// between them belong to.
const (
	beginClockDDOT = iota // of the clocks: no text
	beginClockWAXPBY
	beginClockSpMV
	beginClockMG
	beginClockCG
	endClockDDOT
	endClockWAXPBY
	endClockSpMV
	endClockMG
	endClockCG
	beginTimed     // MAXITER
	endTimed       // ITERATIONS
	beginMG        // LEVEL
	endMG          // LEVEL
	beginHalo      // LEVEL
	endHalo        // LEVEL
	beginTimedHalo // LEVEL
	endTimedHalo   // LEVEL
	beginRef       // MAXITER
	endRef         // ITERATIONS
	beginPlain     // MAXITER; without preconditioner
	beginCG        // MAXITER; with it
	endCG          // ITERATIONS
	beginGenerate  // LEVEL
	endGenerate    // LEVEL ROWS NNZ
	beginSetupHalo // LEVEL
	endSetupHalo   // LEVEL NEIGHBOURS VALUES COLS
	beginCoarsen   // LEVEL
	endCoarsen     // LEVEL
	beginCheck     // LEVEL
	endCheck       // LEVEL
	beginOptimize
	endOptimize
	beginTestCG
	endTestCG
	beginSymmetry
	endSymmetry
	beginReport
	endReport
)

// markerTable gives the markers their texts.
func markerTable() []trace.Marker {
	// Clocks have no text: a recording of HPCG does not list them.
	begin := func(phase int, text string) trace.Marker { return trace.Marker{Text: text, Phase: phase} }
	end := func(phase int, text string) trace.Marker { return trace.Marker{Text: text, Phase: phase, End: true} }
	mark := func(text string) trace.Marker { return trace.Marker{Text: text} }
	return []trace.Marker{
		beginClockDDOT:   begin(phaseDDOT, ""),
		beginClockWAXPBY: begin(phaseWAXPBY, ""),
		beginClockSpMV:   begin(phaseSpMV, ""),
		beginClockMG:     begin(phaseMG, ""),
		beginClockCG:     begin(phaseCG, ""),
		endClockDDOT:     end(phaseDDOT, ""),
		endClockWAXPBY:   end(phaseWAXPBY, ""),
		endClockSpMV:     end(phaseSpMV, ""),
		endClockMG:       end(phaseMG, ""),
		endClockCG:       end(phaseCG, ""),
		beginTimed:       mark("begin cg {} zero mg"),
		endTimed:         mark("end cg {}"),
		beginMG:          mark("begin mg {}"),
		endMG:            mark("end mg {}"),
		beginHalo:        mark("begin halo {}"),
		endHalo:          mark("end halo {}"),
		beginTimedHalo:   begin(phaseHalo, "begin halo {}"),
		endTimedHalo:     end(phaseHalo, "end halo {}"),
		beginRef:         mark("begin cgref {} zero mg"),
		endRef:           mark("end cgref {}"),
		beginPlain:       mark("begin cg {} tol none"),
		beginCG:          mark("begin cg {} tol mg"),
		endCG:            mark("end cg {}"),
		beginGenerate:    mark("begin generate {}"),
		endGenerate:      mark("end generate {} rows {} nnz {}"),
		beginSetupHalo:   mark("begin setuphalo {}"),
		endSetupHalo:     mark("end setuphalo {} neighbours {} values {} cols {}"),
		beginCoarsen:     mark("begin coarsen {}"),
		endCoarsen:       mark("end coarsen {}"),
		beginCheck:       mark("begin check {}"),
		endCheck:         mark("end check {}"),
		beginOptimize:    mark("begin optimize"),
		endOptimize:      mark("end optimize"),
		beginTestCG:      mark("begin testcg"),
		endTestCG:        mark("end testcg"),
		beginSymmetry:    mark("begin testsymmetry"),
		endSymmetry:      mark("end testsymmetry"),
		beginReport:      mark("begin report"),
		endReport:        mark("end report"),
	}
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
