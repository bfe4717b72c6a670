package verify

import (
	"testing"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// TestVerifyWindows: in each case three ranks create window 0, do something wrong, and free it.
func TestVerifyWindows(t *testing.T) {
	n := trace.Const
	sync := func(b *trace.Builder, kind trace.SyncKind, peer, window int64) {
		b.Sync(kind, 0, n(peer), n(window), n(0))
	}
	all := func(kind trace.SyncKind) func(r int, b *trace.Builder) {
		return func(_ int, b *trace.Builder) { sync(b, kind, trace.AllRanks, 0) }
	}
	of := func(rank int, kinds ...trace.SyncKind) func(r int, b *trace.Builder) {
		return func(r int, b *trace.Builder) {
			for _, kind := range kinds {
				if r == rank {
					sync(b, kind, 2, 0)
				}
			}
		}
	}
	for _, c := range []struct {
		name string
		do   func(r int, b *trace.Builder)
		want string
	}{
		{"nothing", func(int, *trace.Builder) {}, ""},
		{"all that is right", func(r int, b *trace.Builder) {
			sync(b, trace.SyncFence, trace.AllRanks, 0)
			b.Access(trace.AccessPut, 0, -1, n(int64(r+1)%3), n(0), n(8), n(0))
			sync(b, trace.SyncFence, trace.AllRanks, 0)
			sync(b, trace.SyncPost, int64(r+1)%3, 0)
			sync(b, trace.SyncStart, int64(r+2)%3, 0)
			b.Access(trace.AccessGet, 0, 3, n(int64(r+2)%3), n(0), n(0), n(8))
			b.Wait(3)
			sync(b, trace.SyncComplete, int64(r+2)%3, 0)
			sync(b, trace.SyncWait, int64(r+1)%3, 0)
			sync(b, trace.SyncLockShared, 1, 0)
			sync(b, trace.SyncFlush, trace.AllRanks, 0)
			sync(b, trace.SyncUnlock, 1, 0)
			sync(b, trace.SyncLockAll, trace.AllRanks, 0)
			sync(b, trace.SyncUnlockAll, trace.AllRanks, 0)
			b.File(trace.FileRead, true, 0, n(8))
		}, ""},
		{"no window", func(_ int, b *trace.Builder) { b.Access(trace.AccessPut, 0, -1, n(1), n(7), n(8), n(0)) },
			`rank 0 step 0 action 2: put of window 7 of family "-", which does not exist`},
		{"created twice", all(trace.SyncCreate), `rank 0 step 0 action 2: window 0 of family "-" is created again before it is freed`},
		{"a fence of one", of(1, trace.SyncFlush), ""},
		{"a fence that others do not call", func(r int, b *trace.Builder) {
			if r == 1 {
				sync(b, trace.SyncFence, trace.AllRanks, 0)
			}
		}, "rank 1 step 0 action 2: win_fence of window 0 where rank 0 has win_free of window 0"},
		{"a read that others do not call", func(r int, b *trace.Builder) {
			if r == 2 {
				b.File(trace.FileRead, true, 0, n(8))
			}
		}, "rank 2 step 0 action 2: file_read_all where rank 0 has win_free of window 0"},
		{"unlock without lock", of(0, trace.SyncUnlock), "rank 0 step 0 action 2: win_unlock of window 0 with rank 2, which has not begun"},
		{"locked twice", of(0, trace.SyncLockShared, trace.SyncLockExclusive), "rank 0 step 0 action 3: win_lock_exclusive of window 0 with rank 2, which has not ended before"},
		{"kept lock", of(0, trace.SyncLockShared), "rank 0 step 0 action 3: window 0 is freed, and the lock of rank 2 has not ended"},
		{"start without post", of(0, trace.SyncStart, trace.SyncComplete),
			"rank 0 step 0 action 2: message 1 for a post and its start in window 0 from rank 2 to rank 0 is never sent"},
		{"a request that is not waited for twice", func(_ int, b *trace.Builder) {
			b.Access(trace.AccessPut, 0, 3, n(1), n(0), n(8), n(0))
			b.Access(trace.AccessPut, 0, 3, n(1), n(0), n(8), n(0))
		}, "rank 0 step 0 action 3: request 3 is used again before its wait"},
	} {
		tr := tracetest.Trace(t, 3, func(r int, b *trace.Builder, _ *trace.Program) {
			sync(b, trace.SyncCreate, trace.AllRanks, 0)
			c.do(r, b)
			sync(b, trace.SyncFree, trace.AllRanks, 0)
		})
		_, err := Trace(tr, nil)
		if got := errorText(err); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
