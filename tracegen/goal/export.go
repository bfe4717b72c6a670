// Package goal writes traces as GOAL, the text that LogGOPSim (Hoefler,
// Schneider, Lumsdaine 2010) and the simulators after it play, once their
// txt2bin has made it binary.
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
// Computations in a row are one calc. Durations are rounded to whole nanoseconds
// with what was cut off or added carried over, so that the calcs of a rank add up
// to its computing time within half a nanosecond, wherever one stops.
//
// What GOAL lacks is left out and counted in [Exported]: tests, recorded probes,
// and that a send is synchronous, which matters below the size from which
// LogGOPSim makes all sends rendezvous (option S, 65,535 bytes). A receive of
// unknown size and a negative tag are errors. Collective operations are the messages of
// SMPI's default selection.
//
//	exported, err := goal.Export(ctx, w, t, goal.Options{Polls: trace.Hit{}, Speed: 32e9})
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
	"context"
	"fmt"
	"io"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen"
)

// Options says how a trace becomes GOAL.
type Options struct {
	// Polls answers polls, of which GOAL has none. It must not depend on the rank.
	Polls trace.PollAnswers
	// Flops is what a call of a kernel costs; nil: what the trace declares.
	Flops tracegen.FlopsFunc
	// Speed turns flop into time, in flop/s; positive.
	Speed float64
	// Note is a line of comment at the beginning; "": none.
	Note string
	// Progress, if set, is called with the number of ranks that are written.
	Progress func(ranks int)
}

// Exported says what the text lacks.
type Exported struct {
	Polls int64 // polls answered by the rule
	// Synchronous counts synchronous sends of at most EagerLimit bytes, which
	// LogGOPSim does not make wait for their receive.
	Synchronous int64
	Tests       int64 // tests and recorded probes, left out
	Spread      int64 // computations of an amount with a standard deviation, which is left out
}

// EagerLimit is LogGOPSim's default for S: the largest eager message, in bytes.
const EagerLimit = 65535

// Warnings returns what is lost, in words.
func (e *Exported) Warnings() []warning.Warning {
	var list []warning.Warning
	if e.Synchronous > 0 {
		list = append(list, warning.New("%s of less than 64 KiB written as ordinary, without a wait for the receive",
			textutil.Count(e.Synchronous, "synchronous send")))
	}
	if e.Tests > 0 {
		list = append(list, warning.New("%s left out, recorded probes among them: the format has none",
			textutil.Count(e.Tests, "completion test")))
	}
	if e.Spread > 0 {
		list = append(list, warning.New("%s written by the mean amount alone: the format has no standard deviations",
			textutil.Count(e.Spread, "computation")))
	}
	return list
}

// Export writes a trace as GOAL text: one rank after the other, as the format
// wants it. It walks the trace once per rank, holding little of it; the trace must
// therefore be a file, unless it has one rank only.
func Export(ctx context.Context, w io.Writer, t *trace.Trace, o Options) (*Exported, error) {
	if !(o.Speed > 0) {
		return nil, fmt.Errorf("goal: speed %v flop/s, want a positive one", o.Speed)
	}
	x := &exporter{plain: tracegen.Plain{Polls: o.Polls, Flops: o.Flops}, speed: o.Speed, w: bufio.NewWriterSize(w, 1<<16)}
	if o.Flops == nil {
		x.plain.Flops = tracegen.KernelFlops(t.Header())
	}
	if o.Note != "" {
		fmt.Fprintf(x.w, "// %s\n", strings.Join(strings.Fields(o.Note), " "))
	}
	fmt.Fprintf(x.w, "num_ranks %d\n", t.Header().Ranks)
	for r := range t.Header().Ranks {
		if err := x.rank(ctx, t, int32(r)); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(r + 1)
		}
	}
	x.sum.Polls, x.sum.Spread = x.plain.Polled, x.plain.Spread
	return &x.sum, x.w.Flush()
}

type exporter struct {
	plain tracegen.Plain
	speed float64 // flop/s
	sum   Exported
	w     *bufio.Writer // keeps its first error, which Flush returns
	buf   [256]trace.Action
}

// rank writes the graph of a rank.
func (x *exporter) rank(ctx context.Context, t *trace.Trace, rank int32) error {
	cursors, err := t.Cursors([]int32{rank}, trace.CursorOptions{})
	if err != nil {
		return err
	}
	c := &cursors[0]
	g := &graph{w: x.w}
	expander := tracegen.NewExpander(t.Program(), rank, func(*trace.Collective) bool { return false })
	fmt.Fprintf(x.w, "\nrank %d {\n", rank)
	for {
		n, err := x.plain.Fill(c, x.buf[:])
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		for i := range x.buf[:n] {
			if err := expander.Expand(&x.buf[i], c, func(a *trace.Action) error { return x.action(g, a) }); err != nil {
				return fmt.Errorf("rank %d step %d: %w", rank, c.Step(), err)
			}
		}
		if _, err := x.w.Write(nil); err != nil { // an earlier write failed
			return err
		}
	}
	g.flushCalc()
	x.w.WriteString("}\n")
	return nil
}

// action adds an action to the graph of its rank.
func (x *exporter) action(g *graph, a *trace.Action) error {
	switch a.Kind {
	case trace.KindFlops:
		return g.compute(a.Flops() / x.speed)
	case trace.KindSleep:
		return g.compute(a.Seconds())
	case trace.KindTest, trace.KindIprobe:
		x.sum.Tests++
		return nil
	}
	g.flushCalc()
	switch a.Kind {
	case trace.KindWait:
		g.wait(a.Req)
		return nil
	case trace.KindFree:
		g.letGo(a.Req)
		return nil
	case trace.KindWaitAll:
		g.waitAll()
		return nil
	}
	return x.message(g, a)
}

func (x *exporter) message(g *graph, a *trace.Action) error {
	if err := checkMessage(a); err != nil {
		return err
	}
	switch a.Kind {
	case trace.KindSsend, trace.KindIssend, trace.KindSyncExchange:
		if a.X[0] <= EagerLimit {
			x.sum.Synchronous++
		}
	}
	switch a.Kind {
	case trace.KindSend, trace.KindSsend:
		g.blocking(g.send(a.Peer, a.Tag, a.X[0]))
	case trace.KindRecv:
		g.blocking(g.recv(a.Peer, a.Tag, a.X[0]))
	case trace.KindIsend, trace.KindIssend:
		return g.begin(a.Req, g.send(a.Peer, a.Tag, a.X[0]))
	case trace.KindIrecv:
		return g.begin(a.Req, g.recv(a.Peer, a.Tag, a.X[0]))
	case trace.KindExchange:
		in := g.started(g.recv(a.Peer, a.Tag, a.X[1]))
		g.blocking(g.send(a.Peer, a.Tag, a.X[0]))
		g.require(in)
	case trace.KindSyncExchange:
		out := g.started(g.send(a.Peer, a.Tag, a.X[0]))
		g.blocking(g.recv(a.Peer, a.Tag, a.X[1]))
		g.require(out)
	case trace.KindSendrecv:
		out := g.started(g.send(a.Peer, a.Tag, a.X[0]))
		source, tag := a.Source()
		g.blocking(g.recv(source, tag, a.X[1]))
		g.require(out)
	}
	return nil
}

// checkMessage refuses what GOAL cannot say. Sent sizes have been checked.
func checkMessage(a *trace.Action) error {
	var received int64
	sent, expected := a.Tag, a.Tag // tags
	switch a.Kind {
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend:
		expected = 0
	case trace.KindRecv, trace.KindIrecv:
		received, sent = a.X[0], 0
	case trace.KindExchange, trace.KindSyncExchange:
		received = a.X[1]
	case trace.KindSendrecv:
		received = a.X[1]
		_, expected = a.Source()
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
	return nil
}
