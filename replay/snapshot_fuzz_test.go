package replay

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"reprise/internal/snapshot"
	"reprise/internal/tracetest"
	"reprise/platforms"
	"reprise/trace"
)

// fuzzTrace is a trace of three ranks that poll, send, receive, reduce counts that are
// listed rank by rank, and complete nonblocking operations.
func fuzzTrace(t testing.TB) *trace.Trace {
	return tracetest.Trace(t, 3, func(r int, b *trace.Builder, p *trace.Program) {
		next, before := int64(r+1)%3, int64(r+2)%3
		tracetest.Poll(t, b, p, before, 7, 1e6)
		b.Message(trace.OpIsend, 0, 0, trace.Const(next), trace.Const(7), trace.Const(1e6))
		b.PollWait(0)
		b.Collective(trace.CollReduceScatter, trace.CollectiveOperands{Recv: b.Param(0), RecvSize: trace.Const(8)})
		b.WaitAll()
		b.Icollective(1, trace.CollAllreduce, trace.CollectiveOperands{Send: trace.Const(1000), SendSize: trace.Const(8), Flops: trace.Const(trace.FloatArg(1e6)), Comm: trace.Communicator(0)})
		b.Icollective(5, trace.CollBarrier, trace.CollectiveOperands{})
		b.Message(trace.OpIrecv, 0, 0, trace.Const(before), trace.Const(8), trace.Const(1e6))
		b.Message(trace.OpIsend, 0, 2, trace.Const(next), trace.Const(8), trace.Const(1e6))
		b.Complete(trace.TestAll, 0, 1)
		b.Complete(trace.CompleteAny, 0, 2)
		b.Complete(trace.CompleteSome, 0, 2, 5)
		b.WaitAll()
		n := trace.Const
		b.Sync(trace.SyncFence, 0, n(trace.AllRanks), n(1), n(0))
		b.Access(trace.AccessAccumulate, 0, -1, n(next), n(1), n(1e5), n(0))
		b.Access(trace.AccessFetchAndOp, 0, -1, n(0), n(1), n(8), n(8))
		b.Sync(trace.SyncFence, 0, n(trace.AllRanks), n(1), n(0))
		b.Sync(trace.SyncLockExclusive, 0, n(0), n(2), n(0))
		b.Access(trace.AccessGet, 0, 1, n(0), n(2), n(0), n(1e5))
		b.Access(trace.AccessGetAccumulate, 0, -1, n(0), n(2), n(1e4), n(1e5))
		b.Wait(1)
		b.Sync(trace.SyncUnlock, 0, n(0), n(2), n(0))
	}, []int64{100000, 200000, 300000})
}

// fuzzMachine is a machine of two hosts that stays as it is, fuzzChanging one that changes.
const (
	fuzzMachine  = `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us"/></platform>`
	fuzzChanging = `<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="125MBps" latency="50us"/><link id="m" bandwidth="125MBps" latency="50us" sharing_policy="FATPIPE"/>
<route src="a" dst="b"><link_ctn id="l"/><link_ctn id="m"/></route></zone>
<trace id="1" periodicity="0.003">0.001 1e7
0.002 1e8</trace><trace_connect kind="BANDWIDTH" trace="1" element="l"/>
<trace id="2" periodicity="0.004">0.0015 1e-3
0.0025 1e-5</trace><trace_connect kind="LATENCY" trace="2" element="m"/>
<trace id="3" periodicity="0.005">0.002 0
0.003 2</trace><trace_connect kind="SPEED" trace="3" element="b"/>
</platform>`
)

// fuzzEngines returns a function that makes engines which play the trace on a machine.
func fuzzEngines(t testing.TB, tr *trace.Trace, xml string) func() *engine {
	t.Helper()
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	if err != nil {
		t.Fatal(err)
	}
	return func() *engine {
		e, err := newEngine(tr.Header(), Machine{Platform: p, Hosts: []int32{0, 0, 1}}, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		list, err := tr.Cursors(nil, trace.CursorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		e.source, e.collectives.sums.source = cursors(list), cursors(list)
		return e
	}
}

// FuzzSnapshot reads any bytes as the content of a checkpoint, which no checksum guards
// here, and plays on from there.
func FuzzSnapshot(f *testing.F) { fuzzSnapshot(f, fuzzMachine) }

// FuzzSnapshotChanging does so on a machine that changes.
func FuzzSnapshotChanging(f *testing.F) { fuzzSnapshot(f, fuzzChanging) }

func fuzzSnapshot(f *testing.F, xml string) {
	fresh := fuzzEngines(f, fuzzTrace(f), xml)
	e := fresh()
	for r := range e.ranks {
		e.wake(int32(r))
	}
	e.pauser.call = func() error {
		f.Add(content(f, e))
		return nil
	}
	if err := e.loop(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := fresh()
		if snapshot.Restore(bytes.NewReader(data), e.snapshot) != nil {
			return
		}
		again := fresh()
		if err := snapshot.Restore(bytes.NewReader(content(t, e)), again.snapshot); err != nil {
			t.Errorf("what was read cannot be read again: %v", err)
		}
		left := 2000
		e.pauser.call = func() error {
			if left--; left < 0 {
				return errors.New("far enough")
			}
			return nil
		}
		_ = e.loop() // whatever comes of it
	})
}

func content(t testing.TB, e *engine) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := snapshot.Save(&buf, e.snapshot); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
