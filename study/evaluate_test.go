package study

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/platforms/compose"
	"reprise/replay"
	"reprise/tracegen/hpcg"
)

// evaluated makes the only run of a study.
func evaluated(t *testing.T, text string) (*Plan, *Outcome) {
	t.Helper()
	p := planOf(t, text)
	out, err := p.NewEvaluator().Evaluate(context.Background(), p.Config(0), RunOptions{Tolerance: p.Tolerance, Seed: 1, Responses: p.Responses})
	noError(t, err)
	return p, out
}

const asked = "program: hpl\nparameters: {N: 1000, NB: 32, P: 2, Q: 4}\nmachine: dahu\nranks-per-host: 1\n"

// TestResponses: the parts of the critical path add up to the makespan, POP's efficiencies
// multiply to that of all; neither changes what the run takes, and without them there are none.
func TestResponses(t *testing.T) {
	_, plain := evaluated(t, asked)
	_, out := evaluated(t, asked+"responses: [critical-path, pop]\n")
	if out.Makespan != plain.Makespan || plain.Path != nil || plain.POP != nil {
		t.Errorf("makespan %g with responses, %g without; path %v, POP %v", out.Makespan, plain.Makespan, plain.Path, plain.POP)
	}
	sum, seen := 0.0, map[string]bool{}
	for _, part := range out.Path {
		sum += part.Seconds
		if seen[part.Name] {
			t.Errorf("part %s is there twice", part.Name)
		}
		seen[part.Name] = true
	}
	if math.Abs(sum-out.Makespan) > 1e-9*out.Makespan || !seen["dgemm"] || !seen["wire"] {
		t.Errorf("parts of %g s of a run of %g: %v", sum, out.Makespan, out.Path)
	}
	// So do those of an estimate.
	_, est := evaluated(t, "program: hpl\nparameters: {N: 30000, NB: 16, P: 2, Q: 2, DEPTH: 0, BCAST: long}\nmachine: dahu\ntolerance: 2%\nresponses: [critical-path]\n")
	sum = 0
	for _, part := range est.Path {
		sum += part.Seconds
	}
	if est.Interval == 0 || math.Abs(sum-est.Makespan) > 1e-9*est.Makespan {
		t.Errorf("an estimate of %g ± %g s, parts of %g", est.Makespan, est.Interval, sum)
	}
	e := out.POP
	if p := e.LoadBalance * e.Serialisation * e.Wire * e.Contention; math.Abs(p-e.Parallel) > 1e-12 || !(e.Parallel > 0 && e.Parallel < 1) {
		t.Errorf("%+v, product %g", e, p)
	}
}

// TestFirstSteps: the first steps take as long as they do in a whole trace of which only these
// are played; they have no Gflops, as the system is not solved. With all steps it is.
func TestFirstSteps(t *testing.T) {
	const whole = "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2}\nmachine: dahu\n"
	first, out := evaluated(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2, first-steps: 5}\nmachine: dahu\n")
	e := first.NewEvaluator()
	config := *first.Config(0)
	open, err := e.traceOf(t.Context(), planOf(t, whole).Config(0).Run)
	noError(t, err)
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	m, options, _, err := e.load(config.Machine, tr)
	noError(t, err)
	options.To = 5
	r, err := replay.Run(t.Context(), tr, m, options)
	noError(t, err)
	if out.Makespan != r.Makespan || out.Messages != r.Messages || out.Gflops != 0 {
		t.Errorf("%g s, %d messages, %g Gflops, want %g s and %d", out.Makespan, out.Messages, out.Gflops, r.Makespan, r.Messages)
	}
	_, all := evaluated(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2, first-steps: all}\nmachine: dahu\n")
	if _, same := evaluated(t, whole); all.Makespan != same.Makespan || !(all.Gflops > 0) || all.Makespan <= out.Makespan {
		t.Errorf("all: %g s, %g Gflops, want %g s", all.Makespan, all.Gflops, same.Makespan)
	}
}

// TestWorkOfFirstSteps: 2/3 * (1000^3 - 680^3) + 3/2 * (1000^2 - 680^2) of the first five panels
// of 64 columns: 457,045,333.3 + 806,400 flop. With look-ahead only four of them update:
// 392,112,810.7 + 669,696 flop, and the fifth is factored: 64^2 * (744 - 64/3) = 2,960,042.7
// flop. All are 666,666,666.7 + 1,500,000 flop.
func TestWorkOfFirstSteps(t *testing.T) {
	for steps, want := range map[string]float64{"5, DEPTH: 0": 457851733.3, "5, DEPTH: 1": 395742549.3, "15, DEPTH: 0": 668166666.7 - 2./3*40*40*40 - 1.5*40*40, "all": 668166666.7} {
		p := planOf(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2, first-steps: "+steps+"}\n")
		if got := p.Config(0).Run.Flops; math.Abs(got-want) > 1 {
			t.Errorf("%s panels: %.1f flop, want %.1f", steps, got, want)
		}
	}
}

// TestAllSteps: as many steps as there are, or more, are all of them: one run, whatever they are
// called.
func TestAllSteps(t *testing.T) {
	p := planOf(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2}\nfactors: {first-steps: [15, 16, 17, 9223372036854775807, all]}\n")
	whole := planOf(t, "program: hpl\nparameters: {N: 1000, NB: 64, P: 2, Q: 2}\n").Runs[0].ID
	for i, run := range p.Runs {
		if (run.ID == whole) != (i > 0) {
			t.Errorf("level %d: run %s, that of all is %s", i, run.ID, whole)
		}
	}
}

// TestPrograms: a study of HPCG, and one of a trace of the same run, have the same times; the
// machine and the replay are factors of both.
func TestPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.trace.zst")
	f, err := os.Create(path)
	noError(t, err)
	params := hpcg.DefaultParams(4, 16)
	noError(t, errOf(params.Complete()))
	noError(t, hpcg.Generate(t.Context(), f, params, hpcg.Options{}))
	noError(t, f.Close())
	var makespans [2][]float64
	for i, program := range []string{"hpcg\nparameters: {ranks: 4, nx: 16, ny: 16, nz: 16}", path} {
		p := studyIn(t, "program: "+program+"\nfactors: {bandwidth: [1, 0.5]}\n")
		if w := work(t, p, WorkOptions{}); w.Failed > 0 || w.Made != 2 {
			t.Fatalf("%s: %+v", program, w)
		}
		p, err := Open(p.Dir(), "")
		noError(t, err)
		r := resultsOf(t, p)
		for _, run := range p.Runs {
			out := r.Of(run.ID).Outcome
			if out.Gflops <= 0 {
				t.Errorf("%s: %g Gflop/s", program, out.Gflops)
			}
			makespans[i] = append(makespans[i], out.Makespan)
		}
	}
	if a, b := makespans[0], makespans[1]; a[0] != b[0] || a[1] != b[1] || a[1] <= a[0] {
		t.Errorf("makespans %g of HPCG and %g of its trace, want the same, and longer with half the bandwidth", a, b)
	}
}

// TestCacheForgets: however many values are asked for, only those that were used last are kept.
func TestCacheForgets(t *testing.T) {
	c, made := cache[int]{limit: 64}, 0
	get := func(key string) {
		noError(t, errOf(c.get(key, func() (int, int, error) { made++; return 0, 1, nil })))
	}
	get("kept")
	for i := range 1000 {
		get(fmt.Sprint(i))
		get("kept")
	}
	if n := len(c.young) + len(c.old); made != 1001 || n > 2*64 {
		t.Errorf("%d values made, want 1001; %d kept, at most 128", made, n)
	}
}

// TestDescribed: a platform that a study describes is, to the byte, what the command writes, and a
// directory has it as a file.
func TestDescribed(t *testing.T) {
	p := planOf(t, "program: hpl\nparameters: {N: 100, P: 2, Q: 2}\nplatform: new --nodes 8 --nic 50Gbps --fat-tree='leaf=4 up=2'\nkernels: hosts --draw 8 --from dahu-node --base default\n")
	spec := compose.DefaultSpec(8)
	spec.NIC.Bandwidth = 6.25e9
	tree, err := compose.ParseFatTree("leaf=4 up=2", spec.NIC)
	noError(t, err)
	spec.Topology = tree
	var want bytes.Buffer
	noError(t, spec.Write(&want))
	noError(t, errOf(p.Create(filepath.Join(t.TempDir(), "study"))))
	if got, err := os.ReadFile(p.path(&p.Inputs[0])); err != nil || string(got) != want.String() {
		t.Errorf("%s, %v, want %s", got, err, want.String())
	}
	if out, err := p.NewEvaluator().Evaluate(context.Background(), p.Config(0), RunOptions{Seed: 1}); err != nil || !out.Random {
		t.Errorf("%+v, %v, want times with the noise of dahu-node", out, err)
	}
	quiet := planOf(t, "program: hpl\nparameters: {N: 100, P: 2, Q: 2}\nkernel-noise: dgemm=0%\nkernels: hosts --draw 8 --from dahu-node --base default\n")
	if out, err := quiet.NewEvaluator().Evaluate(context.Background(), quiet.Config(0), RunOptions{Seed: 1}); err != nil || out.Random {
		t.Errorf("%+v, %v, want times without noise", out, err)
	}
}

// TestPipe: what may wait for ever is not read.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	noError(t, syscall.Mkfifo(pipe, 0o666))
	for _, word := range []string{"platform", "kernels", "network-noise", "hostfile"} {
		s, err := Parse(strings.NewReader("program: hpl\nparameters: {N: 100, P: 1, Q: 2}\n"+word+": "+pipe+"\n"), "study.yaml")
		noError(t, err)
		exactly(t, errOf(NewPlan(s, "test")), "study.yaml: "+pipe+": want a regular file, this is a pipe")
	}
	exactly(t, errOf(Parse(strings.NewReader("program: hpl\nhpl-dat: "+pipe+"\n"), "study.yaml")), "study.yaml:2: hpl-dat: "+pipe+": want a regular file, this is a pipe")
}

// TestSlowest: hosts are slow by their models and by host-speed.
func TestSlowest(t *testing.T) {
	set, err := kernels.Parse(bytes.NewReader([]byte("version: 1\nunit: s\nkernels: {dgemm: {terms: {M*N*K: 1e-11}}}\nhosts:\n- {host: node-2, kernels: {dgemm: {terms: {M*N*K: 1.1e-11}}}}\n- {host: node-5, kernels: {dgemm: {terms: {M*N*K: 2e-11}}}}\n")), "k.yaml")
	noError(t, err)
	var text bytes.Buffer
	noError(t, compose.DefaultSpec(8).Write(&text))
	p, err := platforms.Parse(&text, "p.xml")
	noError(t, err)
	spec := replay.MachineSpec{Platform: "p.xml", Kernels: "k.yaml", Slowest: 4, RanksPerHost: 1, Loaded: replay.Parts{Platform: p, Kernels: set}}
	if err := replay.FindParameter("host-speed").Set(&spec, "node-[0-7]=1 node-5=1.9 node-7=0.5"); err != nil { // node-5 takes 2e-11/1.9, less than node-2
		t.Fatal(err)
	}
	outline, err := planOf(t, "program: hpl\nparameters: {N: 100, P: 2, Q: 2}\n").Config(0).Run.Outline()
	noError(t, err)
	m, _, _, err := replay.LoadMachine(spec, outline) // without node-7, node-2, node-5 and node-0
	if want := []int32{1, 3, 4, 6}; err != nil || !slices.Equal(m.Hosts, want) {
		t.Errorf("hosts %d, %v, want %d", m.Hosts, err, want)
	}
}

// TestShipped: the studies that come with Reprise can be planned.
func TestShipped(t *testing.T) {
	files, err := filepath.Glob("../studies/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		s, err := Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if p, err := NewPlan(s, "test"); err != nil {
			t.Error(err)
		} else if n := p.Different(); n < 2 || len(p.Notes()) > 0 {
			t.Errorf("%s: %d runs, notes %q", file, n, p.Notes())
		}
	}
}

// TestTuningTable: the table beside the study of 504 configurations has each of them once.
func TestTuningTable(t *testing.T) {
	s, err := Load("../studies/dahu-tuning.yaml")
	noError(t, err)
	p, err := NewPlan(s, "test")
	noError(t, err)
	f, err := os.Open("../studies/dahu-tuning.csv")
	noError(t, err)
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	noError(t, err)
	rows := map[string]int{}
	for _, row := range table[1:] {
		var levels []string
		for i, factor := range p.Factors {
			levels = append(levels, factor.Name+" "+row[i])
		}
		rows[strings.Join(levels, ", ")]++
	}
	for i := range p.Runs {
		if name := describe(p.Factors, p.Runs[i].Levels); rows[name] != 1 {
			t.Errorf("%s: %d rows", name, rows[name])
		}
	}
	if len(rows) != len(p.Runs) {
		t.Errorf("%d rows, want %d", len(rows), len(p.Runs))
	}
}

// BenchmarkEvaluate makes a run of a millisecond, of which the trace and the machine are known:
// what it takes beside the replay.
func BenchmarkEvaluate(b *testing.B) {
	p := planOf(b, "program: hpl\nparameters: {N: 600, NB: 64, P: 2, Q: 2}\nmachine: dahu\n")
	e := p.NewEvaluator()
	for b.Loop() {
		_, err := e.Evaluate(context.Background(), p.Config(0), RunOptions{Seed: 1})
		noError(b, err)
	}
}

// BenchmarkWork is what a run takes beside its replay, which is next to nothing here: leases,
// journals, and finding the next one of 2,000.
func BenchmarkWork(b *testing.B) {
	for b.Loop() {
		p := planOf(b, "program: hpl\nparameters: {N: 8, NB: 8, P: 1, Q: 1}\nmachine: dahu\nseed: 1..2000\n")
		_, err := p.Create(b.TempDir())
		noError(b, err)
		_, err = p.Work(context.Background(), WorkOptions{Jobs: 1, Lease: time.Minute})
		noError(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/2000, "us/run")
}
