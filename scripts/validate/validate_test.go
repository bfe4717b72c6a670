package main

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/page"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
)

const root = "../.."

// TestPage: the page has a section for each part.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/validation.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(partNames(), "claims") {
		if _, err := page.ReplaceSection(string(text), name, ""); err != nil {
			t.Error(err)
		}
	}
	table, err := page.Section(string(text), "claims")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(judge(table, nil)); got != table {
		t.Errorf("the table of claims is not what judge reads:\n%s", got)
	}
}

func TestFlags(t *testing.T) {
	o, err := parseFlags(strings.Fields("-data d -only dahu,causes -jobs 2"))
	if err != nil || len(o.only) != 2 || o.jobs != 2 || o.bin != "bin" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range []string{"", "-data d -only luck", "-data d -jobs 0", "-data d dahu", "-fast"} {
		if _, err := parseFlags(strings.Fields(args)); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// TestWanted: a part that is aside is measured with -all, or by its name.
func TestWanted(t *testing.T) {
	const aside = "factorial-reconstructed"
	for _, c := range []struct {
		flags string
		parts int
		aside bool
	}{{"-data d", len(parts()) - 1, false}, {"-data d -all", len(parts()), true}, {"-data d -only " + aside, 1, true}, {"-data d -all -only dahu", 1, false}} {
		o, err := parseFlags(strings.Fields(c.flags))
		if err != nil {
			t.Fatal(err)
		}
		got := o.wanted()
		if has := slices.ContainsFunc(got, func(p part) bool { return p.name == aside }); len(got) != c.parts || has != c.aside {
			t.Errorf("%s: %d parts, with the one aside: %t", c.flags, len(got), has)
		}
	}
}

// TestRemovalPays: without nodes the run is quicker by 100/104 - 1 = -3.8 %; by nothing
// in one grid, and not replayed.
func TestRemovalPays(t *testing.T) {
	samples := []sample{{n: 500000, what: "4x64", ours: 100}}
	for _, grid := range []string{"5x50", "5x49", "4x62", "4x61"} {
		samples = append(samples, sample{n: 500000, what: grid, ours: 104})
	}
	if v := removalPays(samples); !v.Reproduced || !strings.HasPrefix(v.Ours, "5x50 −3.8, 5x49 −3.8, ") {
		t.Errorf("%+v", v)
	}
	samples[4].ours = 100
	if v := removalPays(samples); v.Reproduced || v.Untested != "" {
		t.Errorf("%+v", v)
	}
	if v := removalPays(samples[:4]); v.Untested != "no run of 500000 4x61 replayed" || v.Reproduced {
		t.Errorf("%+v", v)
	}
}

// TestClaims: they are numbered without gaps.
func TestClaims(t *testing.T) {
	for i, c := range claims {
		if c.number != i+1 || c.text == "" {
			t.Errorf("claim %d: %+v", i+1, c)
		}
	}
}

func TestRanks(t *testing.T) {
	if d := cmp.Diff([]float64{3, 1, 4.5, 4.5, 2}, ranks([]float64{20, 5, 30, 30, 7})); d != "" {
		t.Error(d)
	}
}

// TestRankCorrelation: 1 - 6*sum(d²)/(n(n²-1)) without ties; here d = 0, 1, -1, 0.
func TestRankCorrelation(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, 1}, {[]float64{9, 7, 5, 0}, -1}, {[]float64{1, 30, 20, 400}, 1 - 6*2.0/(4*15)},
	} {
		if got := rankCorrelation([]float64{10, 20, 30, 40}, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", c.y, got, c.want)
		}
	}
}

// TestVariance: y = 10 + 4a + 1b + e over a 2x2 design run twice, with e = ±0.5 in
// each pair. Effects are half the difference of means squared times the 8 rows:
// a: 8*(4/2)² = 32, b: 8*(1/2)² = 2; residuals 8*0.25 = 2 with 8-3 = 5 degrees of
// freedom, so F = 32/(2/5) = 80 and 2/(2/5) = 5.
func TestVariance(t *testing.T) {
	var a, b factor
	a.name, b.name = "a", "b"
	var y []float64
	for _, row := range []struct{ a, b float64 }{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		for _, e := range []float64{-0.5, 0.5} {
			a.levels, b.levels = append(a.levels, gflops(row.a)), append(b.levels, gflops(row.b))
			y = append(y, 10+4*row.a+row.b+e)
		}
	}
	got, err := variance([]factor{a, b}, y)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []effect{{"a", 32, 1, 80, 100 * 32.0 / 36}, {"b", 2, 1, 5, 100 * 2.0 / 36}} {
		g := got[i]
		if g.name != want.name || g.df != want.df || math.Abs(g.sum-want.sum) > 1e-9 || math.Abs(g.f-want.f) > 1e-9 || math.Abs(g.share-want.share) > 1e-9 {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
	if _, err := variance([]factor{a}, y[:2]); err == nil {
		t.Error("two rows: no error")
	}
}

// TestVarianceUnbalanced: y depends on a only, so that an unbalanced second factor
// explains nothing.
func TestVarianceUnbalanced(t *testing.T) {
	a := factor{"a", strings.Fields("0 0 0 1 1 1 1")}
	b := factor{"b", strings.Fields("x x y y y y x")}
	y := []float64{1, 1.1, 0.9, 5.1, 4.9, 5, 5}
	got, err := variance([]factor{a, b}, y)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].f < 100 || got[1].f > 5 {
		t.Errorf("F %g and %g, want much and little", got[0].f, got[1].f)
	}
}

func TestSpread(t *testing.T) {
	var s spread
	for _, e := range []float64{1, -6, 2} {
		s.add(e, gflops(e))
	}
	if s.mean() != 3 || s.bias() != -1 || s.worst != -6 || s.worstAt != "-6" || s.within(5) != 2 || s.limits() != "−6.0 to +2.0 %" {
		t.Errorf("%+v, mean %g, bias %g, %s", s, s.mean(), s.bias(), s.limits())
	}
}

// TestHPLGflops: the first published run, N = 50,000 in 6.1 s, is printed as 13660.
func TestHPLGflops(t *testing.T) {
	if got := hplGflops(50000, 6.1); math.Abs(got-13660) > 5 {
		t.Errorf("%g", got)
	}
}

func TestSheet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("# about\nP,gflops\n4,1.5\nx,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := readSheet(path, "p", "gflops")
	if err != nil || len(s.rows) != 2 {
		t.Fatalf("%v, %v", s, err)
	}
	if r := s.rows[0]; r.whole("p") != 4 || r.number("gflops") != 1.5 || s.err != nil {
		t.Errorf("%+v, %v", r, s.err)
	}
	if r := s.rows[1]; r.number("gflops") != 0 || s.err != nil {
		t.Errorf("empty field: %v", s.err)
	}
	if s.rows[1].whole("p"); s.err == nil || !strings.Contains(s.err.Error(), "t.csv:4: column p") {
		t.Errorf("%v", s.err)
	}
	if _, err := readSheet(path, "q"); err == nil || !strings.Contains(err.Error(), "want a column q") {
		t.Errorf("%v", err)
	}
}

// TestFiles: what is written of a machine is read by platforms, kernels, and gives
// the times of its coefficients.
func TestFiles(t *testing.T) {
	n := network{Bandwidth: 12.5e9, Latency: 5e-8, LoopbackBandwidth: 18e9, Send: []segment{{0, 1e-6, 1e-10, 0}}, BandwidthFactor: []segment{{Factor: 0.5}, {Above: 6e6, Factor: 0.25}}, Async: 64000, Detached: 64000}
	dir := t.TempDir()
	path := filepath.Join(dir, "p.xml")
	if err := os.WriteFile(path, []byte(n.xml(cluster{first: 1, last: 4, cores: 2})), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := platforms.Load(path)
	if err != nil || p.NumHosts() != 4 {
		t.Fatalf("%v", err)
	}
	o := netmodel.DefaultOptions()
	if err := o.ApplyConfig(p); err != nil {
		t.Error(err)
	}
	g := gemm{mean: polynomial{mnk: 1e-11, intercept: 1e-7}, deviation: polynomial{mnk: 1e-13}}
	m := machineKernels{gemm: g, processors: []processor{{host: 2, cpu: 1, gemm: g}}, cpusPerHost: 2,
		others: otherKernels{"dtrsm": {1e-11, 1e-12}, "dgemv": {1e-9, 1e-10}, "dtrsv": {1e-5, 1e-6}, "HPL_dlacpy": {1e-9, 1e-10}}, noisyGemm: true, noisyOthers: true}
	if _, err := kernels.Parse(strings.NewReader(m.yaml()), "k.yaml"); err != nil {
		t.Error(err)
	}
	m.others = m.others.minimal()
	if text := m.yaml(); strings.Contains(text, "dlacpy: {terms") || !strings.Contains(text, "dtrsv") {
		t.Errorf("minimal: %s", text)
	}
}

func TestFirstCables(t *testing.T) {
	if got := firstCables("2;32,8;1,4;1,8"); got != "2;32,8;1,4;1,1" {
		t.Error(got)
	}
}

// TestCache: a run that was replayed is not replayed again.
func TestCache(t *testing.T) {
	l := &lab{work: t.TempDir(), tools: "x"}
	if err := os.Mkdir(filepath.Join(l.work, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := run{hpl: "-N 1", platform: "p", kernels: "k"}
	if err := os.WriteFile(l.resultPath(r), []byte(`{"makespan_s": 2, "gflops": 3}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := l.replay(r); err != nil || got.Makespan != 2 || got.Gflops != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMeasureAll: parts that replay wait for each other, one that fails does not keep
// the others from the page, and what they say about claims is in the table.
func TestMeasureAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	text := ""
	for _, name := range []string{"first", "second", "third", "claims"} {
		text += "<!-- measured: " + name + " -->\n<!-- end: " + name + " -->\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l := &lab{log: io.Discard}
	third := make(chan bool)
	err := l.measureAll([]part{
		{name: "first", measure: func(*lab) (section, error) {
			<-third
			return section{"one", []verdict{{Claim: 1, Ours: "ten", Reproduced: true}}}, nil
		}},
		{name: "second", measure: func(*lab) (section, error) { return section{}, errors.New("no such machine") }},
		{name: "third", measure: func(*lab) (section, error) {
			close(third)
			return section{"three", []verdict{{Claim: 2, Ours: "much", Reproduced: false}}}, nil
		}},
	}, path)
	if err == nil || err.Error() != "second: no such machine" {
		t.Error(err)
	}
	got, _ := os.ReadFile(path)
	for name, want := range map[string]string{"first": "one", "second": "", "third": "three"} {
		want = "<!-- measured: " + name + " -->\n" + map[bool]string{true: "\n" + want + "\n\n"}[want != ""] + "<!-- end: " + name + " -->"
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, row := range []string{"| ten | above 30 % at 500,000 | yes |\n| 2 |", "| much | both pairs within 1.5 % | **no** |\n| 3 |", "| – | within 1.5 % of it | not replayed yet |\n| 4 |"} {
		if !strings.Contains(string(got), row) {
			t.Errorf("no %q in\n%s", row, got)
		}
	}
}

// TestTenth: percentages are rounded, not cut off.
func TestTenth(t *testing.T) {
	for x, want := range map[float64]string{-13.18: "−13.2", 40.06: "+40.1", 0.04: "+0.0", -0.96: "−1.0"} {
		if got := tenth(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

// TestBlockRatio: products with K = 128 take 2e-10 + 1.28e-9/128 = 2.1e-10 s for each
// M*N*K, with K = 256 2.21e-10 + 2.56e-9/256 = 2.31e-10 s.
func TestBlockRatio(t *testing.T) {
	l := &lab{data: t.TempDir()}
	dir := filepath.Join(l.data, "dgemm_calibration")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "experiment,mnk,mn,mk,nk\n128_01,2e-10,1.28e-9,1e-7,2e-7\nrandom_01,1,1,1,1\n256_00,2.21e-10,2.56e-9,3e-7,1e-7\n"
	if err := os.WriteFile(filepath.Join(dir, "dgemm_raw_expected.csv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := l.blockRatio()
	if err != nil || math.Abs(got.work-1.1) > 1e-12 || math.Abs(got.mk-3) > 1e-12 || math.Abs(got.nk-0.5) > 1e-12 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dgemm_raw_expected.csv"), []byte(text[:strings.Index(text, "256_00")]), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := l.blockRatio(); err == nil {
		t.Errorf("%+v without timings for K = 256", got)
	}
	g := gemm{mean: polynomial{2, 4, 1, 3, 7}, deviation: polynomial{mnk: 1}}
	if x := g.ofBlocks(blockRatio{1.5, 4, 2}); x != (gemm{polynomial{3, 6, 4, 6, 7}, polynomial{mnk: 1.5}}) {
		t.Errorf("%+v", x)
	}
}

func TestCheck(t *testing.T) {
	points := []point{{smpi: 100, ours: 101}, {smpi: 100, ours: 97}}
	if err := check(points, []float64{1.5, 3.5}); err != nil {
		t.Error(err)
	}
	if err := check(points, []float64{1.5, 2}); err == nil || !strings.Contains(err.Error(), "1 of 2") {
		t.Errorf("%v", err)
	}
}

// TestExcesses: 100 Gflops instead of 110 take 10 % more time, the mean of that and
// of 20 % is 15 %. A machine without a base does not count.
func TestExcesses(t *testing.T) {
	samples := []sample{{machine: "1", n: 9, what: "base", ours: 110}, {machine: "1", n: 9, what: "x", ours: 100}, {machine: "2", n: 9, what: "base", ours: 120},
		{machine: "2", n: 9, what: "x", ours: 100}, {machine: "3", n: 9, what: "x", ours: 1}}
	got := excessesOver("base", samples, oursOf)
	if x := got[cell(9, "x")]; math.Abs(x.mean()-15) > 1e-9 || x.machines != 2 || got.at(9, "base") != 0 {
		t.Errorf("%v", got)
	}
}

// TestWithout: the slowest node goes, the others keep their order.
func TestWithout(t *testing.T) {
	node := func(host int, mnk float64) processor {
		return processor{host: host, gemm: gemm{mean: polynomial{mnk: mnk}}}
	}
	got := without([]processor{node(0, 1), node(1, 3), node(2, 2)}, 1)
	if len(got) != 2 || got[0] != node(0, 1) || got[1] != node(1, 2) {
		t.Errorf("%+v", got)
	}
}

// TestCooledNodes: the normal class has the mean of dahu-node, a slow node takes
// 8.297494/7.359773 = 1.1274 times as long (means of dahu-cooling), and what differs
// between nodes is the same part of the mean as between processors.
func TestCooledNodes(t *testing.T) {
	law, err := cooledNodes()
	if err != nil {
		t.Fatal(err)
	}
	normal, slow := law.Classes[0], law.Classes[1]
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"mean of normal nodes, s", normal.Mean[0], 2.3723302e-12},
		{"deviation of their noise, s", normal.Mean[2], 8.1692872e-14},
		{"slow / normal", slow.Mean[0] / normal.Mean[0], 8.297494 / 7.359773},
		{"relative variance between slow nodes", slow.Spatial[0][0] / (slow.Mean[0] * slow.Mean[0]), 3.125799e-23 / (8.297494e-11 * 8.297494e-11)},
		{"relative covariance of time and noise over days", normal.Temporal[0][2] / (normal.Mean[0] * normal.Mean[2]), 1.150207e-25 / (7.359773e-11 * 2.579149e-12)},
		{"weight of slow nodes", slow.Weight, 1.0 / 9},
	} {
		if math.Abs(c.got/c.want-1) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
	nodes, err := drawCooled(law, 1)
	if err != nil || len(nodes) != 256 || nodes[255].host != 255 {
		t.Errorf("%d nodes, %v", len(nodes), err)
	}
}

// TestJudge: a claim that nothing was found about keeps what the table says.
func TestJudge(t *testing.T) {
	before := judge("", []verdict{{Claim: 1, Ours: "ten", Reproduced: true}, {Claim: 2, Ours: "one", Reproduced: false}})
	after := judge(before, []verdict{{Claim: 2, Ours: "two", Reproduced: true}})
	for _, want := range []string{"| ten | above 30 % at 500,000 | yes |\n| 2 |", "| two | both pairs within 1.5 % | yes |\n| 3 |", "| – | – | not tested: grid and models are not public |"} {
		if !strings.Contains(after, want) {
			t.Errorf("no %q in\n%s", want, after)
		}
	}
	if untested := judge(after, []verdict{{Claim: 1, Ours: "–", Untested: "no machine"}}); !strings.Contains(untested, "| – | above 30 % at 500,000 | not tested: no machine |\n| 2 |") {
		t.Errorf("%s", untested)
	}
	if only := judge("", []verdict{{Claim: 1, Ours: "ten", Reproduced: true, Only: "at night"}}); !strings.Contains(only, "| ten | above 30 % at 500,000 | only at night |\n") {
		t.Errorf("%s", only)
	}
	if again := judge(after, nil); again != after {
		t.Errorf("%s\nwant\n%s", again, after)
	}
}

// TestUnsolved: a grid with 100 Gflops takes 5 % longer than one with 105, 4 % less than
// one with 96.
func TestUnsolved(t *testing.T) {
	samples := []sample{{n: 200000, what: "4x64", replayed: true, smpi: 104, ours: 96, unsolved: 105}, {n: 200000, what: "5x51", replayed: true, smpi: 100, ours: 100, unsolved: 103}}
	large := []sample{{n: 500000, what: "4x64", ours: 100}}
	for _, five := range []string{"5x50", "5x49", "5x48"} {
		samples = append(samples, sample{n: 200000, what: five, ours: 100})
	}
	for _, five := range []string{"5x51", "5x50", "5x49", "5x48"} {
		large = append(large, sample{n: 500000, what: five, ours: 100})
	}
	samples = append(samples, large...)
	v := fiveRows(samples)
	if !v.Reproduced || v.Only == "" || !strings.HasPrefix(v.Ours, "5x51 +5.0, 5x50 +5.0, 5x49 +5.0, 5x48 +5.0 % at 200,000 if") || !strings.Contains(v.Ours, "5x51 −4.0, ") {
		t.Errorf("%+v", v)
	}
	if v := fiveRows(samples[:1]); v.Untested == "" || v.Reproduced {
		t.Errorf("%+v without 5x51", v)
	}
	samples = append(samples, sample{n: 100000, what: "5x51", replayed: true, smpi: 50, ours: 50, unsolved: 51})
	want := "| 4x64 | – | – | – | 104 | −7.69 | +0.96 |\n| 5x51 | 50 | +0.00 | +2.00 | 100 | +0.00 | +3.00 |\n"
	if got := unsolvedTable("grid", []string{"4x64", "5x51"}, samples); !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	samples[0].ours = 105
	if v := fiveRows(samples); !v.Reproduced || v.Only != "" {
		t.Errorf("%+v", v)
	}
	for i := range samples {
		if samples[i].n == 500000 && samples[i].what == "4x64" {
			samples[i].ours = 104
		}
	}
	if v := fiveRows(samples); v.Reproduced {
		t.Errorf("%+v, bad at large orders as well", v)
	}
}

// TestCommunication: of 8 s, 6 are computation.
func TestCommunication(t *testing.T) {
	r := result{Makespan: 8, Kinds: []share{{"recv", 1}, {"compute", 6}}}
	if v := r.communication(); v != (verdict{Claim: 30, Ours: "25 % of the first five steps", Reproduced: true}) {
		t.Errorf("%+v", v)
	}
}

// TestFourthRows: the first of two process rows has rows 0 to 3 and 8 to 11 of 16; once
// rows 0 to 8 are done, three of them are left.
func TestFourthRows(t *testing.T) {
	want := []string{"3", "8", "9", "10", "11", "11", "11", "11", "11", "9", "10", "11", "12", "13", "14", "15"}
	if diff := cmp.Diff(want, strings.Fields(fourthRows(16, 4, 2))); diff != "" {
		t.Error(diff)
	}
}

// TestReadSamples: rows of other grids are left out, and a machine with too few nodes is an
// error that names the line.
func TestReadSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("platform_id,matrix_size,p,smpi_gflops\n1,9,2,5\n1,9,7,5\n2,9,2,6\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := readSheet(path, "p")
	if err != nil {
		t.Fatal(err)
	}
	kind := func(r row, nodes []processor) (string, setup) {
		if r.text("p") != "2" {
			return "", setup{}
		}
		return "2x1", setup{nodes: nodes, p: 2, q: 1}
	}
	y := &synthetic{nodes: map[string][]processor{"1": make([]processor, 2), "2": make([]processor, 2)}}
	if got, err := y.readSamples(s, kind); err != nil || len(got) != 2 || got[1].machine != "2" || got[1].n != 9 || got[1].smpi != 6 || got[1].what != "2x1" {
		t.Errorf("%+v, %v", got, err)
	}
	delete(y.nodes, "2")
	if _, err := y.readSamples(s, kind); err == nil || !strings.HasSuffix(err.Error(), `t.csv:4: 2 x 1 ranks on 0 nodes of machine "2"`) {
		t.Errorf("%v", err)
	}
}

// TestExcessTable: SMPI's mean is over all machines with a base, ours over those replayed: 10 %
// of one, and 15 % of two.
func TestExcessTable(t *testing.T) {
	samples := []sample{
		{machine: "1", n: 100000, what: "base", ours: 110, smpi: 110}, {machine: "1", n: 100000, what: "x", ours: 100, smpi: 100},
		{machine: "2", n: 100000, what: "base", smpi: 120}, {machine: "2", n: 100000, what: "x", smpi: 100}, {machine: "2", n: 100000, what: "y", smpi: 120},
	}
	want := "Time above that of base in percent, mean over 1 machine of each N (SMPI's, over 2 at most):\n\n" +
		"| what | N = 100,000 |\n| --- | --- |\n| x | +10.0 (+15.0) |\n| y | – (+0.0) |\n| z | – |\n"
	if diff := cmp.Diff(want, excessTable("what", "base", []string{"x", "y", "z"}, samples)); diff != "" {
		t.Error(diff)
	}
}

// TestFarOff: 12 % is far, 9 % is not.
func TestFarOff(t *testing.T) {
	points := []point{{labels: []string{"a", "b"}, ours: 88, smpi: 100, real: 100}, {labels: []string{"c"}, ours: 109, smpi: 91, real: 100}}
	if got, smpi := farOff(points, ourGflops), farOff(points, smpiGflops); got != "a b" || smpi != "none" {
		t.Errorf("%s, %s", got, smpi)
	}
}
