package capture_test

import (
	"math"
	"testing"

	"reprise/replay"
	"reprise/tracegen/capture"
)

// TestRequestsAgainstSMPI: programs whose requests are persistent, or waited for by any and some,
// with probes that block, and operations with a count for each rank, take on 4 nodes what SimGrid
// 3.32 says that executes them there:
//
//	smpicc -O1 -o program SOURCE
//	smpirun -np 4 -platform four.xml -hostfile nodes --cfg=smpi/simulate-computation:no --cfg=smpi/display-timing:yes ./program
//
// with n-0 to n-3 in nodes.
func TestRequestsAgainstSMPI(t *testing.T) {
	for _, c := range []struct {
		source string
		want   float64 // seconds, of six digits
	}{{"persistent.c", 0.00199198}, {"any.c", 0.00248736}, {"counts.c", 0.00065823}} {
		t.Run(c.source, func(t *testing.T) {
			eachMPI(t, func(t *testing.T, m mpi) {
				recorded, out, err := m.record(t, "4", m.compile(t, c.source))
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				tr := merged(t, recorded, capture.Options{})
				machine, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "testdata/four.xml",
					Settings: []replay.Property{{Name: "smpi/simulate-computation", Value: "no"}}}, tr)
				if err != nil {
					t.Fatal(err)
				}
				res, err := replay.Run(t.Context(), tr, machine, o)
				if err != nil {
					t.Fatal(err)
				}
				if got := res.Makespan; math.Abs(got-c.want) > 5e-9+1e-6*c.want {
					t.Errorf("%.9g s, SMPI %g s", got, c.want)
				}
			})
		})
	}
}
