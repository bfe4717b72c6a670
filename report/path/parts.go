package path

import (
	"cmp"
	"slices"

	"reprise/report/packed"
)

// Data returns the critical path, once the replay has ended.
func (p *Path) Data() *Data {
	last := p.last()
	r := &p.ranks[last]
	d := &Data{Seconds: r.end, Rank: last, Parts: p.parts(&r.stretch)}
	d.WhatIfs = p.levels.whatIfs(d.Parts)
	d.Hops = hopsOf(r.last)
	return d
}

// last returns the rank that ends last.
func (p *Path) last() int {
	last := 0
	for r := range p.ranks {
		if p.ranks[r].end > p.ranks[last].end {
			last = r
		}
	}
	return last
}

// parts returns what a stretch consists of.
func (p *Path) parts(s *stretch) []Part {
	c := s.composition
	p.vectors.hold(c.vector)
	p.vectors.settle(&c)
	values := p.vectors.at(c.vector)
	parts, rest := []Part{}, s.end
	for i, what := range p.components.list {
		seconds, amount := values[2*i], values[2*i+1]
		if seconds == 0 && amount == 0 {
			continue
		}
		rest -= seconds
		parts = append(parts, p.part(what, seconds, amount))
	}
	p.vectors.drop(c.vector)
	if rest > 1e-9*s.end { // what rounding leaves is less
		parts = append(parts, Part{Name: "not yet there", Kind: KindWait, Seconds: rest})
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return parts
}

// part names a component.
func (p *Path) part(c component, seconds, amount float64) Part {
	part := Part{Name: c.kind, Kind: c.kind, Seconds: seconds}
	if c.kernel >= 0 {
		part.Name = p.header.Kernels[c.kernel].Name
	}
	if c.phase >= 0 {
		part.Phase = p.header.Phases[c.phase]
	}
	if c.level >= 0 {
		part.Level = p.levels.names[c.level]
	}
	switch c.kind {
	case KindWire:
		part.Bytes = amount
	case KindContention:
	default:
		part.Count = int64(amount)
	}
	return part
}

// hopsOf returns where a path was.
func hopsOf(last *hop) Hops {
	var ranks []uint32
	var times []float64
	for h := last; h != nil; h = h.before {
		ranks, times = append(ranks, uint32(h.rank)), append(times, h.at)
	}
	slices.Reverse(ranks)
	slices.Reverse(times)
	return Hops{Number: len(ranks), Ranks: packed.Uint32s(ranks), Times: packed.Float64s(times)}
}
