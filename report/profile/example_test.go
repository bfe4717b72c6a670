package profile_test

import (
	"fmt"
	"log"

	"reprise/replay"
	"reprise/report/profile"
	"reprise/trace"
)

// A rank of two computes for two seconds, the other one for one.
func ExampleRecorder() {
	h := &trace.Header{Ranks: 2, Kernels: []trace.Kernel{{Name: "dgemm"}}}
	r := profile.NewRecorder(h, profile.GroupsOf(h, []string{"node-0", "node-1"}))
	o := r.Observer()
	o.TimePasses(0, replay.TimeCompute, 0, 0, 2)
	o.TimePasses(1, replay.TimeCompute, 0, 0, 1)
	p, err := r.Profile()
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range p.Sample {
		fmt.Println(s.Location[0].Line[0].Function.Name, s.Location[1].Line[0].Function.Name, s.Value[0], "ns")
	}
	// Output:
	// node-0 dgemm 2000000000 ns
	// node-1 dgemm 1000000000 ns
}
