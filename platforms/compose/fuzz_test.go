package compose_test

import (
	"bytes"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/platforms/compose"
)

// FuzzSpec: no words make a description that cannot be read.
func FuzzSpec(f *testing.F) {
	f.Add(64, "leaf=16 up=8x200Gbps", "", "", "node-[3,17]=0.9")
	f.Add(64, "leaf=4 up=2x50Gbps@2us group=4 up=3", "", "", "")
	f.Add(24, "", "groups=4 switches=3 hosts=2 local=200Gbps@0.7us global=2x40Gbps", "", "*")
	f.Add(24, "", "", "2x3x4", "node-1")
	f.Fuzz(func(t *testing.T, nodes int, tree, fly, torus, slow string) {
		const most = 512 // of nodes, so that a case takes little time
		s := compose.DefaultSpec(nodes)
		var err error
		switch {
		case nodes > most:
			return
		case tree != "":
			s.Topology, err = compose.ParseFatTree(tree, s.NIC)
		case fly != "":
			s.Topology, err = compose.ParseDragonfly(fly, s.NIC)
		case torus != "":
			s.Topology, err = compose.ParseTorus(torus)
		}
		if err != nil {
			return
		}
		if slow != "" {
			s.Slow = []compose.Slow{{Pattern: slow, Factor: 0.9}}
		}
		var b bytes.Buffer
		if err := s.Write(&b); err != nil {
			return
		}
		p, err := platforms.Parse(&b, "new.xml")
		if err != nil || p.NumHosts() != nodes {
			t.Fatalf("%v: %v", strings.Join(s.Words(), "; "), err)
		}
	})
}
