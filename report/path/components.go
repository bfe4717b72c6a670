package path

import (
	"reprise/replay"
	"reprise/replay/tape"
)

// Kinds of parts, as Part.Kind names them.
const (
	KindKernel     = "kernel"     // calls of one
	KindFlop       = "flop"       // computation that is given in flop
	KindSleep      = "sleep"      //
	KindOverhead   = "overhead"   // that sends and receives cost a rank
	KindPoll       = "poll"       // probes, and the time to the probe that sees a message
	KindLatency    = "latency"    // of messages
	KindWire       = "wire"       // messages carried at the rate that they would have alone
	KindContention = "contention" // time that they lose as they share links
	KindWait       = "wait"       // for what had not come when the replay was stopped
)

// rankKinds are the kinds of parts by what a rank's time is spent on.
var rankKinds = [...]string{
	replay.TimeCompute: KindFlop, replay.TimeSleep: KindSleep, replay.TimePoll: KindPoll, replay.TimeOverhead: KindOverhead,
}

// part names a part of a path.
func (p *Path) part(t tape.Part) Part {
	part := Part{Seconds: t.Seconds}
	switch t.Kind {
	case tape.OnAccount:
		p.nameAccount(&part, &t)
		part.Count = int64(t.Amount)
		return part
	case tape.InLatency:
		part.Kind, part.Count = KindLatency, int64(t.Amount)
	case tape.OnWire:
		part.Kind, part.Level, part.Bytes = KindWire, p.levels.names[t.Level], t.Amount
	case tape.InContention:
		part.Kind, part.Level = KindContention, p.levels.names[t.Level]
	}
	part.Name = part.Kind
	return part
}

// nameAccount names a part that is what a rank spends time on.
func (p *Path) nameAccount(part *Part, t *tape.Part) {
	if kernel := int(t.Account) - replay.NumTimeKinds; kernel >= 0 {
		part.Kind, part.Name = KindKernel, p.header.Kernels[kernel].Name
	} else {
		part.Kind = rankKinds[t.Account]
		part.Name = part.Kind
	}
	if t.Phase >= 0 {
		part.Phase = p.header.Phases[t.Phase]
	}
}
