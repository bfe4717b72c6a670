package replay_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/invariants"
	"reprise/kernels"
	"reprise/replay"
	"reprise/trace"
)

func TestDeadlock(t *testing.T) {
	b := newBench(t, star(4), 4)
	_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{
		{recv(1, 7, 10)},
		{sleep(1e-3), send(2, 8, 100000)},
		{poll(0, 9, true)},
		{sleep(1)},
	}), b.Machine, b.Options)
	var d *replay.DeadlockError
	if !errors.As(err, &d) {
		t.Fatal(err)
	}
	want := []replay.Wait{
		{Rank: 0, Action: trace.KindRecv, Peer: 1, Tag: 7},
		{Rank: 1, Action: trace.KindSend, Send: true, Peer: 2, Tag: 8, Time: 1e-3},
		{Rank: 2, Action: trace.KindPoll, Peer: 0, Tag: 9},
	}
	if fmt.Sprint(d.Blocked) != fmt.Sprint(want) || d.Count != 3 {
		t.Errorf("got  %v\nwant %v", d.Blocked, want)
	}
	for _, part := range []string{
		"3 ranks wait", "rank 0 in recv since 0 s: a send of rank 1 with tag 7", "rank 1 in send since 0.001 s: a receive of rank 2 with tag 8",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// TestDeadlockOfPolls: busy waits whose turns are events end as those that have none.
func TestDeadlockOfPolls(t *testing.T) {
	b := newBench(t, star(3), 3)
	b.set(t, "smpi/iprobe:1e-5", "smpi/grow-injected-times:yes")
	err := b.fail(t, []trace.Action{poll(1, 9, true)}, []trace.Action{sleep(1), send(0, 8, 1e6)}, []trace.Action{poll(1, 7, true)})
	var d *replay.DeadlockError
	if !errors.As(err, &d) || d.Count != 3 || d.Blocked[0].Action != trace.KindPoll || d.Blocked[0].Tag != 9 {
		t.Error(err)
	}
}

func TestBadActions(t *testing.T) {
	for _, c := range []struct {
		action trace.Action
		want   string
	}{
		{send(9, 0, 1), "rank 0: send: peer 9 out of [0,2)"},
		{recv(-2, 0, 1), "rank 0: recv: peer -2 out of [0,2)"},
		{recv(7, 0, -1), "rank 0: recv: peer 7 out of [0,2)"},
		{poll(3, 0, true), "rank 0: poll: peer 3 out of [0,2)"},
		{send(1, 0, -5), "-5 bytes"},
		{wait(-1), "request slot -1 out of"},
		{isend(1<<30, 1, 0, 1), "request slot 1073741824 out of"},
		{compute(3, 1), "kernel 3 out of [0,1)"},
		{compute(0, 1), "no kernel file was given"},
		{sleep(-1), "-1 seconds"},
		{trace.Action{Kind: trace.KindPhase, Sym: 1}, "phase 1 out of [0,0)"},
		{trace.Action{Kind: trace.KindCollective, Sym: 99}, "collective: this action is not supported"},
	} {
		b := newBench(t, star(2), 2)
		b.header.Kernels = []trace.Kernel{{Name: "dgemm"}}
		if err := b.fail(t, []trace.Action{c.action}, nil); !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.action.Kind, err, c.want)
		}
	}
	twice := []trace.Action{irecv(5, 1, 0, 1), irecv(5, 1, 0, 1)}
	if err := newBench(t, star(2), 2).fail(t, twice, nil); !strings.Contains(err.Error(), "request slot 5 is taken") {
		t.Error(err)
	}
}

// TestMissingModels: the first kernel that is called without a model, and the others that
// have none.
func TestMissingModels(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.header.Kernels = []trace.Kernel{{Name: "dscal"}, {Name: "dgemm"}, {Name: "dtrsm", Attrs: []trace.Param{{Name: "side", Value: "L"}}}, {Name: "dtrsm", Attrs: []trace.Param{{Name: "side", Value: "R"}}}}
	var err error
	b.Kernels, err = kernels.Parse(strings.NewReader("version: 1\nunit: s\nkernels: {dscal: free}\n"), "k.yaml")
	noError(t, err)
	_, err = replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{{compute(0, 1), compute(2, 1)}, nil}), b.Machine, b.Options)
	if want := "; of the kernels that the trace declares there is none for dgemm, dtrsm side=R either"; err == nil || !strings.HasPrefix(err.Error(), "rank 0: compute: k.yaml: no kernel model for dtrsm() side=L: ") || !strings.HasSuffix(err.Error(), want) {
		t.Error(err)
	}
}

func TestLeftovers(t *testing.T) {
	b := newBench(t, star(2), 2)
	res := b.run(t, []trace.Action{send(1, 0, 1), irecv(0, 1, 0, 1)}, nil)
	want := []string{"1 message sent but never received", "1 receive posted but never matched"}
	if fmt.Sprint(res.Warnings) != fmt.Sprint(want) {
		t.Errorf("warnings %q, want %q", res.Warnings, want)
	}
}

// TestProgress: two ranks of three steps; the mean step advances when both have
// begun one, whoever is ahead.
func TestProgress(t *testing.T) {
	b := newBench(t, star(2), 2)
	var seen []int
	b.Progress = func(steps int) { seen = append(seen, steps) }
	step := trace.Action{Kind: trace.KindStep}
	b.run(t, []trace.Action{step, step, step}, []trace.Action{step, sleep(1), step, step})
	if fmt.Sprint(seen) != "[1 2 3]" {
		t.Errorf("progress %v", seen)
	}
}

// workload is a source that makes up its actions: rounds of exchanges with a
// partner that the pattern names, after a computation of a length that differs
// from rank to rank.
type workload struct {
	ranks, rounds int32
	bytes         int64
	pattern       func(rank, round, ranks int32) (to, from int32)
	next          []int32
}

func newWorkload(pattern func(rank, round, ranks int32) (to, from int32), ranks, rounds int, bytes int64) *workload {
	return &workload{int32(ranks), int32(rounds), bytes, pattern, make([]int32, ranks)}
}

// shift sends to the next rank; pairwise exchanges with rank xor round; binary with
// rank xor a power of two.
func shift(r, _, n int32) (int32, int32)    { return (r + 1) % n, (r + n - 1) % n }
func pairwise(r, i, n int32) (int32, int32) { p := r ^ (i%(n-1) + 1); return p, p }
func binary(r, i, n int32) (to, from int32) {
	bits := int32(0)
	for 1<<bits < n {
		bits++
	}
	p := r ^ 1<<(i%bits)
	return p, p
}

func (w *workload) Fill(rank int32, buf []trace.Action) (int, error) {
	n := 0
	for ; n+1 < len(buf) && w.next[rank] < w.rounds; n += 2 {
		i := w.next[rank]
		w.next[rank]++
		to, from := w.pattern(rank, i, w.ranks)
		buf[n] = trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(1e-6 * float64((rank*7+i*13)%17))}}
		buf[n+1] = trace.Action{Kind: trace.KindSendrecv, Peer: to, X: [4]int64{w.bytes, w.bytes, int64(from)}}
		if to == from {
			buf[n+1] = trace.Action{Kind: trace.KindExchange, Peer: to, X: [4]int64{w.bytes, w.bytes}}
		}
	}
	return n, nil
}

func (w *workload) Answer(int32, bool) {}

func (w *workload) Sums(int32, int64) []int64 { return nil }

// tree is a fat tree of 16 hosts a leaf switch.
func tree(ranks int) string {
	return fmt.Sprintf(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="12.5GBps" lat="1us"
		topology="FAT_TREE" topo_parameters="2;16,%d;1,8;1,1"/></platform>`, ranks-1, ranks/16)
}

func (b *bench) runWorkload(t testing.TB, w *workload) *replay.Result {
	t.Helper()
	res, err := replay.RunSource(t.Context(), &b.header, w, b.Machine, b.Options)
	noError(t, err)
	return res
}

// TestDeterminism: the same bits in two runs, for one and two processors.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []byte
	for _, procs := range []int{1, 2, 2} {
		runtime.GOMAXPROCS(procs)
		b := newBench(t, tree(64), 64)
		b.set(t, "network/crosstraffic:yes")
		text, err := json.Marshal(b.runWorkload(t, newWorkload(pairwise, 64, 200, 100000)))
		noError(t, err)
		if first == nil {
			first = text
		}
		if string(text) != string(first) {
			t.Errorf("GOMAXPROCS %d: another result", procs)
		}
	}
}

// TestNoAllocation: twice as many messages allocate nothing more.
func TestNoAllocation(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	for _, c := range []struct {
		name    string
		pattern func(rank, round, ranks int32) (to, from int32)
	}{{"shift", shift}, {"pairwise", pairwise}, {"binary", binary}} {
		b := newBench(t, tree(64), 64)
		allocs := func(rounds int) float64 {
			return testing.AllocsPerRun(1, func() { b.runWorkload(t, newWorkload(c.pattern, 64, rounds, 100000)) })
		}
		short, long := allocs(500), allocs(1000)
		if extra := long - short; extra > 8 {
			t.Errorf("%s: %v allocations for 32,000 messages", c.name, extra)
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	for _, ranks := range []int{64, 1024} {
		for _, c := range []struct {
			name    string
			pattern func(rank, round, ranks int32) (to, from int32)
		}{{"shift", shift}, {"pairwise", pairwise}, {"binary", binary}} {
			b.Run(fmt.Sprintf("pattern=%s/ranks=%d", c.name, ranks), func(b *testing.B) {
				bench := newBench(b, tree(ranks), ranks)
				bench.set(b, "network/crosstraffic:yes")
				b.ReportAllocs()
				messages := int64(0)
				for b.Loop() {
					messages += bench.runWorkload(b, newWorkload(c.pattern, ranks, 100000/ranks, 262144)).Messages
				}
				b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
			})
		}
	}
}

func step(n int64) trace.Action {
	return trace.Action{Kind: trace.KindStep, X: [4]int64{n}}
}

// TestBegins: rank 0 takes 1 s and 2 s for its two steps, rank 1 takes 3 s and 1 s.
func TestBegins(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.StepStarts, b.From, b.To = true, 7, 9
	res := b.run(t,
		[]trace.Action{step(7), sleep(1), step(8), sleep(2)},
		[]trace.Action{step(7), sleep(3), step(8), sleep(1)})
	want := []replay.StepStart{{Mean: 0, Last: 0, Parts: slept(0)}, {Mean: 2, Last: 3, Parts: slept(2)}, {Mean: 3.5, Last: 4, Parts: slept(3.5)}}
	if diff := cmp.Diff(want, res.StepStarts); diff != "" {
		t.Error(diff)
	}
}

// slept are the accounts of ranks that have only slept, without kernels and phases.
func slept(seconds float64) []float64 {
	parts := make([]float64, replay.NumTimeKinds)
	parts[replay.TimeSleep] = seconds
	return parts
}

// TestBeginsParts: rank 0 runs a kernel of N ms for 1 s and then 2 s, in a phase that begins
// with it and ends in step 8; rank 1 computes 3 Gflop at 1 Gflop/s in step 7 and waits
// for a message in step 8 that comes after 1e-4 + (984+16)/125e6 = 1.08e-4 s: rank 0 sends at 1 s.
// The transfer starts at 3 s, when the receive is posted. Half of each is that of the mean rank.
func TestBeginsParts(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  work: {terms: {N: 1e-3}}\n", "work")
	b.header.Phases = []string{"busy"}
	b.StepStarts, b.From, b.To = true, 7, 9
	phase := func(flags uint8) trace.Action { return trace.Action{Kind: trace.KindPhase, Flags: flags} }
	flops := trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(3e9)}}
	res := b.run(t,
		[]trace.Action{step(7), phase(0), compute(0, 1000), step(8), send(1, 0, 984), compute(0, 2000), phase(trace.FlagEnd)},
		[]trace.Action{step(7), flops, step(8), recv(0, 0, 984)})
	const kernel, busy = replay.NumTimeKinds, replay.NumTimeKinds + 1
	for i, want := range []map[int]float64{
		{},
		{int(replay.TimeCompute): 2, kernel: 0.5, busy: 0.5},
		{int(replay.TimeCompute): 3, int(replay.TimeRecv): 1.08e-4 / 2, kernel: 1.5, busy: 1.5},
	} {
		for j, got := range res.StepStarts[i].Parts {
			if math.Abs(got-want[j]) > 1e-12 {
				t.Errorf("part %d when step %d begins: %v s, want %v s", j, 7+i, got, want[j])
			}
		}
	}
}

func TestBeginsErrors(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.StepStarts = true
	lists := [][]trace.Action{{step(0), sleep(1)}, {sleep(1)}}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 0, "between two steps"}, {3, 2, "between two steps"}, {-1, 2, "between two steps"}, {0, 1, "1 of 2 ranks begin step 0"},
	} {
		b.From, b.To = c.from, c.to
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, b.Options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("steps [%d,%d): %v, want %s", c.from, c.to, err, c.want)
		}
	}
}
