package capture_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/capture"
)

// simulated returns the time that a trace takes on a platform of testdata, in seconds. Options are NAME=VALUE.
func simulated(t *testing.T, tr *trace.Trace, platform string, options ...string) float64 {
	t.Helper()
	spec := replay.MachineSpec{Platform: "testdata/" + platform}
	spec.SetOption("smpi/coll-selector", "default") // as smpirun has it, whatever MPI has recorded the trace
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		spec.Settings = append(spec.Settings, replay.Property{Name: name, Value: value})
	}
	machine, o, _, err := replay.LoadMachine(spec, tr)
	if err != nil {
		t.Fatal(err)
	}
	r := must(replay.Run(t.Context(), tr, machine, o))
	return r.Makespan
}

const communicationOnly = "smpi/simulate-computation=no"

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
		got := simulated(t, m.traced(t, "16", m.compile(t, "halo.c")), "sixteen.xml", communicationOnly)
		if math.Abs(got-want) > 5e-10+1e-6*want {
			t.Errorf("%.12g s, SMPI %g s", got, want)
		}
	})
}

// TestRecordedOn: a trace names the host that it was recorded on.
func TestRecordedOn(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		host := must(os.Hostname())
		if got, _ := m.traced(t, "2", m.compile(t, "ring.c")).Header().Param(trace.ParamHosts); got != host {
			t.Errorf("%q, want %q", got, host)
		}
	})
}

// TestLibrariesAgree: a program does the same with each library, but for how long it computes.
func TestLibrariesAgree(t *testing.T) {
	for _, source := range []string{"ring.c", "halo.c", "collectives.c"} {
		var first [][]trace.Action
		t.Run(source, func(t *testing.T) {
			eachMPI(t, func(t *testing.T, m mpi) {
				list := actions(t, m.traced(t, "4", m.compile(t, source)))
				if first == nil {
					first = list
				} else if diff := cmp.Diff(first, list); diff != "" {
					t.Errorf("%s (-%s +%s):\n%s", source, libraries[0].name, m.name, diff)
				}
			})
		})
	}
}

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
				got := simulated(t, m.traced(t, "4", m.compile(t, c.source)), "four.xml", communicationOnly)
				if math.Abs(got-c.want) > 5e-9+1e-6*c.want {
					t.Errorf("%.9g s, SMPI %g s", got, c.want)
				}
			})
		})
	}
}

// TestSpin: of testdata/spin.c, calls that ask again and again are waits, whatever their
// number was, whether of one thing or of several in turns; a test before other work stays.
func TestSpin(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		var got []trace.Kind
		for _, a := range actions(t, m.traced(t, "2", m.compile(t, "spin.c")))[1] {
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
			tr := m.traced(t, "6", program)
			misses := 0
			for _, rank := range actions(t, tr) {
				counts := kinds(rank)
				misses += counts[trace.KindTest] + counts[trace.KindIprobe]
			}
			if misses > 50+30+30 {
				t.Errorf("%d questions that found nothing, want 110 at most", misses)
			}
			got = simulated(t, tr, "gigabit.xml", communicationOnly, "smpi/iprobe=2e-7", "smpi/test=2e-7", "smpi/grow-injected-times=no")
			if math.Abs(got-want) <= 0.04*want {
				return
			}
		}
		t.Errorf("%.6g s, SMPI %g s", got, want)
	})
}

// TestThreads: of testdata/threads.c, whose threads are in calls of MPI at once, the trace has all
// messages and operations, and a replay comes to its end. Each rank sends 200 messages in the
// turns of two threads, and 100 in those of the other two.
func TestThreads(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		tr := m.traced(t, "2", m.compile(t, "threads.c"))
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
		simulated(t, tr, "four.xml")
	})
}

// TestFencesOfThreads: fences of two threads that were in another order on each rank are refused, as
// nothing nonblocking stands for a fence; in the same order they are a trace that is right.
func TestFencesOfThreads(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir := m.recorded(t, "2", m.compile(t, "threads.c"), "fences")
		if refused := mergeError(t, dir, capture.Options{}); refused != "" {
			wantError(t, refused, "threads called MPI at once (MPI_THREAD_MULTIPLE)")
			return
		}
		merged(t, dir, capture.Options{})
	})
}
