package replay_test

import (
	"errors"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// winSync is an action of window 3 of the only family.
func winSync(kind trace.SyncKind, peer int32, assert int64) trace.Action {
	return trace.Action{Kind: trace.KindSync, Peer: peer, Tag: 3, X: [4]int64{int64(kind), assert}}
}

// access is an access to it of so many bytes there and back; raccess one with a request.
func access(kind trace.AccessKind, peer int32, out, back int64) trace.Action {
	return trace.Action{Kind: trace.KindAccess, Peer: peer, Tag: 3, X: [4]int64{out, back, int64(kind)}}
}

func raccess(req int32, kind trace.AccessKind, peer int32, out, back int64) trace.Action {
	a := access(kind, peer, out, back)
	a.Kind, a.Req = trace.KindIaccess, req
	return a
}

// newWindowBench is newBench with all ranks in one family.
func newWindowBench(t testing.TB, ranks int) *bench {
	b := newBench(t, star(ranks), ranks)
	b.header.CommFamilies = []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(ranks)}}}}
	return b
}

// starTransfer is how long a message takes on a star: 1e-4 s and, with its envelope, 8e-9 s a byte.
func starTransfer(bytes float64) float64 { return starLatency + (bytes+envelope)/starBandwidth }

// TestWindowsOnPaper is one-sided communication on a star, where control messages carry an envelope of
// 16 bytes: c = starTransfer(0) is what one takes. Wants are when ranks end.
func TestWindowsOnPaper(t *testing.T) {
	list := func(a ...trace.Action) []trace.Action { return a }
	const all, n = trace.AllRanks, 1e6
	var (
		c, move    = starTransfer(0), starTransfer(n)
		begin, end = winSync(trace.SyncLockAll, all, 0), winSync(trace.SyncUnlockAll, all, 0)
		flush      = winSync(trace.SyncFlush, 1, 0)
		shared     = func(peer int32) trace.Action { return winSync(trace.SyncLockShared, peer, 0) }
		exclusive  = func(peer int32) trace.Action { return winSync(trace.SyncLockExclusive, peer, 0) }
		unlock     = func(peer int32) trace.Action { return winSync(trace.SyncUnlock, peer, 0) }
		put        = access(trace.AccessPut, 1, n, 0)
		get        = access(trace.AccessGet, 1, 0, n)
		fetch      = access(trace.AccessFetchAndOp, 1, 8, 8)
	)
	for _, x := range []struct {
		name  string
		lists [][]trace.Action
		want  []float64
	}{
		// An access goes on without its target from the call on, and a flush waits for it.
		{"put", [][]trace.Action{list(begin, put, flush), nil}, []float64{move, 0}},
		{"put that nobody waits for", [][]trace.Action{list(begin, put), nil}, []float64{0, 0}},
		{"get", [][]trace.Action{list(begin, get, end), nil}, []float64{move, 0}},
		{"accumulate", [][]trace.Action{list(begin, access(trace.AccessAccumulate, 1, n, 0), winSync(trace.SyncFlushLocal, 1, 0)), nil}, []float64{move, 0}},
		{"work meanwhile", [][]trace.Action{list(begin, put, sleep(5e-3), flush, put, sleep(0.5), flush), nil}, []float64{move + 0.5, 0}},
		{"there and back", [][]trace.Action{list(begin, fetch, flush), nil}, []float64{2 * starTransfer(8), 0}},
		{"there and back, unlike", [][]trace.Action{list(begin, access(trace.AccessGetAccumulate, 1, n, 1000), end), nil}, []float64{move + starTransfer(1000), 0}},
		{"only back", [][]trace.Action{list(begin, access(trace.AccessGetAccumulate, 1, 0, n), end), nil}, []float64{move, 0}},
		// The two share the link of rank 0; a flush of the short one, 1000 and 16 bytes at half the
		// bandwidth, does not wait for the other.
		{"flush of one of two", [][]trace.Action{list(begin, put, access(trace.AccessPut, 2, 1000, 0), winSync(trace.SyncFlush, 2, 0)), nil, nil},
			[]float64{starLatency + 2*(1000+envelope)/starBandwidth, 0, 0}},
		{"flush of all", [][]trace.Action{list(begin, put, access(trace.AccessPut, 2, 1000, 0), winSync(trace.SyncFlush, all, 0)), nil, nil},
			[]float64{starLatency + (n+1000+2*envelope)/starBandwidth, 0, 0}},
		{"own memory", [][]trace.Action{list(begin, access(trace.AccessPut, 0, n, 0), access(trace.AccessGet, 0, 0, n), end)}, []float64{0}},
		// With a request: it ends with the transfer, or with the one back.
		{"rput", [][]trace.Action{list(begin, raccess(7, trace.AccessPut, 1, n, 0), sleep(1e-3), wait(7), end), nil}, []float64{move, 0}},
		{"rget after its flush", [][]trace.Action{list(begin, raccess(7, trace.AccessGet, 1, 0, n), flush, wait(7), end), nil}, []float64{move, 0}},
		{"rget_accumulate", [][]trace.Action{list(begin, raccess(0, trace.AccessGetAccumulate, 1, n, n), wait(0), end), nil}, []float64{2 * move, 0}},
		{"two requests", [][]trace.Action{list(begin, raccess(0, trace.AccessPut, 1, n, 0), raccess(1, trace.AccessGet, 1, 0, n), wait(1), wait(0), end), nil}, []float64{move, 0}},
		// A post is a message that start waits for; complete waits for the accesses and tells wait.
		{"post and start", [][]trace.Action{
			list(winSync(trace.SyncStart, 1, 0), put, winSync(trace.SyncComplete, 1, 0)),
			list(winSync(trace.SyncPost, 0, 0), winSync(trace.SyncWait, 0, 0)),
		}, []float64{c + move, c + move + c}},
		{"late post", [][]trace.Action{
			list(winSync(trace.SyncStart, 1, 0), winSync(trace.SyncComplete, 1, 0)),
			list(sleep(5e-3), winSync(trace.SyncPost, 0, 0), sleep(1e-5), winSync(trace.SyncWait, 0, 0)),
		}, []float64{5e-3 + c, 5e-3 + 2*c}},
		{"post that nobody checks", [][]trace.Action{
			list(winSync(trace.SyncStart, 1, trace.AssertNoCheck), put, winSync(trace.SyncComplete, 1, 0)),
			list(winSync(trace.SyncPost, 0, trace.AssertNoCheck), winSync(trace.SyncWait, 0, 0)),
		}, []float64{move, move + c}},
		// A lock is asked for and granted, and given back without waiting.
		{"lock", [][]trace.Action{list(exclusive(1), put, unlock(1)), nil}, []float64{2*c + move, 0}},
		{"lock that nobody checks", [][]trace.Action{list(winSync(trace.SyncLockExclusive, 1, trace.AssertNoCheck), put, unlock(1)), nil}, []float64{move, 0}},
		// Rank 2 asks 10 us later. It gets the lock 2c after rank 1 has put its bytes: what gives the lock
		// back takes c to rank 0, the grant c to rank 2.
		{"exclusive", [][]trace.Action{nil,
			list(exclusive(0), access(trace.AccessPut, 0, n, 0), unlock(0)),
			list(sleep(1e-5), exclusive(0), sleep(1e-3), unlock(0)),
		}, []float64{0, 2*c + move, 2*c + move + 2*c + 1e-3}},
		{"shared", [][]trace.Action{nil,
			list(shared(0), sleep(1e-2), unlock(0)),
			list(sleep(1e-3), shared(0), unlock(0)),
		}, []float64{0, 2*c + 1e-2, 1e-3 + 2*c}},
		// Rank 3 asks after rank 2, which waits for rank 1: in this order they get it, and rank 3, though
		// it would share with rank 1, after rank 2 has given it back.
		{"in the order of arrival", [][]trace.Action{nil,
			list(shared(0), sleep(1e-2), unlock(0)),
			list(sleep(1e-3), exclusive(0), sleep(1e-2), unlock(0)),
			list(sleep(2e-3), shared(0), unlock(0)),
		}, []float64{0, 2*c + 1e-2, 2*c + 1e-2 + 2*c + 1e-2, 2*c + 1e-2 + 2*c + 1e-2 + 2*c}},
		// The own memory is locked without messages: from 0 to 3 ms, and again once rank 1 has given it back.
		{"own lock", [][]trace.Action{
			list(exclusive(0), sleep(3e-3), unlock(0), sleep(1e-3), shared(0), unlock(0)),
			list(exclusive(0), sleep(5e-3), unlock(0)),
		}, []float64{3e-3 + c + 5e-3 + c, 3e-3 + c + 5e-3}},
		{"locks of two targets", [][]trace.Action{nil, nil,
			list(exclusive(0), exclusive(1), access(trace.AccessPut, 1, n, 0), unlock(1), unlock(0)),
		}, []float64{0, 0, 4*c + move}},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newWindowBench(t, len(x.lists))
			res := b.run(t, x.lists...)
			for r, want := range x.want {
				near(t, "end of rank "+string('0'+rune(r)), res.Ranks[r].End, want)
			}
			if res.Messages != 0 || res.Bytes != 0 {
				t.Errorf("%d messages of %d bytes, want none: accesses are counted apart", res.Messages, res.Bytes)
			}
		})
	}
}

// TestFenceOnPaper: a barrier of two ranks is a message of 0 bytes from rank 1 to rank 0, then one back.
// The first fence is one, so that rank 0 puts from c on. The last message of that barrier and the first
// one back of the next fence share the link with what is put, and take 16 bytes of its time each. Rank 1
// waits for that, then begins the last barrier.
func TestFenceOnPaper(t *testing.T) {
	const n = 1e6
	c := starTransfer(0)
	fence := func(assert int64) trace.Action { return winSync(trace.SyncFence, trace.AllRanks, assert) }
	b := newWindowBench(t, 2)
	put := access(trace.AccessPut, 1, n, 0)
	res := b.run(t, []trace.Action{fence(trace.AssertNoPrecede), put, fence(trace.AssertNoSucceed)},
		[]trace.Action{fence(trace.AssertNoPrecede), fence(trace.AssertNoSucceed)})
	for r := range 2 {
		near(t, "end", res.Ranks[r].End, c+starTransfer(n+2*envelope)+c+float64(float64(r)*c))
	}
	// All of it is time of a collective operation: the call of the access takes none.
	if len(res.Kinds) != 1 || res.Kinds[0].Name != "collective" {
		t.Errorf("time by kind is %v, want that of a collective", res.Kinds)
	}
	if res.Accesses != 1 || res.AccessBytes != n {
		t.Errorf("%d accesses of %d bytes, want 1 of %g", res.Accesses, res.AccessBytes, float64(n))
	}
}

// TestWindowDeadlocks: what never comes is named.
func TestWindowDeadlocks(t *testing.T) {
	for _, x := range []struct {
		name  string
		lists [][]trace.Action
		want  string
	}{
		{"start without post", [][]trace.Action{{winSync(trace.SyncStart, 1, 0)}, nil},
			"rank 0 in sync since 0 s: win_start waits for the post of rank 1 in window 3 of world"},
		{"wait without complete", [][]trace.Action{{winSync(trace.SyncPost, 1, 0), winSync(trace.SyncWait, 1, 0)}, {winSync(trace.SyncStart, 0, 0)}},
			"rank 0 in sync since 0 s: win_wait waits for the complete of rank 1 in window 3 of world"},
		{"lock that is kept", [][]trace.Action{nil, {winSync(trace.SyncLockExclusive, 0, 0)}, {sleep(1e-3), winSync(trace.SyncLockShared, 0, 0)}},
			"rank 2 in sync since 0.001 s: win_lock_shared waits for memory of rank 0 in window 3 of world, which rank 1 has locked"},
		{"fence that one does not call", [][]trace.Action{{winSync(trace.SyncFence, trace.AllRanks, 0)}, nil},
			"rank 0 in win_fence of window 3 since 0 s: a send of rank 1"},
	} {
		b := newWindowBench(t, len(x.lists))
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(x.lists), b.Machine, b.Options)
		if d := (*replay.DeadlockError)(nil); !errors.As(err, &d) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want …%s", x.name, err, x.want)
		}
	}
}

// TestWrongWindows: what a source of actions has got wrong is an error.
func TestWrongWindows(t *testing.T) {
	other := access(trace.AccessPut, 1, 1, 0)
	other.Tag = trace.MaxWindows
	for want, a := range map[string]trace.Action{
		"peer 9 out of [0,2)":                      access(trace.AccessPut, 9, 1, 0),
		"peer -1 out of [0,2)":                     winSync(trace.SyncLockShared, -1, 0),
		"-1 bytes":                                 access(trace.AccessPut, 1, -1, 0),
		"kind 6, window 3":                         access(6, 1, 1, 0),
		"kind 14, window 3":                        winSync(14, 1, 0),
		"window 65536":                             other,
		"request slot 1048576 out of [0,1048576)":  raccess(trace.MaxRequests, trace.AccessPut, 1, 1, 0),
		"-1 bytes, want a number in [0,1125899906": {Kind: trace.KindFile, X: [4]int64{-1}},
	} {
		b := newWindowBench(t, 2)
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{{a}, nil}), b.Machine, b.Options)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want …%s…", err, want)
		}
	}
}

// TestFiles: an access to a file takes its bytes by the bandwidth, or no time and a warning.
func TestFiles(t *testing.T) {
	read := trace.Action{Kind: trace.KindFile, X: [4]int64{3e6, int64(trace.FileRead)}}
	write := trace.Action{Kind: trace.KindFile, X: [4]int64{1e6, int64(trace.FileWrite), 1}}
	b := newWindowBench(t, 2)
	lists := [][]trace.Action{{read, write}, {write}}
	res := b.run(t, lists...)
	if res.Makespan != 0 || res.FileBytes != 5e6 || len(res.Warnings) != 1 || !strings.HasPrefix(res.Warnings[0].String(), "5 MB read from files or written to them take no time: --file-bandwidth") {
		t.Errorf("%v s, %d bytes, warnings %v", res.Makespan, res.FileBytes, res.Warnings)
	}
	b.FileBandwidth = 2e6
	res = b.run(t, lists...)
	near(t, "rank 0", res.Ranks[0].End, 4e6/2e6)
	near(t, "rank 1", res.Ranks[1].End, 1e6/2e6)
	if len(res.Warnings) != 0 {
		t.Errorf("warnings %v", res.Warnings)
	}
}
