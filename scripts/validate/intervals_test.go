package main

import (
	"strings"
	"testing"
)

// trialOff returns an estimate of 100 s +- 2 s of a run that takes so many seconds.
func trialOff(complete float64) trial {
	return trial{estimate: result{Makespan: 100, Interval: 2, Steps: 1000, Simulated: 250}, complete: result{Makespan: complete}}
}

// TestTrials: 102 s are at the edge of 100 +- 2 s, 97 s a half-width and a half off.
func TestTrials(t *testing.T) {
	list := []trial{trialOff(100), trialOff(102), trialOff(97)}
	if got := list[2].off(); got != 1.5 {
		t.Errorf("%v half-widths", got)
	}
	s := trials{seed: 7, list: list, exact: 2}
	if n, worst := s.misses(); n != 1 || worst != &s.list[2] {
		t.Errorf("%d misses, %+v", n, worst)
	}
	if err := s.check(); err != nil {
		t.Error(err)
	}
	// Errors 0, -1.96 and +3.09 %.
	table := summaryTable()
	if s.summary(table); !strings.HasSuffix(table.String(), "| 7 | 3 | 1 | +1.50 | 2.00 | +0.38 | 25 | 2 |\n") {
		t.Error(table)
	}
	if text := s.rows(); strings.Count(text, "missed") != 1 {
		t.Error(text)
	}
	s.list = append(s.list, trialOff(95.9))
	if err := s.check(); err == nil || !strings.Contains(err.Error(), "2 of 4 missed, the worst by 2.05 half-widths") {
		t.Errorf("%v", err)
	}
	s.list = nil
	for range mostMisses + 1 {
		s.list = append(s.list, trialOff(97))
	}
	if err := s.check(); err == nil {
		t.Error("seven misses are allowed")
	}
}

// TestDraws: a draw is the same every time, and each polls or has noise; of Lng and LnM
// nobody polls, and at depth 0 nobody.
func TestDraws(t *testing.T) {
	for number := range uint64(200) {
		x, err := draw(3, number)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := draw(3, number); again != x {
			t.Errorf("%d: %+v, then %+v", number, x, again)
		}
		silent := strings.Contains(x.hpl, "--DEPTH 0") || strings.Contains(x.hpl, "--BCAST L")
		if silent && x.links == "" && !strings.Contains(x.kernels, "\nnoise: ") {
			t.Errorf("%d: neither polls nor noise: %+v", number, x)
		}
	}
}

func TestIntervalFlags(t *testing.T) {
	for _, args := range []string{"-intervals 1,2", "-only intervals"} {
		o, err := parseFlags(strings.Fields(args))
		if err != nil || o.prints() != (len(o.only) == 0) {
			t.Errorf("%s: %+v, %v", args, o, err)
		}
	}
	if _, err := parseFlags([]string{"-intervals", "x"}); err == nil {
		t.Error("no error")
	}
}
