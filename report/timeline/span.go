package timeline

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/report/typedarray"
	"reprise/trace"
)

// Span is the part of a run that is looked at. The zero value is all of it.
type Span struct {
	// From and To bound the time, in seconds; To 0: the end.
	From, To float64
	// FirstStep and EndStep bound the steps, EndStep excluded, in place of the time; 0: the
	// time does.
	FirstStep, EndStep int
	// FirstRank and Ranks bound the ranks; Ranks 0: all.
	FirstRank, Ranks int
}

// ParseSpan reads a window, "T0:T1" in seconds with either left out, "step A:B" with B
// excluded, or "step A"; and ranks, "A-B" or "A". Both may be empty.
func ParseSpan(window, ranks string) (s Span, err error) {
	if steps, ok := strings.CutPrefix(window, "step "); ok {
		s.FirstStep, s.EndStep, err = parseSteps(steps)
	} else if window != "" {
		s.From, s.To, err = parseTimes(window)
	}
	if err != nil {
		return Span{}, fmt.Errorf("window %q, want T0:T1 in seconds with 0 <= T0 < T1, or \"step A:B\" with 0 <= A < B",
			window)
	}
	if ranks != "" {
		if s.FirstRank, s.Ranks, err = parseRanks(ranks); err != nil {
			return Span{}, fmt.Errorf("ranks %q, want A-B with 0 <= A <= B, or A", ranks)
		}
	}
	return s, nil
}

var errSpan = fmt.Errorf("no span")

func parseSteps(text string) (first, end int, err error) {
	a, b, ok := strings.Cut(strings.TrimSpace(text), ":")
	if first, err = strconv.Atoi(a); err != nil {
		return 0, 0, err
	}
	if !ok {
		end = first + 1
	} else if end, err = strconv.Atoi(b); err != nil {
		return 0, 0, err
	}
	if first < 0 || end <= first {
		return 0, 0, errSpan
	}
	return first, end, nil
}

func parseTimes(text string) (from, to float64, err error) {
	a, b, ok := strings.Cut(text, ":")
	if !ok {
		return 0, 0, errSpan
	}
	if a != "" {
		if from, err = strconv.ParseFloat(a, 64); err != nil {
			return 0, 0, err
		}
	}
	if b != "" {
		if to, err = strconv.ParseFloat(b, 64); err != nil {
			return 0, 0, err
		}
	}
	if !(from >= 0) || math.IsInf(from, 0) || b != "" && !(to > from) || math.IsInf(to, 0) {
		return 0, 0, errSpan
	}
	return from, to, nil
}

func parseRanks(text string) (first, ranks int, err error) {
	a, b, ok := strings.Cut(text, "-")
	if first, err = strconv.Atoi(a); err != nil {
		return 0, 0, err
	}
	last := first
	if ok {
		if last, err = strconv.Atoi(b); err != nil {
			return 0, 0, err
		}
	}
	if first < 0 || last < first || last > trace.MaxRanks {
		return 0, 0, errSpan
	}
	return first, last - first + 1, nil
}

// Check reports what of a span cannot be in any run of a trace.
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

// ranks returns how many there are of h.
func (s Span) ranks(h *trace.Header) int {
	if s.Ranks == 0 {
		return h.Ranks - s.FirstRank
	}
	return s.Ranks
}

// bounds returns from when to when it looks at a rank; of steps it is known once they begin.
func (s Span) bounds() (from, to float64) {
	switch {
	case s.EndStep > 0:
		return math.Inf(1), math.Inf(1)
	case s.To > 0:
		return s.From, s.To
	}
	return s.From, math.Inf(1)
}

// String says when and who.
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

// What a page shows where nobody says what: few enough to be read, and to be carried.
const (
	defaultSteps = 2
	defaultRanks = 64
)

// DefaultSpan is what is worth a look where nobody says what, of a replay of steps [first,
// end) of a trace: two steps in the middle, or all of the time if it has but one, and the
// first ranks, in whole rows of the process grid if it has one.
func DefaultSpan(h *trace.Header, first, end int) (s Span) {
	if end <= 0 || end > h.Steps {
		end = h.Steps
	}
	if middle := first + (end-first)/2; h.Steps > 1 && middle < end {
		s.FirstStep, s.EndStep = middle, min(end, middle+defaultSteps)
	}
	s.Ranks = min(h.Ranks, defaultRanks)
	if row := gridRow(h); row > 0 {
		s.Ranks = min(h.Ranks, max(1, defaultRanks/row)*row)
	}
	return s
}

// gridRow returns how many consecutive ranks, from rank 0 on, are a row or a column of the
// process grid, as many as may be looked at; 0 if there is no such grid.
func gridRow(h *trace.Header) (row int) {
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
	return row
}

// Window is what ranks do between two times, as a page draws it. Times are in seconds.
type Window struct {
	Title string  `json:"title"` // such as "step 17"
	From  float64 `json:"from_s"`
	To    float64 `json:"to_s"`
	Note  string  `json:"note,omitempty"` // what was left out or taken together, in a sentence

	Ranks int `json:"ranks"` // rows: ranks [FirstRank, FirstRank+Ranks)
	First int `json:"first_rank"`

	Names  []string `json:"names"`  // of actions: verbs of trace cat, names of kernels
	States []string `json:"states"` // as in record.Data
	Args   []string `json:"args"`   // texts, the first is ""

	// Slices, in the order of rank and begin; slices of a rank do not overlap.
	Slices int              `json:"slices"`
	Rank   typedarray.Bytes `json:"rank"`  // uint32
	Begin  typedarray.Bytes `json:"begin"` // float64, seconds
	End    typedarray.Bytes `json:"end"`   // float64, seconds
	Name   typedarray.Bytes `json:"name"`  // uint16, of Names
	State  typedarray.Bytes `json:"state"` // uint16, of States
	Arg    typedarray.Bytes `json:"arg"`   // uint32, of Args

	// Arrows, messages of which both sides are in the window, in the order of Sent.
	Arrows  int              `json:"arrows"`
	Source  typedarray.Bytes `json:"source"`  // uint32, ranks
	Target  typedarray.Bytes `json:"target"`  // uint32
	Sent    typedarray.Bytes `json:"sent"`    // float64, seconds: post of the send
	Arrived typedarray.Bytes `json:"arrived"` // float64, seconds: end of the transfer
	Bytes   typedarray.Bytes `json:"bytes"`   // float64
	Tag     typedarray.Bytes `json:"tag"`     // uint32, two's complement
}
