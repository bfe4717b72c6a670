package main

import (
	"context"
	"fmt"
	"os"
	"testing"

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

func TestParseTolerance(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64 // 0: refused
	}{
		{"0.5%", 0.005}, {"0.5 %", 0.005}, {"0.25", 0.25}, {"1e-3", 1e-3}, {"99%", 0.99},
		{"", 0}, {"%", 0}, {"0", 0}, {"-1%", 0}, {"100%", 0}, {"1", 0}, {"NaN", 0}, {"inf", 0}, {"0.5%%", 0}, {"half", 0},
	} {
		got, err := parseTolerance(c.text)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%q: %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}
