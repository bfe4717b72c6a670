package capture

import (
	"testing"

	"reprise/trace"
)

// TestPlay: what two ranks did comes to an end in its order, or not. Fences wait for both ranks, starts for
// posts, waits for completes, and long sends for their receives.
func TestPlay(t *testing.T) {
	sync := func(kind trace.SyncKind, peer, window int64) step {
		s := step{form: form{kind: trace.KindSync, sync: kind}}
		s.args[argPeer], s.args[argTag] = peer, window
		return s
	}
	message := func(kind trace.Kind, peer, bytes int64) step {
		s := step{form: form{kind: kind}}
		s.args[argPeer], s.args[argBytes] = peer, bytes
		return s
	}
	const fence, post, start, complete, wait = trace.SyncFence, trace.SyncPost, trace.SyncStart, trace.SyncComplete, trace.SyncWait
	for _, c := range []struct {
		name  string
		ranks [2][]step
		ends  bool
	}{
		{"fences in one order", [2][]step{{sync(fence, 0, 0), sync(fence, 0, 1)}, {sync(fence, 0, 0), sync(fence, 0, 1)}}, true},
		{"fences in two orders", [2][]step{{sync(fence, 0, 0), sync(fence, 0, 1)}, {sync(fence, 0, 1), sync(fence, 0, 0)}}, false},
		{"rank 0 exposes", [2][]step{{sync(post, 1, 0), sync(wait, 1, 0)}, {sync(start, 0, 0), sync(complete, 0, 0)}}, true},
		{"rank 1 exposes", [2][]step{{sync(start, 1, 0), sync(complete, 1, 0)}, {sync(post, 0, 0), sync(wait, 0, 0)}}, true},
		{"nobody exposes", [2][]step{{sync(start, 1, 0), sync(complete, 1, 0)}, {}}, false},
		{"nobody completes", [2][]step{{sync(post, 1, 0), sync(wait, 1, 0)}, {sync(start, 0, 0)}}, false},
		{"short sends", [2][]step{{message(trace.KindSend, 1, 8), message(trace.KindRecv, 1, 8)},
			{message(trace.KindSend, 0, 8), message(trace.KindRecv, 0, 8)}}, true},
		{"long sends", [2][]step{{message(trace.KindSend, 1, rendezvous), message(trace.KindRecv, 1, rendezvous)},
			{message(trace.KindSend, 0, rendezvous), message(trace.KindRecv, 0, rendezvous)}}, false},
	} {
		table := newTable()
		ranks := make([][]int32, 2)
		for rank, steps := range c.ranks {
			for _, s := range steps {
				ranks[rank] = append(ranks[rank], table.number(s))
			}
		}
		err := newPlay(matching{table: table, groups: [][]int32{{0, 0}}}, ranks).run()
		if (err == nil) != c.ends {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
