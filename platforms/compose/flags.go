package compose

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"reprise/internal/textutil"
	"reprise/platforms"
)

// A Flag is one of replay platform new with its value.
type Flag struct{ Name, Value string }

// topologies are the flags that say how nodes are joined, of which there is one at most.
var topologies = []string{"flat", "fat-tree", "torus", "dragonfly"}

// FlagNames are the names of flags that FromFlags knows. That of flat has no value.
func FlagNames() []string {
	return append([]string{"nodes", "cores", "speed", "nic", "latency", "loopback"}, topologies...)
}

// FromFlags returns the machine that flags describe, each of which is there once at most. The
// error names the flag whose value is not possible.
func FromFlags(flags []Flag) (*Spec, error) {
	s := DefaultSpec(0)
	topology := Flag{}
	for _, f := range flags {
		if slices.Contains(topologies, f.Name) {
			if topology.Name != "" {
				return nil, fmt.Errorf("--%s and --%s exclude each other", topology.Name, f.Name)
			}
			topology = f
		} else if err := s.set(f); err != nil {
			return nil, fmt.Errorf("--%s: %w", f.Name, err)
		}
	}
	if !slices.ContainsFunc(flags, func(f Flag) bool { return f.Name == "nodes" }) {
		return nil, errors.New("want --nodes N")
	}
	var err error
	if s.Topology, err = parseTopology(topology, s.NIC); err != nil {
		return nil, err
	}
	return s, nil
}

// set reads a flag that is about nodes and their cables.
func (s *Spec) set(f Flag) (err error) {
	switch f.Name {
	case "nodes":
		s.Nodes, err = parseWhole(f.Value)
	case "cores":
		s.Cores, err = parseWhole(f.Value)
	case "speed":
		s.Speed, err = platforms.ParseSpeed(f.Value)
	case "nic":
		s.NIC.Bandwidth, err = platforms.ParseBandwidth(f.Value)
	case "latency":
		s.NIC.Latency, err = platforms.ParseLatency(f.Value)
	case "loopback":
		s.Loopback, err = ParseCable(f.Value, s.Loopback)
	default:
		err = errors.New("no such flag of replay platform new")
	}
	return err
}

func parseWhole(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s, want a whole number", textutil.Quote(text))
	}
	return n, nil
}

// parseTopology reads the flag of the network; without one all nodes are on one switch.
func parseTopology(f Flag, nic Cable) (Topology, error) {
	switch f.Name {
	case "fat-tree":
		return ParseFatTree(f.Value, nic)
	case "torus":
		return ParseTorus(f.Value)
	case "dragonfly":
		return ParseDragonfly(f.Value, nic)
	}
	return Flat{}, nil
}
