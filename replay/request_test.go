package replay

import (
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/trace"
)

// TestFreedRequests: nobody waits for a request that was let go, in whatever order it is
// posted, matched, let go and carried, and its message is used again.
func TestFreedRequests(t *testing.T) {
	const (
		rounds = 1000
		bytes  = 100000 // sends of it are not detached
		long   = 1e-2   // seconds, in which messages of a round end: t(s) = 100 us + (s+16)/125e6 < 1 ms
		empty  = 100e-6 + 16/125e6
	)
	pause := func(seconds float64) trace.Action {
		return trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(seconds)}}
	}
	isend := trace.Action{Kind: trace.KindIsend, Req: 1, Peer: 1, Tag: 7, X: [4]int64{bytes}}
	issend := trace.Action{Kind: trace.KindIssend, Req: 1, Peer: 1, Tag: 7, X: [4]int64{10}}
	send := trace.Action{Kind: trace.KindSend, Peer: 1, Tag: 7, X: [4]int64{10}}
	irecv := trace.Action{Kind: trace.KindIrecv, Req: 2, Peer: 0, Tag: 7, X: [4]int64{bytes}}
	anyone := trace.Action{Kind: trace.KindIrecv, Req: 2, Peer: trace.AnySource, Tag: trace.AnyTag, X: [4]int64{bytes}}
	free := func(req int32) trace.Action { return trace.Action{Kind: trace.KindFree, Req: req} }
	list := func(a ...trace.Action) []trace.Action { return a }
	barrier := trace.Action{}
	barrier.SetCollective(&trace.Collective{Kind: trace.CollBarrier}) // a message of each rank to rank 0, and one back
	for _, c := range []struct {
		name     string
		from, to []trace.Action // one round of rank 0 and of rank 1, without its pause
	}{
		{"both at once", list(isend, free(1)), list(irecv, free(2))},
		{"receive later", list(isend, free(1)), list(pause(long/10), irecv, free(2))},
		{"send later", list(pause(long/10), isend, free(1)), list(irecv, free(2))},
		{"detached", list(send), list(irecv, free(2))},
		{"detached, send later", list(pause(long/10), send), list(irecv, free(2))},
		{"synchronous", list(issend, free(1)), list(irecv, free(2))},
		{"after the end", list(isend, pause(long/5), free(1)), list(irecv, pause(long/5), free(2))},
		{"from anyone", list(isend, free(1)), list(anyone, free(2))},
		{"from anyone, receive later", list(isend, free(1)), list(pause(long/10), anyone, free(2))},
		{"from anyone, send later", list(pause(long/10), isend, free(1)), list(anyone, free(2))},
		{"from anyone, after the match", list(isend, free(1)), list(anyone, pause(1e-4), free(2))},
		{"from anyone, after the end", list(send), list(anyone, pause(long/5), free(2))},
		{"twice", list(isend, free(1), free(1)), list(irecv, free(2), free(2))},
	} {
		t.Run(c.name, func(t *testing.T) {
			lists := make([][]trace.Action, 2)
			for range rounds {
				for r, round := range [][]trace.Action{c.from, c.to} {
					lists[r] = append(append(lists[r], round...), pause(long), barrier)
				}
			}
			e, res := playOnStar(t, lists)
			if want := int64(rounds * (1 + 2)); res.Messages != want {
				t.Errorf("%d messages, want %d", res.Messages, want)
			}
			if n := len(e.matcher.messages); n > 6 { // three in a round, of which two may overlap
				t.Errorf("messages of %d rounds take the room of %d", rounds, n)
			}
			longest := rounds * max(sleepOf(c.from)+long, sleepOf(c.to)+long)
			if end, most := res.Ranks[1].End, longest+rounds*2*empty; end < longest || end > most*(1+1e-12) {
				t.Errorf("rank 1 ends at %.15g s, want %.15g s to %.15g s: the longer pauses, and those with the barriers", end, longest, most)
			}
		})
	}
}

// sleepOf returns the seconds of pauses.
func sleepOf(list []trace.Action) (sum float64) {
	for i := range list {
		if list[i].Kind == trace.KindSleep {
			sum += list[i].Seconds()
		}
	}
	return sum
}

// TestFreedAmongOthers: a waitall waits for the requests that were not let go.
func TestFreedAmongOthers(t *testing.T) {
	recv := func(req, peer int32) trace.Action {
		return trace.Action{Kind: trace.KindIrecv, Req: req, Peer: peer, X: [4]int64{1e6}}
	}
	send := []trace.Action{{Kind: trace.KindSend, X: [4]int64{1e6}}}
	late := []trace.Action{{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(1)}}, send[0]}
	_, res := playOnStar(t, [][]trace.Action{
		{recv(0, 1), recv(1, 2), {Kind: trace.KindFree, Req: 1}, {Kind: trace.KindWaitAll}}, send, late,
	})
	if want := 100e-6 + (1e6+16)/125e6; res.Ranks[0].End < want*(1-1e-9) || res.Ranks[0].End > want*(1+1e-9) {
		t.Errorf("rank 0 ends at %.15g s, want %.15g s", res.Ranks[0].End, want)
	}
}

// playOnStar plays lists of actions, one rank per host of a star with 125 MB/s and 100 us
// between hosts, where all factors are 1, nothing costs the ranks time, and flows do not
// load the way back.
func playOnStar(t *testing.T, lists [][]trace.Action) (*engine, *Result) {
	t.Helper()
	const xml = `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-2" speed="1Gf" bw="125MBps" lat="50us"/></platform>`
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	noError(t, err)
	o := DefaultOptions()
	for name, value := range map[string]string{"smpi/bw-factor": "0:1", "smpi/lat-factor": "0:1", "network/crosstraffic": "no"} {
		noError(t, o.Network.Set(name, value))
	}
	m := Machine{Platform: p}
	for r := range lists {
		m.Hosts = append(m.Hosts, int32(r))
	}
	h := &trace.Header{Ranks: len(lists)}
	e, err := newEngine(h, m, o)
	noError(t, err)
	res, err := e.play(t.Context(), h, NewLists(lists), &o)
	noError(t, err)
	return e, res
}
