package replay

import (
	"errors"
	"math"
	"strings"
	"testing"

	"reprise/internal/snapshot"
	"reprise/internal/snapshot/snapshottest"
	"reprise/kernels/noise"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/trace"
)

// TestSnapshotFields: every field of the state is saved, or follows from the trace, the
// machine, the options and other fields; runnable ranks there are none at a pause.
func TestSnapshotFields(t *testing.T) {
	e := pausedEngine(t)
	e.repeats = newRepeats(len(e.ranks))
	e.repeats.last = cut{clocks: make([]float64, len(e.ranks)), accounts: make([]float64, len(e.accounts.rows))}
	e.costs.random = &randomness{drawn: make([]drawCounts, 3), latency: make([]noise.Draw, 1), network: &netmodel.Noise{}}
	fields(t, e, e, "machine options trace source network fetched first last pauser costs changes repeats meter observers log waitObservers commMask asides")
	fields(t, e, e.costs.random, "source network")
	fields(t, e, &e.costs.random.drawn[0], "")
	fields(t, e, &e.ranks[0], "next shared")
	fields(t, e, &e.actions[0], "")
	fields(t, e, &e.slots, "")
	fields(t, e, &e.prober, "cost testCost grows ordered")
	fields(t, e, &e.matcher, "")
	fields(t, e, &e.matcher.messages[0], "")
	fields(t, e, &e.cpus, "index")
	fields(t, e, &e.cpus.hosts[0], "limit cores")
	fields(t, e, &e.cpus.work[0], "")
	fields(t, e, &e.accounts, "ranks stride kernels phases devices")
	fields(t, e, &e.progress, "ranks report from")
	fields(t, e, &e.progress.starts[0], "")
	fields(t, e, &e.collectives, "selector families hosts nodes sums")
	fields(t, e, &e.collectives.runs[2], "schedule flops members comm")
	fields(t, e, e.repeats, "cursors from first work")
	fields(t, e, &e.repeats.at[0], "")
	fields(t, e, &e.repeats.last, "")
	source := e.source.(*barrierSource)
	fields(t, e, source, "Source")
	fields(t, e, source.Source.(*Lists), "Counts Slots actions")

	e = changingEngine(t)
	fields(t, e, e.changes, "uses hosts links")
	fields(t, e, &e.changes.at[0], "")
	fields(t, e, &e.cpus.hosts[0], "cores")

	e = besideEngine(t)
	fields(t, e, e.asides, "due waiting") // waiting is a map, and saved
	fields(t, e, &e.asides.ranks[0], "")
	fields(t, e, &e.asides.list[1], "call run")
}

// fields checks a part of an engine.
func fields[T any](t *testing.T, e *engine, part *T, derived string) {
	t.Helper()
	snapshottest.Fields(t, part, func(s *snapshot.State, _ *T) { e.state(s) }, derived)
}

// pausedEngine returns an engine where rank 0 waits for a message, rank 1 computes on a
// core that it shares with rank 0, and rank 2 is in a collective operation. All of them
// have actions left.
func pausedEngine(t *testing.T) *engine {
	t.Helper()
	const xml = `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us"/></platform>`
	sum := trace.Action{}
	sum.SetCollective(&trace.Collective{Kind: trace.CollAllreduce, Send: 1e6, SendSize: 1})
	lists := [][]trace.Action{
		{{Kind: trace.KindRecv, Peer: 1, X: [4]int64{1e6}}, sum},
		{{Kind: trace.KindSend, Peer: 0, X: [4]int64{1e6}}, {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}, sum},
		{sum},
	}
	o := DefaultOptions()
	o.Network.FinalizationBarrier = true
	o.From, o.To, o.StepStarts = 0, 1, true
	return engineAt(t, xml, []int32{0, 0, 1}, lists, o, func(e *engine) bool {
		return !math.IsInf(e.wakeups.Next(), 1) && len(e.collectives.runs) > 0 && e.ranks[2].collective
	})
}

// changingEngine returns an engine on a machine that changes, at a pause where a transfer
// waits for a change before it, and rank 2 computes on a host whose speed changes.
func changingEngine(t *testing.T) *engine {
	t.Helper()
	const xml = `<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/><link id="l" bandwidth="100MBps" latency="1ms"/>
<route src="a" dst="b"><link_ctn id="l"/></route></zone>
<trace id="bw" periodicity="-1">0.1 1e7</trace><trace_connect kind="BANDWIDTH" trace="bw" element="l"/>
<trace id="speed" periodicity="0.3">0.05 0.5</trace><trace_connect kind="SPEED" trace="speed" element="c"/></platform>`
	sleep := trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(0.2)}}
	lists := [][]trace.Action{
		{sleep, {Kind: trace.KindSend, Peer: 1, X: [4]int64{1e6}}},
		{sleep, {Kind: trace.KindRecv, Peer: 0, X: [4]int64{1e6}}},
		{{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}},
	}
	return engineAt(t, xml, []int32{0, 1, 2}, lists, DefaultOptions(), func(e *engine) bool {
		return !math.IsInf(e.changes.starts.Next(), 1) && e.ranks[2].stage == stageCompute
	})
}

// besideEngine returns an engine where rank 0 computes, and an action beside it waits for a message.
func besideEngine(t *testing.T) *engine {
	t.Helper()
	const xml = `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us"/></platform>`
	beside, flops := trace.Action{Kind: trace.KindBeside, Tag: 1}, trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}
	lists := [][]trace.Action{
		{beside, flops, beside, {Kind: trace.KindRecv, Peer: 1, X: [4]int64{1e6}}, {Kind: trace.KindAfter, X: [4]int64{1}}, beside, flops, {Kind: trace.KindWaitAll}},
		{flops, {Kind: trace.KindSend, Peer: 0, X: [4]int64{1e6}}},
	}
	return engineAt(t, xml, []int32{0, 1}, lists, DefaultOptions(), func(e *engine) bool { return e.asides != nil && len(e.asides.waiting) > 0 })
}

// engineAt returns the engine that plays lists of one step, when it first is as is says.
func engineAt(t *testing.T, xml string, hosts []int32, lists [][]trace.Action, o Options, is func(*engine) bool) *engine {
	t.Helper()
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	noError(t, err)
	stop := errors.New("stop")
	var e *engine
	o.Checkpoints = &Checkpoints{Write: func(p *Pause) error {
		if e = p.engine; is(e) {
			return stop
		}
		return nil
	}}
	h := &trace.Header{Ranks: len(lists), Steps: 1}
	if _, err := RunSource(t.Context(), h, NewLists(lists), Machine{Platform: p, Hosts: hosts}, o); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	return e
}

// TestLayoutOfSource: a checkpoint belongs to the types of a source, also of one with a barrier behind it.
func TestLayoutOfSource(t *testing.T) {
	e := pausedEngine(t)
	layout := func(s Source) string {
		e.source = s
		o := DefaultOptions()
		p := Pause{engine: e, header: &trace.Header{Ranks: 3}, options: &o}
		return p.identity()[0].Value
	}
	lists, others := NewLists(nil), cursors(nil)
	if layout(lists) == layout(others) || layout(&barrierSource{Source: lists}) == layout(&barrierSource{Source: others}) {
		t.Error("two sources have one layout")
	}
}
