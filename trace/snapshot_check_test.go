package trace

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/internal/snapshot"
)

// TestSnapshotRefuses: a place in the code to which no call leads, and registers that nothing
// has computed, are refused. Rank 0 is in block busy (frame 0), in its loop of two turns, and
// there in block inner.
func TestSnapshotRefuses(t *testing.T) {
	tr := busyTrace(t)
	defer tr.Close()
	fresh := func() []Cursor {
		cursors, err := tr.Cursors(nil, CursorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return cursors
	}
	for _, c := range []struct {
		name   string
		change func(c *Cursor, own []int64)
		want   string
	}{
		{"parameter", func(_ *Cursor, own []int64) { own[firstFrame+1]++ }, "register 1 holds"},
		{"turns", func(_ *Cursor, own []int64) { own[firstFrame+4] = 1 << 60 }, "1152921504606846976 turns left of a loop of 2"},
		{"no turns", func(_ *Cursor, own []int64) { own[firstFrame+4] = 0 }, "0 turns left of a loop of 2"},
		{"link", func(c *Cursor, own []int64) { own[c.base-1] += 1 << 32 }, "calls do not lead to"},
		{"no link", func(c *Cursor, own []int64) { own[c.base-1] = noCaller }, "calls do not lead to"},
		{"deeper", func(c *Cursor, _ []int64) { c.base++ }, "calls do not lead to"},
		{"elsewhere", func(c *Cursor, _ []int64) { c.pc, c.waiting = 1, -1 }, "calls do not lead to"},
		{"nowhere", func(c *Cursor, _ []int64) { c.pc = 0 }, "calls do not lead to"},
		{"another call", func(c *Cursor, _ []int64) { c.item, c.items = 0, 0 }, "calls do not lead to"},
		{"item", func(c *Cursor, _ []int64) { c.items++ }, "item 1 of 2 where the call has [0,1)"},
		{"step", func(c *Cursor, _ []int64) { c.step++ }, "in a unit of step"},
		{"body", func(c *Cursor, _ []int64) { c.set.poll(0, 0).body = 3 }, "as nothing defines it"},
		{"answer", func(c *Cursor, _ []int64) { c.hitFrame++ }, "no poll that an answer could be for"},
		{"markers", func(c *Cursor, _ []int64) { c.marks = append(c.marks, 1) }, "markers that nobody has asked for"},
	} {
		old := fresh()
		rng := rand.New(rand.NewPCG(1, 1))
		for old[0].waiting < 0 {
			visit(t, &old[0], rng, 1)
			if n, err := old[0].Fill(make([]Action, 1)); n == 0 || err != nil {
				t.Fatal(n, err)
			}
		}
		c.change(&old[0], old[0].set.memory)
		err := RestoreCursors(bytes.NewReader(saveCursors(t, old)), fresh())
		if !errors.Is(err, snapshot.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
