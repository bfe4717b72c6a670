package platforms

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
)

// values reads the attributes of an element. The first error ends the reading of the file (textutil.Stop), so that
// callers need not ask for errors: build returns it.
type values struct {
	file string
	e    *element
}

// fail ends the reading at an error, of which it says the place; nil is none.
func (v *values) fail(err error) {
	if err != nil {
		textutil.Stop(fmt.Errorf("%s:%d: %w", v.file, v.e.line, textutil.Brief(fmt.Errorf("%v: %w", v.e, err))))
	}
}

// failf is fail with the text of an error.
func (v *values) failf(format string, args ...any) { v.fail(fmt.Errorf(format, args...)) }

// text returns an attribute as it stands in the file, "" where it is absent.
func (v *values) text(name string) string { return v.e.value(name) }

// quantity reads a number with a unit; an absent or empty attribute is 0.
func (v *values) quantity(name string, parse func(string) (float64, error)) float64 {
	text := v.text(name)
	if text == "" {
		return 0
	}
	x, err := parse(text)
	if err != nil {
		v.failf("%s: %w", name, err)
	}
	return x
}

// bandwidth reads an attribute that must be a bandwidth, in byte/s.
func (v *values) bandwidth(name string) float64 {
	x := v.quantity(name, ParseBandwidth)
	if x == 0 {
		v.failf("%s: want a bandwidth", name)
	}
	return x
}

// optionalBandwidth reads a bandwidth in byte/s; 0 where none is given, or 0.
func (v *values) optionalBandwidth(name string) float64 { return v.quantity(name, parseBandwidth) }

// latency reads a latency in seconds, 0 where none is given.
func (v *values) latency(name string) float64 { return v.quantity(name, ParseLatency) }

// speed reads the speed of a core in flop/s, 0 for a host that cannot compute: of a list
// of speeds the one that the attribute pstate chooses, else the first.
func (v *values) speed(name string) float64 {
	speeds := strings.Split(v.text(name), ",")
	chosen := 0.0
	pstate := v.count("pstate", 0, 0, len(speeds)-1)
	for i, text := range speeds {
		x, err := parseSpeed(text)
		if i == pstate {
			chosen = x
		}
		if err != nil {
			v.failf("%s: %w", name, err)
		}
	}
	return chosen
}

// count reads a whole number of [low, high], also written as 2.0, absent where it is not given.
func (v *values) count(name string, absent, low, high int) int {
	text := v.text(name)
	if text == "" {
		return absent
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, ".0"))
	if err != nil || n < low || n > high {
		v.failf("%s: %q is not a whole number of [%d,%d]", name, text, low, high)
	}
	return n
}

// choice reads one of a few words, the first where none is given.
func (v *values) choice(name string, words ...string) string {
	text := v.text(name)
	if text == "" {
		return words[0]
	}
	if !slices.Contains(words, text) {
		v.failf("%s: %q is not supported: want %s", name, text, oneOf(words))
	}
	return text
}
