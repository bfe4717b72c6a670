package replay_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/trace"
)

// carrier keeps of each transfer when it was carried, how much, and in how many parts.
type carrier struct {
	open map[int32]transfer
	list []transfer
}

type transfer struct {
	from, to, bytes float64
	parts           int
	shared          bool
}

func (c *carrier) carried(message int32, from, to, rate, alone float64, link int32) {
	t, ok := c.open[message]
	if !ok {
		t.from = from
	}
	t.to, t.parts = to, t.parts+1
	t.bytes += float64(rate * (to - from))
	t.shared = t.shared || rate < alone
	c.open[message] = t
}

func (c *carrier) ended(message int32, at float64) {
	c.list = append(c.list, c.open[message])
	delete(c.open, message)
}

func (c *carrier) observer() replay.Observer {
	c.open = map[int32]transfer{}
	return replay.Observer{Carried: c.carried, Ended: c.ended}
}

// transferred keeps transfers as Observer.Transferred has them, in one part each.
func (c *carrier) transferred(list []replay.Transferred) {
	for _, t := range list {
		shared := t.Bytes/t.Alone < (t.At-t.From)*(1-1e-9)
		c.list = append(c.list, transfer{t.From, t.At, t.Bytes, 1, shared})
	}
}

// TestTransferred: Transferred has each transfer in one part, from the same time to the same time, with as
// many bytes, and shared where a part of it is, whether or not other observers want other things.
func TestTransferred(t *testing.T) {
	b, file := hplBench(t, 2)
	b.set(t, "smpi/iprobe:1e-6")
	run := func(list ...replay.Observer) {
		tr, err := trace.NewReader(bytes.NewReader(file), "hpl")
		if err != nil {
			t.Fatal(err)
		}
		options := b.Options
		options.Observers = list
		if _, err := replay.Run(t.Context(), tr, b.Machine, options); err != nil {
			t.Fatal(err)
		}
	}
	var parts, second, alone, beside carrier
	actions := 0
	count := replay.Observer{ActionBegins: func(int32, trace.Action, float64) { actions++ }}
	run(parts.observer(), count, second.observer(), replay.Observer{Transferred: beside.transferred})
	run(replay.Observer{Transferred: alone.transferred})
	if diff := cmp.Diff(parts.list, second.list, cmp.AllowUnexported(transfer{})); diff != "" || actions == 0 {
		t.Errorf("two observers, and %d actions (-one +other):\n%s", actions, diff)
	}
	if diff := cmp.Diff(alone.list, beside.list, cmp.AllowUnexported(transfer{})); diff != "" || len(alone.list) != len(parts.list) {
		t.Fatalf("%d transfers, want %d (-alone +beside others):\n%s", len(alone.list), len(parts.list), diff)
	}
	inParts := 0
	for i, want := range parts.list {
		got := alone.list[i]
		if want.parts > 0 && (got.from != want.from || got.to != want.to || math.Abs(got.bytes-want.bytes) > 1e-6*want.bytes || got.shared != want.shared) {
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
