package percent

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		zero bool
		want float64 // -1: an error
	}{
		{"1%", false, 0.01}, {"0.005", false, 0.005}, {" 2 %", false, 0.02}, {"0", true, 0}, {"99%", false, 0.99},
		{"0", false, -1}, {"0.5", false, -1}, {"100%", false, -1}, {"-1%", false, -1}, {"", false, -1}, {"exact", false, -1}, {"NaN", false, -1},
	} {
		if got, err := Parse(c.text, "the makespan", c.zero); (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("%q: %g, %v, want %g", c.text, got, err, c.want)
		}
	}
}

// TestBounds: an error names both.
func TestBounds(t *testing.T) {
	for zero, want := range map[bool]string{false: `"1", want more than 0 and less than 100%, such as 0.5%`, true: `"1", want at least 0 and less than 100%, such as 0.5%`} {
		if _, err := Parse("1", "the makespan", zero); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
