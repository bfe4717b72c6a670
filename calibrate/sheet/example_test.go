package sheet_test

import (
	"fmt"
	"strings"

	"reprise/calibrate/sheet"
)

// A sheet says what is bought; what it leaves out is assumed, and said.
func Example() {
	s, warnings, err := sheet.Parse(strings.NewReader(`
nodes: 64
sockets: 2
cores: 32
clock: 2.45GHz
flop_per_cycle: 16
memory: 256GB
memory_bandwidth: 205GBps
network: 100Gbps infiniband
latency: 1.3us
topology: switch
`), "sheet.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f Gflop/s a core, %d ranks a node, %d warnings\n", s.Peak()/1e9, s.RanksPerHost, len(warnings))
	for _, a := range s.Assumed {
		fmt.Println("assumed:", a)
	}
	// Output:
	// 39.2 Gflop/s a core, 64 ranks a node, 0 warnings
	// assumed: l3: 48MB, 1.5MB a core
	// assumed: software: typical, with an interval that covers tuned
}
