package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPart: a part of a part says what it is a part of, and its whole is as it was.
func TestPart(t *testing.T) {
	whole := Header{Params: []Param{{"N", "7"}}, Result: []Column{{"N", "7"}}, Flops: 343}
	part := whole
	part.SetPart("step:2 to end")
	of := part
	of.SetPart("step:3 to step:5")
	for _, c := range []struct {
		h    Header
		want string
	}{{whole, ""}, {part, "step:2 to end"}, {of, "step:3 to step:5 of step:2 to end"}} {
		if got := c.h.Part(); got != c.want {
			t.Errorf("part %q, want %q", got, c.want)
		}
	}
	want := Header{Params: []Param{{"N", "7"}, {"part", "step:3 to step:5 of step:2 to end"}}}
	if diff := cmp.Diff(want, of); diff != "" {
		t.Error(diff)
	}
}
