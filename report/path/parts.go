package path

import (
	"cmp"
	"slices"

	"reprise/replay"
	"reprise/replay/eventlog"
	"reprise/report/typedarray"
)

// Data returns the critical path, once the replay has ended. The Path is of no use any more.
func (p *Path) Data() *Data {
	last, end := p.log.Last()
	spent, step := p.log.Path(last)
	p.log.Close()
	d := &Data{Seconds: end, Rank: last, Parts: p.parts(spent, end), Hops: hopsOf(step), Notes: []string{}}
	d.WhatIfs = p.levels.whatIfs(d.Parts)
	return d
}

// parts names the parts of a path up to a time. Calls of a kernel in a phase are one part, whatever
// their attributes are.
func (p *Path) parts(spent []eventlog.Part, end float64) []Part {
	parts, rest, places := []Part{}, end, map[Part]int{}
	for _, s := range spent {
		rest -= s.Seconds
		part := p.part(s)
		place, ok := places[part.key()]
		if !ok {
			place = len(parts)
			places[part.key()], parts = place, append(parts, part.key())
		}
		parts[place].add(&part)
	}
	if rest > 1e-9*end { // what rounding leaves is less
		parts = append(parts, Part{Name: "not yet there", Kind: KindWait, Seconds: rest})
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return parts
}

// key is what and where a part is, without how much.
func (p *Part) key() Part {
	key := *p
	key.Seconds, key.Count, key.Bytes = 0, 0, 0
	return key
}

// add adds what another part has.
func (p *Part) add(q *Part) {
	p.Seconds += q.Seconds
	p.Count += q.Count
	p.Bytes += q.Bytes
}

// hopsOf returns where a path was.
func hopsOf(last *eventlog.Hop) Hops {
	var ranks []uint32
	var times []float64
	for h := last; h != nil; h = h.Before {
		ranks, times = append(ranks, uint32(h.Rank)), append(times, h.At)
	}
	slices.Reverse(ranks)
	slices.Reverse(times)
	return Hops{Number: len(ranks), Ranks: typedarray.Uint32s(ranks), Times: typedarray.Float64s(times)}
}

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
func (p *Path) part(t eventlog.Part) Part {
	part := Part{Seconds: t.Seconds}
	switch t.Kind {
	case eventlog.OnAccount:
		p.nameAccount(&part, &t)
		part.Count = int64(t.Amount)
		return part
	case eventlog.InLatency:
		part.Kind, part.Count = KindLatency, int64(t.Amount)
	case eventlog.OnWire:
		part.Kind, part.Level, part.Bytes = KindWire, p.levels.names[t.Level], t.Amount
	case eventlog.InContention:
		part.Kind, part.Level = KindContention, p.levels.names[t.Level]
	}
	part.Name = part.Kind
	return part
}

// nameAccount names a part that is what a rank spends time on.
func (p *Path) nameAccount(part *Part, t *eventlog.Part) {
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
