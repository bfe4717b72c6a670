package tune

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/study"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// planOf plans the study of a text.
func planOf(t testing.TB, text string) *study.Plan {
	t.Helper()
	s, err := study.Parse(strings.NewReader(text), "test.yaml")
	noError(t, err)
	p, err := study.NewPlan(s, "test")
	noError(t, err)
	return p
}

// A few machines on which all configurations are replayed in less than a second.
const grids = `
  PxQ: {1x8: {P: 1, Q: 8}, 2x4: {P: 2, Q: 4}, 4x2: {P: 4, Q: 2}}`

var small = map[string]string{
	"a cluster": `program: hpl
parameters: {N: 640}
factors:` + grids + `
  NB: [16, 32, 64]
  DEPTH: [0, 1]
  BCAST: [1rM, Lng]
  SWAP: [bin, long]`,
	"one host": `program: hpl
parameters: {N: 512}
ranks-per-host: 8
machine: dahu
factors:` + grids + `
  NB: [16, 32, 64, 128]
  BCAST: [1rg, 1rM, 2rg, 2rM, Lng, LnM]`,
	"slow links": `program: hpl
parameters: {N: 640}
bandwidth: 0.1
latency: 20
factors:` + grids + `
  NB: [16, 32, 64]
  DEPTH: [0, 1]
  SWAP: [bin, long, mix]`,
}

// TestTune: the best of all, each replayed exactly, or one that is not slower by more than what was
// said not to matter, and with fewer replays; whatever the number of jobs. The HPL.dat is that of it.
func TestTune(t *testing.T) {
	for name, text := range small {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, text)
			all, least := p.NewEvaluator(), math.Inf(1)
			for i := range p.Runs {
				out, err := all.Evaluate(t.Context(), p.Config(i), study.RunOptions{Seed: 1})
				noError(t, err)
				least = min(least, out.Makespan)
			}
			o := Options{Jobs: 3, Tolerances: Tolerances(0), Indifference: 0.01, Seed: 1}
			r, err := Run(t.Context(), p, o)
			noError(t, err)
			made := len(r.Runs) - r.FreshSeeds
			t.Logf("%s: %.2f %% behind the best, %d of %d replayed", r.Best.Name, 100*(r.Best.Makespan/least-1), made, len(p.Runs))
			if r.Best.Makespan > 1.01*least || made >= len(p.Runs) {
				t.Errorf("%s takes %g s, the best %g s; %d of %d replayed", r.Best.Name, r.Best.Makespan, least, made, len(p.Runs))
			}
			if len(r.Deciding) != decidingRuns || r.Deciding[0].Name != r.Best.Name || r.Indistinct[0].Name != r.Best.Name {
				t.Errorf("deciding %v, indistinct %v", r.Deciding, r.Indistinct)
			}
			d, err := hpl.ReadDat(strings.NewReader(r.Dat), "HPL.dat")
			noError(t, err)
			if got, err := d.Combination(1); err != nil || !cmp.Equal(got, r.Best.params) {
				t.Errorf("HPL.dat of %+v, the best is %+v; %v", got, r.Best.params, err)
			}
			// The number of all has what is still to come: the fresh seeds, until the last replay has ended.
			o.Jobs = 1
			o.Progress = func(done, all int, left time.Duration) {
				if end := done == len(r.Runs); (done >= all) != end || (left > 0) == end {
					t.Errorf("%d of %d, %v left; %d in the end", done, all, left, len(r.Runs))
				}
			}
			again, err := Run(t.Context(), p, o)
			if diff := cmp.Diff(r, again, cmpopts.IgnoreUnexported(Choice{}, Replay{})); err != nil || diff != "" {
				t.Error("with one job", err, diff)
			}
		})
	}
}

// TestNoise: the best is replayed with seeds that the search did not use, of noise and of pivots,
// and what they differ by is in the interval of its Gflops: their mean, and Student's half-width
// of three.
func TestNoise(t *testing.T) {
	p := planOf(t, "kernel-noise: dgemm=5%\n"+small["slow links"])
	r, err := Run(t.Context(), p, Options{Jobs: 2, Tolerances: Tolerances(0), Indifference: 0.01, Seed: 7})
	noError(t, err)
	at := len(r.Runs) - r.FreshSeeds
	mean, sum := 0.0, 0.0
	for i, made := range r.Runs {
		if fresh := i >= at; fresh != (made.Seed != 7) || fresh != (made.PivotSeed != 1) {
			t.Errorf("replay %d of %d: %+v", i, len(r.Runs), made)
		}
	}
	flops := p.Config(0).Run.Flops
	for _, made := range r.Runs[at:] {
		mean += flops / made.Makespan / 1e9 / 3
	}
	for _, made := range r.Runs[at:] {
		d := flops/made.Makespan/1e9 - mean
		sum += d * d
	}
	want := 4.302653 * math.Sqrt(sum/2/3) // Student's 97.5 % with 2 degrees of freedom
	if r.FreshSeeds != 3 || math.Abs(r.Gflops-mean) > 1e-9*mean || math.Abs(r.GflopsInterval-want) > 1e-5*want || want == 0 {
		t.Errorf("%d seeds, %g Gflops ± %g, want %g ± %g", r.FreshSeeds, r.Gflops, r.GflopsInterval, mean, want)
	}
}

// TestGoesOn: with a directory, nothing is replayed twice.
func TestGoesOn(t *testing.T) {
	p := planOf(t, small["slow links"])
	o := Options{Jobs: 2, Tolerances: Tolerances(0), Indifference: 0.01, Seed: 1, Dir: filepath.Join(t.TempDir(), "tuned")}
	first, err := Run(t.Context(), p, o)
	if err != nil || first.Known != 0 {
		t.Fatal(first.Known, err)
	}
	again, err := Run(t.Context(), p, o)
	if err != nil || again.Known != len(again.Runs) {
		t.Errorf("%d of %d known, %v", again.Known, len(again.Runs), err)
	}
	if diff := cmp.Diff(first, again, cmpopts.IgnoreUnexported(Choice{}, Replay{}), cmpopts.IgnoreFields(Result{}, "Known")); diff != "" {
		t.Error(diff)
	}
	_, err = p.Create(filepath.Join(t.TempDir(), "study"))
	noError(t, err)
	o.Dir = p.Dir()
	if _, err := Run(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), "is the directory of a study: take another one") {
		t.Error(err)
	}
}

// TestStopped: if the context ends after the first batch, the result is the best of those that were replayed, by what
// each may be at worst; the directory has it.
func TestStopped(t *testing.T) {
	p, dir := planOf(t, small["slow links"]), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Jobs: 1, Tolerances: Tolerances(0), Indifference: 0.01, Seed: 1, Dir: dir, SoFar: func(r *Result) {
		noError(t, r.Save(dir))
		cancel()
	}}
	r, err := Run(ctx, p, o)
	noError(t, err)
	if !r.Stopped || r.FreshSeeds != 0 || len(r.Runs) == 0 {
		t.Fatalf("stopped %v, %d fresh seeds, %d replays", r.Stopped, r.FreshSeeds, len(r.Runs))
	}
	least := math.Inf(1)
	for _, run := range r.Runs {
		least = min(least, run.Makespan+run.Interval)
	}
	if got := r.Best.Makespan + r.Best.Interval; got != least {
		t.Errorf("the best takes %v s at worst, another one %v", got, least)
	}
	kept, err := Open(dir)
	noError(t, err)
	if diff := cmp.Diff(r.Best, kept.Best, cmpopts.IgnoreUnexported(Choice{})); diff != "" {
		t.Errorf("in the directory: %s", diff)
	}
	var text strings.Builder
	noError(t, kept.WriteText(&text))
	if !strings.HasPrefix(text.String(), "best so far") {
		t.Errorf("got %q", &text)
	}
	if none, err := Open(t.TempDir()); none != nil || err != nil {
		t.Errorf("an empty directory: %v, %v", none, err)
	}
}

// TestOneSystem: what is compared solves one system, and solves it.
func TestOneSystem(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"parameters: {P: 1, Q: 2}\nfactors: {N: [100, 200]}", "test.yaml: N is 100 and 200: what is tuned solves one system"},
		{"parameters: {P: 1, Q: 2, N: 100, first-steps: 2}\nfactors: {NB: [8, 16]}", "test.yaml: first-steps is 2: what is tuned solves its system, leave it out"},
	} {
		p := planOf(t, "program: hpl\n"+c.text)
		_, err := Run(t.Context(), p, Options{Jobs: 1, Tolerances: []float64{0}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestOrder: levels in the order of what they mean.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		labels  string
		rank    []int
		ordered bool
	}{
		{"128 64 96", []int{2, 0, 1}, true},
		{"4x2 1x8 2x4", []int{2, 0, 1}, true}, // 2, 1/8, 1/2
		{"1rg 1rM", []int{0, 1}, false},
	} {
		var levels []study.Level
		for _, l := range strings.Fields(c.labels) {
			levels = append(levels, study.Level{Label: l})
		}
		if rank, ordered := order(levels); !slices.Equal(rank, c.rank) || ordered != c.ordered {
			t.Errorf("%s: %v, %v", c.labels, rank, ordered)
		}
	}
}

// TestEdges: NB 16 and 64 are the ends of three, 1x8 and 4x2 those of three grids; of two depths
// both would be.
func TestEdges(t *testing.T) {
	p := planOf(t, small["a cluster"])
	for row := range p.Runs {
		var want []string
		if name := p.Levels(row); strings.Contains(name, "4x2") || strings.Contains(name, "1x8") {
			want = append(want, "PxQ")
		}
		if name := p.Levels(row); !strings.Contains(name, "NB 32") {
			want = append(want, "NB")
		}
		if got := edges(p, row); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", p.Levels(row), got, want)
		}
	}
}

// TestRank: seconds of one seed scatter by 1 %: a difference has a standard deviation of
// 1 % * sqrt(2) / 1.96 = 0.72 %. 1 % more is not surely more than 0.5 %, and 10 % more is.
func TestRank(t *testing.T) {
	list := []Choice{{Name: "a", Makespan: 100}, {Name: "b", Makespan: 101}, {Name: "same as b", Makespan: 101}, {Name: "c", Makespan: 110}}
	r := &Result{Indifference: 0.005}
	r.rank(list, 0.01)
	if len(r.Indistinct) != 3 || r.Indistinct[1].Name != "b" {
		t.Errorf("%+v", r.Indistinct)
	}
	var names []string
	for _, c := range r.Deciding {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Error(got)
	}
	r = &Result{Indifference: 0.005}
	if r.rank(list, 0); len(r.Indistinct) != 1 { // exact: 1 % is more than 0.5 %
		t.Errorf("%+v", r.Indistinct)
	}
}

// TestRequests: what is asked for, as a study.
func TestRequests(t *testing.T) {
	dahu := []study.Setting{{Word: "machine", Value: "dahu"}}
	// 32 nodes of 1 GB, 80 % of it: N^2 * 8 <= 25.6e9, N <= 56,568: 220 blocks of 256.
	s, leftOut, err := (&Request{Settings: dahu, Memory: 1e9, Fill: 0.8}).Study()
	noError(t, err)
	c, err := s.Config(0)
	if err != nil || c.Run.HPL.N != 220*256 || c.Machine.RanksPerHost != 32 {
		t.Errorf("N = %d, %d ranks on a host; %v", c.Run.HPL.N, c.Machine.RanksPerHost, err)
	}
	// 1,024 ranks: 8x128, 16x64, 32x32; blocks of 64 to 256: 56,320/4/256 = 55 >= 32. On 8 x 128
	// with blocks of 256 and DEPTH 1 two panels of 7,040 rows take 29 MB of a rank, whose share of
	// 1 GB is 31 MB: that does not fit beside 25 MB of the matrix.
	if want := 3 * 7 * 2 * 6 * 3; len(s.Rows)+leftOut != want || leftOut < 6*3 {
		t.Errorf("%d configurations, and %d left out, want %d", len(s.Rows), leftOut, want)
	}
	// 4 nodes of 8 cores that are described: 32 ranks, 2x16, 4x8, 8x4.
	s, _, err = (&Request{Settings: []study.Setting{{Word: "platform", Value: "new --nodes 4 --cores 8 --flat"}}, N: 4096}).Study()
	if err != nil || len(s.Factors[0].Levels) != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	s, _, err = (&Request{Settings: dahu, Dat: datFile(t, twelve...)}).Study()
	if err != nil || len(s.Rows) != 12 {
		t.Errorf("%v, want 12 configurations of HPL.dat", err)
	}
}

// twelve replaces lines of an HPL.dat of one value each: 2 grids, 2 depths and 3 RFACTs.
var twelve = []string{
	"1            # of process", "2            # of process", "2            Ps", "2 1          Ps", "2            Qs", "3 6          Qs",
	"1            # of recursive panel", "3            # of recursive panel", "2            RFACTs", "0 1 2        RFACTs",
	"1            # of lookahead", "2            # of lookahead", "1            DEPTHs", "0 1          DEPTHs",
}

// datFile writes an HPL.dat of one value each, but for texts that are replaced.
func datFile(t *testing.T, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/ci/small/HPL.dat")
	noError(t, err)
	path := filepath.Join(t.TempDir(), "HPL.dat")
	noError(t, os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o666))
	return path
}

// TestRefused: what cannot be done is said in one sentence.
func TestRefused(t *testing.T) {
	two := datFile(t, append([]string{"1            # of problems", "2            # of problems", "1000 ", "1000 2000 "}, twelve...)...)
	large := datFile(t, "1            # of process", "2            # of process", "2            Ps", "64 1         Ps", "2            Qs", "64 6         Qs")
	machine := func(name string) []study.Setting { return []study.Setting{{Word: "machine", Value: name}} }
	for _, c := range []struct {
		name, want string
		r          Request
	}{
		{"no order", "neither the order of the matrix nor the memory of a node is given", Request{Settings: machine("dahu")}},
		{"memory too small", "10 kB of memory on each of 32 nodes are too small: 80 % of it hold no matrix of order 256", Request{Settings: machine("dahu"), Memory: 1e4, Fill: 0.8}},
		// 100,000^2 * 8 bytes on 32 nodes are 2.5 GB each.
		{"does not fit", "HPL would not fit: N = 100000 takes at least 2.", Request{Settings: machine("dahu"), Memory: 2e9, N: 100000}},
		// N^2 * 8 bytes of 1 GB is N = 11,180, less panels: see TestFits.
		{"what fits", "which has 1.0 GB: take N = 10752", Request{Settings: machine("dahu"), Ranks: 4, Memory: 1e9, N: 20000}},
		{"nothing fits", "no order from 256 fits: take more ranks, or nodes with more memory", Request{Settings: machine("dahu"), Nodes: 1, Memory: 1e6, Fill: 0.8}},
		{"less fill", ", or less fill", Request{Settings: machine("dahu"), Nodes: 1, Memory: 1e9, Fill: 0.99}},
		{"all is set", "there is nothing to choose", Request{Settings: append(machine("dahu"), study.Setting{Word: "P", Value: "2"}, study.Setting{Word: "NB", Value: "64"},
			study.Setting{Word: "DEPTH", Value: "0"}, study.Setting{Word: "BCAST", Value: "1rg"}, study.Setting{Word: "SWAP", Value: "mix"}), Ranks: 4, N: 1000}},
		{"not that grid", "32 ranks make no grid with P = 3", Request{Settings: append(machine("dahu"), study.Setting{Word: "P", Value: "3"}), Ranks: 32, N: 5000}},
		{"not that grid", "32 ranks make no grid with P = 4 and Q = 4", Request{Settings: append(machine("dahu"), study.Setting{Word: "P", Value: "4"}, study.Setting{Word: "Q", Value: "4"}), Ranks: 32, N: 5000}},
		{"said by HPL.dat", "says NB itself: leave the setting of NB out", Request{Settings: append(machine("dahu"), study.Setting{Word: "NB", Value: "64"}), Dat: datFile(t, twelve...)}},
		{"no grid", "1021 ranks make no grid but those of fewer than one row for 16 columns, or more than 2 for one, in which HPL is slow: take 1020", Request{Settings: machine("dahu"), Ranks: 1021, N: 5000}},
		{"too many ranks", "1025 ranks need 33 nodes, and dahu has 32, of 32 ranks each", Request{Settings: machine("dahu"), Ranks: 1025, N: 5000}},
		{"both", "ranks and nodes are both given", Request{Settings: machine("dahu"), Ranks: 64, Nodes: 2, N: 5000}},
		{"as large as it has to be", "say how many ranks or nodes", Request{N: 5000}},
		{"no machine", "no built-in machine \"dahoo\"", Request{Settings: machine("dahoo"), N: 5000}},
		{"two orders", "N has 2 values: what is tuned solves one system", Request{Settings: machine("dahu"), Dat: two}},
		{"nothing to choose", "its lists have one value each: there is nothing to choose", Request{Settings: machine("dahu"), Dat: datFile(t)}},
		{"grid too large", "P = 64 times Q = 64 is 4096 ranks, and dahu has room for 1024", Request{Settings: machine("dahu"), Dat: large}},
		{"said twice", "an HPL.dat says N, P and Q itself", Request{Settings: machine("dahu"), Dat: two, Ranks: 6}},
		{"no file", "no such file", Request{Settings: machine("dahu"), Dat: filepath.Join(t.TempDir(), "none")}},
		{"a word that is none", "PFACTS", Request{Settings: append(machine("dahu"), study.Setting{Word: "PFACTS", Value: "left"}), N: 5000}},
	} {
		if _, _, err := c.r.Study(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestFits: an order that is recommended fits, and the next one does not; an order that fills 80
// % of the memory does so on the fullest node. 33 ranks on nodes of 32, whose fullest has 32 of
// 33 parts of the matrix: N^2 * 8 * 32/33 <= 0.8 * 256e9, N <= 162,480: 634 blocks of 256.
func TestFits(t *testing.T) {
	dahu := []study.Setting{{Word: "machine", Value: "dahu"}}
	for n, fits := range map[int]bool{10752: true, 10752 + 256: false} {
		if _, _, err := (&Request{Settings: dahu, Ranks: 4, Memory: 1e9, N: n}).Study(); (err == nil) != fits {
			t.Errorf("N = %d: %v", n, err)
		}
	}
	s, _, err := (&Request{Settings: dahu, Ranks: 33, Memory: 256e9, Fill: 0.8}).Study()
	noError(t, err)
	if c, err := s.Config(0); err != nil || c.Run.HPL.N != 634*256 {
		t.Errorf("N = %d, want %d; %v", c.Run.HPL.N, 634*256, err)
	}
}

// TestSet: what is set is the same in all configurations, and no factor: 3 NB of 32 ranks are one
// of 7, and P = 1 leaves Q = 32, a grid that is not usual.
func TestSet(t *testing.T) {
	for _, c := range []struct {
		word, value string
		rows        int
	}{{"NB", "100", 3 * 2 * 6 * 3}, {"DEPTH", "2", 3 * 7 * 6 * 3}, {"BCAST", "Lng", 3 * 7 * 2 * 3}, {"SWAP", "mix", 3 * 7 * 2 * 6}, {"P", "1", 7 * 2 * 6 * 3}, {"Q", "32", 7 * 2 * 6 * 3}} {
		s, _, err := (&Request{Settings: []study.Setting{{Word: "machine", Value: "dahu"}, {Word: c.word, Value: c.value}}, Ranks: 32, N: 20000}).Study()
		if err != nil {
			t.Fatal(c.word, err)
		}
		if len(s.Rows) != c.rows {
			t.Errorf("%s: %d configurations, want %d", c.word, len(s.Rows), c.rows)
		}
		p, err := s.Config(len(s.Rows) - 1)
		noError(t, err)
		got := *p.Run.HPL
		if err := got.Set(c.word, c.value); err != nil || !cmp.Equal(got, *p.Run.HPL) || got.P*got.Q != 32 {
			t.Errorf("%s: %+v, %v", c.word, got, err)
		}
	}
}

// TestBytesOfRank: N = 1,000 in blocks of 100 on 2 x 2: 500 rows and columns each, 8 bytes of
// 500 * 501 + 2 panels of 100 * (500 + 200) + 2 * 100 * 500.
func TestBytesOfRank(t *testing.T) {
	p := hpl.DefaultParams(1000, 2, 2)
	p.NB, p.Depth = 100, 1
	if got, want := bytesOfRank(&p), 8.*(500*501+2*100*700+2*100*500); got != want {
		t.Errorf("%g, want %g", got, want)
	}
}

// boxesOf plans the study that a request makes.
func boxesOf(t *testing.T, r *Request) *study.Plan {
	t.Helper()
	s, _, err := r.Study()
	noError(t, err)
	p, err := study.NewPlan(s, "test")
	noError(t, err)
	return p
}

// TestRunBoxes: the best of all, each replayed, or one that is not slower by more than what was
// said not to matter, whatever the number of jobs.
func TestRunBoxes(t *testing.T) {
	p := boxesOf(t, &Request{HPCG: true, Ranks: 4, Memory: 4 * 20e6, Fill: 0.9}) // of a node, which the ranks share
	e, err := p.NewCachedEvaluator("")
	noError(t, err)
	most := 0.0
	for i := range p.Runs {
		out, _, err := e.Evaluate(t.Context(), p.Config(i), study.RunOptions{Tolerance: 0.01, Seed: 1})
		noError(t, err)
		most = max(most, out.Gflops)
	}
	o := Options{Jobs: 2, Tolerances: Tolerances(0.01), Indifference: 0.005, Seed: 1}
	r, err := Run(t.Context(), p, o)
	noError(t, err)
	t.Logf("%s: %.2f %% below the best, %d replays of %d", r.Best.Name, 100*(1-r.Gflops/most), len(r.Runs), len(p.Runs))
	if r.Gflops < 0.995*most || len(r.Runs) >= len(p.Runs) || r.Indistinct[0].Name != r.Best.Name {
		t.Errorf("%+v, the best %g Gflops; %d configurations", r, most, len(p.Runs))
	}
	o.Jobs = 1
	again, err := Run(t.Context(), p, o)
	noError(t, err)
	if again.Best.Name != r.Best.Name || again.Gflops != r.Gflops || len(again.Runs) != len(r.Runs) {
		t.Errorf("%+v, with one job %+v", r, again)
	}
	var params hpcg.Params
	if _, err := params.ReadDat(strings.NewReader(r.HPCGDat), "hpcg.dat"); err != nil || params.Grid.Ranks() != 4 || params.NX*params.NY*params.NZ == 0 {
		t.Errorf("%+v, %v", params, err)
	}
}

// TestCandidates: boxes take a quarter of the memory at least, and the fill at most; 714.7 bytes a
// point are what HPCG reports.
func TestCandidates(t *testing.T) {
	if math.Abs(BytesPerPoint-714.7) > 0.05 {
		t.Errorf("%g bytes a point", BytesPerPoint)
	}
	// 32 ranks of a node of 16 GB have 0.5 GB each: 175,000 to 560,000 points.
	r := &Request{HPCG: true, Nodes: 2, Memory: 16e9, Fill: 0.8}
	noError(t, r.Set("machine=dahu"))
	s, _, err := r.Study()
	noError(t, err)
	least, most := math.Inf(1), 0.0
	for i := range s.Rows {
		c, err := s.Config(i)
		noError(t, err)
		p := c.Run.HPCG
		points := float64(p.NX) * float64(p.NY) * float64(p.NZ)
		least, most = min(least, points), max(most, points)
		if p.Ranks != 64 || p.Grid.Ranks() != 64 {
			t.Fatalf("%+v", p)
		}
	}
	if least < 174e3 || least > 200e3 || most > 560e3 || most < 530e3 {
		t.Errorf("%g to %g points", least, most)
	}
}

// TestBoxesRefused: what cannot be done is said in one sentence.
func TestBoxesRefused(t *testing.T) {
	for want, r := range map[string]Request{
		"the memory of a node is not given":          {Ranks: 8},
		"8 ranks with memory for 2 to 6 points each": {Ranks: 8, Memory: 8 * 5e3, Fill: 0.8},
		"11 ranks with memory for":                   {Ranks: 11, Memory: 1e9, Fill: 0.8}, // 1 x 1 x 11: HPCG aborts
		"say how many ranks or nodes":                {Memory: 1e9, Fill: 0.8},
	} {
		r.HPCG = true
		if _, _, err := r.Study(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// The kernel models of Dahu are those of HPL.
	r := &Request{HPCG: true, Ranks: 8, Memory: 1e9, Fill: 0.8}
	noError(t, r.Set("machine=dahu"))
	s, _, err := r.Study()
	noError(t, err)
	p, err := study.NewPlan(s, "test")
	if err == nil {
		_, err = Run(t.Context(), p, Options{Jobs: 1, Tolerances: []float64{0.01}, Indifference: 0.005})
	}
	if err == nil || strings.Count(err.Error(), "no kernel model for spmv") != 1 {
		t.Error("HPCG on the kernels of HPL:", err)
	}
}
