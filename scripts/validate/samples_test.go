package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
	if diff := cmp.Diff(want, excessTable("what", "base", "of base", []string{"x", "y", "z"}, samples)); diff != "" {
		t.Error(diff)
	}
}
