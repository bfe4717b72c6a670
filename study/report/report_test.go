package report

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/study"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reportOf makes the runs of a study and returns what they say.
func reportOf(t *testing.T, text string) *Report {
	t.Helper()
	s, err := study.Parse(strings.NewReader(text), "study.yaml")
	noError(t, err)
	p, err := study.NewPlan(s, "test")
	noError(t, err)
	_, err = p.Create(filepath.Join(t.TempDir(), "study"))
	noError(t, err)
	_, err = p.Work(context.Background(), study.WorkOptions{Jobs: 1, Lease: time.Minute})
	noError(t, err)
	r := p.NewResults()
	noError(t, r.Update())
	f, err := Of(p, r)
	noError(t, err)
	return f
}

// alone is HPL on one rank of one core, where nothing but kernels takes time: a makespan is
// inversely proportional to the speed of the host.
const alone = "program: hpl\nparameters: {N: 200, NB: 32, P: 1, Q: 1}\nplatform: dahu\n"

// TestEffects: hosts of 0.5 and of 2 times their speed take 2 and 1/2 times as long, that is, of
// their geometric mean, +100 % and -50 %; pivots of another seed exchange other rows, but alone
// they send nothing.
func TestEffects(t *testing.T) {
	f := reportOf(t, alone+"factors: {host-speed: ['*=0.5', '*=2'], DEPTH: [0, 1]}\n")
	of := f.Factors[0]
	if of.Name != "host-speed" || math.Abs(of.Levels[0].Effect-1) > 1e-9 || math.Abs(of.Levels[1].Effect+0.5) > 1e-9 || math.Abs(of.Spread-3) > 1e-9 || math.Abs(of.Share-1) > 1e-9 {
		t.Errorf("%+v", of)
	}
	if math.Abs(f.Factors[1].Share) > 1e-9 || !f.Balanced || math.Abs(f.Residual) > 1e-9 {
		t.Errorf("DEPTH does nothing with one process column: %+v", f)
	}
	// Both depths are the same run to the last bit: the second is not told from the best.
	if f.Indistinct != 2 || f.Ranking[1].Told || !f.Ranking[2].Told || math.Abs(f.Ranking[3].Behind-3) > 1e-9 || *f.Ranking[0].Interval != 0 {
		t.Errorf("%+v", f.Ranking)
	}
}

// TestNoise: with noise of 3 % for each call, hosts that are 0.1 % slower are not told from the
// best by two seeds, and hosts of half the speed are.
func TestNoise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noisy.yaml")
	noError(t, os.WriteFile(path, []byte("version: 1\nunit: s\nnoise: {normal: 3%}\nkernels:\n  \"*\": {terms: {1: 1e-6}}\n"), 0o666))
	f := reportOf(t, alone+"kernels: "+path+"\nfactors: {host-speed: ['*=1', '*=0.5']}\nseed: 1..6\n")
	if len(f.Ranking) != 2 || f.Ranking[0].Levels[0] != 0 || !f.Ranking[1].Told || f.Indistinct != 1 || *f.Ranking[0].Interval <= 0 {
		t.Errorf("%+v", f.Ranking)
	}
	one := reportOf(t, alone+"kernels: "+path+"\nfactors: {host-speed: ['*=1', '*=0.5']}\n")
	if one.Indistinct != 2 || one.Ranking[0].Interval != nil {
		t.Errorf("one seed tells nothing: %+v", one.Ranking)
	}
}

// TestFraction: in half of four factors, SWAP = NB*DEPTH*BCAST, three pairs of interactions are
// one contrast each, which the report names by both, and gives the share once.
func TestFraction(t *testing.T) {
	f := reportOf(t, "program: hpl\nparameters: {N: 300, P: 2, Q: 2}\nfactors: {NB: [16, 32], DEPTH: [0, 1], BCAST: [1rg, 1rM], SWAP: [bin, long]}\ndesign: {fractional: 1/2}\n")
	if want := "fractional 1/2 of resolution 4 (SWAP=NB*DEPTH*BCAST)"; f.Design != want {
		t.Errorf("%s, want %s", f.Design, want)
	}
	var names []string
	sum := f.Residual
	for _, of := range f.Interactions {
		names = append(names, of.name()+" or "+strings.Join(of.Or, " or "))
		sum += of.Share
	}
	slices.Sort(names)
	want := []string{"NB with BCAST or DEPTH with SWAP", "NB with DEPTH or BCAST with SWAP", "NB with SWAP or DEPTH with BCAST"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	for _, of := range f.Factors {
		sum += of.Share
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("shares add up to %g", sum)
	}
	var text bytes.Buffer
	noError(t, f.WriteText(&text))
	for _, w := range append(want, `names with "or" between are one contrast`) {
		if !strings.Contains(text.String(), w) {
			t.Errorf("no %s in\n%s", w, text.String())
		}
	}
	// Of three factors SWAP is NB*DEPTH: each main effect has an interaction in its share.
	f = reportOf(t, "program: hpl\nparameters: {N: 300, P: 2, Q: 2}\nfactors: {NB: [16, 32], DEPTH: [0, 1], SWAP: [bin, long]}\ndesign: {fractional: 1/2}\n")
	for _, of := range f.Factors {
		if want := map[string]string{"NB": "DEPTH with SWAP", "DEPTH": "NB with SWAP", "SWAP": "NB with DEPTH"}[of.Name]; len(f.Interactions) > 0 || len(of.Or) != 1 || of.Or[0] != want {
			t.Errorf("%+v, want %s", of, want)
		}
	}
}

// TestRange: of a range, whose levels are 1050, 1150, 1250 and 1350, the report has a row and not
// four.
func TestRange(t *testing.T) {
	f := reportOf(t, "program: hpl\nparameters: {P: 1, Q: 2, NB: 64}\nfactors: {N: 1000..1399, DEPTH: [0, 1]}\ndesign: {latin hypercube: 4}\n")
	var text bytes.Buffer
	noError(t, f.WriteText(&text))
	_, tables, _ := strings.Cut(text.String(), "Main effects")
	if !strings.Contains(tables, "1050 to 1350") || strings.Contains(tables, "1150") || strings.Count(tables, "DEPTH") != 4 {
		t.Errorf("%s", tables)
	}
}

// TestWrite: what stands in a name is no HTML, and the page asks for nothing.
func TestWrite(t *testing.T) {
	f := reportOf(t, alone+"factors: {speed: {'<b>&\"': {host-speed: '*=0.5'}, 2: {host-speed: '*=2'}}}\n")
	var text, html bytes.Buffer
	noError(t, f.WriteText(&text))
	noError(t, f.WriteHTML(&html))
	for _, want := range []string{"the best", "Main effects", "+100.00 %", "speed 2"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, wrong := range []string{"<b>", "http:", "https:", "src=", "<script"} {
		if strings.Contains(html.String(), wrong) {
			t.Errorf("the page has %s", wrong)
		}
	}
	if !strings.Contains(html.String(), "<polyline points=") {
		t.Error("no curve")
	}
}

// TestPlaces: numbers stand where they are on an axis, names in equal distances.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		labels []string
		want   []float64
	}{{[]string{"64", "128", "320"}, []float64{0, 0.25, 1}}, {[]string{"a", "b", "c"}, []float64{0, 0.5, 1}}, {[]string{"7"}, []float64{0}}} {
		var of Factor
		for _, l := range c.labels {
			of.Levels = append(of.Levels, Level{Label: l})
		}
		for i, got := range of.places() {
			if got != c.want[i] {
				t.Errorf("%v: %v", c.labels, of.places())
			}
		}
	}
}

// TestFailedConfigurations: what failed is told, and the rest is found out.
func TestFailedConfigurations(t *testing.T) {
	few := filepath.Join(t.TempDir(), "few.yaml")
	noError(t, os.WriteFile(few, []byte("version: 1\nunit: s\nkernels: {dgemm: free}\n"), 0o666))
	f := reportOf(t, "program: hpl\nparameters: {N: 100, NB: 8, P: 2, Q: 1}\nplatform: dahu\nfactors: {kernels: [dahu, "+few+"]}\n")
	if len(f.Ranking) != 1 || len(f.Notes) != 2 || !strings.Contains(f.Notes[0], "few.yaml: the trace calls what cannot be played") {
		t.Errorf("%+v", f)
	}
}

// TestConfounded: two factors that change together cannot be told apart, and the report says so.
func TestConfounded(t *testing.T) {
	f := reportOf(t, alone+"design: {list: [{host-speed: '*=1', DEPTH: 0}, {host-speed: '*=2', DEPTH: 1}]}\n")
	var b, page strings.Builder
	noError(t, errors.Join(f.WriteText(&b), f.WriteHTML(&page)))
	if !f.Confounded || !strings.Contains(b.String(), "cannot tell all factors apart") {
		t.Errorf("%t: %s", f.Confounded, b.String())
	}
	if strings.Contains(page.String(), "<polyline") {
		t.Error("a curve shows what may be of another factor")
	}
}

// TestResponses: alone, all of the path is kernels, whose time goes by the speed of the host, and
// nothing is lost to others.
func TestResponses(t *testing.T) {
	f := reportOf(t, alone+"factors: {host-speed: ['*=1', '*=2']}\nresponses: [critical-path, pop]\n")
	one, two := f.Factors[0].Levels[0], f.Factors[0].Levels[1]
	for i, name := range f.PathParts {
		if math.Abs(one.Path[i]-2*two.Path[i]) > 1e-9*one.Path[i] {
			t.Errorf("%s takes %g and %g s", name, one.Path[i], two.Path[i])
		}
	}
	for i, name := range f.Efficiencies {
		if math.Abs(one.POP[i]-1) > 1e-9 {
			t.Errorf("%s is %g", name, one.POP[i])
		}
	}
	var b strings.Builder
	noError(t, f.WriteText(&b))
	for _, want := range []string{"Critical path (s), by level", "POP's efficiencies (%), by level", "the rest"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestPerFlop: of two matrices, on one rank, the larger one takes longer, and less for each flop;
// a host of half the speed takes twice as long for either.
func TestPerFlop(t *testing.T) {
	f := reportOf(t, strings.Replace(alone, "N: 200, ", "", 1)+"factors: {N: [200, 400], host-speed: ['*=1', '*=0.5']}\n")
	best := f.Ranking[0]
	if !f.PerFlop || best.Name != "N 400, host-speed *=1" || best.Makespan <= f.Ranking[2].Makespan {
		t.Errorf("%+v", f.Ranking)
	}
	for _, r := range f.Ranking[1:] {
		if want := best.Gflops/r.Gflops - 1; !r.Told || math.Abs(r.Behind-want) > 1e-9 {
			t.Errorf("%s: %g behind, want %g, as its Gflops say", r.Name, r.Behind, want)
		}
	}
	var b strings.Builder
	if err := f.WriteText(&b); err != nil || !strings.Contains(b.String(), "Main effects on the time per flop") {
		t.Error(err, b.String())
	}
}

// TestTies: exact times that are equal are so, and no further study tells them apart. Alone, the
// look-ahead does nothing.
func TestTies(t *testing.T) {
	f := reportOf(t, alone+"factors: {DEPTH: [0, 1]}\n")
	var b strings.Builder
	noError(t, f.WriteText(&b))
	if text := b.String(); !strings.Contains(text, "as quick as the best") || strings.Contains(text, "cannot be told") {
		t.Error(text)
	}
}
