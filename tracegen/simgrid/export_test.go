package simgrid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen"
	"reprise/tracegen/simgrid"
)

var c = trace.Const

// export returns the text of all ranks of a trace, without its comments, and the
// warnings.
func export(t testing.TB, tr *trace.Trace, o tracegen.ExportOptions) (string, []warning.Warning) {
	t.Helper()
	if o.Polls == nil {
		o.Polls = trace.Hit{}
	}
	var text bytes.Buffer
	sum := must(simgrid.Export(context.Background(), &text, tr, o))
	return text.String(), sum.Warnings()
}

// single is a trace whose rank 0 of 4 does what block appends.
func single(t testing.TB, block func(b *trace.Builder)) *trace.Trace {
	return tracetest.Trace(t, 4, func(r int, b *trace.Builder, _ *trace.Program) {
		if r == 0 {
			block(b)
		}
	})
}

func TestExportActions(t *testing.T) {
	for _, test := range []struct {
		name  string
		block func(b *trace.Builder)
		want  string // lines, without the rank
	}{
		{"computations", func(b *trace.Builder) {
			b.Compute(tracetest.Work, c(5)) // 3 flop a unit
			b.Compute(tracetest.Move, c(5))
			b.Flops(c(trace.FloatArg(0.1)))
			b.Flops(c(trace.FloatArg(0)))
			b.Flops(c(trace.FloatArg(1e300)))
			b.Sleep(c(trace.FloatArg(2.5e-7)))
		}, "compute 15,compute 0.1,compute 0,compute 1e+300,sleep 2.5e-07"},
		{"blocking", func(b *trace.Builder) {
			b.Message(trace.OpSend, 0, 0, c(1), c(2), c(3))
			b.Message(trace.OpSsend, 0, 0, c(1), c(2), c(70000))
			b.Message(trace.OpRecv, 0, 0, c(3), c(2), c(0))
			b.Message(trace.OpRecv, 0, 0, c(3), c(2), c(-1))
		}, "send 1 2 3,send 1 2 70000,recv 3 2 0,recv 3 2 -1"},
		{"nonblocking", func(b *trace.Builder) {
			b.Message(trace.OpIsend, 0, 8, c(1), c(2), c(3))
			b.Message(trace.OpIssend, 0, 3, c(1), c(3), c(70000))
			b.Message(trace.OpIrecv, 0, 5, c(3), c(2), c(9))
			b.Message(trace.OpIrecv, 0, 6, c(2), c(2), c(-1))
			b.Test(5)
			b.Wait(5)
			b.Wait(5) // nothing is left in that slot
			b.Test(5)
			b.Wait(3)
			b.WaitAll()
			b.Wait(8)
		}, "isend 1 2 3,isend 1 3 70000,irecv 3 2 9,irecv 2 2 -1,test 3 0 2,wait 3 0 2,wait 0 1 3,waitall"},
		{"exchanges", func(b *trace.Builder) {
			b.Exchange(0, c(1), c(2), c(30), c(40))
			b.Exchange(0, c(1), c(2), c(30), c(0))
			b.SyncExchange(0, c(1), c(2), c(70000), c(0))
		}, "irecv 1 2 40,send 1 2 30,wait 1 0 2,send 1 2 30,isend 1 2 70000,recv 1 2 0,wait 0 1 2"},
		{"sendrecv", func(b *trace.Builder) {
			b.Sendrecv(0, c(1), c(0), c(30), c(2), c(0), c(40))
			b.Sendrecv(0, c(1), c(5), c(30), c(2), c(-6), c(40))
			b.Sendrecv(0, c(1), c(0), c(30), c(2), c(0), c(-1))
		}, "sendRecv 30 1 40 2 6 6," +
			"isend 1 5 30,irecv 2 -6 40,wait 0 1 5,wait 2 0 -6," +
			"isend 1 0 30,irecv 2 0 -1,wait 0 1 0,wait 2 0 0"},
		// The first 31 bits of bytes, then of doubles, then of 16 and 32 bytes.
		{"large", func(b *trace.Builder) {
			b.Message(trace.OpSend, 0, 0, c(1), c(2), c(1<<31-1))
			b.Message(trace.OpRecv, 0, 0, c(1), c(2), c(1<<31))
			b.Message(trace.OpIsend, 0, 0, c(1), c(2), c(1<<34))
			b.Sendrecv(0, c(1), c(0), c(8), c(2), c(0), c(1<<35))
		}, "send 1 2 2147483647,recv 1 2 268435456 0,isend 1 2 1073741824 14,sendRecv 8 1 1073741824 2 6 27"},
		{"newest first", func(b *trace.Builder) {
			b.Message(trace.OpIrecv, 0, 0, c(1), c(2), c(3))
			b.Message(trace.OpIrecv, 0, 1, c(1), c(2), c(4))
			b.Wait(1)
			b.Wait(0)
			b.Flops(c(trace.FloatArg(1)))
		}, "irecv 1 2 3,irecv 1 2 4,wait 1 0 2,wait 1 0 2,compute 1"},
		// What SimGrid waits for at the end needs no line: the newest of each name.
		{"newest at the end", func(b *trace.Builder) {
			b.Message(trace.OpIrecv, 0, 0, c(1), c(2), c(3))
			b.Message(trace.OpIrecv, 0, 1, c(1), c(2), c(4))
			b.Message(trace.OpIsend, 0, 2, c(1), c(2), c(5))
			b.Free(0)
			b.WaitAll()
		}, "irecv 1 2 3,irecv 1 2 4,isend 1 2 5"},
		{"test, then another wait", func(b *trace.Builder) {
			b.Message(trace.OpIrecv, 0, 0, c(1), c(0), c(5))
			b.Message(trace.OpIsend, 0, 1, c(1), c(1), c(5))
			b.Test(1)
			b.Wait(0)
			b.Message(trace.OpIrecv, 0, 0, c(1), c(2), c(5)) // in the slot that is free again
			b.WaitAll()
		}, "irecv 1 0 5,isend 1 1 5,test 0 1 1,wait 1 0 0,irecv 1 2 5,waitall"},
		{"test, then the end", func(b *trace.Builder) {
			b.Message(trace.OpIsend, 0, 0, c(1), c(5), c(10))
			b.Message(trace.OpIrecv, 0, 1, c(1), c(0), c(6))
			b.Message(trace.OpIrecv, 0, 2, c(1), c(0), c(7))
			b.Test(0)
			b.Wait(0)
			b.Free(1)
			b.WaitAll()
		}, "isend 1 5 10,irecv 1 0 6,irecv 1 0 7,test 0 1 5,wait 0 1 5"},
		// Other requests that are let go stay pending in the text.
		{"let go", func(b *trace.Builder) {
			b.Message(trace.OpIrecv, 0, 0, c(1), c(2), c(3))
			b.Message(trace.OpIrecv, 0, 1, c(2), c(2), c(4))
			b.Free(0)
			b.Flops(c(trace.FloatArg(1)))
			b.Message(trace.OpIrecv, 0, 0, c(3), c(2), c(4)) // in the slot that is free again
			b.Free(1)
			b.WaitAll()
			b.Flops(c(trace.FloatArg(1)))
		}, "irecv 1 2 3,irecv 2 2 4,compute 1,irecv 3 2 4,waitall,compute 1"},
		{"wildcards", func(b *trace.Builder) {
			b.Message(trace.OpRecv, 0, 0, c(trace.AnySource), c(trace.AnyTag), c(3))
			b.Message(trace.OpIrecv, 0, 0, c(trace.AnySource), c(2), c(-1))
			b.Message(trace.OpIrecv, 0, 1, c(1), c(trace.AnyTag), c(4))
			b.Wait(1)
			b.Wait(0)
			b.Sendrecv(0, c(1), c(0), c(30), c(2), c(trace.AnyTag), c(40))
		}, "recv -555 -444 3,irecv -555 2 -1,irecv 1 -444 4,wait 1 0 -444,wait -556 0 2," +
			"isend 1 0 30,irecv 2 -444 40,wait 0 1 0,wait 2 0 -444"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := export(t, single(t, test.block), tracegen.ExportOptions{})
			want := "init," + test.want + ",finalize"
			if got := linesOf(got, 0); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if got := linesOf(got, 3); got != "init,finalize" {
				t.Errorf("idle rank: %s", got)
			}
		})
	}
}

// TestExportCollectives: with roots and datatypes, which a reader would else assume.
func TestExportCollectives(t *testing.T) {
	flop := c(trace.FloatArg(2.5))
	for _, test := range []struct {
		kind trace.CollectiveKind
		call trace.CollectiveOperands
		want string
	}{
		{trace.CollBarrier, trace.CollectiveOperands{}, "barrier"},
		{trace.CollBcast, trace.CollectiveOperands{Send: c(5), SendSize: c(8), Root: c(2)}, "bcast 5 2 0"},
		{trace.CollReduce, trace.CollectiveOperands{Send: c(5), SendSize: c(1), Root: c(1), Flops: flop}, "reduce 5 2.5 1 6"},
		{trace.CollAllreduce, trace.CollectiveOperands{Send: c(5), SendSize: c(4), Flops: flop}, "allreduce 5 2.5 1"},
		{trace.CollScan, trace.CollectiveOperands{Send: c(5), SendSize: c(2), Flops: flop}, "scan 5 2.5 3"},
		{trace.CollExscan, trace.CollectiveOperands{Send: c(5), SendSize: c(16), Flops: flop}, "exscan 5 2.5 14"},
		{trace.CollAlltoall, trace.CollectiveOperands{Send: c(5), SendSize: c(32), Recv: c(6), RecvSize: c(1)}, "alltoall 5 6 27 6"},
		{trace.CollAllgather, trace.CollectiveOperands{Send: c(5), SendSize: c(8), Recv: c(6), RecvSize: c(1)}, "allgather 5 6 0 6"},
		{trace.CollGather, trace.CollectiveOperands{Send: c(5), SendSize: c(8), Recv: c(6), RecvSize: c(1), Root: c(2)}, "gather 5 6 2 0 6"},
		{trace.CollScatter, trace.CollectiveOperands{Send: c(5), SendSize: c(8), Recv: c(6), RecvSize: c(1), Root: c(2)}, "scatter 5 6 2 0 6"},
		// Elements of 12 bytes are three of 4; 2^32 of 8 bytes are 2^30 of 32.
		{trace.CollBcast, trace.CollectiveOperands{Send: c(5), SendSize: c(12)}, "bcast 15 0 1"},
		{trace.CollBcast, trace.CollectiveOperands{Send: c(1 << 32), SendSize: c(8)}, "bcast 1073741824 0 27"},
		// Counts for each rank: 1, 2, 3, 4 are sent, 6, 0, 8, 1 received.
		{trace.CollAlltoallv, trace.CollectiveOperands{SendSize: c(8), RecvSize: c(1)}, "alltoallv 10 1 2 3 4 15 6 0 8 1 0 6"},
		{trace.CollGatherv, trace.CollectiveOperands{Send: c(3), SendSize: c(8), RecvSize: c(1), Root: c(2)}, "gatherv 3 6 0 8 1 2 0 6"},
		{trace.CollScatterv, trace.CollectiveOperands{SendSize: c(8), Recv: c(5), RecvSize: c(1), Root: c(2)}, "scatterv 1 2 3 4 5 2 0 6"},
		{trace.CollReduceScatter, trace.CollectiveOperands{RecvSize: c(4), Flops: c(trace.FloatArg(9))}, "reducescatter 6 0 8 1 9 1"},
		// Parts of 6, 0, 8 and 1 that span 8: all at the beginning, which needs no word.
		// 10: as far as it goes. 15: one after the other. 40: with a gap.
		{trace.CollAllgatherv, trace.CollectiveOperands{Send: c(5), SendSize: c(8), RecvSize: c(1), Span: c(8)}, "allgatherv 5 6 0 8 1 0 6"},
		{trace.CollAllgatherv, trace.CollectiveOperands{Send: c(5), SendSize: c(8), RecvSize: c(1), Span: c(10)}, "allgatherv 5 6 0 8 1 0 6 0 6 2 9"},
		{trace.CollAllgatherv, trace.CollectiveOperands{Send: c(5), SendSize: c(8), RecvSize: c(1), Span: c(15)}, "allgatherv 5 6 0 8 1 0 6 0 6 6 14"},
		{trace.CollAllgatherv, trace.CollectiveOperands{Send: c(5), SendSize: c(8), RecvSize: c(1), Span: c(40)}, "allgatherv 5 6 0 8 1 0 6 0 6 6 39"},
		{trace.CollAllgatherv, trace.CollectiveOperands{Send: c(5), SendSize: c(8), RecvSize: c(12), Span: c(15)}, "allgatherv 5 18 0 24 3 0 1 0 18 18 42"},
	} {
		tr := tracetest.Trace(t, 4, func(r int, b *trace.Builder, _ *trace.Program) {
			call := test.call
			if test.kind.SendsPerRank() {
				call.Send = b.Param(0)
			}
			if test.kind.RecvsPerRank() {
				call.Recv = b.Param(1)
			}
			b.Collective(test.kind, call)
		}, []int64{1, 2, 3, 4}, []int64{6, 0, 8, 1})
		text, _ := export(t, tr, tracegen.ExportOptions{})
		if got := linesOf(text, 0); got != "init,"+test.want+",finalize" {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// linesOf returns the lines of a rank, without its number, separated by commas.
func linesOf(text string, rank int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), fmt.Sprint(rank, " ")); ok {
			lines = append(lines, rest)
		}
	}
	return strings.Join(lines, ",")
}

func TestExportWarnings(t *testing.T) {
	tr := single(t, func(b *trace.Builder) {
		b.Message(trace.OpSsend, 0, 0, c(1), c(2), c(65535))
		b.Message(trace.OpSsend, 0, 0, c(1), c(2), c(65536)) // as long as this, SMPI makes them wait
		b.Message(trace.OpIssend, 0, 0, c(1), c(2), c(0))
		b.SyncExchange(0, c(1), c(2), c(0), c(0))
		b.Iprobe(0, c(1), c(2))
		b.Message(trace.OpIrecv, 0, 1, c(1), c(3), c(0))
		b.Message(trace.OpIrecv, 0, 2, c(1), c(3), c(0))
		b.Exchange(0, c(1), c(3), c(1), c(1)) // its receive is the third of that name
		b.Wait(2)
		b.WaitAll()
		b.SpreadFlops(c(trace.FloatArg(2e9)), c(trace.FloatArg(1e9)))
		b.SpreadFlops(c(trace.FloatArg(2e9)), c(0)) // as exact as any
	})
	_, got := export(t, tr, tracegen.ExportOptions{})
	want := []warning.Warning{
		warning.New("3 synchronous sends of less than 64 KiB written as ordinary, without a wait for the receive"),
		warning.New("1 recorded probe left out: the format has none"),
		warning.New("3 waits written that will be for an older request of equal source, destination and tag"), // those of the sync exchange, the exchange, and slot 2
		warning.New("1 computation written by the mean amount alone: the format has no standard deviations"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExportErrors(t *testing.T) {
	for _, test := range []struct {
		block func(b *trace.Builder)
		want  string
	}{
		{func(b *trace.Builder) { b.Message(trace.OpSend, 0, 0, c(1), c(2), c(1<<31+4)) },
			"rank 0 step 0: message of 2147483652 bytes: SimGrid counts to 2147483647, in items of 1, 8, 16 or 32 bytes"},
		{func(b *trace.Builder) { b.Exchange(0, c(1), c(2), c(3), c(1<<40)) }, "message of 1099511627776 bytes"},
		{func(b *trace.Builder) {
			b.Message(trace.OpIsend, 0, 4, c(1), c(2), c(3))
			b.Message(trace.OpIsend, 0, 4, c(1), c(2), c(3))
		}, "rank 0 step 0: request slot 4 is taken: its request was not waited for"},
		{func(b *trace.Builder) { b.Message(trace.OpSend, 0, 0, c(1), c(trace.AnyTag), c(3)) }, "send with any tag"},
		{func(b *trace.Builder) { b.Message(trace.OpRecv, 0, 0, c(1), c(-444), c(3)) },
			"recv with tag -444, which means any tag in SimGrid's text"},
		{func(b *trace.Builder) {
			b.Collective(trace.CollBcast, trace.CollectiveOperands{Send: c(1<<31 + 1), SendSize: c(3)})
		}, "bcast: elements of 3 bytes: SimGrid counts to 2147483647, in items of 1 to 32 bytes"},
	} {
		_, err := simgrid.Export(t.Context(), &bytes.Buffer{}, single(t, test.block), tracegen.ExportOptions{Polls: trace.Hit{}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
}

func TestExportDir(t *testing.T) {
	t.Chdir(t.TempDir())
	tr := single(t, func(b *trace.Builder) { b.Flops(c(trace.FloatArg(1))) })
	o := tracegen.ExportOptions{Polls: trace.Hit{}, Note: "made\nfor a test"}
	if _, err := simgrid.ExportDir(t.Context(), "a/", tr, o); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a/trace.index": "a/rank-0.ti\na/rank-1.ti\na/rank-2.ti\na/rank-3.ti\n",
		"a/rank-0.ti":   "# made for a test\n0 init\n0 compute 1\n0 finalize\n",
		"a/rank-3.ti":   "# made for a test\n3 init\n3 finalize\n",
	} {
		if got, err := os.ReadFile(name); string(got) != want || err != nil {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
	}
	if _, err := simgrid.ExportDir(t.Context(), "a", tr, o); err == nil || !strings.Contains(err.Error(), "a: it exists and is not empty") {
		t.Errorf("a second time: error %v", err)
	}
	for _, name := range []string{" b", "b\nc", "b\r"} {
		if _, err := simgrid.ExportDir(t.Context(), name, tr, o); err == nil || !strings.Contains(err.Error(), "an index cannot hold") {
			t.Errorf("%q: error %v", name, err)
		}
		if _, err := simgrid.ExportFile(t.Context(), name, tr, o); err == nil || !strings.Contains(err.Error(), "an index cannot hold") {
			t.Errorf("%q: error %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := simgrid.ExportDir(ctx, "c", tr, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob("*"); len(left) != 1 {
		t.Errorf("left: %s", left)
	}
}

func TestExportFile(t *testing.T) {
	t.Chdir(t.TempDir())
	tr := single(t, func(b *trace.Builder) { b.Flops(c(trace.FloatArg(1))) })
	o := tracegen.ExportOptions{Polls: trace.Hit{}}
	if _, err := simgrid.ExportFile(t.Context(), "a.ti", tr, o); err != nil {
		t.Fatal(err)
	}
	if _, err := simgrid.ExportFile(t.Context(), os.DevNull, tr, o); err != nil {
		t.Errorf("a device: %v", err)
	}
	index, err := os.ReadFile("a.ti.index")
	if string(index) != "a.ti\n" || err != nil {
		t.Errorf("index %q, error %v", index, err)
	}
	text := must(simgrid.Open("a.ti.index", ""))
	if text.Ranks() != 4 {
		t.Errorf("%d ranks", text.Ranks())
	}
}

// failingWriter takes n bytes.
type failingWriter struct{ n int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestExportFails(t *testing.T) {
	tr := single(t, func(b *trace.Builder) { b.Flops(c(trace.FloatArg(1))) })
	for n := range 40 { // the comment of 4 bytes, rank 0 of 28, ...
		_, err := simgrid.Export(t.Context(), &failingWriter{n}, tr, tracegen.ExportOptions{Polls: trace.Hit{}, Note: "x"})
		if !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("%d bytes: error %v", n, err)
		}
	}
}
