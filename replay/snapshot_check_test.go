package replay

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"reprise/internal/snapshot"
	"reprise/trace"
)

// TestResumeRefusesContradictions: a state with one thing changed in it is refused, with what
// does not hang together.
func TestResumeRefusesContradictions(t *testing.T) {
	inFlight := func(e *engine) *message {
		for id := range e.matcher.messages {
			if e.network.InFlight(int32(id)) {
				return &e.matcher.messages[id]
			}
		}
		t.Fatal("nothing is under way")
		return nil
	}
	for _, c := range []struct {
		name   string
		change func(*engine)
		want   string
	}{
		{"cost of probes", func(e *engine) { e.prober.factor = 1 << 40 }, "probes that cost 1099511627776 times as much"},
		{"live", func(e *engine) { e.live-- }, "3 ranks have actions left, and 2 are counted"},
		{"over", func(e *engine) { e.ranks[1].over = true }, "several things, or for none"},
		{"parked too", func(e *engine) { e.wakeups.Set(2, e.now+1) }, "rank 2: it waits for several things, or for none"},
		{"not parked", func(e *engine) { e.wakeups.Clear(1) }, "rank 1 computes what it does not"},
		{"not on a core", func(e *engine) { e.cpus.hosts[0].active = nil }, "rank 1 computes, or does not"},
		{"ends later", func(e *engine) { e.wakeups.Set(1, e.wakeups.Time(1)+1) }, "rank 1 computes what it does not"},
		{"waits", func(e *engine) { e.ranks[2].waits++ }, "rank 2: it waits for"},
		{"holders", func(e *engine) { inFlight(e).refs++ }, "sides hold it"},
		{"ended", func(e *engine) { inFlight(e).flags |= msgEnded }, "message "},
		{"another way", func(e *engine) { m := inFlight(e); m.src, m.dst = m.dst, m.src }, ""},
		{"a loop of free messages", func(e *engine) { e.matcher.free = 0; e.matcher.after[0] = 0 }, "the lists of messages are broken"},
		{"free and sent", func(e *engine) { e.matcher.free, e.matcher.after[0] = 0, -1 }, "the lists of messages are broken"},
		{"stage", func(e *engine) { e.ranks[1].stage = stageTested }, "rank 1"},
		{"turns", func(e *engine) { e.collectives.runs[2].rounds = 1 << 40 }, "steps of round 1099511627776 of a allreduce"},
		{"another action", func(e *engine) { e.actions[1*bufferedActions+int(e.ranks[1].pos)].X[0] = trace.FloatArg(1e300) }, "rank 1: its actions are not those"},
		{"no amount", func(e *engine) { e.actions[1*bufferedActions+int(e.ranks[1].pos)].X[0] = trace.FloatArg(math.NaN()) }, "rank 1: action 0 is a flops that cannot be"},
	} {
		e := pausedEngine(t)
		c.change(e)
		var file bytes.Buffer
		w := snapshot.NewWriter(&file)
		e.snapshot(w)
		if err := w.Flush(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r := snapshot.NewReader(&file)
		pausedEngine(t).snapshot(r)
		if err := r.Err(); !errors.Is(err, snapshot.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
