package replay

import (
	"math"

	"reprise/internal/snapshot"
	"reprise/platforms"
)

// snapshotChanges stores where the profiles are and which transfers wait for them, or sets it.
func (e *engine) snapshotChanges(c *snapshot.Codec) {
	if e.changes == nil {
		return
	}
	p := e.changes
	c.Section("changes", *p, platforms.ProfileTime{})
	c.Const("profiles", len(p.at))
	for i := range p.at {
		at, last := &p.at[i], p.uses[i].Profile.Len()
		snapshot.Index(c, &at.Index, 0, last+1)
		switch {
		case at.Index < last:
			c.Range(&at.Time, e.now, math.MaxFloat64)
		case c.Reading():
			at.Time = math.Inf(1)
		}
		if c.Reading() && c.Err() == nil {
			p.plan(i)
		}
	}
	p.starts.Snapshot(c, "transfers that wait", len(e.matcher.messages))
	if c.Reading() {
		p.sizes = make([]int64, len(e.matcher.messages))
	}
	for id, when := range p.starts.All() {
		snapshot.Int(c, &p.sizes[id])
		if m := &e.matcher.messages[id]; c.Reading() {
			c.Check(when >= e.now && when <= math.MaxFloat64, "transfer %d waits for %g s", id, when)
			c.Check(m.flags&(msgStarted|msgEnded) == msgStarted && !e.network.InFlight(id) && p.sizes[id] >= m.size,
				"transfer %d waits, and its message does not", id)
		}
	}
}

// waits reports whether the transfer of a message waits for changes before it.
func (c *changes) waits(id int32) bool {
	return c != nil && int(id) < len(c.sizes) && !math.IsInf(c.starts.Time(id), 1)
}
