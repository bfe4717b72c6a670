package kernels_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/kernels/noise"
)

// TestParseErrors breaks one thing at a time and asks for its place and name.
func TestParseErrors(t *testing.T) {
	tests := []struct {
		name, file, want string
	}{
		{"nothing", "", "f.yaml:1: want one YAML document, found 0"},
		{"long", strings.Repeat("#", 4<<20+1), "f.yaml: more than 4194304 bytes"},
		{"two documents", "version: 1\n---\nversion: 1\n", "f.yaml:1: want one YAML document, found 2"},
		{"not a mapping", "- 1\n", "f.yaml:1: kernel file: want a mapping, found a list"},
		{"a binary file", "\x7fABC\x02\x01", `f.yaml:1: byte 0x7f at offset 0: want a text in UTF-8`},
		{"not UTF-8", "version: 1\nunit: \xff\n", `f.yaml:2: byte 0xff at offset 17: want a text in UTF-8`},
		{"long text", strings.Repeat("é", 70), `f.yaml:1: kernel file: want a mapping, found "` + strings.Repeat("é", 60) + `"...`},
		{"a word", "hello\n", `f.yaml:1: kernel file: want a mapping, found "hello"`},
		{"syntax", "version: 1\nkernels: [\n", "f.yaml:2: sequence end token ']' not found"},
		{"tab", "version: 1\n\tkernels: 1\n", "f.yaml:2: "},
		{"repeated key", "version: 1\nunit: s\nversion: 1\n", `f.yaml:3: mapping key "version" already defined at [1:1]`},
		{"repeated kernel", header + "  k: 1\n  k: 2\n", `f.yaml:5: mapping key "k" already defined at [4:3]`},
		{"anchor", "version: &v 1\n", `f.yaml:1: "&": anchors, aliases`},
		{"deep lists", strings.Repeat("[", 17), "f.yaml:1: nested deeper than 16"},
		{"deep blocks", strings.Repeat("- ", 17), "f.yaml:1: nested deeper than 16"},
		{"far indent", "a:\n" + strings.Repeat(" ", 101) + "b: 1\n", "f.yaml:2: indented by more than 100 columns"},

		{"no version", "unit: s\nkernels: {}\n", `f.yaml:1: kernel file: no key "version"`},
		{"newer version", "version: 2\nunit: s\nkernels: {}\n", `f.yaml:1: version: want a whole number in [1,1], found "2"`},
		{"no unit", "version: 1\nkernels: {}\n", `f.yaml:1: kernel file: no key "unit"`},
		{"wrong unit", "version: 1\nunit: ms\nkernels: {}\n", `f.yaml:2: unit: want s or flop, found "ms"`},
		{"no kernels", "version: 1\nunit: s\n", `f.yaml:1: kernel file: no key "kernels"`},
		{"kernels is nothing", "version: 1\nunit: s\nkernels:\n", `f.yaml:3: kernels: want a mapping, found nothing`},
		{"unknown key", "version: 1\nunits: s\n", `f.yaml:2: kernel file: unknown key "units": want version, description,`},
		{"noise", header + "  k: 1\nnoise: normal\n", `f.yaml:5: noise: want none, or normal or half-normal with a standard deviation, found "normal"`},
		{"seed", header + "  k: 1\nseed: 42\n", `f.yaml:5: kernel file: unknown key "seed": want version,`},
		{"noise of a model", header + "  k: {terms: {1: 1},\n    noise: 1}\n", `f.yaml:5: k: noise: want none, or normal or half-normal with a standard deviation, found "1"`},
		{"noise of no kind", header + "  k: {terms: {1: 1}, noise: {gamma: 1}}\n", `f.yaml:4: k: noise: unknown key "gamma": want normal or half-normal`},
		{"noise of two kinds", header + "  k: {terms: {1: 1}, noise: {normal: 1, half-normal: 1}}\n", `f.yaml:4: k: noise: want one key, normal or half-normal, found 2 keys`},
		{"time beyond any", header + "  k: {terms: {1: 1e308}}\n", `f.yaml:4: k: terms: 1: value 1e+308 s, want 0 to 1e+09 s`},
		{"constant beyond any", header + "  k: 1e10\n", `f.yaml:4: k: free or a constant: value 1e+10 s, want 0 to 1e+09 s`},
		{"amount beyond any", header + "  k: {unit: flop, terms: {N: 1,\n    1: -1e31}}\n", `f.yaml:5: k: terms: 1: value 1e+31 flop, want 0 to 1e+30 flop`},
		{"noise beyond any", header + "  k: {terms: {1: 1}, noise: {normal: 1e300}}\n", `f.yaml:4: k: noise: normal: value 1e+300 s, want 0 to 1e+09 s`},
		{"noise in percent beyond any", header + "  k: {terms: {1: 1}, noise: {normal: 1e300%}}\n", `f.yaml:4: k: noise: normal: value 1.0000000000000001e+298, want 0 to 1e+09`},
		{"noise in percent", header + "  k: {terms: {1: 1}, noise: {normal: x%}}\n", `f.yaml:4: k: noise: normal: want a number, or a percentage such as 3%, found "x%"`},
		{"noise below zero", header + "  k: {terms: {1: 1}, noise: {normal: -3%}}\n", `f.yaml:4: k: noise: normal: want a standard deviation >= 0, found "-3%"`},
		{"noise of nothing", header + "  k: {terms: {1: 1}, noise: }\n", `f.yaml:4: k: noise: want none, or normal or half-normal with a standard deviation, found nothing`},
		{"noise of what is free", header + "  k: {free: true, noise: {normal: 1}}\n", `f.yaml:4: k: noise of what is free`},
		{"deviation", header + "  k: {terms: {1: 1}, noise: {normal: {M*: 1}}}\n", `f.yaml:4: k: noise: normal: product "M*": want`},
		{"no modes", header + "  k: {terms: {1: 1}, noise: {normal: []}}\n", `f.yaml:4: k: noise: normal: 0 modes, want 1 to 64`},
		{"many modes", header + "  k: {terms: {1: 1}, noise: {normal: [" + strings.Repeat("1,", 64) + "1]}}\n", `f.yaml:4: k: noise: normal: 65 modes, want 1 to 64`},
		{"mode of nothing", header + "  k: {terms: {1: 1}, noise: {normal: [{weight: 1}]}}\n", `f.yaml:4: k: noise: normal: no key "sd"`},
		{"mode without weight", header + "  k: {terms: {1: 1}, noise: {normal: [{sd: 1}]}}\n", `f.yaml:4: k: noise: normal: no key "weight"`},
		{"weight", header + "  k: {terms: {1: 1}, noise: {normal: [{weight: 0, sd: 1}]}}\n", `f.yaml:4: k: noise: normal: weight 0, want more than 0 and at most 1`},
		{"weights", header + "  k: {terms: {1: 1}, noise: {normal: [{weight: 0.5, sd: 1}, {weight: 0.6, sd: 1}]}}\n", `f.yaml:4: k: noise: normal: the weights add up to 1.1, want 1`},
		{"noise of all", header + "  k: 1\nnoise: {normal: 1.0e-6}\n", `f.yaml:5: noise: of all kernels it can only be in percent of their times`},
		{"polynomial of all", header + "  k: 1\nnoise: {normal: {M: 1}}\n", `f.yaml:5: noise: normal: want a number, a percentage, or a list of modes, found a mapping`},
		{"description", "version: 1\nunit: s\nkernels: {}\ndescription: [a]\n", `f.yaml:4: description: want a text or number, found a list`},
		{"cpus", header + "  k: 1\ncpus_per_host: 0\n", `f.yaml:5: cpus_per_host: want a whole number in [1,65536], found "0"`},

		{"no model", header + "  k:\n", `f.yaml:4: k: want a text or number, found nothing`},
		{"word as a model", header + "  k: cheap\n", `f.yaml:4: k: free or a constant: want a finite number, found "cheap"`},
		{"negative constant", header + "  k: -1\n", `f.yaml:4: k: constant -1: want a positive one, or free`},
		{"bad pattern", header + "  k[1: 1\n", `f.yaml:4: kernels: pattern "k[1": [ without ]`},
		{"unknown model key", header + "  k: {term: {1: 1}}\n", `f.yaml:4: k: unknown key "term": want unit, empty, pieces,`},
		{"no cost", header + "  k: {if: M > 1}\n", `f.yaml:4: k: no cost: want terms, or free: true`},
		{"two costs", header + "  k: {terms: {1: 1}, free: true}\n", `f.yaml:4: k: both terms and free`},
		{"free: false", header + "  k: {free: false}\n", `f.yaml:4: k: free: want true, found "false"`},
		{"no terms", header + "  k: {terms: {}}\n", `f.yaml:4: k: terms: no positive coefficient`},
		{"negative terms", header + "  k: {terms: {M: -1}}\n", `f.yaml:4: k: terms: no positive coefficient`},
		{"coefficient", header + "  k:\n    terms:\n      M: fast\n", `f.yaml:6: k: terms: M: want a finite number, found "fast"`},
		{"hexadecimal", header + "  k: {terms: {M: 0x10}}\n", `f.yaml:4: k: terms: M: want a finite number, found "0x10"`},
		{"overflow", header + "  k: {terms: {M: 1e999}}\n", `f.yaml:4: k: terms: M: want a finite number, found "1e999"`},
		{"product", header + "  k: {terms: {M+N: 1}}\n", `f.yaml:4: k: terms: product "M+N": want dimensions as in M*N*K`},
		{"open sum", header + "  k: {terms: {(M+N: 1}}\n", `f.yaml:4: k: terms: product "(M+N": want`},
		{"sum of a repeated name", header + "  k: {terms: {(M+M): 1}}\n", `f.yaml:4: k: terms: product "(M+M)": want`},
		{"power", header + "  k: {terms: {M^0: 1}}\n", `f.yaml:4: k: terms: product "M^0": want`},
		{"character", header + "  k: {terms: {M/N: 1}}\n", `f.yaml:4: k: terms: unexpected '/' in "M/N"`},
		{"degree", header + "  k: {terms: {M^2*N^2: 1}}\n", `f.yaml:4: k: terms: product "M^2*N^2": degree over 3`},
		{"huge power", header + "  k: {terms: {M^999999999: 1}}\n", `f.yaml:4: k: terms: product "M^999999999": degree over 3`},
		{"same product", header + "  k:\n    terms:\n      M*N: 1\n      N*M: 1\n", `f.yaml:7: k: terms: M*N and N*M are the same`},
		{"empty", header + "  k: {empty: never, terms: {1: 1}}\n", `f.yaml:4: k: empty: want free, charged, or a list of dimensions, found "never"`},
		{"empty list", header + "  k: {empty: [], terms: {1: 1}}\n", `f.yaml:4: k: empty: empty list`},
		{"empty product", header + "  k: {empty: [M*N], terms: {1: 1}}\n", `f.yaml:4: k: empty: extent "M*N": want a dimension or a sum`},
		{"model unit", header + "  k: {unit: h, terms: {1: 1}}\n", `f.yaml:4: unit: want s or flop, found "h"`},
		{"when is a word", header + "  k: [{when: left, terms: {1: 1}}]\n", `f.yaml:4: k: when: want a mapping, found "left"`},

		{"pieces of nothing", header + "  k: []\n", `f.yaml:4: k: no pieces`},
		{"terms beside pieces", header + "  k:\n    pieces: [{terms: {1: 1}}]\n    terms: {1: 1}\n", `f.yaml:6: k: "terms" beside pieces`},
		{"unit in a piece", header + "  k: [{unit: s, terms: {1: 1}}]\n", `f.yaml:4: k: unknown key "unit": want when, if, terms, free`},
		{"open end", header + "  k:\n    - {terms: {1: 1},\n       if: M > 1}\n", `f.yaml:6: k: the last piece has thresholds`},
		{"never reached", header + "  k:\n    - {terms: {1: 1}}\n    - {terms: {1: 2}}\n", `f.yaml:5: k: piece without when and if is not the last`},
		{"thresholds", header + "  k: [{if: M, terms: {1: 1}}, {terms: {1: 1}}]\n", `f.yaml:4: k: if: thresholds "M": want comparisons as in`},
		{"threshold word", header + "  k: [{if: M > 1 or N > 1, terms: {1: 1}}, {terms: {1: 1}}]\n", `f.yaml:4: k: if: thresholds "M > 1 or N > 1": want comparisons as in`},
		{"threshold operator", header + "  k: [{if: M = 1, terms: {1: 1}}, {terms: {1: 1}}]\n", `f.yaml:4: k: if: operator "=": want >, >=, <, <= or ==`},
		{"threshold order", header + "  k: [{if: 1 < M, terms: {1: 1}}, {terms: {1: 1}}]\n", `f.yaml:4: k: if: comparison "1 < M": want a dimension`},
		{"threshold overflow", header + "  k: [{if: M > 9223372036854775807, terms: {1: 1}}, {terms: {1: 1}}]\n", `f.yaml:4: k: if: comparison "M > 9223372036854775807"`},
		{"contradiction", header + "  k: [{if: M > 5 and M < 6, terms: {1: 1}}, {terms: {1: 1}}]\n", `f.yaml:4: k: if: thresholds "M > 5 and M < 6" on M never hold`},

		{"hosts in a mapping", header + "  k: 1\nhosts: {}\n", `f.yaml:5: hosts: want a list, found a mapping`},
		{"host without a name", header + "  k: 1\nhosts:\n  - {kernels: {k: 1}}\n", `f.yaml:6: hosts: no key "host"`},
		{"host without kernels", header + "  k: 1\nhosts:\n  - {host: a}\n", `f.yaml:6: hosts: no key "kernels"`},
		{"cpu without cpus", header + "  k: 1\nhosts:\n  - {host: a, cpu: 1, kernels: {k: 1}}\n", `f.yaml:6: hosts: cpu (less than cpus_per_host): want a whole number in [0,0], found "1"`},
		{"host range", header + "  k: 1\nhosts:\n  - {host: \"a[3-1]\", kernels: {k: 1}}\n", `f.yaml:6: hosts: host: pattern "a[3-1]": range "3-1": want`},
		{"host digits", header + "  k: 1\nhosts:\n  - {host: \"a1[0-9]\", kernels: {k: 1}}\n", `f.yaml:6: hosts: host: pattern "a1[0-9]": a digit beside`},
		{"empty host", header + "  k: 1\nhosts:\n  - {host: \"\", kernels: {k: 1}}\n", `f.yaml:6: hosts: host: empty pattern`},
		{"model of a host", header + "  k: 1\nhosts:\n  - host: a\n    kernels: {k: cheap}\n", `f.yaml:7: k: free or a constant`},

		// Matrices that no coefficients have, and scatter that is too large.
		{"covariance", header + "  k: {terms: {M: 1}, covariance: []}\n", "f.yaml:4: k: covariance: 0 rows, want one for each of the 1 terms"},
		{"covariance", header + "  k: {terms: {M: 1}, covariance: [[1, 2]]}\n", "f.yaml:4: k: covariance: 2 numbers in row 1, want 1: the lower triangle"},
		{"covariance", header + "  k: {terms: {M: 1}, covariance: [[-1]]}\n", "f.yaml:4: k: covariance: variance -1 of term 1 is negative"},
		{"covariance", header + "  k: {terms: {M: 1}, covariance: [[x]]}\n", `f.yaml:4: k: covariance: want a finite number, found "x"`},
		{"covariance", header + "  k: {terms: {M: 1, 1: 1}, covariance: [[1], [2, 1]]}\n", "f.yaml:4: k: covariance: not positive semi-definite"},
		{"covariance", header + "  k: {terms: {M: 1, 1: 1}, covariance: [[0], [1, 1]]}\n", "f.yaml:4: k: covariance: not positive semi-definite"},
		{"covariance", header + "  k: {free: true, covariance: [[1]]}\n", "f.yaml:4: k: covariance of what is free"},
		{"covariance", header + "  k: {pieces: [{terms: {M: 1}}], covariance: [[1]]}\n", `f.yaml:4: k: "covariance" beside pieces: it belongs into one of them`},
		{"alone", "alone: {ranks: 1, time: 90%}\n" + header + "  k: 1\n", "f.yaml:1: alone: ranks: want "},
		{"alone", "alone: {ranks: 2, time: 0.9}\n" + header + "  k: 1\n", "f.yaml:1: alone: time: want a percentage above 0% to 200%"},
		{"scatter", "host_scatter: 1\n" + header + "  k: 1\n", "f.yaml:1: host_scatter: want a "},
		{"scatter", "host_scatter: 30%\n" + header + "  k: 1\n", "f.yaml:1: host_scatter: want a "},
		{"shared", "shared_errors: [{kernels: [k]}]\n" + header + "  k: 1\n", "f.yaml:1: shared_errors: no key \"sd\""},
		{"shared", "shared_errors: [{kernels: [k], sd: 3}]\n" + header + "  k: 1\n", "f.yaml:1: shared_errors: sd: want a percentage"},
		{"shared", "shared_errors: [{kernels: k, sd: 3%}]\n" + header + "  k: 1\n", "f.yaml:1: shared_errors: kernels: want a list"},
		{"network", "network_error: 300%\n" + header + "  k: 1\n", "f.yaml:1: network_error: want a percentage of at most 200%"},
		{"scatter", "host_scatter: -1%\n" + header + "  k: 1\n", "f.yaml:1: host_scatter: want a "},
	}
	for _, tt := range tests {
		_, err := kernels.Parse(strings.NewReader(tt.file), "f.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s:\n got %v\nwant %s…", tt.name, err, tt.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error of several lines: %v", tt.name, err)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	if _, err := kernels.Load(filepath.Join(t.TempDir(), "none.yaml")); !os.IsNotExist(err) {
		t.Errorf("got %v, want that the file does not exist", err)
	}
	_, err := kernels.Builtin("cray")
	want := `no built-in kernel models "cray": want dahu, dahu-a1, dahu-c1, default, stampede, stampede-constants, or a file`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// FuzzParse checks that no file makes Parse or Bind panic, and that what is
// accepted gives times that are times.
func FuzzParse(f *testing.F) {
	const maxSeed = 4096 // bytes; minimising longer ones would take all the time
	for _, glob := range []string{"../platforms/machines/*/kernels*.yaml", "../testdata/kernels/*.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s: %v", glob, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(text) <= maxSeed {
				f.Add(text)
			}
		}
	}
	f.Add([]byte(header + "  k: 1\nhosts:\n  - {host: \"a-[1-3,7]*\", kernels: {k*: [{if: M > 3, free: true}, {terms: {(M+N)*K: 1}}]}}\n"))
	f.Add([]byte(header + "  dgemm: {terms: {M*N*K: 1}, noise: {half-normal: {M: 1}}}\n  dtrsm: {noise: {normal: [{weight: 1, mean: 2%, sd: 1}]}, pieces: [{terms: {M: 1}}]}\nnoise: {normal: 3%}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := kernels.Parse(strings.NewReader(string(text)), "f.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Fatalf("error without a position: %v", err)
			}
			return
		}
		for _, host := range []kernels.Host{{Name: "dahu-1.x", Slot: 1, Speed: 1e9}, {Name: "a-7"}} {
			checkTimes(t, s, host)
		}
	})
}

// checkTimes binds HPL's kernels and checks some times.
func checkTimes(t *testing.T, s *kernels.Set, host kernels.Host) {
	for _, sig := range hpl {
		m, err := s.Bind(host, sig)
		if err != nil {
			continue
		}
		for _, dims := range [][4]int64{{}, {1, 2, 3, 4}, {2000, 2000, 2000, 2000}} {
			if sec := m.Seconds(&dims); !(sec >= 0) || m.Free() && sec != 0 {
				t.Fatalf("%s %v: %g s, free %v", sig, dims, sec, m.Free())
			}
			d := noise.NewSource(1).Draw(noise.Computation, 2, 3, 4)
			if sec := m.Draw(&dims, d); !(sec >= 0) || !m.Noisy() && sec != m.Seconds(&dims) {
				t.Fatalf("%s %v: draw of %g s, noisy %v", sig, dims, sec, m.Noisy())
			}
		}
	}
}
