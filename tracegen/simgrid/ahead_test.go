package simgrid_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/tracegen/simgrid"
)

// asked is what a call of Fill returns.
type asked struct {
	Actions []trace.Action
	Sums    [][]int64 // of the counts that they name
	Error   string
}

// ask asks for eight actions, as a replay does.
func ask(tr *simgrid.Trace, rank int32) (a asked) {
	buf := make([]trace.Action, 8)
	n, err := tr.Fill(rank, buf)
	if err != nil {
		a.Error = err.Error()
	}
	a.Actions = buf[:n]
	for i := range a.Actions {
		if a.Actions[i].Kind == trace.KindCollective {
			a.Sums = append(a.Sums, tr.Sums(rank, a.Actions[i].X[1]))
		}
	}
	return a
}

// mixedFiles are ranks that do different things for a while: some thousand lines, with
// counts per rank here and there. One rank ends with a wait left out, another with a mistake.
func mixedFiles(ranks int) map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	return rankFiles(ranks, func(w *strings.Builder, r int) {
		for i := range random.IntN(2000) {
			switch random.IntN(5) {
			case 0:
				fmt.Fprintf(w, "%d compute %d\n", r, i)
			case 1:
				fmt.Fprintf(w, "%d irecv %d %d 8\n%d wait %d %d %d\n", r, (r+1)%ranks, i, r, (r+1)%ranks, r, i)
			case 2:
				fmt.Fprintf(w, "%d location x.c %d\n", r, i)
			case 3:
				fmt.Fprintf(w, "%d send %d %d %d\n", r, (r+1)%ranks, i, i)
			}
			if random.IntN(100) == 0 {
				fmt.Fprintf(w, "%d gatherv 5%s\n", r, strings.Repeat(fmt.Sprintf(" %d", i), ranks))
			}
		}
		switch r {
		case 1:
			fmt.Fprintf(w, "%d irecv 0 9999 8\n", r)
		case 2:
			fmt.Fprintf(w, "%d nonsense\n%d compute 1\n", r, r)
		}
	})
}

// openIn opens the index in dir.
func openIn(t testing.TB, dir string) *simgrid.Trace {
	t.Helper()
	tr := must(simgrid.Open(filepath.Join(dir, "trace.index"), dir))
	return tr
}

// TestReadAhead: with a reader all calls return the same, whatever the order in which the
// ranks ask; also if it is stopped on the way. A checkpoint may be written while the reader is at work; the race
// detector looks on.
func TestReadAhead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const ranks = 7
	dir := t.TempDir()
	writeFiles(t, dir, mixedFiles(ranks))
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 0))
		plain, ahead := openIn(t, dir), openIn(t, dir)
		ahead.ReadAhead()
		stop := random.IntN(1500)
		for i := range 1500 {
			if i == stop {
				ahead.Close()
			}
			rank := int32(random.IntN(ranks))
			if i%50 < 40 {
				rank = int32(i / 50 % ranks) // some go on for long
			}
			if diff := cmp.Diff(ask(plain, rank), ask(ahead, rank)); diff != "" {
				t.Fatalf("seed %d, call %d, of rank %d (-plain +ahead):\n%s", seed, i, rank, diff)
			}
			if i%7 == 0 {
				if err := ahead.SaveState(io.Discard); err != nil {
					t.Fatal(err)
				}
			}
		}
		ahead.Close()
		if diff := cmp.Diff(plain.Warnings(), ahead.Warnings()); diff != "" {
			t.Errorf("warnings (-plain +ahead):\n%s", diff)
		}
	}
}

// TestReadAheadLate: a reader that comes after the first Fill would begin behind the
// lists of the last one, so there is none; and what it has taken a conversion lacks.
func TestReadAheadLate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	dir := t.TempDir()
	writeFiles(t, dir, rankFiles(2, func(w *strings.Builder, r int) {
		fmt.Fprintf(w, "%d gatherv 5 1 2\n", r)
		for i := range 20 {
			fmt.Fprintf(w, "%d compute %d\n", r, i)
		}
	}))
	tr := openIn(t, dir)
	first := ask(tr, 0)
	tr.ReadAhead()
	defer tr.Close()
	total := len(first.Actions)
	for a := first; len(a.Actions) > 0; total += len(a.Actions) {
		a = ask(tr, 0)
	}
	if total != 21 {
		t.Errorf("%d actions, want 21", total)
	}

	early := openIn(t, dir)
	early.ReadAhead()
	defer early.Close()
	if err := early.Convert(nil, nil); err == nil || !strings.Contains(err.Error(), "read ahead") {
		t.Errorf("conversion: %v", err)
	}
}

// TestReadAheadPipe: a pipe in the place of a rank's file is an error for who asks for it,
// and keeps nobody else waiting.
func TestReadAheadPipe(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	dir := t.TempDir()
	writeFiles(t, dir, rankFiles(2, func(w *strings.Builder, r int) {
		for i := range 1000 {
			fmt.Fprintf(w, "%d compute %d\n", r, i)
		}
	}))
	pipe := dir + "/pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	tr := openIn(t, dir)
	if err := os.Rename(pipe, tr.Files()[1]); err != nil {
		t.Fatal(err)
	}
	tr.ReadAhead()
	defer tr.Close()
	for range 100 {
		if a := ask(tr, 0); len(a.Actions) == 0 || a.Error != "" {
			t.Fatalf("rank 0: %v", a)
		}
	}
	if a := ask(tr, 1); !strings.Contains(a.Error, "illegal seek") {
		t.Errorf("rank 1: %v", a)
	}
}
