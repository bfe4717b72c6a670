package hpl

import (
	"fmt"

	"reprise/trace"
	"reprise/trace/text"
	"reprise/tracegen"
)

// This file makes what the header of a trace of rocHPL has besides HPL's: queues and events, kernels, call sites,
// markers, and the order of ranks by nodes.

// Queues of the device.
const (
	queueCompute = iota // all kernels, in order
	queueData           // small copies; in version 6, the panel on its way to the host and back
)

// Events: one of each kind for each section, in the order of sections, and those of the factorization.
const (
	eventSwap      = 0                       // what a swap sends is packed
	eventUpdate    = eventSwap + numSections // an update has ended
	eventGemmStart = eventUpdate + numSections
	eventGemmStop  = eventGemmStart + numSections
	eventFactStart = eventGemmStop + numSections
	eventFactStop  = eventFactStart + 1
	numSections    = 3
)

// rocEvents returns the names of the events.
func rocEvents() []string {
	names := make([]string, eventFactStop+1)
	for of, kind := range []string{"swap-start", "update", "dgemm-start", "dgemm-stop"} {
		for s, section := range sectionNames {
			names[of*numSections+s] = kind + "." + section
		}
	}
	names[eventFactStart], names[eventFactStop] = "pfact-start", "pfact-stop"
	return names
}

// Kernels of rocHPL behind those of HPL.
const (
	rocLaswp02T = dlocswpT + 1
	rocSetZero  = rocLaswp02T + 1
	rocLeaf     = rocSetZero + 1 // by PFACT and form of L1
)

// Copies to the device, to the host and within the device; two of them of columns.
const (
	rocCopyIn = rocLeaf + 6 + iota
	rocCopyOut
	rocCopyOwn
	rocCopy2In
	rocCopy2Out
	rocHost // the first kernel of the host, which version 6 has
)

// Kernels of the host in version 6, counted from rocHost. BLAS calls are cut into tiles of NB rows for threads, of
// which the first is shorter by OFFSET.
const (
	hostIamax = rocHost + iota
	hostScal
	hostAxpy
	hostGer
	hostGemvTiles
	hostGemmTilesN
	hostGemmTilesT
	hostGemvN // from here on by one thread
	hostGemvT
	hostTrsvL
	hostTrsvU
	hostTrsmL
	hostTrsmR
	hostGemm
	hostLacpy
	hostLatcpy
)

// rocKernels returns the kernels of a variant of rocHPL, those of HPL with their numbers first.
func rocKernels(p *Params) []trace.Kernel {
	list := Kernels()
	copies := func(name, way string, dims ...trace.Dim) trace.Kernel { return kernel(name, attrs("kind", way), dims) }
	list[dlaswp04T].Dims = dims("M", "N") // other than HPL's
	list = append(list, kernel("dlaswp02T", nil, dims("M", "N")), kernel("setZero", nil, dims("N")))
	for _, f := range []string{"ll", "cr", "rl"} {
		for _, form := range []string{"T", "N"} {
			// A rank-1 update of half of the columns on the average, for each column.
			list = append(list, kernel("pdpan"+f+form, nil, dims("M", "N"), tracegen.Term(1, 1, 2)))
		}
	}
	bytes := trace.Dim{Name: "BYTES"}
	for _, way := range []string{"h2d", "d2h", "d2d"} {
		list = append(list, copies("copy", way, bytes))
	}
	for _, way := range []string{"h2d", "d2h"} {
		list = append(list, copies("copy2d", way, trace.Dim{Name: "WIDTH"}, trace.Dim{Name: "COLUMNS"}))
	}
	if p.Program != RocHPL6 {
		return list
	}
	tiles := trace.Dim{Name: "OFFSET"}
	for offset := range p.NB + 1 {
		tiles.Enum = append(tiles.Enum, fmt.Sprintf("tiles %d %d", p.NB, offset))
	}
	for _, k := range []int{idamax, dscal, daxpy, dger, dgemvN, dgemmNN, dgemmNT} {
		of := list[k]
		of.Name, of.Dims = "host "+of.Name, append(of.Dims[:len(of.Dims):len(of.Dims)], tiles)
		list = append(list, of)
	}
	for _, k := range []int{dgemvN, dgemvT, dtrsvLNU, dtrsvUTU, dtrsmLLNU, dtrsmRUNU, dgemmNN, dlacpy, dlatcpy} {
		of := list[k]
		of.Name = "host " + of.Name
		list = append(list, of)
	}
	return list
}

// Call sites of rocHPL behind those of HPL, of which it calls those of the solve.
const (
	rocPanel    = callEnd + 1 + iota
	rocOwner    // the panel's process column brings it up to date and factors it
	rocFirst    // the first panel is factored
	rocBcast    // its broadcast
	rocStart    // a swap of a section begins
	rocExchange // its messages
	rocUpdate   // the section is updated
	rocMarks    // without arguments
)

// rocCallSites returns the call sites of rocHPL.
func rocCallSites() []trace.CallSite {
	site := tracegen.GridSite
	return append(callSiteTable(),
		site("panel", "", "col", "j, prow, pcol, mp:row, length:row, nu0:col, nu1:col, nu2:col, ldu1:col, ldu2:col"),
		site("owner", "col", "row", "j, next, prow, ml2:row, nu0:col, nu2:col, rows[], row:row, inside"),
		site("first", "col", "row", "j, mp:row, prow"),
		site("bcast", "", "col", "j, pcol, length:row, whole:row, last:row, whole down:row, last down:row"),
		site("start", "col", "row", "j, n:col, rows[], row:row, fetch:col"),
		site("exchange", "col", "row", "j, n:col, ldu:col, rows[], prow"),
		site("update", "col", "row", "j, ml2:row, n:col, rows[], row:row, inside"),
		site("marks", "", "all", ""))
}

// Markers of rocHPL: those of HPL with its texts, and these.
const (
	beginSwapIDs = numMarkers + iota
	endSwapIDs
	beginWait
	endWait
	beginToHost
	endToHost
	beginToDevice
	endToDevice
	endRocFact
	beginRocPivot
	beginRocBcast
	endRocBcast
	beginSections // of each section: begin and end of the start of a swap, its exchange, its end, and an update
	numRocMarkers = beginSections + 8*numSections
)

// The parts of a section's work, in the order of their markers.
const (
	partStart = iota
	partExchange
	partEnd
	partUpdate
)

// sectionMarker returns the marker that begins a part of a section's work; the one behind it ends it.
func sectionMarker(section, part int) int { return beginSections + 8*section + 2*part }

// rocMarkers returns the markers of rocHPL.
func rocMarkers(p *Params) []trace.Marker {
	markers := append(markerTable(p), make([]trace.Marker, numRocMarkers-numMarkers)...)
	markers[markPanel].Text = "panel j={} jb={} mp={} nq={} prow={} pcol={} len={} nu0={} nu1={} nu2={} ldu0={} ldu1={} ldu2={}"
	pair := func(begin, phase int, text, end string) { tracegen.MarkPair(markers, begin, phase, text, end) }
	pair(beginSwapIDs, 0, "swapids", "swapids")
	pair(beginWait, 0, "pwait", "pwait")
	pair(beginToHost, 0, "to-host {}", "to-host")
	pair(beginToDevice, 0, "to-device {}", "to-device")
	pair(beginRocBcast, phaseBroadcast, "bcast {}", "bcast")
	markers[endRocFact] = trace.Marker{Text: "end pdfact", Phase: phaseFactorization, End: true}
	markers[beginRocPivot] = trace.Marker{Text: "begin pdmxswp {}", Phase: phasePivotExchange}
	for s, section := range sectionNames {
		for part, name := range []string{"swap-start", "swap-exchange", "swap-end", "update"} {
			phase := phaseSwap
			if part == partUpdate {
				phase = phaseUpdate
			}
			pair(sectionMarker(s, part), phase, name+" {} "+section, name)
		}
	}
	return markers
}

// RocWords returns the forms of lines of the recordings of rocHPL.
func RocWords() text.Words {
	return text.Words{Wait: "wait {verb} {peer} {bytes} {tag} {comm}", WaitAll: "waitall {count}",
		WaitAny:     "waitany {verb} {peer} {bytes} {tag} {comm}",
		Sendrecv:    "sendrecv {peer} {bytes} {received} {tag} {comm}",
		Collectives: map[trace.CollectiveKind]string{trace.CollBcast: "bcast {root} {bytes} {comm} dev"}}
}

// rocHeader makes a header of HPL that of rocHPL.
func rocHeader(p *Params, h *trace.Header) {
	h.Program = p.Program.String()
	h.Kernels, h.Markers, h.CallSites = rocKernels(p), rocMarkers(p), rocCallSites()
	h.Pollables = 0
	h.Queues, h.Events = []string{queueCompute: "compute", queueData: "data"}, rocEvents()
	n := p.Node
	if p.PMap != ColumnMajor || n == (tracegen.Pair{Rows: p.P, Cols: p.Q}) {
		return
	}
	// Nodes lie in the grid column by column, and ranks in nodes likewise.
	for f := range h.CommFamilies {
		for g := range h.CommFamilies[f].Groups {
			members := make([]int32, []int{rowFamily: p.Q, colFamily: p.P}[f])
			for m := range members {
				r, q := g, m
				if f == colFamily {
					r, q = m, g
				}
				node := r/n.Rows + q/n.Cols*(p.P/n.Rows)
				members[m] = int32(node*n.Rows*n.Cols + r%n.Rows + q%n.Cols*n.Rows)
			}
			h.CommFamilies[f].Groups[g] = trace.Group{Ranks: members}
		}
	}
}
