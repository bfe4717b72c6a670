// Package goal writes traces as GOAL, the text that LogGOPSim (Hoefler, Schneider, Lumsdaine 2010) and the
// simulators after it play, once their txt2bin has made it binary.
//
// GOAL is a graph of calc, send and recv operations per rank; only dependencies
// order them. [Export] writes the order of the program:
//
//	blocking send, recv     the next operation requires it
//	isend, irecv            the next operation irequires it: it has started
//	wait, waitall           the next operation requires what is waited for
//	computation, sleep      calc, in nanoseconds
//
// Every operation has a label, l1, l2, ... in the order of the rank's program.
//
// Computations in a row are one calc. Durations are rounded to whole nanoseconds with what was cut off or added carried
// over, so that the calcs of a rank add up to its computing time within half a nanosecond, wherever one stops.
//
// What GOAL lacks is left out and counted in [tracegen.Exported]: tests, recorded probes, and that a send is synchronous, which
// matters below the size from which LogGOPSim makes all sends rendezvous (option S, 65,535 bytes). A receive of unknown
// size and a negative tag are errors. Collective operations are the messages of SMPI's default selection.
//
//	exported, err := goal.Export(ctx, w, t, tracegen.ExportOptions{Polls: trace.Hit{}, Speed: 32e9})
//
// # Units
//
// Durations become nanoseconds, by a speed in flop/s; sizes are in bytes.
//
// # Errors
//
// They name the rank, the step and what GOAL cannot say.
//
// # Source
//
// T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim: Simulating Large-Scale Applications in the
// LogGOPS Model", HPDC 2010, and the tools of that simulator.
package goal

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"reprise/trace"
	"reprise/tracegen"
)

// EagerLimit is LogGOPSim's default for S: the largest eager message, in bytes.
const EagerLimit = 65535

// Export writes a trace as GOAL text: one rank after the other, as the format wants it. It walks the trace once per
// rank, holding little of it; the trace must therefore be a file, unless it has one rank only.
func Export(ctx context.Context, w io.Writer, t *trace.Trace, o tracegen.ExportOptions) (*tracegen.Exported, error) {
	if !(o.Speed > 0) {
		return nil, fmt.Errorf("goal: speed %v flop/s, want a positive one", o.Speed)
	}
	sum := &tracegen.Exported{}
	plain := tracegen.Plain{Polls: o.Polls, Flops: o.Flops}
	out := bufio.NewWriterSize(w, 1<<16) // keeps its first error, which Flush returns
	fmt.Fprintf(out, "%snum_ranks %d\n", o.Comment("//"), t.Header().Ranks)
	buf := make([]trace.Action, 256)
	for rank := range int32(t.Header().Ranks) {
		cursors, err := t.Cursors([]int32{rank}, trace.CursorOptions{})
		if err != nil {
			return nil, err
		}
		c, g := &cursors[0], &graph{w: out}
		expander := tracegen.NewExpander(t.Program(), rank, func(*trace.Collective) bool { return false })
		fmt.Fprintf(out, "\nrank %d {\n", rank)
		for {
			n, err := plain.Fill(c, buf)
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			if n == 0 {
				break
			}
			for i := range buf[:n] {
				expander.Beside = g.next
				leave := g.enter(&buf[i])
				err := expander.Expand(&buf[i], c, func(a *trace.Action) error { return g.action(a, o.Speed, sum) })
				if leave(); err != nil {
					return nil, fmt.Errorf("rank %d step %d: %w", rank, c.Step(), err)
				}
			}
			if _, err := out.Write(nil); err != nil { // an earlier write failed
				return nil, err
			}
		}
		g.flushCalc()
		out.WriteString("}\n")
		if o.Progress != nil {
			o.Progress(int(rank) + 1)
		}
	}
	sum.Polls, sum.Spread = plain.Polled, plain.Spread
	return sum, out.Flush()
}

// action adds an action to the graph of its rank; speed is in flop/s. An error says what GOAL cannot say.
func (g *graph) action(a *trace.Action, speed float64, sum *tracegen.Exported) error {
	switch a.Kind {
	case trace.KindFlops:
		return g.compute(a.Flops() / speed)
	case trace.KindSleep:
		return g.compute(a.Seconds())
	case trace.KindTest, trace.KindIprobe:
		sum.Tests++
		return nil
	case trace.KindAfter:
		n := len(g.asides) - int(a.X[0])
		if n < 0 {
			return fmt.Errorf("after the action %d before, of the %d that have gone beside the rank", a.X[0], len(g.asides))
		}
		if other := &g.asides[n]; a.Tag != 0 {
			g.after = append(g.after, dependency{other.first, true})
		} else {
			g.after = append(g.after, other.ends...)
		}
		return nil
	case trace.KindBeside:
		g.flushCalc()
		if g.next, g.cpu = true, a.Tag-1; a.Tag == 0 {
			g.cpu = noCPU
		}
		return nil
	}
	g.flushCalc()

	// What a message receives, in bytes, and its tags on both sides; 0 where it has no such side.
	// Sizes that are sent have been checked.
	var received int64
	sent, expected := a.Tag, a.Tag
	source := a.Peer
	switch a.Kind {
	case trace.KindWait, trace.KindFree: // if there is a request in the slot
		if i := slices.IndexFunc(g.pending, func(r request) bool { return r.slot == a.Req }); i >= 0 {
			if a.Kind == trace.KindWait {
				g.require(g.pending[i].operation)
			}
			g.pending = slices.Delete(g.pending, i, i+1)
		}
		return nil
	case trace.KindWaitAll:
		for _, r := range g.pending {
			g.require(r.operation)
		}
		for _, other := range g.asides[g.joined:] {
			g.before = append(g.before, other.ends...)
			g.many = true
		}
		g.pending, g.joined = g.pending[:0], len(g.asides)
		return nil
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend:
		expected = 0
	case trace.KindRecv, trace.KindIrecv:
		received, sent = a.X[0], 0
	case trace.KindExchange, trace.KindSyncExchange:
		received = a.X[1]
	case trace.KindSendrecv:
		received = a.X[1]
		source, expected = a.Source()
	default:
		return fmt.Errorf("action %v has no counterpart in GOAL", a.Kind)
	}
	switch {
	case received < 0:
		return fmt.Errorf("%v of unknown size has no counterpart in GOAL", a.Kind)
	case sent < 0:
		return fmt.Errorf("%v with tag %d: GOAL has tags from 0", a.Kind, sent)
	case expected < 0 && expected != trace.AnyTag:
		return fmt.Errorf("%v with tag %d: GOAL has tags from 0", a.Kind, expected)
	}

	switch a.Kind {
	case trace.KindSsend, trace.KindIssend, trace.KindSyncExchange:
		if a.X[0] <= EagerLimit {
			sum.Synchronous++
		}
	}
	send := func() int64 { return g.message("send ", a.X[0], "b to ", a.Peer, a.Tag) }
	recv := func() int64 { return g.message("recv ", received, "b from ", source, expected) }
	switch a.Kind {
	case trace.KindSend, trace.KindSsend:
		g.then(send(), false)
	case trace.KindRecv:
		g.then(recv(), false)
	case trace.KindIsend, trace.KindIssend:
		return g.begin(a.Req, send())
	case trace.KindIrecv:
		return g.begin(a.Req, recv())
	case trace.KindExchange:
		in := g.then(recv(), true)
		g.then(send(), false)
		g.require(in)
	case trace.KindSyncExchange, trace.KindSendrecv:
		out := g.then(send(), true)
		g.then(recv(), false)
		g.require(out)
	}
	return nil
}

// graph writes the operations of one rank. Their numbers are their labels, from 1.
type graph struct {
	w       *bufio.Writer
	last    int64 // number of the last operation
	before  []dependency
	pending []request // in the order in which they began
	calc    float64   // ns of computation not written yet
	line    []byte
	cpu     int32

	// Actions beside the rank: those so far, of which the rank has waited for the first; and whether the next action is
	// one, with what it waits for.
	asides []aside
	joined int
	next   bool
	after  []dependency
	many   bool // operations to wait for: one without time joins them for what follows
}

// noCPU is the processor of what needs none: the highest that conversion from GOAL takes.
const noCPU = 253

// idle writes an operation that takes no time.
func (g *graph) idle() {
	g.label()
	g.line = append(g.line, "calc 0"...)
	g.then(g.end(), false)
}

// aside is an action beside the rank: its first operation, and those with which it ends.
type aside struct {
	first int64
	ends  []dependency
}

// enter begins an action, and returns what ends it. Of what follows on one beside the rank, only a waitall and others of
// its kind depend on it.
func (g *graph) enter(a *trace.Action) (leave func()) {
	if !g.next || a.Kind == trace.KindBeside {
		return func() {}
	}
	if g.many {
		g.idle()
	}
	before, pending, last, calc := g.before, g.pending, g.last, g.calc
	g.before, g.pending, g.calc = slices.Concat(before, g.after), nil, 0
	return func() {
		g.flushCalc()
		if g.last == last {
			g.idle()
		}
		g.asides = append(g.asides, aside{last + 1, g.before})
		g.before, g.pending, g.calc = before, pending, calc
		g.next, g.after, g.cpu = false, g.after[:0], 0
	}
}

// dependency is what the next operation waits for: the end of an operation, or only its start.
type dependency struct {
	operation int64
	start     bool
}

// request is a pending request, with the operation that began it.
type request struct {
	slot      int32
	operation int64
}

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
	g.then(g.end(), false)
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
func (g *graph) name(operation int64) { g.line = strconv.AppendInt(append(g.line, 'l'), operation, 10) }

// end ends the line of an operation and writes what it depends on. It returns its number.
func (g *graph) end() int64 {
	if g.cpu > 0 {
		g.line = strconv.AppendInt(append(g.line, " cpu "...), int64(g.cpu), 10)
	}
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

// then lets the next operation wait for this one: for its end, or for its start only.
func (g *graph) then(operation int64, start bool) int64 {
	g.before, g.many = append(g.before[:0], dependency{operation, start}), false
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
	if len(g.pending) == trace.MaxRequests {
		return fmt.Errorf("more than %d requests are pending", trace.MaxRequests)
	}
	g.pending = append(g.pending, request{slot, operation})
	g.then(operation, true)
	return nil
}
