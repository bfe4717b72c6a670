package replay_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/replay"
	"reprise/smpi"
	"reprise/trace"
)

// checkMeans fails unless the means of the times by kind add up to the mean end. That
// every rank's do is checked in the engine, in all tests of this package.
func checkMeans(t *testing.T, what string, res *replay.Result) {
	t.Helper()
	sum, end := 0.0, 0.0
	for _, k := range res.Kinds {
		sum += k.Mean
	}
	for _, r := range res.Ranks {
		end += r.End / float64(len(res.Ranks))
	}
	if !(math.Abs(sum-end) <= 1e-9*end) {
		t.Errorf("%s: times add up to %.15g s, the mean end is %.15g s: %v", what, sum, end, res.Kinds)
	}
}

func kindOf(res *replay.Result, name string) replay.Share {
	for _, k := range res.Kinds {
		if k.Name == name {
			return k
		}
	}
	return replay.Share{}
}

func flops(n float64) trace.Action {
	return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(n)}}
}

// TestTimeOfGrowingProbes: rank 1 computes for 0.5 ms and then probes for a message of rank
// 0, which computes for 1 ms. Probes cost 100, 200, 300 us ..., so that it looks at 0.6, 0.8
// and 1.1 ms, when it is there: 0.6 ms of polls. Only then it has a receive, and is on its way.
func TestTimeOfGrowingProbes(t *testing.T) {
	for _, shared := range []bool{false, true} {
		b := newBench(t, star(3), 2)
		b.set(t, "smpi/iprobe:1e-4", "smpi/grow-injected-times:yes")
		lists := [][]trace.Action{{flops(1e6), send(1, 0, 1000)}, {flops(5e5), recv(0, 0, -1)}}
		if shared { // a third rank on the host of rank 1, which does nothing
			b.header.Ranks, b.Hosts, lists = 3, []int32{0, 1, 1}, append(lists, nil)
		}
		res := b.run(t, lists...)
		checkMeans(t, fmt.Sprint("shared ", shared), res)
		near(t, "compute", kindOf(res, "compute").Min+kindOf(res, "compute").Max, map[bool]float64{false: 1.5e-3, true: 1e-3}[shared])
		near(t, "poll", kindOf(res, "poll").Max, 6e-4)
		transfer := starLatency + (1000+envelope)/starBandwidth
		near(t, "recv", kindOf(res, "recv").Max, transfer)
		near(t, "end", res.Ranks[1].End, 1.1e-3+transfer)
	}
}

// TestTimeOfManyPolls: 20 million polls of 50 ps at a clock of a million seconds, where
// doubles are 116 ps apart, so that the clock does not move. Charged by their costs they
// would take 1 ms, 1e-9 of the end.
func TestTimeOfManyPolls(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	b := newBench(t, star(2), 2)
	b.set(t, "smpi/iprobe:5e-11")
	b.header.Ranks = 1
	b.Hosts = b.Hosts[:1]
	res, err := replay.RunSource(t.Context(), &b.header, &iprobes{left: 20e6}, b.Machine, b.Options)
	noError(t, err)
	if res.Polls != 20e6 || res.Makespan != 1e6 {
		t.Errorf("%d polls, end %v s", res.Polls, res.Makespan)
	}
	checkMeans(t, "polls", res)
}

// iprobes is a Source of one rank that sleeps a million seconds and then probes.
type iprobes struct{ left, filled int }

func (p *iprobes) Fill(_ int32, buf []trace.Action) (int, error) {
	n := 0
	if p.filled == 0 {
		buf[0], n = sleep(1e6), 1
	}
	for ; n < len(buf) && p.left > 0; n++ {
		buf[n] = trace.Action{Kind: trace.KindIprobe}
		p.left--
	}
	p.filled++
	return n, nil
}

func (*iprobes) Answer(int32, bool)        {}
func (*iprobes) Sums(int32, int64) []int64 { return nil }

// TestTimesAddUp plays random programs with all that costs time, to the end, stopped on the
// way, and resumed from there.
func TestTimesAddUp(t *testing.T) {
	programs := 400
	if testing.Short() {
		programs = 60
	}
	for seed := range programs {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		b, lists := randomProgram(t, r)
		run := func(change func(*replay.Options)) (*replay.Result, error) {
			o := b.Options
			change(&o)
			return replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, o)
		}
		pauses := 0
		res, err := run(func(o *replay.Options) {
			o.Checkpoints = &replay.Checkpoints{Write: func(*replay.Pause) error { pauses++; return nil }}
		})
		if err != nil {
			t.Fatalf("program %d: %v", seed, err)
		}
		checkMeans(t, fmt.Sprint("program ", seed), res)
		at := 1 + r.IntN(pauses)
		files, _ := saveAt(t, []int{at}, run, nil)
		checkMeans(t, fmt.Sprintf("program %d, stopped", seed), stopAt(t, at, run))
		again, err := run(func(o *replay.Options) { o.Resume = checkpointOf(files[0]) })
		if err != nil {
			t.Fatalf("program %d, resumed: %v", seed, err)
		}
		sameResult(t, fmt.Sprintf("program %d, resumed", seed), again, res)
	}
}

// stopAt returns the result of a replay that is stopped at its pause of that number.
func stopAt(t *testing.T, at int, run rerun) *replay.Result {
	t.Helper()
	stop, pauses := errors.New("stop"), 0
	res, err := run(func(o *replay.Options) {
		o.Checkpoints = &replay.Checkpoints{Write: func(*replay.Pause) error {
			if pauses++; pauses == at {
				return stop
			}
			return nil
		}}
	})
	if !errors.Is(err, stop) || res == nil {
		t.Fatal(res, err)
	}
	return res
}

// randomProgram returns up to 6 ranks on as many hosts or fewer, with options that cost
// time here and there. Sends and receives are appended pair by pair, so that none waits for
// one behind it.
func randomProgram(t *testing.T, r *rand.Rand) (*bench, [][]trace.Action) {
	t.Helper()
	ranks := 2 + r.IntN(5)
	b := newBench(t, star(ranks), ranks)
	for i := range b.Hosts {
		b.Hosts[i] = int32(r.IntN(1 + r.IntN(ranks)))
	}
	b.set(t, "smpi/grow-injected-times:"+[]string{"no", "yes"}[r.IntN(2)],
		"smpi/iprobe:"+[]string{"0", "1e-6", "1e-4"}[r.IntN(3)], "smpi/test:"+[]string{"0", "1e-5"}[r.IntN(2)],
		"smpi/or:"+[]string{"0:0:0", "0:1e-5:1e-9"}[r.IntN(2)], "smpi/os:"+[]string{"0:0:0", "0:2e-5:1e-9"}[r.IntN(2)],
		"smpi/ois:"+[]string{"0:0:0", "0:3e-5:1e-9"}[r.IntN(2)], "smpi/init:"+[]string{"0", "1e-3"}[r.IntN(2)],
		"smpi/finalization-barrier:"+[]string{"no", "yes"}[r.IntN(2)])
	b.Network.Poll = []smpi.ProbeVisibility{smpi.PollPosted, smpi.PollArrived}[r.IntN(2)]
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  k: {terms: {N: 1e-4}, noise: {normal: 1e-5}}\n  steady: {terms: {N: 1e-4}}\n", "k", "steady")
	b.setNetworkNoise(t, "latency: [{noise: {normal: 1%}}]")
	lists := make([][]trace.Action, ranks)
	for tag := range int32(5 + r.IntN(40)) {
		for i := range lists {
			lists[i] = append(lists[i], randomWork(r)...)
		}
		if r.IntN(8) == 0 {
			n := r.Int64N(100000)
			c := trace.Collective{Kind: trace.CollAllreduce, Send: n, Recv: n, SendSize: 1, RecvSize: 1, Flops: float64(r.IntN(2)) * 1e5}
			for i := range lists {
				lists[i] = append(lists[i], call(c))
			}
			continue
		}
		src := r.IntN(ranks)
		dst := (src + 1 + r.IntN(ranks-1)) % ranks
		size := []int64{0, 1000, 70000, 300000}[r.IntN(4)]
		lists[src] = append(lists[src], randomSend(r, int32(dst), tag, size)...)
		lists[dst] = append(lists[dst], randomReceive(r, int32(src), tag, size)...)
	}
	return b, lists
}

func randomWork(r *rand.Rand) []trace.Action {
	return [][]trace.Action{
		nil, {flops(1e5 * r.Float64())}, {sleep(1e-4 * r.Float64())}, {{Kind: trace.KindIprobe}},
		{compute(uint16(r.IntN(2)), 1)}, nil, nil, nil,
	}[r.IntN(8)]
}

func randomSend(r *rand.Rand, dst, tag int32, size int64) []trace.Action {
	test := trace.Action{Kind: trace.KindTest}
	return [][]trace.Action{
		{send(dst, tag, size)}, {isend(0, dst, tag, size), flops(1e4), test, wait(0)}, {isend(0, dst, tag, size), test, test, {Kind: trace.KindWaitAll}},
	}[r.IntN(3)]
}

func randomReceive(r *rand.Rand, src, tag int32, size int64) []trace.Action {
	test := trace.Action{Kind: trace.KindTest}
	return [][]trace.Action{
		{recv(src, tag, size)}, {recv(src, tag, -1)}, {poll(src, tag, true), recv(src, tag, size)},
		{poll(src, tag, false), poll(src, tag, false), recv(src, tag, size)}, {irecv(0, src, tag, size), flops(1e4), test, wait(0)},
		{irecv(0, src, tag, size), test, test, {Kind: trace.KindWaitAll}}, {recv(trace.AnySource, tag, size)},
		{recv(trace.AnySource, tag, -1)}, {irecv(0, trace.AnySource, tag, -1), flops(1e4), wait(0)},
	}[r.IntN(9)]
}
