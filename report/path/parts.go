package path

import (
	"cmp"
	"slices"

	"reprise/replay/tape"
	"reprise/report/packed"
)

// Data returns the critical path, once the replay has ended. The Path is of no use any more.
func (p *Path) Data() *Data {
	last, end := p.tapes.Last()
	spent, step := p.tapes.Path(last)
	p.tapes.Close()
	d := &Data{Seconds: end, Rank: last, Parts: p.parts(spent, end), Hops: hopsOf(step), Notes: []string{}}
	d.WhatIfs = p.levels.whatIfs(d.Parts)
	return d
}

// parts names the parts of a path up to a time. Calls of a kernel in a phase are one part, whatever
// their attributes are.
func (p *Path) parts(spent []tape.Part, end float64) []Part {
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
func hopsOf(last *tape.Hop) Hops {
	var ranks []uint32
	var times []float64
	for h := last; h != nil; h = h.Before {
		ranks, times = append(ranks, uint32(h.Rank)), append(times, h.At)
	}
	slices.Reverse(ranks)
	slices.Reverse(times)
	return Hops{Number: len(ranks), Ranks: packed.Uint32s(ranks), Times: packed.Float64s(times)}
}
