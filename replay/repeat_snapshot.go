package replay

import (
	"math"

	"reprise/internal/snapshot"
)

// snapshotRepeats is snapshot of what is known of steps that repeat. Who goes on with an
// observer plays all that are left.
func (e *engine) snapshotRepeats(c *snapshot.Codec) {
	p, has := e.repeats, e.repeats != nil
	c.Bool(&has)
	if !has {
		return
	}
	if p == nil {
		p = newRepeats(len(e.ranks))
	}
	c.Section("repeats", *p, place{}, cut{}, counts{})
	for r := range p.at {
		snapshot.Index(c, &p.at[r].step, 0, math.MaxInt32)
		snapshot.Index(c, &p.at[r].actions, 0, math.MaxInt32)
	}
	p.last.snapshot(c, len(e.ranks), len(e.accounts.rows))
	p.standing = 0
	for r := range e.ranks {
		if e.ranks[r].stage == stageStands {
			p.standing++
		}
	}
}

func (k *cut) snapshot(c *snapshot.Codec, ranks, accounts int) {
	snapshot.Index(c, &k.step, noStep, math.MaxInt32)
	snapshot.Slice(c, &k.clocks, ranks, func(v *float64) { c.Range(v, 0, maxTime) })
	snapshot.Slice(c, &k.accounts, accounts, func(v *float64) { c.Range(v, noTime, maxTime) })
	known := k.step != noStep
	c.Check(known == (len(k.clocks) == ranks) && known == (len(k.accounts) == accounts), "%d clocks and %d accounts of step %d", len(k.clocks), len(k.accounts), k.step)
	for _, n := range []*int64{&k.counts.messages, &k.counts.bytes, &k.counts.truncated, &k.counts.actions, &k.counts.polls, &k.counts.fileBytes, &k.factors[0], &k.factors[1], &k.factors[2]} {
		snapshot.Index(c, n, 0, math.MaxInt)
	}
}
