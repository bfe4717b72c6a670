package main

import (
	"fmt"
	"slices"
)

// menu says which cases to draw.
type menu struct {
	seed        uint64
	collectives []string // selectors; none: no collectives
}

// draw draws a case by its number; long ones have many ranks and messages.
func (m *menu) draw(number int, long bool) *testCase {
	stream := uint64(number)
	if long {
		stream |= 1 << 32
	}
	d := newDice(m.seed, stream)
	kind := machineKinds[number%len(machineKinds)]
	c := &testCase{number: number, machine: kind.name, long: long}
	place := kind.draw(d)
	s := drawSettings(d)
	ranks := d.ranks(place, long)
	c.hosts = d.mapping(place, ranks)
	p := &program{dice: d, script: newScript(ranks), settings: s, ranks: ranks, rounds: d.between(1, 6), speed: 1e9, self: place.self}
	if long {
		p.rounds = d.between(20, 40)
	}
	m.write(p, c)
	c.script = p.script
	inFile, onLine := s.list, []string(nil)
	if d.chance(0.9) {
		inFile, onLine = nil, s.list
	}
	c.platform = place.document(inFile)
	m.addProfiles(c, stream, place.hosts)
	c.options = append(append([]string{"smpi/host-speed:1Gf"}, s.model...), onLine...)
	return c
}

// write draws the program. Long ones do not poll: they are never without a tie, and
// what depends on the order of polls is no matter of a few millionths.
func (m *menu) write(p *program, c *testCase) {
	kinds := programKinds
	if c.long {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k programKind) bool { return k.polls })
	}
	for _, selector := range m.collectives {
		kinds = append(kinds[:len(kinds):len(kinds)], programKind{name: "coll" + selector, draw: func(p *program) { p.collectives(selector) }})
	}
	k := kinds[p.IntN(len(kinds))]
	c.program = k.name
	if p.chance(0.05) {
		p.all(0, "init 1") // counts are of doubles
	} else {
		p.all(0, "init")
	}
	k.draw(p)
	if p.chance(0.9) {
		p.all(0, "finalize")
	}
	p.shared = p.chance(0.1)
}

// ranks draws the number of ranks, at least 2.
func (d dice) ranks(m *machine, long bool) int {
	most := min(16, max(2, len(m.hosts)))
	if long {
		most = 64
	}
	if !m.self {
		most = min(most, len(m.hosts))
	}
	if m.self && d.chance(0.25) {
		most = max(most, min(16, 3*len(m.hosts)))
	}
	if long {
		return max(2, most-d.IntN(max(1, most/4)))
	}
	return d.between(2, most)
}

// mapping draws the host of each rank. Without routes from hosts to themselves
// each rank has a host of its own.
func (d dice) mapping(m *machine, ranks int) []string {
	var list []string
	order := d.shuffled(len(m.hosts))
	if d.chance(0.4) { // in order
		for i := range order {
			order[i] = i
		}
	}
	if m.self && d.chance(0.2) {
		for _, h := range order {
			list = append(list, fmt.Sprintf("%s:%d", m.hosts[h], d.between(1, 3)))
		}
		return list
	}
	for r := range ranks {
		list = append(list, m.hosts[order[r%len(order)]])
	}
	return list
}
