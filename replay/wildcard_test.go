package replay_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"reprise/trace"
)

// TestWildcards: rank 0 receives from any source; ranks 1 and 2 send, 2 earlier than
// 1, though the event loop meets rank 1 first. A transfer of s bytes that is alone takes
// t(s) = 100 us + (s+16)/125e6.
func TestWildcards(t *testing.T) {
	list := func(a ...trace.Action) []trace.Action { return a }
	transfer := func(bytes float64) float64 { return starLatency + (bytes+envelope)/starBandwidth }
	const anyone, any = trace.AnySource, trace.AnyTag
	for _, c := range []struct {
		name  string
		lists [][]trace.Action
		want  float64 // end of rank 0
	}{
		{
			// The first receive takes the message of rank 2, posted at 10 ms; the second,
			// posted a second later, that of rank 1.
			"earliest send", [][]trace.Action{
				list(recv(anyone, 7, 2000), sleep(1), recv(anyone, 7, 2000)),
				list(sleep(20e-3), send(0, 7, 1000)),
				list(sleep(10e-3), send(0, 7, 2000)),
			}, 10e-3 + transfer(2000) + 1 + transfer(1000),
		},
		{
			// Both are there before the first receive, which takes the earlier.
			"late receiver", [][]trace.Action{
				list(sleep(1), recv(anyone, any, 2000), sleep(1), recv(anyone, any, 2000)),
				list(sleep(20e-3), send(0, 6, 1000)),
				list(sleep(10e-3), send(0, 7, 2000)),
			}, 1 + transfer(2000) + 1 + transfer(1000),
		},
		{
			// Tags count.
			"any source, one tag", [][]trace.Action{
				list(recv(anyone, 6, 2000)),
				list(sleep(20e-3), send(0, 6, 1000)),
				list(sleep(10e-3), send(0, 7, 1)),
			}, 20e-3 + transfer(1000),
		},
		{
			// The older receive takes the first message of rank 1, although the younger
			// one names it: it gets the second.
			"non-overtaking", [][]trace.Action{
				list(irecv(0, anyone, any, 9000), irecv(1, 1, 7, 9000), wait(1)),
				list(sleep(10e-3), send(0, 7, 1000), sleep(10e-3), send(0, 7, 2000)), nil,
			}, 20e-3 + transfer(2000),
		},
		{
			// The older receive names rank 1; the message of rank 2 is for the younger.
			"names first", [][]trace.Action{
				list(irecv(0, 1, 7, 9000), irecv(1, anyone, any, 9000), wait(1)),
				list(sleep(20e-3), send(0, 7, 1000)),
				list(sleep(10e-3), send(0, 7, 2000)),
			}, 10e-3 + transfer(2000),
		},
		{
			// A rendezvous ends for both ranks at t(1e6). Then rank 1 sends what the older
			// receive is for, while rank 0 posts another, and waits for that and the last message.
			"two receives at one date", [][]trace.Action{
				list(irecv(0, anyone, 100, 9000), recv(1, 0, 1e6), irecv(1, anyone, 101, 9000), wait(0), wait(1)),
				list(send(0, 0, 1e6), send(0, 100, 1000), sleep(0.1), send(0, 101, 2000)),
			}, transfer(1e6) + 0.1 + transfer(2000),
		},
		{
			// The same, but the younger receive would take the message too: the older one has it.
			"older receive at one date", [][]trace.Action{
				list(irecv(0, anyone, 100, 9000), recv(1, 0, 1e6), irecv(1, anyone, any, 9000), wait(0)),
				list(send(0, 0, 1e6), send(0, 100, 1000), sleep(0.5), send(0, 100, 1000)),
			}, transfer(1e6) + transfer(1000),
		},
		{
			// A message to oneself is there at once.
			"to oneself", [][]trace.Action{
				list(irecv(0, anyone, 100, 9000), isend(1, 0, 100, 1000), irecv(2, anyone, 101, 9000), wait(0), wait(1), wait(2)),
				list(sleep(0.1), send(0, 101, 2000)),
			}, 0.1 + transfer(2000),
		},
		{
			// Messages of collective operations are nobody else's: the barrier ends, and
			// the receive takes what rank 1 sends after it, at 2 t(0).
			"any tag in a barrier", [][]trace.Action{
				list(irecv(0, anyone, any, 9000), barrier(), wait(0)),
				list(barrier(), send(0, 7, 1000)),
			}, 2*transfer(0) + transfer(1000),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, star(len(c.lists)), len(c.lists))
			near(t, "end", b.run(t, c.lists...).Ranks[0].End, c.want)
		})
	}
}

// TestUnknownSizeFromAnyone: a size that must be probed for needs a source.
func TestUnknownSizeFromAnyone(t *testing.T) {
	b := newBench(t, star(2), 2)
	err := b.fail(t, []trace.Action{recv(trace.AnySource, 7, -1)}, nil)
	if want := "rank 0: recv: of unknown size, from any source or with any tag, is not supported"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// TestWildcardsInAnyOrderOfRanks: the event loop runs ranks in the order of their
// numbers, each as far as it can. Other numbers, on a star of equal hosts, must give
// the same dates.
func TestWildcardsInAnyOrderOfRanks(t *testing.T) {
	const ranks = 6
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		program := wildProgram(rng, ranks)
		var want []float64
		for range 3 {
			number := rng.Perm(ranks)
			lists := make([][]trace.Action, ranks)
			for r, list := range program {
				for _, a := range list {
					if a.Kind != trace.KindSleep && a.Kind != trace.KindWait && a.Peer >= 0 {
						a.Peer = int32(number[a.Peer])
					}
					lists[number[r]] = append(lists[number[r]], a)
				}
			}
			res := newBench(t, star(ranks), ranks).run(t, lists...)
			ends := make([]float64, ranks)
			for r := range ends {
				ends[r] = res.Ranks[number[r]].End
			}
			if want == nil {
				want = ends
			}
			for r := range ends {
				near(t, fmt.Sprintf("seed %d: end of rank %d", seed, r), ends[r], want[r])
			}
		}
	}
}

// wildProgram is a program in which each rank sends to others at random dates, and
// receives what comes to it: some of it by name, then the rest from any source.
func wildProgram(rng *rand.Rand, ranks int) [][]trace.Action {
	lists := make([][]trace.Action, ranks)
	from := make([][]int32, ranks)
	for r := range lists {
		for range rng.IntN(5) {
			to := (r + 1 + rng.IntN(ranks-1)) % ranks
			from[to] = append(from[to], int32(r))
			lists[r] = append(lists[r], sleep(rng.Float64()*1e-3), send(int32(to), rng.Int32N(2), rng.Int64N(60000)))
		}
	}
	for r, sources := range from {
		rng.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
		named := rng.IntN(len(sources) + 1)
		for i, src := range sources {
			if i >= named {
				src = trace.AnySource
			}
			lists[r] = append(lists[r], sleep(rng.Float64()*1e-3), irecv(int32(i), src, trace.AnyTag, 60000))
		}
		for i := range sources {
			lists[r] = append(lists[r], wait(int32(i)), sleep(rng.Float64()*1e-3))
		}
	}
	return lists
}
