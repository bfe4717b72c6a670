package replay

import (
	"testing"

	"reprise/trace"
)

// TestPartLabel: what was not played of a program, and what was not in its trace.
func TestPartLabel(t *testing.T) {
	whole, part := &trace.Header{Steps: 50}, &trace.Header{Steps: 50}
	part.SetPart("phase:MG to end")
	bare := &trace.Header{}
	bare.SetPart("collective:1 to end")
	for _, c := range []struct {
		h           *trace.Header
		first, last int
		want        string
	}{
		{whole, 3, 7, "steps 3:8 of 50 only"},
		{part, 3, 7, "phase:MG to end, steps 3:8 of 50 only"},
		{part, 0, 49, "phase:MG to end only"},
		{bare, 0, 0, "collective:1 to end only"},
	} {
		if got := PartLabel(c.h, c.first, c.last); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
