package path_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/kernels"
	"reprise/replay"
	"reprise/report/path"
	"reprise/trace"
)

// TestMeets: on 50 random cases the stretches of the paths meet bit for bit, and the last ends
// at the makespan.
func TestMeets(t *testing.T) {
	settings := [][]string{
		{"smpi/iprobe:1e-6", "smpi/grow-injected-times:no"},
		{"smpi/iprobe:1e-6", "smpi/os:0:1e-6:1e-10", "smpi/or:0:2e-6:0", "smpi/async-small-thresh:4096"},
		{"smpi/iprobe:2e-7", "reprise/poll-late:yes", "smpi/init:0.01"},
		{"smpi/iprobe:1e-6", "reprise/contention:no", "network/TCP-gamma:1000"},
		{"smpi/finalization-barrier:yes"},
	}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 36))
		p := randomHPL(rng)
		h, play := hplPlayer(t, p)
		xml := []string{flat, tree}[rng.IntN(2)]
		m, o := machine(t, xml, 16, settings[rng.IntN(len(settings))]...)
		if play.run(t, h, m, o); t.Failed() {
			t.Fatalf("case %d: %s", seed, text(p))
		}
	}
}

// paper replays lists of actions, one for each rank.
func paper(t testing.TB, lists ...[]trace.Action) (*trace.Header, player) {
	h := &trace.Header{Ranks: len(lists), Steps: 1}
	return h, func(m replay.Machine, o replay.Options) (*replay.Result, error) {
		return replay.RunSource(t.Context(), h, replay.NewLists(lists), m, o)
	}
}

func flop(v float64) trace.Action {
	return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(v)}}
}

func send(to int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindSend, Peer: to, X: [4]int64{bytes}}
}

func recv(from int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindRecv, Peer: from, X: [4]int64{bytes}}
}

// TestPaper: ranks 0 and 1 compute 1 and 2 s, then send 1e9 bytes each to rank 2, which
// receives first from 0, then from 1, and computes 3 s. The messages wait for their receives.
// That of rank 0 starts at 1 s, takes 2 us and 1 s alone on links of 1 GB/s. That of rank 1
// may start at 2 s, but its receive is posted when the first has ended, at 2.000002 s, and it
// ends at 3.000004 s: the path is 1 s of rank 0, two latencies, two transfers of 1 s and 3 s.
func TestPaper(t *testing.T) {
	h, play := paper(t,
		[]trace.Action{flop(1e9), send(2, 1e9-16)},
		[]trace.Action{flop(2e9), send(2, 1e9-16)},
		[]trace.Action{recv(0, 1e9-16), recv(1, 1e9-16), flop(3e9)})
	m, o := machine(t, flat, 3, "smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "network/TCP-gamma:0")
	_, d := play.run(t, h, m, o)
	want := []path.Part{
		{Name: path.KindFlop, Kind: path.KindFlop, Seconds: 4, Count: 2},
		{Name: path.KindWire, Kind: path.KindWire, Seconds: 2, Bytes: 2e9},
		{Name: path.KindLatency, Kind: path.KindLatency, Seconds: 4e-6, Count: 2},
	}
	if len(d.Parts) != len(want) || d.Rank != 2 {
		t.Fatalf("got %+v", d)
	}
	for i, w := range want {
		got := d.Parts[i]
		got.Level = ""
		if math.Abs(got.Seconds-w.Seconds) > 1e-9 || math.Abs(got.Bytes-w.Bytes) > 1 {
			t.Errorf("got %+v, want %+v", got, w)
		}
		got.Seconds, got.Bytes = w.Seconds, w.Bytes
		if got != w {
			t.Errorf("got %+v, want %+v", got, w)
		}
	}
}

// TestKernelOnce: two calls of a kernel with other attributes, of 0.1 us each, are one part of 0.2 us.
func TestKernelOnce(t *testing.T) {
	call := func(kernel uint16) trace.Action { return trace.Action{Kind: trace.KindCompute, Sym: kernel} }
	h, play := paper(t, []trace.Action{call(0), call(1)})
	for _, side := range []string{"L", "R"} {
		h.Kernels = append(h.Kernels, trace.Kernel{Name: "dtrmm", Attrs: []trace.Param{{Name: "side", Value: side}}})
	}
	m, o := machine(t, flat, 1)
	_, d := play.run(t, h, m, o)
	if len(d.Parts) != 1 || d.Parts[0].Count != 2 || math.Abs(d.Parts[0].Seconds-2e-7) > 1e-15 {
		t.Errorf("got %+v", d.Parts)
	}
}

// TestTogether: rank 2 sends half a nanosecond after rank 0, which happens together. The links have
// no latency, so the path to rank 3 is 1 s of rank 2, 1 ms on the wire and 1 s of rank 3, and none
// of it is less than nothing.
func TestTogether(t *testing.T) {
	h, play := paper(t,
		[]trace.Action{flop(1e9), send(1, 1e6-16)}, []trace.Action{recv(0, 1e6-16)},
		[]trace.Action{flop(1e9 + 0.5), send(3, 1e6-16)}, []trace.Action{recv(2, 1e6-16), flop(1e9)})
	m, o := machine(t, strings.Replace(flat, "1us", "0us", 1), 4, "smpi/bw-factor:0:1", "network/TCP-gamma:0")
	_, d := play.run(t, h, m, o)
	want := map[string]float64{path.KindFlop: 2, path.KindWire: 1e-3, path.KindLatency: 0}
	for _, p := range d.Parts {
		if math.Abs(p.Seconds-want[p.Kind]) > 1e-9 {
			t.Errorf("got %+v, want %v s", p, want[p.Kind])
		}
	}
}

// TestQueues: a launch takes 1 ms, a hand-over 2 ms, a kernel of N runs N seconds. Rank 0 launches 2 s in queue a; behind
// an event of it 3 s in queue b, which the rank waits for, beside 1 s in a. It sends for 1 s and 2 us. Rank 1 has waited
// for that message longer than for its own 4 s, and launches 2 s in two parts, each with a hand-over to the host and one
// back. Its end is that of a wait for the queue: 0.001 + 2 + 3 + 1.000002 + 0.001 + 2 + 4*0.002 s.
func TestQueues(t *testing.T) {
	launch := func(queue int32, n int64) trace.Action {
		return trace.Action{Kind: trace.KindLaunch, Tag: queue, X: [4]int64{n}}
	}
	verb := func(v trace.QueueVerb, queue int32) trace.Action {
		return trace.Action{Kind: trace.KindQueue, Tag: queue, X: [4]int64{int64(v)}}
	}
	parts := trace.Action{Kind: trace.KindLaunch, Flags: trace.FlagParts, X: [4]int64{0: 2, 3: 2}}
	take, give := verb(trace.QueueTake, 0), verb(trace.QueueGive, 0)
	h, play := paper(t,
		[]trace.Action{launch(0, 2), verb(trace.QueueRecord, 0), verb(trace.QueueWait, 1), launch(1, 3), launch(0, 1), verb(trace.QueueSyncAll, 0), send(1, 1e9-16)},
		[]trace.Action{launch(1, 4), recv(0, 1e9-16), parts, take, give, take, give, verb(trace.QueueSync, 0)})
	h.Kernels, h.Queues, h.Events = []trace.Kernel{{Name: "k", Dims: []trace.Dim{{Name: "N"}}}}, []string{"a", "b"}, []string{"e"}
	xml := strings.Replace(flat, `lat="1us"/>`, `lat="1us"><prop id="device_launch" value="1ms"/><prop id="device_latency" value="2ms"/></cluster>`, 1)
	m, o := machine(t, xml, 2, "smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "network/TCP-gamma:0")
	var err error
	m.Kernels, err = kernels.Parse(strings.NewReader("version: 1\nunit: s\nkernels: {k: {terms: {N: 1}}}\n"), "test.yaml")
	noError(t, err)
	_, d := play.run(t, h, m, o)
	want := map[string]float64{"k, queue a": 4, "k, queue b": 3, "wire": 1, "latency": 2e-6, "overhead": 0.002, "device": 0.008}
	for _, p := range d.Parts {
		name := p.Name
		if p.Queue != "" {
			name += ", " + p.Queue
		}
		if math.Abs(p.Seconds-want[name]) > 1e-9 {
			t.Errorf("%s: %v s, want %v", name, p.Seconds, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 || math.Abs(d.Seconds-8.010002) > 1e-9 || d.WhatIfs[0].Kind != path.WhatIfKernel {
		t.Errorf("without %v, %v s; first %+v", want, d.Seconds, d.WhatIfs[0])
	}
}

// TestBytes: a message of 4e9 bytes with its envelope, then a hundred of 100, are 4,000,010,000
// on the wire, whatever they are added to.
func TestBytes(t *testing.T) {
	lists := [][]trace.Action{{send(1, 4e9-16)}, {recv(0, 4e9-16)}}
	for range 100 {
		lists[0], lists[1] = append(lists[0], send(1, 100-16)), append(lists[1], recv(0, 100-16))
	}
	h, play := paper(t, lists...)
	m, o := machine(t, flat, 2, "smpi/send-is-detached-thresh:0")
	_, d := play.run(t, h, m, o)
	sum := 0.0
	for _, p := range d.Parts {
		sum += p.Bytes
	}
	if math.Abs(sum-4_000_010_000) > 1 {
		t.Errorf("%.0f bytes", sum)
	}
}

// TestContention: ranks 0 and 1 send 1e9 bytes to rank 2 at once. Each has half of its link of
// 1 GB/s for 2 s: 1 s on the wire, and 1 s lost.
func TestContention(t *testing.T) {
	irecv := func(from, request int32) trace.Action {
		return trace.Action{Kind: trace.KindIrecv, Peer: from, Req: request, X: [4]int64{1e9 - 16}}
	}
	h, play := paper(t,
		[]trace.Action{send(2, 1e9-16)}, []trace.Action{send(2, 1e9-16)},
		[]trace.Action{irecv(0, 0), irecv(1, 1), {Kind: trace.KindWaitAll}})
	m, o := machine(t, flat, 3, "smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "network/TCP-gamma:0")
	_, d := play.run(t, h, m, o)
	if sums := sums(d, kindOf); math.Abs(sums[path.KindWire]-1) > 1e-9 || math.Abs(sums[path.KindContention]-1) > 1e-9 {
		t.Errorf("got %+v", d.Parts)
	}
	if w := d.WhatIfs[0]; w.Kind != path.WhatIfBandwidth || math.Abs(w.Gain-2*(1-1/1.01)) > 1e-9 {
		t.Errorf("got %+v", w)
	}
}

// TestBothWays: of the cables of a tree, which have a level for each direction, a what-if is of both, and says so.
func TestBothWays(t *testing.T) {
	h, play := paper(t, exchanges(16, 1e7)...)
	m, o := machine(t, tree, 16)
	_, d := play.run(t, h, m, o)
	w := d.WhatIfs[0]
	if w.Kind != path.WhatIfBandwidth || w.What != "1 % more bandwidth of "+w.Name+", both ways" {
		t.Errorf("got %+v", w)
	}
}

// TestTooManyKernels: kernels and phases of which there are too many pairs are an error before the
// first action.
func TestTooManyKernels(t *testing.T) {
	m, o := machine(t, flat, 1)
	h := &trace.Header{Ranks: 1, Kernels: make([]trace.Kernel, 1<<12), Phases: make([]string, 1<<11)}
	o.Observers = []replay.Observer{path.New(h, m, o).Observer()}
	_, err := replay.RunSource(t.Context(), h, replay.NewLists([][]trace.Action{nil}), m, o)
	if err == nil || !strings.Contains(err.Error(), "4096 kernels in 2048 phases") {
		t.Errorf("%v, want that there are too many kernels and phases", err)
	}
}

// TestRunsOf: parts and what-ifs are means, of what a path lacks with 0.
func TestRunsOf(t *testing.T) {
	r := path.RunsOf([]path.Seed{
		{Seed: 3, Data: &path.Data{Seconds: 4, Rank: 1,
			Parts:   []path.Part{{Name: "dgemm", Kind: path.KindKernel, Phase: "update", Seconds: 3, Count: 5}, {Name: path.KindWire, Kind: path.KindWire, Level: "up", Seconds: 1, Bytes: 100}},
			WhatIfs: []path.WhatIf{{Kind: path.WhatIfKernel, Name: "dgemm", Slope: 3}, {Kind: path.WhatIfBandwidth, Name: "up", Slope: 1}}}},
		{Seed: 4, Data: &path.Data{Seconds: 6, Rank: 0,
			Parts:   []path.Part{{Name: "dgemm", Kind: path.KindKernel, Phase: "update", Seconds: 6, Count: 8}},
			WhatIfs: []path.WhatIf{{Kind: path.WhatIfKernel, Name: "dgemm", Slope: 6}}}},
	})
	want := &path.Data{
		Seconds: 5, Rank: -1,
		// (3+6)/2 s, (5+8)/2 = 6.5 calls, rounded; (1+0)/2 s and (100+0)/2 bytes.
		Parts: []path.Part{{Name: "dgemm", Kind: path.KindKernel, Phase: "update", Seconds: 4.5, Count: 7}, {Name: path.KindWire, Kind: path.KindWire, Level: "up", Seconds: 0.5, Bytes: 50}},
		Notes: []string{"The mean of the critical paths of 2 replays, with a seed each."},
	}
	if diff := cmp.Diff(want.Parts, r.Parts); diff != "" || r.Seconds != want.Seconds || r.Rank != want.Rank || r.Notes[0] != want.Notes[0] {
		t.Errorf("%g s, rank %d, %q (-want +got):\n%s", r.Seconds, r.Rank, r.Notes, diff)
	}
	if len(r.WhatIfs) != 2 || r.WhatIfs[0].Slope != 4.5 || r.WhatIfs[1].Slope != 0.5 {
		t.Errorf("what-ifs %+v, want slopes of 4.5 and 0.5 s", r.WhatIfs)
	}
	var text strings.Builder
	noError(t, r.WriteText(&text))
	for _, line := range []string{
		"critical path of 5 s\n",
		"dgemm in update          4.5   90.00%            7\n",
		"seed             path s    ends at   most of it\n",
		"3                     4     rank 1   dgemm in update, 75.00%\n",
		"4                     6     rank 0   dgemm in update, 100.00%\n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("%q is not in\n%s", line, text.String())
		}
	}
}
