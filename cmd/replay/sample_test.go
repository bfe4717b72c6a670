package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"reprise/trace"
	"reprise/tracegen/hpl"
)

// longtrace writes a trace of many steps, each of which forgets the one before.
func longtrace() {
	p := hpl.DefaultParams(16384, 4, 4)
	p.NB, p.Depth, p.Bcast = 32, 0, hpl.Long
	if err := hpl.Generate(context.Background(), os.Stdout, p, hpl.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestOvertime: 20 of 100 steps in 3 s are 100 in 3/20*100 = 15 s, and 20 of the 50 steps
// from 10 to 60 in 7.5 s.
func TestOvertime(t *testing.T) {
	in := &input{header: &trace.Header{Steps: 100}}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 0, "the time is over: the exact replay has come to step 20 of 100, all of them would take about 15 s"},
		{10, 60, "the time is over: the exact replay has come to step 20 of 50, all of them would take about 8 s"},
	} {
		j := &job{from: c.from, to: c.to, in: in}
		if err := j.overtime(20, 3); err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestParseShare(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64 // 0: refused
	}{
		{"0.5%", 0.005}, {"0.5 %", 0.005}, {"0.1", 0.1}, {"1e-3", 1e-3}, {"99%", 0.99},
		{"", 0}, {"%", 0}, {"0", 0}, {"-1%", 0}, {"100%", 0}, {"1", 0}, {"0.25", 0}, {"NaN", 0}, {"inf", 0}, {"0.5%%", 0}, {"half", 0},
	} {
		got, err := parseShare("tolerance", c.text, false)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%q: %v, %v, want %v", c.text, got, err, c.want)
		}
	}
	if v, err := parseShare("threshold", "0", true); v != 0 || err != nil {
		t.Errorf("0: %v, %v", v, err)
	}
}
