package compose_test

import (
	"os"
	"strings"
	"testing"

	"reprise/platforms/compose"
)

// recorded are the machines whose routes SimGrid was asked for; package platforms compares
// them.
var recorded = map[string]func(t *testing.T) *compose.Spec{
	"composed-tree": func(t *testing.T) *compose.Spec {
		return spec(t, 24, "fat-tree", "leaf=4 up=2x200Gbps group=3 up=2x50Gbps@2us")
	},
	"composed-dragonfly": func(t *testing.T) *compose.Spec {
		s := spec(t, 24, "dragonfly", "groups=4 switches=3 hosts=2 local=200Gbps@0.7us global=2x40Gbps@3us")
		s.Slow = []compose.Slow{{Pattern: "node-[3,17]", Factor: 0.9}}
		return s
	},
}

// TestRecorded: what is written today is what SimGrid was asked of.
func TestRecorded(t *testing.T) {
	for name, make := range recorded {
		want, err := os.ReadFile("../../testdata/oracle/routes/" + name + ".xml")
		if err != nil {
			t.Fatal(err)
		}
		if got := written(t, make(t)); got != string(want) {
			t.Errorf("%s is written otherwise: record its routes anew\n%s", name, got)
		}
	}
}

// spec returns a machine with cables of 1 us, and a network by its words.
func spec(t *testing.T, nodes int, kind, text string) *compose.Spec {
	t.Helper()
	s := compose.DefaultSpec(nodes)
	s.NIC.Latency = 1e-6
	var err error
	switch kind {
	case "fat-tree":
		s.Topology, err = compose.ParseFatTree(text, s.NIC)
	case "torus":
		s.Topology, err = compose.ParseTorus(text)
	case "dragonfly":
		s.Topology, err = compose.ParseDragonfly(text, s.NIC)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func written(t *testing.T, s *compose.Spec) string {
	t.Helper()
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
