package report

import (
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

// TestProgramWords: what runs, as its users name it.
func TestProgramWords(t *testing.T) {
	params := func(pairs ...string) (list []trace.Param) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, trace.Param{Name: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		header trace.Header
		want   string
	}{
		{trace.Header{Program: "hpl", Ranks: 64, Params: params("N", "20000", "NB", "192", "P", "8", "Q", "8", "BCAST", "2ring", "DEPTH", "1")},
			"HPL, N = 20,000, 8 × 8 ranks, NB 192, broadcast 2ring, depth 1"},
		{trace.Header{Program: "hpcg", Ranks: 4096, Params: params("nx", "104", "ny", "104", "nz", "96", "iterations", "50")},
			"HPCG, 104 × 104 × 96 points a rank, 4,096 ranks, 50 iterations"},
		{trace.Header{Program: "hpcg", Ranks: 4, Params: params("nx", "16", "ny", "16", "pz", "1", "zl", "16", "zu", "24", "iterations", "50")},
			"HPCG, 16 × 16 × 16 or 24 points a rank, 4 ranks, 50 iterations"},
		{trace.Header{Program: "cg.B.8", Ranks: 8, Params: params(trace.ParamMPI, "Open MPI v4.1.4, package: x")},
			"cg.B.8, 8 ranks, recorded with Open MPI v4.1.4"},
		{trace.Header{Program: trace.SimGridText, Ranks: 1}, "Text of SimGrid, 1 rank"},
		{trace.Header{Program: "lu", Ranks: 2, Result: []trace.Column{{Title: "class", Value: "C"}}}, "lu, class C, 2 ranks"},
	} {
		if got := programWords(&c.header); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestMachineWords: nodes, peak, memory and network, as far as a machine says them; 32 nodes of Dahu have 32 times 2 x 16
// cores x 2.1 GHz x 32 flop; an uplink of stampede's 16 has 20 nodes to share with the others, 1.25 each.
func TestMachineWords(t *testing.T) {
	builtin := func(name string) *platforms.Platform {
		p, err := platforms.Builtin(name, 48)
		noError(t, err)
		return p
	}
	parse := func(text string) *platforms.Platform {
		p, err := platforms.Parse(strings.NewReader(`<platform version="4.1">`+text+`</platform>`), "m.xml")
		noError(t, err)
		return p
	}
	for _, c := range []struct {
		p    *platforms.Platform
		want string
	}{
		{builtin("dahu"), "dahu: 32 nodes of 2 x 16-core Intel Xeon Gold 6130, peak at 2.1 GHz nominal and 32 flop a cycle; peak of a node 2.15 Tflop/s, of all 68.81 Tflop/s; 192 GB of memory a node; Omni-Path of 100 Gb/s, one switch."},
		{builtin("default"), "default: 48 nodes of 32 cores; peak of a node 1.02 Tflop/s, of all 49.15 Tflop/s; fat tree of 2 levels, 100 Gb/s a node, oversubscribed 2 to 1."},
		{parse(`<cluster id="c" prefix="n" suffix="" radical="0-7" speed="3Gf" core="2" bw="1.25GBps" lat="1us"><prop id="memory" value="64e9"/></cluster>`),
			"m.xml: 8 nodes of 2 cores; peak of a node 6 Gflop/s, of all 48 Gflop/s; 64 GB of memory a node; one switch, 10 Gb/s a node."},
		{parse(`<zone id="z" routing="Full"><host id="a" speed="1Gf" core="4"/><host id="b" speed="2Gf"/><link id="l" bandwidth="1GBps"/><route src="a" dst="b"><link_ctn id="l"/></route></zone>`),
			"m.xml: 2 nodes of several kinds, 5 cores in all; peak 6 Gflop/s; 2 listed routes."},
	} {
		if got := machineWords(&replay.Machine{Platform: c.p}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestNoInterval: an answer without an interval says why there is none.
func TestNoInterval(t *testing.T) {
	m, h := twoHosts(t), &trace.Header{Program: "lu", Ranks: 4}
	for _, c := range []struct {
		kernels string
		noisy   bool
		want    string
	}{
		{"", false, "No interval: nothing was measured"},
		{"", true, "No interval: this is one draw of noise, and nothing was measured"},
		{"version: 1\nunit: s\nhost_scatter: 2%\nkernels: {\"*\": free}\n", false, "No interval: this is one replay, of the most likely machine. --uncertainty gives one"},
	} {
		if c.kernels != "" {
			var err error
			m.Kernels, err = kernels.Parse(strings.NewReader(c.kernels), "k.yaml")
			noError(t, err)
		}
		d := &Data{}
		d.Describe(h, m, c.noisy)
		if !strings.HasPrefix(d.Answer.NoInterval, c.want) || d.Title != "lu, 4 ranks on two.xml" {
			t.Errorf("%q, %q, want %q", d.Title, d.Answer.NoInterval, c.want)
		}
	}
	if d := (&Data{Answer: Answer{Interval: &Interval{}}}); true {
		if d.Describe(h, m, false); d.Answer.NoInterval != "" {
			t.Errorf("an interval, and %q", d.Answer.NoInterval)
		}
	}
}
