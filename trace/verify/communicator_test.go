package verify

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"reprise/internal/testprogram"
	"reprise/internal/tracetest"
	"reprise/trace"
)

// commTrace is a trace of one step of 2x3 ranks, whose families are communicators; build is
// told the block's parameters: the row and the column of the rank.
func commTrace(t *testing.T, build func(b *trace.Builder, row, col trace.Operand)) *trace.Trace {
	t.Helper()
	h := tracetest.GridHeader()
	h.Communicators = true
	var buf bytes.Buffer
	w := tracetest.Must(trace.NewWriter(&buf, h, trace.WriterOptions{}))
	b := trace.NewBuilder("run", 3)
	build(b, b.Param(0), b.Param(1))
	n := tracetest.Must(w.Program().Add(b))
	v := w.Vector(trace.Vector{Values: []int64{0}})
	c := &trace.Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{int64(n), int64(n)}, Args: [][]int64{{0, 1}, {0, 1, 2}, {v}}}
	tracetest.Check(t, errors.Join(w.Step(0), w.Call(c), w.Close()))
	return tracetest.Open(t, buf.Bytes())
}

func TestVerifyCommunicators(t *testing.T) {
	const rows, cols = 0, 1
	n := trace.Const
	allreduce := func(b *trace.Builder, family int, count trace.Operand) {
		b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: count, SendSize: n(8), Comm: trace.Communicator(family)})
	}
	for _, test := range []struct {
		name  string
		build func(b *trace.Builder, row, col trace.Operand)
		want  string
	}{
		{"calls of one communicator alone", func(b *trace.Builder, row, _ trace.Operand) {
			b.If(row, func() { allreduce(b, rows, n(1)) })
			allreduce(b, cols, n(2))
		}, ""},
		{"a rank of a row calls another operation", func(b *trace.Builder, _, col trace.Operand) {
			second := b.Eq(col, n(1))
			b.If(second, func() { b.Collective(trace.CollBarrier, trace.CollectiveOperands{Comm: trace.Communicator(rows)}) })
			b.If(b.Diff(n(1), second), func() { allreduce(b, rows, n(1)) })
		}, "rank 1 step 0 action 1: barrier with root 0 where rank 0 has allreduce with root 0"},
		{"the second row has other counts", func(b *trace.Builder, row, col trace.Operand) { allreduce(b, rows, b.Mul(row, col)) },
			`rank 4 step 0 action 1: allreduce of 8 bytes where rank 0 has 0 (ranks of the communicator, of family "row")`},
		{"one does not block", func(b *trace.Builder, row, _ trace.Operand) {
			b.If(row, func() { allreduce(b, cols, n(1)) })
			b.If(b.Diff(n(1), row), func() {
				b.Icollective(0, trace.CollAllreduce, trace.CollectiveOperands{Send: n(1), SendSize: n(8), Comm: trace.Communicator(cols)})
				b.Wait(0)
			})
		}, "rank 3 step 0 action 1: allreduce with root 0 where rank 0 has iallreduce with root 0"},
		{"a message to another row", func(b *trace.Builder, row, _ trace.Operand) {
			other := b.Member(cols, b.Diff(n(1), row))
			b.Message(trace.OpIsend, rows, 0, other, n(5), n(8))
			b.Message(trace.OpRecv, rows, 0, other, n(5), n(8))
			b.Wait(0)
		}, `rank 0 step 0 action 1: isend with rank 3, which is not in its communicator, of family "row"`},
		{"sent on one communicator, received on another", func(b *trace.Builder, _, col trace.Operand) {
			itself := b.Member(rows, col)
			b.Message(trace.OpIsend, rows, 0, itself, n(5), n(8))
			b.Message(trace.OpRecv, cols, 0, itself, n(5), n(8))
			b.Wait(0)
		}, "rank 0 step 0 action 1: message 1 from rank 0 to rank 0 with tag 5, of 8 bytes, is never received"},
		{"a request that may be complete is used anew", func(b *trace.Builder, row, _ trace.Operand) {
			for range 2 {
				b.Icollective(0, trace.CollBarrier, trace.CollectiveOperands{})
				b.Complete(trace.CompleteAny, 0)
			}
			b.Wait(0)
		}, ""},
		{"a request of a waitall is waited for", func(b *trace.Builder, row, _ trace.Operand) {
			b.Icollective(0, trace.CollBarrier, trace.CollectiveOperands{})
			b.Complete(trace.CompleteAll, 0)
			b.Wait(0)
		}, "rank 0 step 0 action 3: wait of request 0, which is not pending"},
		{"nobody", func(b *trace.Builder, row, _ trace.Operand) {
			b.Message(trace.OpIrecv, rows, 0, n(trace.ProcNull), n(5), n(8))
			b.Message(trace.OpSend, rows, 0, n(trace.ProcNull), n(5), n(8))
			b.Wait(0)
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if _, err := Trace(commTrace(t, test.build), nil); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestVerifyProgramsOfMPI: what MPI has executed is sound, but for receives with room for more
// than what comes.
func TestVerifyProgramsOfMPI(t *testing.T) {
	for _, c := range testprogram.Load(t, os.DirFS(testprogram.Dir())) {
		data := tracetest.Must(c.Trace())
		if _, err := Trace(tracetest.Open(t, data), nil); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

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
