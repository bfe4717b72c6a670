package goal

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strconv"

	"reprise/trace"
)

// graph writes the operations of one rank. Their numbers are their labels, from 1.
type graph struct {
	w       *bufio.Writer
	last    int64 // number of the last operation
	before  []dependency
	pending []request // in the order in which they began
	calc    float64   // ns of computation not written yet
	line    []byte
}

// dependency is what the next operation waits for: the end of an operation, or
// only its start.
type dependency struct {
	operation int64
	start     bool
}

type request struct {
	slot      int32
	operation int64
}

// maxPending bounds the requests that a rank may have pending.
const maxPending = trace.MaxRequests

// maxCalc bounds a calc, so that it fits into GOAL's 64 bits: 31 years.
const maxCalc = 1e18 // ns

// compute adds seconds of computation.
func (g *graph) compute(seconds float64) error {
	g.calc += float64(seconds * 1e9)
	if !(g.calc < maxCalc) {
		return fmt.Errorf("computation of %g s, want less than %g s", g.calc/1e9, maxCalc/1e9)
	}
	return nil
}

// flushCalc writes the computation up to here as one operation of whole
// nanoseconds; what rounding changed stays for the next one.
func (g *graph) flushCalc() {
	ns := math.Floor(g.calc + 0.5)
	if ns < 1 {
		return
	}
	g.calc -= ns
	g.label()
	g.line = strconv.AppendFloat(append(g.line, "calc "...), ns, 'f', 0, 64)
	g.blocking(g.end())
}

// wildcard is GOAL's any source and any tag.
const wildcard = -1

// message writes an operation with its dependencies, and returns its number.
func (g *graph) message(verb string, bytes int64, relation string, peer, tag int32) int64 {
	if tag == trace.AnyTag {
		tag = wildcard
	}
	if peer == trace.AnySource {
		peer = wildcard
	}
	g.label()
	g.line = strconv.AppendInt(append(g.line, verb...), bytes, 10)
	g.line = strconv.AppendInt(append(g.line, relation...), int64(peer), 10)
	g.line = strconv.AppendInt(append(g.line, " tag "...), int64(tag), 10)
	return g.end()
}

// label begins the line of a new operation.
func (g *graph) label() {
	g.last++
	g.name(g.last)
	g.line = append(g.line, ": "...)
}

// name appends the label of an operation.
func (g *graph) name(operation int64) {
	g.line = strconv.AppendInt(append(g.line, 'l'), operation, 10)
}

// end ends the line of an operation and writes what it depends on. It returns its
// number.
func (g *graph) end() int64 {
	g.line = append(g.line, '\n')
	for _, d := range g.before {
		g.name(g.last)
		if d.start {
			g.line = append(g.line, " irequires "...)
		} else {
			g.line = append(g.line, " requires "...)
		}
		g.name(d.operation)
		g.line = append(g.line, '\n')
	}
	// The writer keeps its first error.
	g.w.Write(g.line)
	g.line = g.line[:0]
	return g.last
}

// blocking lets the next operation wait for the end of this one.
func (g *graph) blocking(operation int64) {
	g.before = append(g.before[:0], dependency{operation, false})
}

// started lets the next operation wait for the start of this one only.
func (g *graph) started(operation int64) int64 {
	g.before = append(g.before[:0], dependency{operation, true})
	return operation
}

// require lets the next operation wait for the end of this one, too.
func (g *graph) require(operation int64) {
	for i, d := range g.before {
		if d.operation == operation {
			g.before[i].start = false
			return
		}
	}
	g.before = append(g.before, dependency{operation, false})
}

// begin makes an operation a pending request.
func (g *graph) begin(slot int32, operation int64) error {
	if slices.ContainsFunc(g.pending, func(r request) bool { return r.slot == slot }) {
		return fmt.Errorf("request slot %d is taken: its request was not waited for", slot)
	}
	if len(g.pending) == maxPending {
		return fmt.Errorf("more than %d requests are pending", maxPending)
	}
	g.pending = append(g.pending, request{slot, operation})
	g.started(operation)
	return nil
}

// find returns the index of the pending request in a slot, or -1.
func (g *graph) find(slot int32) int {
	return slices.IndexFunc(g.pending, func(r request) bool { return r.slot == slot })
}
