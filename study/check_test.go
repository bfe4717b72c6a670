package study

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/report/compare"
)

// noisyStudy has kernels whose times scatter by 3 %.
func noisyStudy(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "noisy.yaml")
	noError(t, os.WriteFile(path, []byte("version: 1\nunit: s\nnoise: {normal: 3%}\nkernels:\n  dgemm: {terms: {M*N*K: 1e-10, 1: 1e-6}}\n  \"*\": {terms: {1: 1e-6}}\n"), 0o666))
	return "program: hpl\nparameters: {N: 600, P: 2, Q: 2}\nkernels: " + path + "\nplatform: dahu\nfactors: {NB: [32, 64]}\n" + more
}

// check compares two studies.
func check(t *testing.T, a, b string, threshold float64) *Check {
	t.Helper()
	var plans [2]*Plan
	var results [2]*Results
	for i, text := range []string{a, b} {
		plans[i] = studyIn(t, text)
		work(t, plans[i], WorkOptions{})
		results[i] = resultsOf(t, plans[i])
	}
	c, err := NewCheck(plans[0], plans[1], results[0], results[1], threshold)
	noError(t, err)
	return c
}

// TestCheck: hosts that compute 20 % slower are told, also from noise, and the same machine is not:
// with factors in another order, or with noise of the same seeds, to the last bit.
func TestCheck(t *testing.T) {
	const from, to = "  NB: [32, 64]\n  DEPTH: [0, 1]\n", "  DEPTH: [1, 0]\n  NB: [64, 32]\n"
	drawn := noisyStudy(t, "seed: 1..7\n")
	for _, same := range [][2]string{{smallStudy, strings.Replace(smallStudy, from, to, 1)}, {drawn, drawn}} {
		c := check(t, same[0], same[1], 0)
		if len(c.Configurations) < 2 || len(c.Warnings) != 0 {
			t.Errorf("%+v", c)
		}
		for _, j := range c.Configurations {
			if j.Verdict != compare.Equal || j.Worse {
				t.Errorf("the same: %+v", j)
			}
		}
	}
	c := check(t, smallStudy, smallStudy+"host-speed: '*=0.8'\n", 0.01)
	if !c.Worse || len(c.Configurations) != 4 {
		t.Errorf("slower: %+v", c)
	}
	noisy := noisyStudy(t, "seed: 1..5\n")
	if c = check(t, noisy, strings.Replace(noisy, "1..5", "11..15", 1), 0); c.Worse {
		t.Errorf("other seeds: %+v", c)
	}
	c = check(t, noisy, noisy+"host-speed: '*=0.8'\n", 0.05)
	var text bytes.Buffer
	noError(t, c.WriteText(&text))
	if !c.Worse || !strings.Contains(text.String(), "WORSE: 2 of 2 configurations slower by more than 5 %") {
		t.Errorf("slower, with noise: %s", text.String())
	}
}

// TestCheckDifferences: what differs beside the levels is told, and different work refused: 2/3
// N^3 + 3/2 N^2 flop, 0.0429067 Gflop for N = 400 and 0.0837083 for N = 500.
func TestCheckDifferences(t *testing.T) {
	a, b := studyIn(t, smallStudy), studyIn(t, strings.Replace(smallStudy, "N: 400", "N: 500", 1))
	var results []*Results
	for _, p := range []*Plan{a, b} {
		work(t, p, WorkOptions{})
		results = append(results, resultsOf(t, p))
	}
	refused(t, errOf(NewCheck(a, b, results[0], results[1], 0)), "NB 32, DEPTH 0 does 0.0837083 Gflop, and in "+a.Dir()+" 0.0429067: ")
	noisy := noisyStudy(t, "")
	c := check(t, noisy, strings.Replace(noisy, "Q: 2}", "Q: 2, SWAP: long}", 1)+"host-speed: '*=0.8'\ntolerance: 1%\n", 0)
	for i, want := range []string{"SWAP is not set in " + c.A + " and \"long\" in ", "host-speed is not set in " + c.A + " and \"*=0.8\" in ", "tolerance is exact in " + c.A + " and 1 % in "} {
		if len(c.Warnings) != 3 || c.Warnings[i] != want+c.B {
			t.Errorf("%q, want %s", c.Warnings, want+c.B)
		}
	}
}

// TestCheckFile: a file of the same name that says something else.
func TestCheckFile(t *testing.T) {
	noisy := noisyStudy(t, "")
	a := studyIn(t, noisy)
	_, name, _ := strings.Cut(noisy, "kernels: ")
	name, _, _ = strings.Cut(name, "\n")
	text := readFile(t, name)
	noError(t, os.WriteFile(name, append(text, "# another one\n"...), 0o666))
	b := studyIn(t, noisy)
	if got, want := differences(a, b), "kernels "+name+" of "+b.Dir()+" is not that of "+a.Dir(); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q, want %s", got, want)
	}
}

// TestSameRows: a row that a design has twice is one draw of the noise, which tells nothing; with
// two seeds there are two.
func TestSameRows(t *testing.T) {
	list := strings.Replace(noisyStudy(t, ""), "factors: {NB: [32, 64]}", "design: {list: [{NB: 32}, {NB: 32}, {NB: 64}, {NB: 64}]}", 1)
	for _, text := range []string{list, noisyStudy(t, "design: {latin hypercube: 6}\n")} {
		for _, j := range check(t, text, text+"host-speed: '*=0.8'\n", 0).Configurations {
			if j.Verdict != compare.Unclear || j.Worse {
				t.Errorf("one draw of each: %+v", j)
			}
		}
		p := planOf(t, text+"seed: [1, 2]\n")
		for _, c := range p.Configurations(NewResults("")) {
			if len(c.Rows) != 2 || !slices.Equal(c.Seeds, []uint64{1, 2}) {
				t.Errorf("%s: rows %d, seeds %d, want one row for each of 2 seeds", c.Name, c.Rows, c.Seeds)
			}
		}
	}
}

// TestCheckOthers: configurations that one of them does not have are told, and none in common is
// an error.
func TestCheckOthers(t *testing.T) {
	c := check(t, smallStudy, strings.Replace(smallStudy, "[32, 64]", "[64, 96]", 1), 0)
	if len(c.Configurations) != 2 || len(c.Warnings) != 4 {
		t.Errorf("%+v", c)
	}
	a, b := studyIn(t, smallStudy), studyIn(t, strings.Replace(smallStudy, "[32, 64]", "[96]", 1))
	refused(t, errOf(NewCheck(a, b, NewResults(a.Dir()), NewResults(b.Dir()), 0)), "no configuration in common")
	exactly(t, errOf(NewCheck(a, a, NewResults(a.Dir()), NewResults(a.Dir()), 0)), a.Dir()+": NB 32, DEPTH 0: has no result yet")
}
