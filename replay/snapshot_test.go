package replay

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"reprise/internal/snapshot"
	"reprise/internal/snapshot/snapshottest"
	"reprise/netmodel"
	"reprise/noise"
	"reprise/platforms"
	"reprise/trace"
)

// TestSnapshotFields: every field of the state is saved, or follows from the trace, the
// machine, the options and other fields; runnable ranks there are none at a pause.
func TestSnapshotFields(t *testing.T) {
	e := pausedEngine(t)
	e.repeats = newRepeats(len(e.ranks))
	e.repeats.last = cut{clocks: make([]float64, len(e.ranks)), accounts: make([]float64, len(e.accounts.rows))}
	write := func(c *snapshot.Codec) { e.snapshot(c) }
	snapshottest.Fields(t, e, func(c *snapshot.Codec, _ *engine) { write(c) },
		"machine options trace source network first last pauser costs changes repeats told tapes watch lookouts commMask")
	e.costs.random = &randomness{drawn: make([]drawCounts, 3), latency: make([]noise.Draw, 1), network: &netmodel.Noise{}}
	snapshottest.Fields(t, e.costs.random, func(c *snapshot.Codec, _ *randomness) { write(c) }, "source network")
	snapshottest.Fields(t, &e.costs.random.drawn[0], func(c *snapshot.Codec, _ *drawCounts) { write(c) }, "")
	snapshottest.Fields(t, &e.ranks[0], func(c *snapshot.Codec, _ *rank) { write(c) }, "next shared")
	snapshottest.Fields(t, &e.actions[0], func(c *snapshot.Codec, _ *trace.Action) { write(c) }, "")
	snapshottest.Fields(t, &e.slots, func(c *snapshot.Codec, _ *requestSlots) { write(c) }, "")
	snapshottest.Fields(t, &e.prober, func(c *snapshot.Codec, _ *prober) { write(c) }, "cost testCost grows ordered")
	snapshottest.Fields(t, &e.matcher, func(c *snapshot.Codec, _ *matcher) { write(c) }, "")
	snapshottest.Fields(t, &e.matcher.messages[0], func(c *snapshot.Codec, _ *message) { write(c) }, "")
	snapshottest.Fields(t, &e.cpus, func(c *snapshot.Codec, _ *processors) { write(c) }, "index")
	snapshottest.Fields(t, &e.cpus.hosts[0], func(c *snapshot.Codec, _ *processor) { write(c) }, "speed limit cores")
	snapshottest.Fields(t, &e.cpus.work[0], func(c *snapshot.Codec, _ *work) { write(c) }, "")
	snapshottest.Fields(t, &e.accounts, func(c *snapshot.Codec, _ *timeAccounts) { write(c) }, "ranks stride kernels phases")
	snapshottest.Fields(t, &e.progress, func(c *snapshot.Codec, _ *stepCounter) { write(c) }, "ranks report from")
	snapshottest.Fields(t, &e.progress.starts[0], func(c *snapshot.Codec, _ *startSum) { write(c) }, "")
	snapshottest.Fields(t, &e.collectives, func(c *snapshot.Codec, _ *collectives) { write(c) }, "selector families hosts nodes sums")
	snapshottest.Fields(t, &e.collectives.runs[2], func(c *snapshot.Codec, _ *collectiveRun) { write(c) }, "schedule flops members comm")
	snapshottest.Fields(t, e.repeats, func(c *snapshot.Codec, _ *repeats) { write(c) }, "cursors from first work standing")
	snapshottest.Fields(t, &e.repeats.at[0], func(c *snapshot.Codec, _ *place) { write(c) }, "")
	snapshottest.Fields(t, &e.repeats.last, func(c *snapshot.Codec, _ *cut) { write(c) }, "")
	snapshottest.Fields(t, &e.repeats.last.counts, func(c *snapshot.Codec, _ *counts) { write(c) }, "")
	lists := e.source.(*barrierSource).Source.(*Lists)
	snapshottest.Fields(t, lists, func(c *snapshot.Codec, _ *Lists) { write(c) }, "Counts Slots actions")
	snapshottest.Fields(t, e.source.(*barrierSource), func(c *snapshot.Codec, _ *barrierSource) { write(c) }, "Source")
}

// pausedEngine returns an engine where rank 0 waits for a message, rank 1 computes on a
// core that it shares with rank 0, and rank 2 is in a collective operation. All of them
// have actions left.
func pausedEngine(t *testing.T) *engine {
	t.Helper()
	const xml = `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us"/></platform>`
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	if err != nil {
		t.Fatal(err)
	}
	sum := trace.Action{}
	sum.SetCollective(&trace.Collective{Kind: trace.CollAllreduce, Send: 1e6, SendSize: 1})
	lists := [][]trace.Action{
		{{Kind: trace.KindRecv, Peer: 1, X: [4]int64{1e6}}, sum},
		{{Kind: trace.KindSend, Peer: 0, X: [4]int64{1e6}}, {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}, sum},
		{sum},
	}
	stop := errors.New("stop")
	o := DefaultOptions()
	o.Network.FinalizationBarrier = true
	o.From, o.To, o.StepStarts = 0, 1, true
	var e *engine
	o.Checkpoints = &Checkpoints{Write: func(p *Pause) error {
		e = p.engine
		if math.IsInf(e.wakeups.Next(), 1) || len(e.collectives.runs) == 0 || !e.ranks[2].collective {
			return nil
		}
		return stop
	}}
	m := Machine{Platform: p, Hosts: []int32{0, 0, 1}}
	if _, err := RunSource(t.Context(), &trace.Header{Ranks: 3, Steps: 1}, NewLists(lists), m, o); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	return e
}

// TestResumeRefusesOtherTimes: times of a rank that do not add up to its clock are refused.
func TestResumeRefusesOtherTimes(t *testing.T) {
	for name, change := range map[string]func(*engine){
		"a second more":     func(e *engine) { *e.accounts.at(int(TimeSend), 1)++ },
		"no number":         func(e *engine) { *e.accounts.at(int(TimeSend), 1) = math.NaN() },
		"ahead of its time": func(e *engine) { e.ranks[1].charged++; *e.accounts.at(int(TimeSend), 1)++ },
	} {
		e := pausedEngine(t)
		change(e)
		var file bytes.Buffer
		w := snapshot.NewWriter(&file)
		e.snapshot(w)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r := snapshot.NewReader(&file)
		pausedEngine(t).snapshot(r)
		if err := r.Err(); !errors.Is(err, snapshot.ErrCorrupt) || !strings.Contains(err.Error(), "times: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
