package platforms_test

import (
	"fmt"
	"log"
	"strings"

	"reprise/platforms"
)

func Example() {
	const text = `<platform version="4.1">
	  <cluster id="c" prefix="node-" suffix="" radical="0-7" speed="1Gf" bw="100Gbps" lat="1us"
	           topology="FAT_TREE" topo_parameters="2;4,2;1,2;1,1"/>
	</platform>`
	p, err := platforms.Parse(strings.NewReader(text), "tree.xml")
	if err != nil {
		log.Fatal(err)
	}
	route, err := p.AppendRoute(nil, 0, 5)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range route {
		link := p.Link(l)
		fmt.Println(link.Name, link.Bandwidth, link.Latency)
	}
	// Output:
	// node-0_port_0_UP 1.25e+10 1e-06
	// c_switch_1_0_port_1_UP 1.25e+10 1e-06
	// c_switch_1_1_port_1_DOWN 1.25e+10 1e-06
	// node-5_port_0_DOWN 1.25e+10 1e-06
}
