package compose_test

import (
	"fmt"
	"log"

	"reprise/platforms/compose"
)

func ExampleSpec_Words() {
	spec := compose.DefaultSpec(64)
	spec.Cores = 8
	tree, err := compose.ParseFatTree("leaf=16 up=4x200Gbps", spec.NIC)
	if err != nil {
		log.Fatal(err)
	}
	spec.Topology = tree
	for _, sentence := range spec.Words() {
		fmt.Println(sentence)
	}
	// Output:
	// 64 nodes, node-0 to node-63, of 8 cores of 32 Gflop/s
	// a fat tree of 4 leaf switches below 4 switches at the top, cables of 0.5 us to the nodes
	// 16 hosts of 100 Gbps share 4 uplinks of 200 Gbps: oversubscribed 2 to 1
	// uplinks above the same nodes are one link of their sum, as adaptive routing spreads the packets of a flow
	// within a node 160 Gbps, 0.1 us
}
