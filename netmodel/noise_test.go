package netmodel

import (
	"os"
	"strings"
	"testing"

	"reprise/kernels/noise"
)

const noiseHead = "version: 1\nunit: s\n"

// TestParseNoiseErrors breaks one thing at a time and asks for its place and name.
func TestParseNoiseErrors(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"nothing", "", "f.yaml:1: want one YAML document, found 0"},
		{"no version", "unit: s\nos: []\n", `f.yaml:1: network noise: no key "version"`},
		{"version", "version: 2\nunit: s\n", `f.yaml:1: version: want a whole number in [1,1], found "2"`},
		{"no unit", "version: 1\nos: []\n", `f.yaml:1: network noise: no key "unit"`},
		{"unit", "version: 1\nunit: us\n", `f.yaml:2: unit: want s, found "us"`},
		{"description", noiseHead + "description: [a]\n", `f.yaml:3: description: want a text or number, found a list`},
		{"key", noiseHead + "overhead: 1\n", `f.yaml:3: network noise: unknown key "overhead": want version, description, source, unit, os, ois, or, latency`},
		{"no times", noiseHead, `f.yaml:1: network noise: want at least one of os, ois, or, latency`},
		{"no list", noiseHead + "os: 1\n", `f.yaml:3: os: want a list, found "1"`},
		{"empty list", noiseHead + "os: []\n", `f.yaml:3: os: empty list`},
		{"no range", noiseHead + "os: [1]\n", `f.yaml:3: os: want a mapping, found "1"`},
		{"no noise", noiseHead + "os: [{fixed: 1}]\n", `f.yaml:3: os: no key "noise"`},
		{"range key", noiseHead + "os: [{slope: 1, noise: none}]\n", `f.yaml:3: os: unknown key "slope": want above, noise, fixed, per_byte`},
		{"latency per byte", noiseHead + "latency: [{per_byte: 1, noise: none}]\n", `f.yaml:3: latency: unknown key "per_byte": want above, noise, fixed`},
		{"threshold", noiseHead + "os: [{above: 1.5, noise: none}]\n", `f.yaml:3: os: above: want a whole number in [0,1125899906842624], found "1.5"`},
		{"order", noiseHead + "os:\n  - {above: 5, noise: none}\n  - {above: 5, noise: none}\n", `f.yaml:5: os: above 5 after 5, want ascending order`},
		{"order of all sizes", noiseHead + "os:\n  - {above: 5, noise: none}\n  - {noise: none}\n", `f.yaml:5: os: range without "above" after another one`},
		{"fixed beyond any", noiseHead + "os: [{fixed: 1e300, noise: none}]\n", `f.yaml:3: os: fixed: value 1e+300 s, want 0 to 1e+09 s`},
		{"slope beyond any", noiseHead + "os: [{per_byte: 1e300, noise: none}]\n", `f.yaml:3: os: per_byte: value 1e+300 s/byte, want 0 to 1e+06 s/byte`},
		{"number", noiseHead + "os: [{fixed: x, noise: none}]\n", `f.yaml:3: os: fixed: want a finite number, found "x"`},
		{"law", noiseHead + "or: [{noise: {normal: {M: 1}}}]\n", `f.yaml:3: or: noise: normal: want a number, a percentage, or a list of modes, found a mapping`},
	} {
		_, err := ParseNoise(strings.NewReader(c.file), "f.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s…", c.name, err, c.want)
		}
	}
}

// TestNoiseRanges: sizes at and beside thresholds; 2e-3 s is what it costs without noise.
func TestNoiseRanges(t *testing.T) {
	n, err := ParseNoise(strings.NewReader(noiseHead+"or:\n  - {above: 10, fixed: 1, noise: none}\n  - {above: 20, fixed: 2, per_byte: 0.5, noise: none}\n  - {above: 30, noise: none}\n"), "f.yaml")
	noError(t, err)
	for size, want := range map[int64]float64{0: 2e-3, 10: 2e-3, 11: 1, 20: 1, 21: 12.5, 30: 17, 31: 2e-3, 1 << 40: 2e-3} {
		if got := n.Of(TimedRecv, 2e-3, size, noise.Draw{}); got != want {
			t.Errorf("%d bytes: %g s, want %g", size, got, want)
		}
	}
	if got := n.Of(TimedSend, 2e-3, 15, noise.Draw{}); got != 2e-3 {
		t.Errorf("os: %g s, want 2e-3", got)
	}
	if n.Name() != "f.yaml" {
		t.Errorf("name %q", n.Name())
	}
}

// FuzzParseNoise checks that no file makes ParseNoise panic, and that what is accepted
// gives times that are times.
func FuzzParseNoise(f *testing.F) {
	f.Add([]byte(noiseHead + "os: [{above: 3, fixed: 1, per_byte: 2, noise: {half-normal: [{weight: 0.5, mean: -1, sd: 2}, {weight: 0.5, mean: 5%, sd: 1%}]}}]\n"))
	f.Add([]byte(noiseHead + "ois: [{noise: {normal: 3%}}]\nor: [{noise: none}]\nlatency:\n  - {above: 63999, fixed: 0, noise: {normal: 1.0e-6}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := ParseNoise(strings.NewReader(string(text)), "f.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Fatalf("error without a position: %v", err)
			}
			return
		}
		s := noise.NewSource(1)
		for i := range uint32(10) {
			d := s.Draw(noise.Latency, 0, 0, i)
			for _, v := range []float64{n.Of(TimedSend, 1, int64(i), d), n.Of(TimedIsend, 0, 1<<50, d), n.Of(TimedRecv, 1e-6, 64000, d), n.Of(TimedLatency, 1, 0, d)} {
				if !(v >= 0) {
					t.Fatalf("%g s", v)
				}
			}
		}
	})
}

// TestDocumentedNoise parses the example in docs/network-model.md and checks some times:
// without deviation where there is none, by the modes' bounds (a half-normal deviate is above -1.33 sd) elsewhere.
func TestDocumentedNoise(t *testing.T) {
	page, err := os.ReadFile("../docs/network-model.md")
	noError(t, err)
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	file, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("no example in docs/network-model.md")
	}
	n, err := ParseNoise(strings.NewReader(file), "docs/network-model.md")
	noError(t, err)
	s := noise.NewSource(1)
	for i := range uint32(100) {
		d := s.Draw(noise.Latency, 0, 0, i)
		for _, c := range []struct {
			what           string
			got, low, high float64
		}{
			{"os, small", n.Of(TimedSend, 1e-3, 4096, d), 1e-3 * (1 - 1.33*0.05), 1.4e-3},
			{"os, medium", n.Of(TimedSend, 1e-3, 10000, d), 3e-6 - 10*2e-7, 3e-6 + 10*2e-7},
			{"os, large", n.Of(TimedSend, 1e-3, 65537, d), 1e-3, 1e-3},
			{"ois, small", n.Of(TimedIsend, 1e-3, 4096, d), 1e-3, 1e-3},
			{"ois", n.Of(TimedIsend, 1e-3, 10000, d), 1e-6 + 2e-6 - 1.33*2e-7, 1e-6 + 5e-5},
			{"or", n.Of(TimedRecv, 1e-3, 10000, d), 1e-3, 1e-3},
			{"latency", n.Of(TimedLatency, 1, 64000, d), 1.2e-5 - 1.33*9e-7, 5e-5},
		} {
			if c.got < c.low || c.got > c.high {
				t.Errorf("%s: %g s, want %g to %g", c.what, c.got, c.low, c.high)
			}
		}
	}
}
