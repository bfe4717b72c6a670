package pop

import (
	"fmt"

	"reprise/replay"
)

// notes say what limits the efficiencies of a run.
func (d *Data) notes(r *replay.Result) []string {
	notes := []string{}
	if r.Polls > 0 {
		notes = append(notes, "Ranks poll: what they do depends on when messages come, so the further replays take courses of their own, and all but the load balance may be some percent off.")
	}
	if r.Seed != nil {
		notes = append(notes, fmt.Sprintf("Times are random: all replays have the noise of seed %d.", *r.Seed))
	}
	if !r.Complete {
		notes = append(notes, "They are of "+replay.PartLabel(r.Header, r.First, r.Last)+".")
	}
	for _, e := range []struct {
		name  string
		value float64
	}{{"serialisation", d.Serialisation}, {"wire", d.Wire}, {"contention", d.Contention}} {
		if e.value > 1+rounding {
			notes = append(notes, fmt.Sprintf("The efficiency of %s is over 100 %%: a quicker network made the ranks do things in a worse order.", e.name))
		}
	}
	return notes
}

// rounding is how far over 1 an efficiency is 1.
const rounding = 1e-9
