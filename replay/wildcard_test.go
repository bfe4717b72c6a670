package replay_test

import (
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
