package kernels_test

import (
	"math"
	"strings"
	"testing"

	"reprise/kernels"
)

// sig builds a signature; attrs is "side=L uplo=U".
func sig(name, attrs string, dims ...string) kernels.Signature {
	s := kernels.Signature{Name: name, Dims: dims}
	for _, a := range strings.Fields(attrs) {
		k, v, _ := strings.Cut(a, "=")
		s.Attrs = append(s.Attrs, kernels.Attr{Name: k, Value: v})
	}
	return s
}

// header opens a file in seconds whose kernels follow, from line 4 on.
const header = "version: 1\nunit: s\nkernels:\n"

// parse parses a file whose kernels are the given lines.
func parse(t testing.TB, kernelLines ...string) *kernels.Set {
	t.Helper()
	s, err := kernels.Parse(strings.NewReader(header+"  "+strings.Join(kernelLines, "\n  ")+"\n"), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func builtin(t testing.TB, name string) *kernels.Set {
	t.Helper()
	s, err := kernels.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// loadSet loads one of the reference simulations' sets.
func loadSet(t testing.TB, name string) *kernels.Set {
	t.Helper()
	s, err := kernels.Load("../testdata/kernels/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func bind(t testing.TB, s *kernels.Set, h kernels.Host, sig kernels.Signature) kernels.Model {
	t.Helper()
	m, err := s.Bind(h, sig)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// near allows for rounding in a few operations.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Abs(b) }

// parseFile parses a whole file.
func parseFile(t testing.TB, text string) *kernels.Set {
	t.Helper()
	s, err := kernels.Parse(strings.NewReader(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
