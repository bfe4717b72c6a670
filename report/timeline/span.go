package timeline

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
)

// Span is the part of a run that is looked at. The zero value is all of it.
type Span struct {
	// From and To bound the time, in seconds; To 0: the end.
	From, To float64
	// FirstStep and EndStep bound the steps, EndStep excluded, in place of the time; 0: the time does.
	FirstStep, EndStep int
	// FirstRank and Ranks bound the ranks; Ranks 0: all.
	FirstRank, Ranks int
}

// ParseSpan reads a window, "T0:T1" in seconds with either left out, "step A:B" with B
// excluded, or "step A"; and ranks, "A-B" or "A". Both may be empty.
func ParseSpan(window, ranks string) (s Span, err error) {
	// The window: a mistake in either form has one message, which shows both.
	text, ofSteps := strings.CutPrefix(window, "step ")
	if ofSteps {
		text = strings.TrimSpace(text)
	}
	switch from, to, both := strings.Cut(text, ":"); {
	case window == "":
	case ofSteps:
		s.FirstStep, err = strconv.Atoi(from)
		s.EndStep = s.FirstStep + 1
		if both && err == nil {
			s.EndStep, err = strconv.Atoi(to)
		}
		if s.FirstStep < 0 || s.EndStep <= s.FirstStep {
			err = errSpan
		}
	default:
		if from != "" {
			s.From, err = strconv.ParseFloat(from, 64)
		}
		if to != "" && err == nil {
			s.To, err = strconv.ParseFloat(to, 64)
		}
		if !both || !(s.From >= 0) || math.IsInf(s.From, 0) || to != "" && !(s.To > s.From) || math.IsInf(s.To, 0) {
			err = errSpan
		}
	}
	if err != nil {
		return Span{}, fmt.Errorf("window %q, want T0:T1 in seconds with 0 <= T0 < T1, or \"step A:B\" with 0 <= A < B",
			window)
	}
	if ranks == "" {
		return s, nil
	}
	first, last, ok := textutil.ParseRange(ranks, "-")
	if !ok || last > trace.MaxRanks {
		return Span{}, fmt.Errorf("ranks %q, want A-B with 0 <= A <= B, or A", ranks)
	}
	s.FirstRank, s.Ranks = int(first), int(last-first)+1
	return s, nil
}

// errSpan stands for all mistakes in a window, which one message tells.
var errSpan = errors.New("no span")

// Check refuses a span that no run of a trace has. Times are not checked: when a run ends is known at its end
// (Recorder.CheckSeen).
func (s Span) Check(h *trace.Header) error {
	switch {
	case s.EndStep > 0 && h.Steps == 0:
		return fmt.Errorf("a window of steps, but the trace marks no steps: name times")
	case s.EndStep > 0 && s.FirstStep >= h.Steps:
		return fmt.Errorf("a window from step %d on, but the program has %d steps, from 0 on", s.FirstStep, h.Steps)
	case s.EndStep > h.Steps:
		return fmt.Errorf("a window up to step %d, but the program has %d steps, from 0 on", s.EndStep-1, h.Steps)
	case s.FirstRank+s.Ranks > h.Ranks:
		return fmt.Errorf("a window of ranks up to %d, but the trace has %d ranks, from 0 on", s.FirstRank+s.Ranks-1, h.Ranks)
	}
	return nil
}

// ranks returns how many ranks of h are in the span, which Check has accepted.
func (s Span) ranks(h *trace.Header) int {
	if s.Ranks == 0 {
		return h.Ranks - s.FirstRank
	}
	return s.Ranks
}

// String names the time or the steps, and the ranks.
func (s Span) String() string {
	text := "the whole run"
	switch {
	case s.EndStep == s.FirstStep+1:
		text = fmt.Sprintf("step %d", s.FirstStep)
	case s.EndStep > 0:
		text = fmt.Sprintf("steps %d to %d", s.FirstStep, s.EndStep-1)
	case s.To > 0:
		text = fmt.Sprintf("%.9g s to %.9g s", s.From, s.To)
	case s.From > 0:
		text = fmt.Sprintf("%.9g s to the end", s.From)
	}
	switch {
	case s.Ranks == 1:
		text += fmt.Sprintf(", rank %d", s.FirstRank)
	case s.Ranks > 1:
		text += fmt.Sprintf(", ranks %d to %d", s.FirstRank, s.FirstRank+s.Ranks-1)
	}
	return text
}

// The size of DefaultSpan: few enough steps and ranks to be read, and to be carried by a page.
const (
	defaultSteps = 2
	defaultRanks = 64
)

// DefaultSpan is the span of a page whose window nobody names, of a replay of steps [first, end) of a trace: two
// steps in the middle, or all of the time if there is but one, and the first ranks, in whole rows of the process
// grid if there is one.
func DefaultSpan(h *trace.Header, first, end int) (s Span) {
	if end <= 0 || end > h.Steps {
		end = h.Steps
	}
	if middle := first + (end-first)/2; h.Steps > 1 && middle < end {
		s.FirstStep, s.EndStep = middle, min(end, middle+defaultSteps)
	}
	// The ranks of whole rows or columns of the process grid, if they are consecutive from rank 0 on, and few enough
	// to be looked at.
	row := 0
	for i := range h.CommFamilies {
		f := &h.CommFamilies[i]
		if f.Name == "" || len(f.Groups) < 2 {
			continue
		}
		g := &f.Groups[0]
		if n := g.Len(); g.Ranks == nil && g.Start == 0 && g.Stride == 1 && n <= 2*defaultRanks {
			row = max(row, n)
		}
	}
	s.Ranks = min(h.Ranks, defaultRanks)
	if row > 0 {
		s.Ranks = min(h.Ranks, max(1, defaultRanks/row)*row)
	}
	return s
}
