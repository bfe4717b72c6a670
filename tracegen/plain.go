package tracegen

import (
	"fmt"
	"math"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/warning"
)

// FlopsFunc returns the flop of a call of a kernel, numbered as in the header of
// its trace, by its dimensions: a finite number >= 0.
type FlopsFunc func(kernel int, dims *[4]int64) (float64, error)

// KernelFlops returns the flop that kernels are declared to do: the sum of their terms.
func KernelFlops(h *trace.Header) FlopsFunc {
	return func(kernel int, dims *[4]int64) (float64, error) {
		sum := 0.0
		for _, t := range h.Kernels[kernel].Flops {
			product := t.Coef
			for d, power := range t.Pow {
				for range power {
					product *= float64(dims[d])
				}
			}
			sum += float64(product)
		}
		return sum, nil
	}
}

// Plain yields plain actions: computations in flop, sleeps, point-to-point messages, waits, tests and recorded probes.
// It answers polls, and leaves out what takes no time: phases, steps, and kernels without flop.
type Plain struct {
	// Polls answers all polls of all ranks. A rule for several ranks must not
	// depend on the rank: trace.Hit and trace.Late do not.
	Polls trace.PollAnswers
	// Flops says what kernels cost; nil: what their trace declares.
	Flops FlopsFunc
	// Polled counts the polls that were answered.
	Polled int64
	// Spread counts computations that state a spread, of which only the mean is left.
	Spread int64
}

// ExportOptions says how a trace becomes the text of another tool.
type ExportOptions struct {
	// Polls answers polls, of which the text has none. It must not depend on the rank.
	Polls trace.PollAnswers
	// Flops says what a call of a kernel costs; nil: what the trace declares.
	Flops FlopsFunc
	// Speed turns flop into time where the text has times, in flop/s; positive.
	Speed float64
	// Note is a line of comment at the beginning of each file; "": none.
	Note string
	// Progress, if set, is called with the number of the step that the last rank has come to, or of ranks that are
	// written.
	Progress func(done int)
}

// Comment returns the line of the note behind the sign of a comment. Line breaks become blanks.
func (o *ExportOptions) Comment(sign string) string {
	if o.Note == "" {
		return ""
	}
	return sign + " " + strings.Join(strings.Fields(o.Note), " ") + "\n"
}

// Exported says what the text of another tool lacks.
type Exported struct {
	Polls       int64 // polls answered by the rule
	Synchronous int64 // synchronous sends that do not wait for their receive, as the tool has it for less than 64 KiB
	Probes      int64 // recorded probes, left out
	Tests       int64 // tests and recorded probes, left out
	// Reordered counts waits whose line means another request: of equal source, destination and tag, and older.
	Reordered int64
	Freed     int64 // requests that stay pending in the text, where the trace lets go of them
	Spread    int64 // computations of an amount with a standard deviation, which is left out
}

// Warnings returns what is lost, in words.
func (e *Exported) Warnings() (list []warning.Warning) {
	for _, lost := range []struct {
		count         int64
		noun, instead string
	}{
		{e.Synchronous, "synchronous send", "of less than 64 KiB written as ordinary, without a wait for the receive"},
		{e.Probes, "recorded probe", "left out: the format has none"},
		{e.Tests, "completion test", "left out, recorded probes among them: the format has none"},
		{e.Reordered, "wait", "written that will be for an older request of equal source, destination and tag"},
		{e.Freed, "request", "left pending that the trace lets go of: the format has no word for it"},
		{e.Spread, "computation", "written by the mean amount alone: the format has no standard deviations"},
	} {
		if lost.count > 0 {
			list = append(list, warning.New("%s %s", textutil.Count(lost.count, lost.noun), lost.instead))
		}
	}
	return list
}

// Fill stores the next plain actions of a cursor in buf, which must not be empty,
// and returns how many: 0 at the end of the rank's stream.
func (p *Plain) Fill(c *trace.Cursor, buf []trace.Action) (int, error) {
	for {
		n, err := c.Fill(buf)
		if n == 0 || err != nil {
			return 0, err
		}
		kept := 0
		for i := range buf[:n] {
			keep, err := p.decide(c, &buf[i])
			if err != nil {
				return 0, fmt.Errorf("rank %d step %d: %w", c.Rank(), c.Step(), err)
			}
			if keep {
				buf[kept] = buf[i]
				kept++
			}
		}
		if kept > 0 {
			return kept, nil
		}
	}
}

// decide makes an action plain; it is false for one that leaves nothing.
func (p *Plain) decide(c *trace.Cursor, a *trace.Action) (bool, error) {
	switch a.Kind {
	case trace.KindCompute:
		if p.Flops == nil {
			p.Flops = KernelFlops(c.Program().Header())
		}
		flops, err := p.Flops(int(a.Sym), &a.X)
		if err != nil {
			return false, err
		}
		if !(flops >= 0) || math.IsInf(flops, 1) {
			return false, fmt.Errorf("%v flop, want a finite number >= 0", flops)
		}
		*a = trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(flops)}}
		return flops != 0, nil
	case trace.KindFlops:
		if a.X[1] != 0 {
			p.Spread++
		}
	case trace.KindLaunch, trace.KindQueue:
		return false, fmt.Errorf("%v on a device: queues have no counterpart in other tools", a.Kind)
	case trace.KindAsk:
		return false, fmt.Errorf("a poll of requests, whose outcome decides what follows, has no counterpart in other tools")
	case trace.KindPoll:
		arrived, err := p.Polls.Answer(a)
		if err == nil {
			c.Answer(arrived)
			p.Polled++
		}
		return false, err
	case trace.KindNone, trace.KindProbed, trace.KindPhase, trace.KindMark, trace.KindStep:
		return false, nil
	}
	return true, nil
}
