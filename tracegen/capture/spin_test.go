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

// TestSpin: of testdata/spin.c, calls that ask again and again are waits, whatever their
// number was, whether of one thing or of several in turns; a test before other work stays.
func TestSpin(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "2", m.compile(t, "spin.c"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var got []trace.Kind
		for _, a := range actions(t, merged(t, dir, capture.Options{}))[1] {
			got = append(got, a.Kind)
		}
		want := []trace.Kind{trace.KindIrecv, trace.KindWait, trace.KindIrecv, trace.KindWait, trace.KindIprobe, trace.KindRecv,
			trace.KindIrecv, trace.KindTest, trace.KindCollective, trace.KindWait,
			trace.KindIrecv, trace.KindIrecv, trace.KindWait, trace.KindTest, trace.KindIprobe, trace.KindCollective, trace.KindWait}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rank 1 (-want +got):\n%s", diff)
		}
	})
}

// TestConsensus: testdata/nbx.c on 6 ranks takes what SimGrid 3.32 says that executes it, which
// takes its turns and asks for 0.2 µs each time:
//
//	smpicc -O2 -o nbx nbx.c
//	smpirun -np 6 -platform gigabit.xml --cfg=smpi/simulate-computation:no --cfg=smpi/iprobe:2e-7 --cfg=smpi/test:2e-7 --cfg=smpi/grow-injected-times:no --cfg=smpi/display-timing:yes ./nbx
//	Simulated time: 0.00353168 seconds.
//
// The time depends on the order in which messages and the barrier were found, which is the
// recording's: of six recordings one is to take what SMPI's own order takes within 4 %. In each of
// them a question that found nothing may stay only as the last before one that found something: at most one
// for each of the 50 messages, 30 ends of all sends and 30 barriers. With all misses, each with its turn, a
// recording took the longer the slower the machine was.
func TestConsensus(t *testing.T) {
	const want = 0.00353168 // seconds
	eachMPI(t, func(t *testing.T, m mpi) {
		program, got := m.compile(t, "nbx.c"), 0.0
		for range 6 {
			dir, out, err := m.record(t, "6", program)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			tr := merged(t, dir, capture.Options{})
			misses := 0
			for _, rank := range actions(t, tr) {
				for _, a := range rank {
					if a.Kind == trace.KindTest || a.Kind == trace.KindIprobe {
						misses++
					}
				}
			}
			if misses > 50+30+30 {
				t.Errorf("%d questions that found nothing, want 110 at most", misses)
			}
			machine, options, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "testdata/gigabit.xml", Settings: []replay.Property{
				{Name: "smpi/simulate-computation", Value: "no"}, {Name: "smpi/iprobe", Value: "2e-7"}, {Name: "smpi/test", Value: "2e-7"}, {Name: "smpi/grow-injected-times", Value: "no"}}}, tr)
			if err != nil {
				t.Fatal(err)
			}
			r, err := replay.Run(context.Background(), tr, machine, options)
			if err != nil {
				t.Fatal(err)
			}
			if got = r.Makespan; math.Abs(got-want) <= 0.04*want {
				return
			}
		}
		t.Errorf("%.6g s, SMPI %g s", got, want)
	})
}
