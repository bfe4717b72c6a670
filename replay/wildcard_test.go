package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/internal/tracetest"
	"reprise/replay"
	"reprise/smpi"
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
			"two receives at one time", [][]trace.Action{
				list(irecv(0, anyone, 100, 9000), recv(1, 0, 1e6), irecv(1, anyone, 101, 9000), wait(0), wait(1)),
				list(send(0, 0, 1e6), send(0, 100, 1000), sleep(0.1), send(0, 101, 2000)),
			}, transfer(1e6) + 0.1 + transfer(2000),
		},
		{
			// The same, but the younger receive would take the message too: the older one has it.
			"older receive at one time", [][]trace.Action{
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

// TestUnknownSizeFromAnyone: rank 0 probes for a message from any source with any tag and
// receives the one that it sees, that of rank 2, sent at 0.35 ms, though the event loop meets
// that of rank 1 first, which is sent at 0.55 ms. The messages are not eager: they start when they
// are received. Probes take 0.1 ms; or 0.1, 0.2, 0.3 ms, as far as they miss; or no time.
func TestUnknownSizeFromAnyone(t *testing.T) {
	transfer := func(bytes float64) float64 { return starLatency + (bytes+envelope)/starBandwidth }
	for _, c := range []struct {
		probe, grow string
		tag         int32
		seen        float64 // time at which rank 0 sees the first message
		polls       int64   // up to then, and one for the second message, which is there
	}{
		{"1e-4", "no", trace.AnyTag, 0.4e-3, 5}, {"1e-4", "no", 7, 0.4e-3, 5},
		{"1e-4", "yes", trace.AnyTag, 0.6e-3, 4}, // looks at 0.1, 0.3 and 0.6 ms
		{"0", "no", trace.AnyTag, 0.35e-3, 2},
	} {
		for _, verb := range []func(req int32) trace.Action{
			func(int32) trace.Action { return recv(trace.AnySource, c.tag, -1) },
			func(req int32) trace.Action { return irecv(req, trace.AnySource, c.tag, -1) },
		} {
			b := newBench(t, star(3), 3)
			b.set(t, "smpi/iprobe:"+c.probe, "smpi/grow-injected-times:"+c.grow)
			cost, _ := strconv.ParseFloat(c.probe, 64)
			all := trace.Action{Kind: trace.KindWaitAll}
			res := b.run(t,
				[]trace.Action{verb(0), all, sleep(1), verb(1), all},
				[]trace.Action{sleep(0.55e-3), send(0, 7, 1000)},
				[]trace.Action{sleep(0.35e-3), send(0, 7, 3000)})
			near(t, fmt.Sprintf("%+v", c), res.Ranks[0].End, c.seen+transfer(3000)+1+cost+transfer(1000))
			if c.probe != "0" && res.Polls != c.polls {
				t.Errorf("%+v: %d polls", c, res.Polls)
			}
		}
	}
}

// TestNothingFromAnyone: a rank that probes for a message that nobody sends is a deadlock.
func TestNothingFromAnyone(t *testing.T) {
	for _, options := range []string{"smpi/iprobe:0", "smpi/iprobe:1e-4"} {
		for _, grow := range []string{"no", "yes"} {
			b := newBench(t, star(3), 3)
			b.set(t, options, "smpi/grow-injected-times:"+grow)
			err := b.fail(t, []trace.Action{recv(trace.AnySource, 7, -1)}, []trace.Action{send(0, 8, 10)}, nil)
			if want := "a send of any rank with tag 7"; !strings.Contains(err.Error(), want) {
				t.Errorf("error %q, want %q", err, want)
			}
		}
	}
}

// TestWildcardsInAnyOrderOfRanks: the event loop runs ranks in the order of their
// numbers, each as far as it can. Other numbers, on a star of equal hosts, must give
// the same times.
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
			b := newBench(t, star(ranks), ranks)
			b.set(t, []string{"smpi/iprobe:0", "smpi/iprobe:1e-6", "smpi/iprobe:1e-3"}[seed%3])
			res := b.run(t, lists...)
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

// wildProgram is a program in which each rank sends to others at random times, and
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
			lists[r] = append(lists[r], sleep(rng.Float64()*1e-3), irecv(int32(i), src, trace.AnyTag, []int64{60000, -1}[rng.IntN(2)]))
		}
		for i := range sources {
			lists[r] = append(lists[r], wait(int32(i)), sleep(rng.Float64()*1e-3))
		}
	}
	return lists
}

// wildMachine is one for wild programs, in which the bits of a number choose what is special.
func wildMachine(t testing.TB, kind uint8) *bench {
	t.Helper()
	b := newBench(t, star(tracetest.WildRanks), tracetest.WildRanks)
	b.set(t, "smpi/iprobe:1e-5", "smpi/test:1e-5", "smpi/os:0:1e-6:0")
	if kind&1 != 0 {
		b.set(t, "smpi/grow-injected-times:yes")
	}
	if kind&2 != 0 {
		b.Hosts = []int32{0, 0, 1}
	}
	if kind&4 != 0 {
		b.set(t, "smpi/iprobe:0", "smpi/finalization-barrier:yes")
	}
	if kind&8 != 0 {
		b.Network.Poll = smpi.PollArrived
	}
	if kind&16 != 0 {
		b.set(t, "smpi/coll-selector:ompi", "reprise/solver:reference")
	}
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  \"*\": {terms: {N: 1e-5}}\n", "work", "move")
	return b
}

// FuzzPrograms plays programs without sense, which may come to an error but not to a
// panic, and if they come to an end do so from a checkpoint on the way too.
func FuzzPrograms(f *testing.F) {
	r := rand.New(rand.NewPCG(22, 2))
	for range 64 {
		data := make([]byte, 20+r.IntN(200))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(uint8(r.Uint32()), data)
	}
	var machines [32]*bench
	for i := range machines {
		machines[i] = wildMachine(f, uint8(i))
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		turns := int64(3)
		if kind&32 != 0 {
			turns = 1 << 60
		}
		file, err := tracetest.Wild(data, turns)
		if err != nil {
			return
		}
		tr, err := trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), "wild")
		noError(t, err)
		playWild(t, tr, machines[kind%32])
	})
}

// errTooLong is the end of a replay that takes more than its bounds.
var errTooLong = errors.New("it does not come to an end")

// playWild plays a trace for so many pauses, and goes on from one of them.
func playWild(t *testing.T, tr *trace.Trace, b *bench) {
	t.Helper()
	const most, kept = 3000, 20
	var checkpoint bytes.Buffer
	pauses, begin := 0, time.Now()
	bound := func(p *replay.Pause) error {
		if pauses++; pauses == kept {
			return p.Save(&checkpoint, 0)
		}
		if pauses > most || time.Since(begin) > time.Second {
			return errTooLong
		}
		return nil
	}
	o := b.Options
	o.Checkpoints = &replay.Checkpoints{Write: bound}
	want, err := replay.Run(t.Context(), tr, b.Machine, o)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it looks up after %v", took)
	}
	if checkpoint.Len() == 0 || errors.Is(err, errTooLong) {
		return
	}
	pauses = kept
	o.Resume = checkpointOf(checkpoint.Bytes())
	got, again := replay.Run(t.Context(), tr, b.Machine, o)
	switch {
	case errors.Is(again, errTooLong):
	case err == nil && again == nil:
		sameResult(t, "wild", got, want)
	case err == nil || again == nil || err.Error() != again.Error():
		t.Errorf("error %v, and from a checkpoint %v (%d bytes)", err, again, checkpoint.Len())
	}
}
