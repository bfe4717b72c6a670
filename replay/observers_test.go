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
	matched int
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

// summer is a carrier that is told of whole transfers.
type summer struct{ carrier }

func (c *summer) Transferred(list []replay.Transferred) {
	for _, t := range list {
		shared := t.Bytes/t.Alone < (t.At-t.From)*(1-1e-9)
		c.list = append(c.list, transfer{t.From, t.At, t.Bytes, 1, shared})
	}
}

func (c *summer) Ended(int32, float64) { c.matched++ }

func (c *summer) Started(int32, float64) { c.matched++ }

// TestSpares: an observer that spares actions, parts of transfers and who meets whom is told none
// of it, but each transfer in one part, from the same time to the same time, with as many bytes,
// and shared where a part of it is; beside one that does not, it is told all but the actions.
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
	spared := replay.Spared{Actions: true, Messages: true, Carried: true}
	spares := &summer{carrier{spared: spared}}
	beside := &carrier{open: map[int32]transfer{}, spared: spared}
	run(replay.Observers(all, beside))
	run(replay.Observers(spares))
	if diff := cmp.Diff(all.list, beside.list, cmp.AllowUnexported(transfer{})); diff != "" || beside.actions != 0 || all.actions == 0 {
		t.Errorf("side by side, %d and %d actions (-one +other):\n%s", all.actions, beside.actions, diff)
	}
	if len(spares.list) != len(all.list) || spares.actions != 0 || spares.matched != 0 {
		t.Fatalf("%d transfers, %d actions and %d starts and ends, want %d and none", len(spares.list), spares.actions, spares.matched, len(all.list))
	}
	within := &summer{carrier{open: map[int32]transfer{}, spared: spared}}
	run(replay.Observers(replay.Observers(within, replay.Ignore{}), &carrier{open: map[int32]transfer{}}))
	if diff := cmp.Diff(spares.list, within.list, cmp.AllowUnexported(transfer{})); diff != "" {
		t.Errorf("one of two, with another one (-alone +there):\n%s", diff)
	}
	inParts := 0
	for i, want := range all.list {
		got := spares.list[i]
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
