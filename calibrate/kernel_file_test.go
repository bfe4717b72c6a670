package calibrate

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/internal/yamlfile"
	"reprise/kernels"
	"reprise/kernels/noise"
)

// entriesOf returns the keys of a kernel file, and its description and source.
func entriesOf(t *testing.T, text string) (keys []string, description, source string) {
	t.Helper()
	d := yamlfile.Document{File: "file"}
	root, err := d.Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, e := range d.Entries(root, "file") {
		switch e.Key {
		case "description":
			description += d.Text(e.Value, e.Key)
		case "source":
			source += d.Text(e.Value, e.Key)
		default:
			keys = append(keys, e.Key)
		}
	}
	return keys, description, source
}

// TestBaseSaysWhatItIs: a file made from another one has its own description and source, which say
// what the other's are about, in whatever form that has them; all else is as it was.
func TestBaseSaysWhatItIs(t *testing.T) {
	const rest = "unit: s\n# of kernels\nkernels:\n  daxpy: 7\n  dscal: {terms: {N: 2}}\n"
	bases := map[string]string{
		"plain":     "# a comment\nversion: 1\ndescription: DESC\nsource: SRC\n" + rest,
		"quoted":    "version: 1\n\"description\": \"DESC\"\n'source': 'SRC'\n" + rest,
		"folded":    "version: 1\ndescription: >-\n  DESC\nsource: |\n  SRC\n\n# after it\n" + rest,
		"two lines": "version: 1\nsource: \"SR\\\n  C\"\ndescription: DESC\n" + rest,
		"at end":    rest + "source: SRC\ndescription: DESC # said\nversion: 1",
		"CR LF":     strings.ReplaceAll("---\nversion: 1\ndescription: DESC\nsource: >-\n  SRC\n"+rest, "\n", "\r\n"),
		"none":      "version: 1\n" + rest,
	}
	for _, name := range kernels.BuiltinNames() {
		text, err := kernels.BuiltinText(name)
		must(t, err)
		if CheckBase(text) == nil {
			bases[name] = string(text)
		}
	}
	for name, base := range bases {
		keys, description, source := entriesOf(t, base)
		if description == "" {
			description = "not said"
		}
		if source == "" {
			source = "not said"
		}
		var b strings.Builder
		if err := WriteBase(&b, []byte(base), FileOptions{Description: "drawn\nhosts", Source: "a law", BaseName: name}, 2); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b.WriteString("  - {host: a, kernels: {dgemm: 1}}\n")
		if _, err := kernels.Parse(bytes.NewReader([]byte(b.String())), name); err != nil {
			t.Errorf("%v\n%s", err, b.String())
		}
		gotKeys, gotDescription, gotSource := entriesOf(t, b.String())
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == "network_error" }) // of the base's network
		if want := append(keys, "cpus_per_host", "hosts"); !slices.Equal(gotKeys, want) {
			t.Errorf("%s: keys %v, want %v", name, gotKeys, want)
		}
		if want := "drawn hosts; all else is from " + name + ": " + oneLine(description); gotDescription != want {
			t.Errorf("%s: description %q, want %q", name, gotDescription, want)
		}
		if want := "a law; all else is from " + name + ": " + oneLine(source); gotSource != want {
			t.Errorf("%s: source %q, want %q", name, gotSource, want)
		}
		if before, after := strings.Count(base, "#"), strings.Count(b.String(), "#"); name != "at end" && after != before+1 {
			t.Errorf("%s: %d comments, want %d and one more\n%s", name, after, before, b.String())
		}
	}
}

// FuzzBase: a kernel file to which hosts are added is refused, or becomes one with hosts.
func FuzzBase(f *testing.F) {
	const rest = "unit: s\n# of kernels\nkernels:\n  daxpy: 7\n  dscal: {terms: {N: 2}}\n"
	for _, text := range []string{
		"version: 1\n" + rest, "version: 1\ndescription: x\nsource: y\n" + rest, "version: 1\nsource: |\n  y\n\n# z\n" + rest,
		rest + "version: 1", "---\r\nversion: 1\r\n" + rest, "{version: 1}", "version: 1\n" + rest + "hosts: []\n", "\ufeffversion: 1\n" + rest, "version: 1\n" + rest + "...\n",
		"n: \re<n\rt?:", "version: 1\n" + rest + "!\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, base []byte) {
		_, invalid := kernels.Parse(bytes.NewReader(base), "base")
		var b strings.Builder
		if CheckBase(base) != nil || WriteBase(&b, base, FileOptions{Description: "drawn", Source: "a law", BaseName: "base"}, 2) != nil {
			return
		}
		b.WriteString("  - {host: a, kernels: {dgemm: 1}}\n")
		if _, err := kernels.Parse(strings.NewReader(b.String()), "made"); err != nil && invalid == nil {
			t.Errorf("%v\n%s", err, b.String())
		}
	})
}

// scattered returns 300 timings of each of 12 sizes: 1e-10 s per M*N*K and 1e-6 s, with
// deviates of a shape, a tenth of that as their standard deviation.
func scattered(shape noise.Shape) string {
	var b strings.Builder
	b.WriteString("function,m,n,k,seconds\n")
	s := noise.NewSource(3)
	for size := range uint32(12) {
		m, n, k := 100+150*size, 200+100*((size*5)%12), 32*(1+size%4)
		for i := range uint32(300) {
			mean := 1e-10*float64(m)*float64(n)*float64(k) + 1e-6
			fmt.Fprintf(&b, "dgemm,%d,%d,%d,%.17g\n", m, n, k, mean*(1+0.1*shape.Deviate(s.Draw(noise.Computation, size, 0, i))))
		}
	}
	return b.String()
}

// TestNoiseInFile: noise that is fitted, written and read again has the deviation of
// the timings, a tenth of the time, and their skewness. The deviation of 300 half-normal
// deviates has an error of sqrt(2.87/1200) = 5 %, that of the fit to 12 of them less; of 4096 draws 1 %.
// Their skewness has one of at most sqrt(40/4096) = 0.1.
func TestNoiseInFile(t *testing.T) {
	for _, test := range []struct {
		shape    noise.Shape
		law      string
		skewness float64
		written  string
	}{
		{noise.HalfNormal, Auto, halfNormalSkewness, "noise: {half-normal: {M*N*K: "},
		{noise.HalfNormal, HalfNormal, halfNormalSkewness, "noise: {half-normal: {M*N*K: "},
		{noise.Normal, Auto, 0, "noise: {normal: {M*N*K: "},
		{noise.HalfNormal, Normal, 0, "noise: {normal: {M*N*K: "},
	} {
		r := fitKernels(t, read(t, scattered(test.shape), ReadOptions{}), KernelOptions{Model: LinearOne, Criterion: "bic"})
		set, text := parsed(t, r, FileOptions{Noise: test.law})
		if !strings.Contains(text, test.written) {
			t.Errorf("%s: %s is not in\n%s", test.law, test.written, text)
		}
		m := model(t, set, kernels.Host{}, kernels.Signature{Name: "dgemm", Dims: []string{"M", "N", "K"}})
		checkScatter(t, test.law, m, test.skewness)
	}
}

// checkScatter compares draws of 0.1 s and 1e-6 s with a deviation of a tenth.
func checkScatter(t *testing.T, what string, m *kernels.Model, skewness float64) {
	t.Helper()
	const n = 4096
	s, dims := noise.NewSource(4), [4]int64{1000, 1000, 1000}
	mean := m.Seconds(&dims)
	squares, cubes := 0.0, 0.0
	for i := range uint32(n) {
		x := m.Draw(&dims, s.Draw(noise.Computation, 0, 0, i)) - mean
		squares += x * x / n
		cubes += x * x * x / n
	}
	if sd := math.Sqrt(squares); math.Abs(sd-0.01) > 0.15*0.01 {
		t.Errorf("%s: deviation %g s of %g, want 0.01", what, sd, mean)
	}
	if got := cubes / math.Pow(squares, 1.5); math.Abs(got-skewness) > 0.4 {
		t.Errorf("%s: skewness %g, want %g", what, got, skewness)
	}
}

// TestNoiseWithoutTerms: where the deviation does not grow with the size, it is a part
// of the time. Here size 1 takes 9 s and 11 s, and three others the same time twice, so sd/mean is
// sqrt(2)/10 and three times 0, and their root mean square half of the first.
func TestNoiseWithoutTerms(t *testing.T) {
	const rows = "f,1,9\nf,1,11\nf,2,20\nf,2,20\nf,3,30\nf,3,30\nf,4,40\nf,4,40\n"
	r := fitKernels(t, read(t, "function,n,seconds\n"+rows, ReadOptions{}), KernelOptions{Model: LinearOne, Criterion: "bic"})
	const want = 100 * math.Sqrt2 / 10 / 2
	var percent float64
	_, text := parsed(t, r, FileOptions{Noise: Auto})
	_, rest, _ := strings.Cut(text, "noise: {normal: ")
	if _, err := fmt.Sscanf(rest, "%g%%", &percent); err != nil || !near(percent, want, 1e-12) {
		t.Errorf("no noise of %g %% in\n%s", want, text)
	}
}

// TestAbsurdNoise: deviations of 0, 0 and s for N = 1, 2 and 12 are fitted by s (7 N/74 - 31/222),
// which is below zero for N = 1 only.
func TestAbsurdNoise(t *testing.T) {
	timings := read(t, "n,seconds\n1,1\n1,1\n2,2\n2,2\n12,11\n12,13\n", ReadOptions{Function: "f"})
	r := fitKernels(t, timings, KernelOptions{Model: LinearOne, Criterion: "bic"})
	n := r.Functions[0].All.NoiseModel
	if c := n.Coefficients; n.Absurd != 1 || !near(c[0].Value, math.Sqrt2*7/74, 1e-12) || !near(c[1].Value, -math.Sqrt2*31/222, 1e-12) {
		t.Errorf("%d absurd sizes of %+v", n.Absurd, c)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), "which is below zero or above the time for 1 of 3 sizes\n") {
		t.Errorf("%v, %s", err, b.String())
	}
}
