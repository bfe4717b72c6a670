package capture_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestAgainstSMPI: testdata/halo.c, recorded with 16 ranks on the cores that there are, takes
// on 16 nodes what SimGrid 3.32 says that executes it there:
//
//	smpicc -O2 -o halo halo.c
//	smpirun -np 16 -platform sixteen.xml -hostfile nodes --cfg=smpi/simulate-computation:no --cfg=smpi/display-timing:yes ./halo
//	Simulated time: 0.000571073 seconds.
//
// with node-0 to node-15 in nodes. Half of the last digit is 5e-10 s.
func TestAgainstSMPI(t *testing.T) {
	const want = 0.000571073 // seconds
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "16", m.compile(t, "halo.c"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		tr := merged(t, dir, capture.Options{})
		machine, options, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "testdata/sixteen.xml",
			Settings: []replay.Property{{Name: "smpi/simulate-computation", Value: "no"}}}, tr)
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.Run(context.Background(), tr, machine, options)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Makespan; math.Abs(got-want) > 5e-10+1e-6*want {
			t.Errorf("%.12g s, SMPI %g s", got, want)
		}
	})
}

// TestLibrariesAgree: a program does the same with each library, but for how long it computes.
func TestLibrariesAgree(t *testing.T) {
	for _, source := range []string{"ring.c", "halo.c", "collectives.c"} {
		var first [][]trace.Action
		t.Run(source, func(t *testing.T) {
			eachMPI(t, func(t *testing.T, m mpi) {
				dir, out, err := m.record(t, "4", m.compile(t, source))
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				list := actions(t, merged(t, dir, capture.Options{}))
				if first == nil {
					first = list
				} else if diff := cmp.Diff(first, list); diff != "" {
					t.Errorf("%s (-%s +%s):\n%s", source, libraries[0].name, m.name, diff)
				}
			})
		})
	}
}
