package main

import (
	"fmt"
	"strings"

	"reprise/platforms/compose"
)

// drawComposed draws a machine as replay platform new writes it, of at most 72 nodes.
func drawComposed(d dice) *machine {
	s := compose.DefaultSpec(1)
	s.NIC, s.Loopback, s.Cores, s.Speed = cable(d), cable(d), d.between(1, 3), d.logarithmic(1e8, 1e10)
	switch d.IntN(6) {
	case 0:
		s.Nodes = d.between(2, 24)
	case 1:
		t := compose.Torus{}
		for range d.between(1, 3) {
			t.Sizes = append(t.Sizes, d.between(2, 4))
		}
		s.Topology, s.Nodes = t, product(t.Sizes)
	case 2, 3:
		f := compose.Dragonfly{
			Groups: d.between(1, 4), Switches: d.between(1, 4), Hosts: d.between(1, 4),
			LocalCables: d.between(1, 3), Local: cable(d), GlobalCables: d.between(1, 3), Global: cable(d),
		}
		s.Topology, s.Nodes = f, f.Groups*f.Switches*f.Hosts
	default:
		t, sizes := compose.FatTree{}, []int{d.between(1, 4)}
		for range d.between(1, 2) {
			l := compose.Level{Children: d.between(1, 4), Up: d.between(1, 3), Cable: cable(d)}
			if d.chance(0.3) {
				l.Cable = s.NIC
			}
			t.Levels, sizes = append(t.Levels, l), append(sizes, l.Children)
		}
		s.Topology, s.Nodes = t, product(sizes)
	}
	if s.Nodes > 2 && d.chance(0.3) {
		s.Slow = []compose.Slow{{Pattern: fmt.Sprintf("node-[0-%d]", d.IntN(s.Nodes-1)), Factor: d.logarithmic(0.3, 2)}}
	}
	return composed(s)
}

// composed returns the machine of a description.
func composed(s *compose.Spec) *machine {
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		panic("crosscheck: " + err.Error())
	}
	_, body, _ := strings.Cut(b.String(), "<platform version=\"4.1\">\n")
	m := &machine{self: true, body: strings.TrimSuffix(body, "</platform>\n")}
	for i := range s.Nodes {
		m.hosts = append(m.hosts, fmt.Sprintf("node-%d", i))
	}
	return m
}

// cable draws a connection.
func cable(d dice) compose.Cable {
	return compose.Cable{Bandwidth: d.logarithmic(2e7, 5e9), Latency: d.logarithmic(1e-7, 1e-4)}
}

func product(list []int) int {
	n := 1
	for _, k := range list {
		n *= k
	}
	return n
}
