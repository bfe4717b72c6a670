package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/verify"
	"reprise/tracegen/capture"
)

// mpi is a library of MPI: how to compile for it, and to start programs.
type mpi struct {
	name, compiler string
	launcher       []string
}

var libraries = []mpi{
	{"openmpi", "mpicc.openmpi", []string{"mpirun.openmpi", "--oversubscribe", "-np"}},
	{"mpich", "mpicc.mpich", []string{"mpirun.mpich", "-np"}},
}

// eachMPI runs a test with each library that is installed; with -short with MPICH, which starts in a tenth of the time
// that Open MPI takes. TestLibrariesAgree and TestMessages always take both.
func eachMPI(t *testing.T, test func(t *testing.T, m mpi)) {
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	for _, m := range libraries {
		t.Run(m.name, func(t *testing.T) {
			if _, err := exec.LookPath(m.compiler); err != nil {
				t.Skip(err)
			}
			if top, _, _ := strings.Cut(t.Name(), "/"); testing.Short() && m.name == "openmpi" &&
				top != "TestLibrariesAgree" && top != "TestMessages" {
				t.Skip("with Open MPI without -short only")
			}
			test(t, m)
		})
	}
}

// compile returns the program of a file in testdata.
func (m mpi) compile(t *testing.T, source string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".c"))
	build(t, m.compiler, "-O1", "-o", program, filepath.Join("testdata", source))
	return program
}

// build runs a command, as a rule a compiler, that does not fail.
func build(t *testing.T, compiler string, args ...string) {
	t.Helper()
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// record runs a program and returns the directory of recordings and what it printed.
func (m mpi) record(t *testing.T, ranks string, program ...string) (dir, out string, err error) {
	t.Helper()
	dir = t.TempDir()
	var text bytes.Buffer
	err = capture.Record(context.Background(), dir, capture.Command{
		Args: append(append(m.launcher[:len(m.launcher):len(m.launcher)], ranks), program...), Stdout: &text, Stderr: &text})
	return dir, text.String(), err
}

// recorded is record of a program that does not fail.
func (m mpi) recorded(t *testing.T, ranks string, program ...string) (dir string) {
	t.Helper()
	dir, out, err := m.record(t, ranks, program...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// traced records a program with so many ranks, and returns the trace of it.
func (m mpi) traced(t *testing.T, ranks string, program ...string) *trace.Trace {
	t.Helper()
	tr, _ := merged(t, m.recorded(t, ranks, program...), capture.Options{})
	return tr
}

// merged merges recordings, and opens and verifies the trace.
func merged(t *testing.T, dir string, o capture.Options) (*trace.Trace, *capture.Summary) {
	t.Helper()
	var file bytes.Buffer
	o.Rate = 1e9
	s := must(capture.Merge(dir, &file, o))
	tr := tracetest.Open(t, file.Bytes())
	if _, err := verify.Trace(tr, nil); err != nil {
		t.Fatal(err)
	}
	return tr, s
}

// kinds counts actions by their kind.
func kinds(list []trace.Action) map[trace.Kind]int {
	counts := map[trace.Kind]int{}
	for _, a := range list {
		counts[a.Kind]++
	}
	return counts
}

// actions returns what each rank does, without computations.
func actions(t *testing.T, tr *trace.Trace) (ranks [][]trace.Action) {
	t.Helper()
	cursors := must(tr.Cursors(nil, trace.CursorOptions{}))
	for i := range cursors {
		var list []trace.Action
		r := trace.NewActionReader(&cursors[i], trace.Hit{}, 0)
		for a := r.Next(); a != nil; a = r.Next() {
			if a.Kind != trace.KindFlops {
				list = append(list, *a)
			}
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		ranks = append(ranks, list)
	}
	return ranks
}

// TestRing: testdata/ring.c, whose rank sends 50 to 69 doubles in each of 20 turns; rank 1
// receives 12 bytes from rank 0 in each.
func TestRing(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "3", m.compile(t, "ring.c"))
		if err != nil || strings.Count(out, "of 3\n") != 3 {
			t.Fatalf("%v, printed %q", err, out)
		}
		tr, _ := merged(t, dir, capture.Options{})
		for rank, list := range actions(t, tr) {
			turn := 4 // irecv, isend, waitall, allreduce
			if rank < 2 {
				turn = 5
			}
			if len(list) != 20*turn {
				t.Fatalf("rank %d: %d actions, want %d", rank, len(list), 20*turn)
			}
			for i := range 20 {
				bytes := int64(8 * (50 + i))
				at := list[i*turn:]
				if a := at[0]; a.Kind != trace.KindIrecv || int(a.Peer) != (rank+2)%3 || a.Tag != 7 || a.X[0] != bytes {
					t.Errorf("rank %d, turn %d: %+v", rank, i, a)
				}
				if a := at[1]; a.Kind != trace.KindIsend || int(a.Peer) != (rank+1)%3 || a.Tag != 7 || a.X[0] != bytes {
					t.Errorf("rank %d, turn %d: %+v", rank, i, a)
				}
				if a := at[turn-1]; rank == 1 && (a.Kind != trace.KindRecv || a.Peer != 0 || a.Tag != 1 || a.X[0] != 12) {
					t.Errorf("rank %d, turn %d: %+v", rank, i, a)
				}
			}
		}
	})
}

// TestCollectives: testdata/collectives.c makes 20 operations that block on each of three
// communicators of more than a rank, six others on two of them, and all agree. On a grid of 3 × 2
// ranks, the first dimension of which is closed, a rank has three neighbours.
func TestCollectives(t *testing.T) {
	var first [][]trace.Action
	eachMPI(t, func(t *testing.T, m mpi) {
		ranks := actions(t, m.traced(t, "6", m.compile(t, "collectives.c")))
		for rank, list := range ranks {
			want := map[trace.Kind]int{trace.KindCollective: 3 * 20, trace.KindIcollective: 2 * 6, trace.KindPhase: 4,
				trace.KindSend: 2, trace.KindIrecv: 2 + 2*3, trace.KindIsend: 2 * 3, trace.KindWaitAll: 2, trace.KindWait: 2*3 + 4*3}
			if diff := cmp.Diff(want, kinds(list)); diff != "" {
				t.Errorf("rank %d (-want +got):\n%s", rank, diff)
			}
		}
		if first == nil {
			first = ranks
		} else if diff := cmp.Diff(first, ranks); diff != "" {
			t.Errorf("the other library does something else (-first +this):\n%s", diff)
		}
	})
}

// TestCorners: what is legal and rare, with as many messages and bytes as testdata/corners.c says.
func TestCorners(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "corners.c")
		for _, c := range []struct {
			name            string
			messages, bytes int64
		}{
			{"neighbours", 2 + 6, 8 * 4},
			{"cancelled", 2 * 3, 6 * 4},
			{"looked", 3, 3 * 4},
			{"matched", 3, 4 + 8 + 12},
			{"callback", 3 + 1, 4 * 4},
			{"groups", 2, 2 * 4},
			{"duplicates", 2*2 + 3, 7 * 4},
			{"finalized", 3, 3 * 4},
			{"unended", 3 * 3, 9 * 4},
			{"withdrawn", 3, 8 + 4 + 4},
			{"held", 2 * 2 * 3, 12 * 4},
		} {
			t.Run(c.name, func(t *testing.T) {
				var messages, bytes int64
				for _, list := range actions(t, m.traced(t, "3", program, c.name)) {
					for _, a := range list {
						switch a.Kind {
						case trace.KindSend, trace.KindIsend, trace.KindSendrecv:
							messages++
							bytes += a.X[0]
						}
					}
				}
				if messages != c.messages || bytes != c.bytes {
					t.Errorf("%d messages of %d bytes, want %d of %d", messages, bytes, c.messages, c.bytes)
				}
			})
		}
	})
}

// TestKinds: each rank has so many actions of some kinds.
//
//   - crossed: three times a broadcast and a barrier, which are started in different orders, are each the same operation
//     on all ranks; MPI before 4.0, as that of Open MPI here, has none such.
//   - looked: who has seen that a request has ended has waited for it there: behind the look comes a wait, and nothing
//     where the request is let go of.
//   - 262144: 2^18 requests of one handle are found in time in proportion to their number; to pass all that were found
//     already would take a minute. Two messages go each way.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		source, argument, ranks string
		want                    map[trace.Kind]int
	}{
		{"corners.c", "crossed", "3", map[trace.Kind]int{trace.KindIcollective: 3 * 2}},
		{"corners.c", "looked", "3", map[trace.Kind]int{trace.KindWait: 1, trace.KindFree: 0}},
		{"same.c", "262144", "2", map[trace.Kind]int{trace.KindIsend: 2, trace.KindIrecv: 2, trace.KindWaitAll: 1}},
	} {
		eachMPI(t, func(t *testing.T, m mpi) {
			for rank, list := range actions(t, m.traced(t, c.ranks, m.compile(t, c.source), c.argument)) {
				counts := kinds(list)
				for kind, n := range c.want {
					none := c.argument == "crossed" && m.name == "openmpi" && counts[kind] == 0
					if counts[kind] != n && !none {
						t.Errorf("%s, rank %d: %d of %v, want %d", c.argument, rank, counts[kind], kind, n)
					}
				}
			}
		})
	}
}

// TestForms: between the 240 times that the ranks of testdata/forms.c begin a step are 239, though sizes depend on data,
// steps have three forms, and ranks have prologues of their own.
func TestForms(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		_, s := merged(t, m.recorded(t, "4", m.compile(t, "forms.c")), capture.Options{})
		if s.Steps != 239 || s.NoSteps != nil {
			t.Errorf("%d steps, %v, want 239", s.Steps, s.NoSteps)
		}
	})
}

// TestCounts: 40 turns of testdata/counts.c are steps, though each of their operations has a list
// of counts, and say what the ranks send: to rank i 1 + rank + 2i elements, in the gathering
// 3 + rank.
func TestCounts(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		tr := m.traced(t, "3", m.compile(t, "counts.c"))
		if n := tr.Header().Steps; n < 40 {
			t.Errorf("%d steps, want 40", n)
		}
		cursors := must(tr.Cursors(nil, trace.CursorOptions{}))
		for rank := range cursors {
			r, turns := trace.NewActionReader(&cursors[rank], trace.Hit{}, 0), 0
			for a := r.Next(); a != nil; a = r.Next() {
				if a.Kind != trace.KindCollective {
					continue
				}
				c := a.Collective(&cursors[rank])
				want := []int64{0, int64(1 + rank), int64(4 + 2*rank), int64(9 + 3*rank)}
				switch {
				case c.Kind == trace.CollAlltoallv && slices.Equal(c.SendSums, want):
					turns++
				case c.Kind == trace.CollAllgatherv && c.Send == int64(3+rank) && slices.Equal(c.RecvSums, []int64{0, 3, 7, 12}):
				default:
					t.Fatalf("rank %d: %+v", rank, c)
				}
			}
			if r.Err() != nil || turns != 40 {
				t.Errorf("rank %d: %d turns, %v", rank, turns, r.Err())
			}
		}
	})
}

// TestTruncated: testdata/truncated.c, whose rank 1 receives messages of tag 0 to 10, of 40 bytes
// if the tag is even, else of 4, into room for 4. Of those that are too long, the library that
// does not say how long leaves the trace without their size.
func TestTruncated(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		long := map[string]int64{"openmpi": 40, "mpich": -1}[m.name]
		got := map[int32]int64{}
		open := 0
		for _, a := range actions(t, m.traced(t, "2", m.compile(t, "truncated.c")))[1] {
			switch a.Kind {
			case trace.KindIrecv:
				open++
				got[a.Tag] = a.X[0]
			case trace.KindRecv:
				got[a.Tag] = a.X[0]
			case trace.KindWait:
				open--
			case trace.KindComplete, trace.KindWaitAll:
				open = 0
			case trace.KindSendrecv:
				_, tag := a.Source()
				got[tag] = a.X[1]
			}
		}
		for tag := range int32(11) {
			want := int64(4)
			if tag%2 == 0 {
				want = long
			}
			if bytes, ok := got[tag]; !ok || bytes != want {
				t.Errorf("tag %d: %d bytes, %v, want %d", tag, bytes, ok, want)
			}
		}
		if open != 0 {
			t.Errorf("%d requests are left", open)
		}
	})
}

// TestMessages: the messages of testdata/messages.c are those that a second tool counts.
func TestMessages(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "messages.c")
		got := sent(actions(t, m.traced(t, "4", program)))
		if diff := cmp.Diff(m.counted(t, "4", program), got); diff != "" {
			t.Errorf("messages (-counted +recorded):\n%s", diff)
		}
	})
}

// sent lists the messages of a trace: source, destination, tag and bytes.
func sent(ranks [][]trace.Action) (list []string) {
	for rank, actions := range ranks {
		for _, a := range actions {
			switch a.Kind {
			case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart, trace.KindSendrecv:
				list = append(list, fmt.Sprintln(rank, a.Peer, a.Tag, a.X[0]))
			}
		}
	}
	slices.Sort(list)
	return list
}

// counted runs a program with the tool of testdata/counter.c alone.
func (m mpi) counted(t *testing.T, ranks string, program ...string) (list []string) {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "counter.so")
	build(t, m.compiler, "-shared", "-fPIC", "-o", tool, "testdata/counter.c")
	counts := filepath.Join(t.TempDir(), "counts")
	build(t, m.launcher[0], slices.Concat(m.launcher[1:], []string{ranks, "env", "LD_PRELOAD=" + tool, "COUNTS=" + counts}, program)...)
	files, _ := filepath.Glob(counts + ".*")
	for _, name := range files {
		list = slices.AppendSeq(list, strings.Lines(string(must(os.ReadFile(name)))))
	}
	slices.Sort(list)
	return list
}

// TestHandlers: the error handler of testdata/handlers.c is called as often as without the recorder,
// and what its ranks send is in the trace.
func TestHandlers(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "handlers.c")
		args := append(slices.Clone(m.launcher), "2", program)
		plain, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, plain)
		}
		dir, out, err := m.record(t, "2", program)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if diff := cmp.Diff(lines(string(plain)), lines(out)); diff != "" {
			t.Errorf("calls of the handler (-without +recorded):\n%s", diff)
		}
		want := []string{"0 1 1 8\n", "0 1 2 4\n", "1 0 1 8\n", "1 0 2 4\n"}
		tr, _ := merged(t, dir, capture.Options{})
		if diff := cmp.Diff(want, sent(actions(t, tr))); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
}

// lines returns the lines of a text in order.
func lines(text string) []string {
	list := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(list)
	return list
}

// TestDrain: of testdata/any.c rank 0 waits for any of its requests as often as there are, by
// either call, whichever came first; of what is begun anew meanwhile, for what had ended.
func TestDrain(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "any.c")
		for _, ranks := range []string{"2", "4"} {
			var got, want []trace.Kind
			tr := m.traced(t, ranks, program)
			turns := 0
			for _, a := range actions(t, tr)[0] {
				got = append(got, a.Kind)
				if a.Kind == trace.KindCollective {
					turns++
				}
				how := trace.CompleteAny
				if turns >= 10 {
					how = trace.CompleteSome
				}
				if a.Kind == trace.KindComplete && trace.Completion(a.Sym) != how {
					t.Errorf("%s ranks, turn %d: %v, want %v", ranks, turns, trace.Completion(a.Sym), how)
				}
			}
			others := tr.Header().Ranks - 1
			each, done := trace.KindComplete, others
			if others == 1 {
				each = trace.KindWait // for one request alone
			}
			for range 20 {
				want = append(want, slices.Repeat([]trace.Kind{trace.KindIrecv}, others)...)
				want = append(want, slices.Repeat([]trace.Kind{each}, done)...)
				want = append(want, trace.KindCollective)
			}
			for range 10 * (2 - min(2, others)) {
				want = append(want, trace.KindIrecv, trace.KindWait)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s ranks: %v, want %v", ranks, got, want)
			}
		}
	})
}

// must returns a value that tests need.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
