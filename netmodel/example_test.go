package netmodel_test

import (
	"fmt"
	"math"
	"strings"

	"reprise/netmodel"
	"reprise/platforms"
)

// Two messages of 1 MB leave different hosts for the same one at time 0. They
// share its link of 1 GB/s.
func Example() {
	p, err := platforms.Parse(strings.NewReader(`<?xml version="1.0"?>
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-2" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>`), "three.xml")
	if err != nil {
		panic(err)
	}
	o := netmodel.DefaultOptions()
	one := netmodel.Factors{{Above: 0, Value: 1}}
	o.BandwidthFactors, o.LatencyFactors, o.CrossTraffic = one, one, false
	n, err := netmodel.New(p, o)
	if err != nil {
		panic(err)
	}
	for src := range 2 {
		if err := n.Start(int32(src), src, 2, 1e6, 0); err != nil {
			panic(err)
		}
	}
	var done []int32
	for t := n.Next(); !math.IsInf(t, 1); t = n.Next() {
		done = n.Advance(t, done[:0])
		fmt.Printf("%.6f s: %d ended\n", t, len(done))
	}
	// Output:
	// 0.000002 s: 0 ended
	// 0.002002 s: 2 ended
}
