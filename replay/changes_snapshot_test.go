package replay

import (
	"errors"
	"math"
	"strings"
	"testing"

	"reprise/internal/snapshot"
	"reprise/internal/snapshot/snapshottest"
	"reprise/platforms"
	"reprise/trace"
)

// changingEngine returns an engine on a machine that changes, at a pause where a transfer
// waits for a change before it, and rank 2 computes on a host whose speed changes.
func changingEngine(t *testing.T) *engine {
	t.Helper()
	const xml = `<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/><link id="l" bandwidth="100MBps" latency="1ms"/>
<route src="a" dst="b"><link_ctn id="l"/></route></zone>
<trace id="bw" periodicity="-1">0.1 1e7</trace><trace_connect kind="BANDWIDTH" trace="bw" element="l"/>
<trace id="speed" periodicity="0.3">0.05 0.5</trace><trace_connect kind="SPEED" trace="speed" element="c"/></platform>`
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	if err != nil {
		t.Fatal(err)
	}
	sleep := trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(0.2)}}
	lists := [][]trace.Action{
		{sleep, {Kind: trace.KindSend, Peer: 1, X: [4]int64{1e6}}},
		{sleep, {Kind: trace.KindRecv, Peer: 0, X: [4]int64{1e6}}},
		{{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}},
	}
	stop := errors.New("stop")
	o := DefaultOptions()
	var e *engine
	o.Checkpoints = &Checkpoints{Write: func(p *Pause) error {
		if e = p.engine; math.IsInf(e.changes.pending(), 1) || e.ranks[2].stage != stageCompute {
			return nil
		}
		return stop
	}}
	if _, err := RunSource(t.Context(), &trace.Header{Ranks: 3}, NewLists(lists), Machine{Platform: p, Hosts: []int32{0, 1, 2}}, o); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	return e
}

// TestChangesSnapshotFields: every field of what changes is saved, or derived from the
// profiles.
func TestChangesSnapshotFields(t *testing.T) {
	e := changingEngine(t)
	write := func(c *snapshot.Codec) { e.snapshot(c) }
	snapshottest.Fields(t, e.changes, func(c *snapshot.Codec, _ *changes) { write(c) }, "uses hosts links")
	snapshottest.Fields(t, &e.changes.at[0], func(c *snapshot.Codec, _ *platforms.ProfileTime) { write(c) }, "")
	snapshottest.Fields(t, &e.cpus.hosts[0], func(c *snapshot.Codec, _ *processor) { write(c) }, "limit cores")
}

// TestForgedChanges: places in profiles, and transfers that wait for them, are checked.
func TestForgedChanges(t *testing.T) {
	for name, forge := range map[string]func(*engine){
		"a change in the past":             func(e *engine) { e.now, e.changes.at[0].Time = 1e-3, 5e-4 },
		"a change at no time":              func(e *engine) { e.changes.at[0].Time = math.NaN() },
		"a value that is not there":        func(e *engine) { e.changes.at[0].Index = 7 },
		"a transfer that nobody waits for": func(e *engine) { e.matcher.messages[0].flags |= msgEnded },
		"fewer bytes than the message":     func(e *engine) { e.changes.sizes[0] = 1 },
		"a speed that is no number":        func(e *engine) { e.cpus.hosts[0].speed = math.Inf(1) },
	} {
		e := changingEngine(t)
		forge(e)
		var file strings.Builder
		w := snapshot.NewWriter(&file)
		e.snapshot(w)
		_ = w.Flush()
		fresh, err := newEngine(&trace.Header{Ranks: 3}, e.machine, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		fresh.source = e.source
		r := snapshot.NewReader(strings.NewReader(file.String()))
		fresh.snapshot(r)
		if r.Err() == nil {
			t.Errorf("%s is read", name)
		}
	}
}
