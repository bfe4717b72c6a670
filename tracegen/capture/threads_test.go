package capture_test

import (
	"context"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestThreads: of testdata/threads.c, whose threads are in calls of MPI at once, the trace has all
// messages and operations, and a replay comes to its end. Each rank sends 200 messages in the
// turns of two threads, and 100 in those of the other two.
func TestThreads(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "2", m.compile(t, "threads.c"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		tr := merged(t, dir, capture.Options{})
		for rank, list := range actions(t, tr) {
			bytes, sends, operations := int64(0), 0, 0
			for _, a := range list {
				switch a.Kind {
				case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindSendrecv:
					sends++
					bytes += a.X[0]
				case trace.KindCollective, trace.KindIcollective:
					operations++
				}
			}
			if sends != 620 || bytes != 520*4+100*100000 || operations != 200 {
				t.Errorf("rank %d: %d messages of %d bytes, %d operations, want 620 of 10002080, 200", rank, sends, bytes, operations)
			}
		}
		machine, options, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "testdata/four.xml"}, tr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replay.Run(context.Background(), tr, machine, options); err != nil {
			t.Error(err)
		}
	})
}

// TestFencesOfThreads: fences of two threads that were in another order on each rank are refused, as
// nothing nonblocking stands for a fence; in the same order they are a trace that is right.
func TestFencesOfThreads(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "2", m.compile(t, "threads.c"), "fences")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if refused := mergeError(t, dir, capture.Options{}); refused != "" {
			wantError(t, refused, "threads called MPI at once (MPI_THREAD_MULTIPLE)")
			return
		}
		merged(t, dir, capture.Options{})
	})
}
