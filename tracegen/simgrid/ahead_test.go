package simgrid_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
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

// TestReadAhead: with a reader all calls return the same, whatever the order in which the
// ranks ask; also if it is stopped on the way.
func TestReadAhead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const ranks = 7
	dir := t.TempDir()
	writeFiles(t, dir, mixedFiles(ranks))
	openIn := func() *simgrid.Trace {
		tr, err := simgrid.Open(dir+"/trace.index", dir)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 0))
		plain, ahead := openIn(), openIn()
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
		}
		ahead.Close()
		if diff := cmp.Diff(plain.Warnings(), ahead.Warnings()); diff != "" {
			t.Errorf("warnings (-plain +ahead):\n%s", diff)
		}
	}
}
