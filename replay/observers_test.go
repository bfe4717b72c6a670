package replay_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/trace"
)

// carrier keeps of each transfer when it was carried, how much, and the parts.
type carrier struct {
	replay.Ignore
	spared  replay.Spared
	open    map[int32]transfer
	list    []transfer
	actions int
}

type transfer struct {
	from, to, bytes float64
	parts           int
	shared          bool
}

func (c *carrier) Spares() replay.Spared { return c.spared }

func (c *carrier) ActionBegins(int32, trace.Action, float64) { c.actions++ }

func (c *carrier) Carried(message int32, from, to, rate, alone float64, link int32) {
	t, ok := c.open[message]
	if !ok {
		t.from = from
	}
	t.to, t.parts = to, t.parts+1
	t.bytes += float64(rate * (to - from))
	t.shared = t.shared || rate < alone
	c.open[message] = t
}

func (c *carrier) Ended(message int32, at float64) {
	c.list = append(c.list, c.open[message])
	delete(c.open, message)
}

// TestSpares: an observer that spares actions and parts is told no action, and each transfer
// in one part, from the same time to the same time, with as many bytes, and shared where a
// part of it is; beside one that does not, it is told the parts that that is told, and no action.
func TestSpares(t *testing.T) {
	b, file := hplBench(t, 2)
	b.set(t, "smpi/iprobe:1e-6")
	run := func(o replay.Observer) {
		tr, err := trace.NewReader(bytes.NewReader(file), "hpl")
		if err != nil {
			t.Fatal(err)
		}
		options := b.Options
		options.Observer = o
		if _, err := replay.Run(t.Context(), tr, b.Machine, options); err != nil {
			t.Fatal(err)
		}
	}
	all := &carrier{open: map[int32]transfer{}}
	spares := &carrier{open: map[int32]transfer{}, spared: replay.Spared{Actions: true, Parts: true}}
	beside := &carrier{open: map[int32]transfer{}, spared: spares.spared}
	run(replay.Observers(all, beside))
	run(replay.Observers(spares))
	if diff := cmp.Diff(all.list, beside.list, cmp.AllowUnexported(transfer{})); diff != "" || beside.actions != 0 || all.actions == 0 {
		t.Errorf("side by side, %d and %d actions (-one +other):\n%s", all.actions, beside.actions, diff)
	}
	if len(spares.list) != len(all.list) || spares.actions != 0 {
		t.Fatalf("%d transfers and %d actions, want %d and none", len(spares.list), spares.actions, len(all.list))
	}
	inParts := 0
	for i, want := range all.list {
		got := spares.list[i]
		if got.from != want.from || got.to != want.to || math.Abs(got.bytes-want.bytes) > 1e-6*want.bytes || want.parts > 0 && got.parts != 1 || got.shared != want.shared {
			t.Fatalf("transfer %d: got %+v, want %+v", i, got, want)
		}
		if want.parts > 1 {
			inParts++
		}
	}
	if inParts == 0 {
		t.Error("no transfer had several parts")
	}
}
