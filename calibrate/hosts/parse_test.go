package hosts

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoundTrip: a model that is written reads as the same one.
func TestRoundTrip(t *testing.T) {
	for _, name := range BuiltinNames() {
		m := builtinModel(t, name)
		var b bytes.Buffer
		must(t, m.WriteYAML(&b))
		again, err := Parse(&b, "again")
		must(t, err)
		if diff := cmp.Diff(m, again); diff != "" {
			t.Error(diff)
		}
	}
}

const small = `version: 1
unit: s
per: host
variables: [{kernel: dgemm, term: M*N*K}, {kernel: dgemm, noise: M*N*K}]
classes:
  - {name: all, weight: 1, mean: [1, 0.1], spatial: [[4, 1], [1, 1]], temporal: [[0, 0], [0, 0]]}
`

func TestParseErrors(t *testing.T) {
	if _, err := Parse(strings.NewReader(small), "m.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"version: 1", "version: 2", "m.yaml:1: version: want a whole number in [1,1]"},
		{"unit: s", "unit: flop", `m.yaml:2: unit: want s, found "flop"`},
		{"unit: s\n", "", `no key "unit"`},
		{"per: host", "per: rack", "want host or cpu"},
		{"per: host", "per: host\ncpus_per_host: 2", "m.yaml:4: machine model: 2 CPUs of a host, want 1"},
		{"per: host", "per: host\nnoise_shape: square", "want half-normal or normal"},
		{"per: host", "per: host\nextra: 1", `unknown key "extra"`},
		{"term: M*N*K", "term: M*N*K*M", "degree 4"},
		{"term: M*N*K", "noise: M*N*K", "m.yaml:4: machine model: variables dgemm:M*N*K (noise) and dgemm:M*N*K (noise) are the same"},
		{"kernel: dgemm, noise: M*N*K", "kernel: dgemm, term: N*K*M", "variables dgemm:M*N*K and dgemm:N*K*M are the same"},
		{"kernel: dgemm, term: M*N*K", "kernel: null, term: M*N*K", "want a text or number"},
		{"{kernel: dgemm, term: M*N*K}, ", "", "noise of a kernel of which there is no term"},
		{"kernel: dgemm, term", "term", "want kernel, and one of"},
		{"kernel: dgemm, term", "kernel: 1x, term", "want a letter, then letters, digits"},
		{"weight: 1", "weight: 0.5", "add up to 0.5"},
		{"weight: 1", "weight: -1", `m.yaml:6: machine model: class "all": weight -1, want 0 to 1`},
		{"name: all", "name: all of them", "want a name of letters"},
		{"mean: [1, 0.1]", "mean: [1]", "1 numbers, want 2"},
		{"mean: [1, 0.1]", "mean: [-1, 0.1]", "and above zero"},
		{"mean: [1, 0.1]", "mean: [1, x]", "m.yaml:6: classes: mean: want a finite number"},
		{"weight: 1, mean: [1, 0.1], spatial: [[4, 1], [1, 1]], temporal: [[0, 0], [0, 0]]}\n", "weight: 0.5, mean: [1, 0.1], spatial: [[4, 1], [1, 1]], temporal: [[0, 0], [0, 0]]}\n" +
			"  - {name: all, weight: 0.5, mean: [1, 0.1], spatial: [[4, 1], [1, 1]], temporal: [[0, 0], [0, 0]]}\n", `m.yaml:6: machine model: two classes of the name "all"`},
		{"[1, 1]]", "[2, 1]]", "not symmetric"},
		{"[[4, 1], [1, 1]]", "[[4, 3], [3, 1]]", "not positive semi-definite"},
		{"[[4, 1], [1, 1]]", "[[-4, 1], [1, 1]]", "variance -4"},
		{"[[4, 1], [1, 1]]", "[[4, 1]]", "1 rows, want 2"},
		{"[[0, 0], [0, 0]]", "[[0, 1], [1, 1]]", "temporal covariance: not positive semi-definite"},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		if _, err := Parse(strings.NewReader(text), "m.yaml"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}

// FuzzParse: a model that is accepted is written and read again as the same model, and can
// be drawn from or says why not.
func FuzzParse(f *testing.F) {
	f.Add(small)
	for _, name := range BuiltinNames() {
		text, err := builtin.ReadFile("builtin/" + name + ".yaml")
		must(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(strings.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		var b bytes.Buffer
		must(t, m.WriteYAML(&b))
		again, err := Parse(&b, "again")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		m.Description, m.Source, again.Description, again.Source = "", "", "", ""
		if diff := cmp.Diff(m, again); diff != "" {
			t.Error(diff)
		}
		if len(m.Variables) <= 4 && m.CPUsPerHost <= 2 {
			_, _ = m.Draw(DrawOptions{Hosts: 2, Seed: 1, Day: 1})
		}
	})
}

// TestDocumented: the file of the documentation is a machine model.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/calibrate.md")
	must(t, err)
	_, section, _ := strings.Cut(string(page), "calibrate hosts --draw")
	_, rest, _ := strings.Cut(section, "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/calibrate.md has no YAML")
	}
	m, err := Parse(strings.NewReader(text), "docs/calibrate.md")
	must(t, err)
	if len(m.Classes) != 2 || m.Classes[1].Mean[0] != 8.7e-11 {
		t.Errorf("model %+v", m)
	}
}
