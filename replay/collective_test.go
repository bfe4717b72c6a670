package replay_test

import (
	"slices"
	"strings"
	"testing"

	"reprise/internal/invariants"
	"reprise/replay"
	"reprise/trace"
	"reprise/trace/warning"
)

func call(c trace.Collective) trace.Action {
	var a trace.Action
	a.SetCollective(&c)
	return a
}

func barrier() trace.Action { return call(trace.Collective{Kind: trace.CollBarrier}) }

// bytesCall is a call on so many elements of 1 byte, sent and received.
func bytesCall(kind trace.CollectiveKind, n int64, root int32) trace.Action {
	return call(trace.Collective{Kind: kind, Send: n, Recv: n, SendSize: 1, RecvSize: 1, Root: root})
}

// fail runs what must fail.
func (b *bench) fail(t testing.TB, lists ...[]trace.Action) error {
	t.Helper()
	_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, b.Options)
	if err == nil {
		t.Fatal("no error")
	}
	return err
}

// TestCollectivesOnPaper: one call of each of p ranks on a star, where a transfer of n
// bytes that is alone on its links takes t(n) = 100 us + (n+16)/125e6; k transfers at once
// on one link take t(n, k) = 100 us + k(n+16)/125e6. Messages of 100000 bytes are
// rendezvous, those of 1000 detached: blocking sends of these take no time.
func TestCollectivesOnPaper(t *testing.T) {
	at := func(bytes, k float64) float64 { return starLatency + k*(bytes+envelope)/starBandwidth }
	tr := func(bytes float64) float64 { return at(bytes, 1) }
	const large, small = 100000, 1000
	reduce := func(kind trace.CollectiveKind, n int64) trace.Action {
		return call(trace.Collective{Kind: kind, Send: n, SendSize: 1, Flops: 1e6})
	}
	for _, c := range []struct {
		name      string
		selection string
		option    string
		action    trace.Action
		want      []float64
	}{
		// Rank 0 has all messages at t(0, 3), then answers: its sends cost nothing.
		{"barrier", "default", "", barrier(), []float64{at(0, 3), 2 * at(0, 3), 2 * at(0, 3), 2 * at(0, 3)}},
		// Two rounds of exchanges.
		{"barrier", "mpich", "", barrier(), []float64{2 * tr(0), 2 * tr(0), 2 * tr(0), 2 * tr(0)}},
		// 0 to 2, then 0 to 1 while 2 sends to 3.
		{"bcast", "default", "", bytesCall(trace.CollBcast, large, 0), []float64{2 * tr(large), 2 * tr(large), 2 * tr(large), 2 * tr(large)}},
		// The same from rank 1: 1 to 3, 1 to 2 and 3 to 0.
		{"bcast, root 1", "default", "", bytesCall(trace.CollBcast, large, 1), []float64{2 * tr(large), 2 * tr(large), 2 * tr(large), 2 * tr(large)}},
		// Detached: 0 is through at once, 1 and 2 share its link, 2 sends on.
		{"bcast, small", "default", "", bytesCall(trace.CollBcast, small, 0), []float64{0, at(small, 2), at(small, 2), at(small, 2) + tr(small)}},
		// Along 0, 1, 2, 3, whole as it is less than 8 KiB.
		{"bcast, line", "default", "smpi/bcast:NTSL", bytesCall(trace.CollBcast, small, 0), []float64{0, tr(small), 2 * tr(small), 3 * tr(small)}},
		// Three at once to rank 0; each computes 1 Mflop at 1 Gflop/s.
		{"reduce", "default", "", reduce(trace.CollReduce, large), []float64{at(large, 3) + 1e-3, at(large, 3) + 1e-3, at(large, 3) + 1e-3, at(large, 3) + 1e-3}},
		// 1 to 0 and 3 to 2, then 2 to 0.
		{"reduce, binomial", "default", "smpi/reduce:binomial", reduce(trace.CollReduce, large),
			[]float64{2*tr(large) + 1e-3, tr(large) + 1e-3, 2*tr(large) + 1e-3, tr(large) + 1e-3}},
		// log2 4 exchanges of all.
		{"allreduce, doubling", "default", "smpi/allreduce:rdb", reduce(trace.CollAllreduce, large),
			[]float64{2*tr(large) + 1e-3, 2*tr(large) + 1e-3, 2*tr(large) + 1e-3, 2*tr(large) + 1e-3}},
		// 2(p-1) shifts of a quarter.
		{"allreduce, ring", "default", "smpi/allreduce:lr", reduce(trace.CollAllreduce, large),
			[]float64{6*tr(large/4) + 1e-3, 6*tr(large/4) + 1e-3, 6*tr(large/4) + 1e-3, 6*tr(large/4) + 1e-3}},
		// Halves, quarters, and back.
		{"allreduce, Rabenseifner", "default", "smpi/allreduce:rab_rdb", reduce(trace.CollAllreduce, large),
			[]float64{2*tr(large/2) + 2*tr(large/4) + 1e-3, 2*tr(large/2) + 2*tr(large/4) + 1e-3, 2*tr(large/2) + 2*tr(large/4) + 1e-3, 2*tr(large/2) + 2*tr(large/4) + 1e-3}},
		// All at once: three flows on each link.
		{"alltoall", "default", "", bytesCall(trace.CollAlltoall, large, 0), []float64{at(large, 3), at(large, 3), at(large, 3), at(large, 3)}},
		{"alltoall, pairs", "default", "smpi/alltoall:pair", bytesCall(trace.CollAlltoall, large, 0), []float64{3 * tr(large), 3 * tr(large), 3 * tr(large), 3 * tr(large)}},
		{"allgather, doubling", "mpich", "", bytesCall(trace.CollAllgather, large, 0),
			[]float64{tr(large) + tr(2*large), tr(large) + tr(2*large), tr(large) + tr(2*large), tr(large) + tr(2*large)}},
		// 1 to 0 and 3 to 2, then two blocks from 2 to 0.
		{"gather, binomial", "mpich", "", bytesCall(trace.CollGather, large, 0), []float64{tr(large) + tr(2*large), tr(large), tr(large) + tr(2*large), tr(large)}},
		// One block to 1, then two to 2, which sends one on.
		{"scatter, binomial", "mpich", "", bytesCall(trace.CollScatter, large, 0),
			[]float64{tr(large) + tr(2*large), tr(large), tr(large) + tr(2*large) + tr(large), tr(large) + tr(2*large) + tr(large)}},
		{"scatter, one by one", "default", "smpi/scatter:ompi_basic_linear", bytesCall(trace.CollScatter, large, 0), []float64{3 * tr(large), tr(large), 2 * tr(large), 3 * tr(large)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, star(4), 4)
			b.set(t, "smpi/coll-selector:"+c.selection)
			if c.option != "" {
				b.set(t, c.option)
			}
			list := []trace.Action{c.action}
			res := b.run(t, list, list, list, list)
			for r, want := range c.want {
				near(t, "end", res.Ranks[r].End, want)
			}
		})
	}
}

// TestFinalizationBarrier: rank 0 waits for what is pending, to t(1000); only then it
// posts the receive with which the empty message of rank 1 starts, and answers it.
func TestFinalizationBarrier(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.set(t, "smpi/finalization-barrier:yes")
	res := b.run(t, []trace.Action{irecv(0, 1, 7, 1000)}, []trace.Action{isend(0, 0, 7, 1000)})
	arrived := starLatency + (1000+envelope)/starBandwidth
	empty := starLatency + envelope/starBandwidth
	near(t, "rank 0", res.Ranks[0].End, arrived+empty)
	near(t, "rank 1", res.Ranks[1].End, arrived+2*empty)
}

// TestCollectiveOnSharedHost: two ranks on a host of one core compute 1 Mflop each after an
// allreduce of nothing. A message takes t = 100.128 us. Rank 0 begins at t, rank 1 at 2t;
// they share the core until rank 0 is through: at 2t + 2(1 ms - t) = 2 ms. Of the work of
// rank 1 t at full speed is left.
func TestCollectiveOnSharedHost(t *testing.T) {
	b := newBench(t, star(1), 1)
	b.header.Ranks, b.Hosts = 2, []int32{0, 0}
	list := []trace.Action{call(trace.Collective{Kind: trace.CollAllreduce, SendSize: 1, Flops: 1e6})}
	res := b.run(t, list, list)
	reduced := starLatency + envelope/starBandwidth // to itself by the host's two links
	near(t, "rank 0", res.Ranks[0].End, 2e-3)
	near(t, "rank 1", res.Ranks[1].End, 2e-3+reduced)
}

// TestCollectiveMismatch: a rank that calls something else makes a deadlock, which says
// who waits for whom in what.
func TestCollectiveMismatch(t *testing.T) {
	b := newBench(t, star(2), 2)
	err := b.fail(t, []trace.Action{barrier()}, nil)
	if want := "rank 0 in barrier since 0 s: a send of rank 1"; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q, want %q", err, want)
	}
}

// TestBadCollectives: what a source may say wrong.
func TestBadCollectives(t *testing.T) {
	for _, c := range []struct {
		call trace.Collective
		want string
	}{
		{trace.Collective{Kind: trace.CollBcast, Root: 2, SendSize: 1}, "rank 0: collective: root 2 out of [0,2)"},
		{trace.Collective{Kind: trace.CollBcast, Send: 1}, "sends elements of 0 bytes"},
		{trace.Collective{Kind: trace.CollAllgather, Send: 1, SendSize: 1, Recv: -1, RecvSize: 1}, "receives -1 elements"},
	} {
		b := newBench(t, star(2), 2)
		if err := b.fail(t, []trace.Action{call(c.call)}, nil); !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %q, want %q", err, c.want)
		}
	}
	b := newBench(t, star(2), 2)
	b.set(t, "smpi/bcast:SMP_linear")
	b.run(t, nil, nil) // nobody calls it
	bcast := []trace.Action{bytesCall(trace.CollBcast, 8, 0)}
	if err := b.fail(t, bcast, bcast); !strings.Contains(err.Error(), `algorithm "SMP_linear" of bcast, known are default, ompi, mpich,`) {
		t.Errorf("error %q", err)
	}
}

// TestCollectivesAllocateNothing: twice as many calls allocate nothing more, but for
// lists that grow where ranks run ahead of each other.
func TestCollectivesAllocateNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	sums := make([]int64, 33)
	for i := range sums {
		sums[i] = int64(100 * i)
	}
	for kind := range trace.CollectiveKind(trace.NumCollectives) {
		c := trace.Collective{Kind: kind, Send: 100, Recv: 100, SendSize: 8, RecvSize: 8}
		if kind.SendsPerRank() {
			c.Send = 0 // number of sums
		}
		if kind.RecvsPerRank() {
			c.Recv = 0
		}
		b := newBench(t, tree(32), 32)
		b.set(t, "smpi/coll-selector:ompi")
		allocs := func(calls int) float64 {
			list := slices.Repeat([]trace.Action{call(c)}, calls)
			return testing.AllocsPerRun(1, func() {
				source := replay.NewLists(slices.Repeat([][]trace.Action{list}, 32))
				source.Counts = [][]int64{sums}
				if _, err := replay.RunSource(t.Context(), &b.header, source, b.Machine, b.Options); err != nil {
					t.Fatal(err)
				}
			})
		}
		short, long := allocs(10), allocs(20)
		if extra := long - short; extra > 32 {
			t.Errorf("%v: %v allocations for 320 calls", kind, extra)
		}
	}
}

// TestDisagreement: where counts differ, SimGrid aborts if a message is longer than the
// receiver has room for, and plays what is shorter: allreduce, reduce, gather and bcast on
// four ranks, of which one says something else. An MPI fails in all of them.
func TestDisagreement(t *testing.T) {
	gather := func(send, recv int64) trace.Action {
		return call(trace.Collective{Kind: trace.CollGather, Send: send, Recv: recv, SendSize: 1, RecvSize: 1})
	}
	const cut, other = "cut to the size of a receive", "do not agree in kinds, roots or counts"
	for _, c := range []struct {
		name       string
		root, rest trace.Action // of rank 0 and of the others
		want       []string
	}{
		{"equal", bytesCall(trace.CollAllreduce, 1000, 0), bytesCall(trace.CollAllreduce, 1000, 0), nil},
		{"allreduce", bytesCall(trace.CollAllreduce, 2000, 0), bytesCall(trace.CollAllreduce, 1000, 0), []string{cut, other}},
		{"reduce to less", bytesCall(trace.CollReduce, 500, 0), bytesCall(trace.CollReduce, 1000, 0), []string{cut, other}},
		{"reduce to more", bytesCall(trace.CollReduce, 2000, 0), bytesCall(trace.CollReduce, 1000, 0), []string{other}},
		{"bcast of less", bytesCall(trace.CollBcast, 500, 0), bytesCall(trace.CollBcast, 1000, 0), []string{other}},
		{"gather of less", gather(100, 50), gather(100, 100), []string{cut, other}},
		{"what only the root says", gather(0, 100), gather(100, 7), nil}, // its own part may be in place
	} {
		b := newBench(t, star(4), 4)
		res := b.run(t, []trace.Action{c.root}, []trace.Action{c.rest}, []trace.Action{c.rest}, []trace.Action{c.rest})
		res.Warnings = slices.DeleteFunc(res.Warnings, func(w warning.Warning) bool { return strings.Contains(w.Text, "are linear") })
		if len(res.Warnings) != len(c.want) {
			t.Errorf("%s: warnings %v, want %q", c.name, res.Warnings, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(res.Warnings[i].Text, want) {
				t.Errorf("%s: warning %v, want %q", c.name, res.Warnings[i], want)
			}
		}
	}
}
