package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/smpi"
)

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
	o := smpi.DefaultOptions()
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
	l := &runner{work: t.TempDir(), tools: "x"}
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

// TestBlockRatio: products with K = 128 take 2e-10 + 1.28e-9/128 = 2.1e-10 s for each
// M*N*K, with K = 256 2.21e-10 + 2.56e-9/256 = 2.31e-10 s.
func TestBlockRatio(t *testing.T) {
	l := &runner{data: t.TempDir()}
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

// TestFourthRows: the first of two process rows has rows 0 to 3 and 8 to 11 of 16; once
// rows 0 to 8 are done, three of them are left.
func TestFourthRows(t *testing.T) {
	want := []string{"3", "8", "9", "10", "11", "11", "11", "11", "11", "9", "10", "11", "12", "13", "14", "15"}
	if diff := cmp.Diff(want, strings.Fields(fourthRows(16, 4, 2))); diff != "" {
		t.Error(diff)
	}
}
