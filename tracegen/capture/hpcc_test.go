package capture_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/cut"
	"reprise/trace/verify"
	"reprise/tracegen/hpl"
)

// ofSupport is the tag of the operations that HPL makes of messages itself, beside the
// factorization and the solve: in front of it, in its check, and for the last part of the
// solution.
const ofSupport = 9001

// TestHPLOfHPCC: HPL 2.0, cut out of the trace of hpcc by the communicators that it alone uses,
// sends the messages that `tracegen hpl` says, with the pivots of HPL's own matrix: of the 12
// configurations of testdata/hpccinf.txt, as many with the same communicator, source,
// destination, tag and size.
func TestHPLOfHPCC(t *testing.T) {
	if testing.Short() {
		t.Skip("hpcc runs seven benchmarks")
	}
	for _, program := range []string{"hpcc", "mpirun.openmpi"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	input := must(os.ReadFile("testdata/hpccinf.txt"))
	t.Chdir(t.TempDir())
	if err := os.WriteFile("hpccinf.txt", input, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(planned(t, input), partOfHPL(t, libraries[0].traced(t, "4", "hpcc"))); diff != "" {
		t.Errorf("messages of tracegen hpl (-), of hpcc (+)\n%s", diff)
	}
}

// planned returns how often messages are sent in all configurations of an HPL.dat.
func planned(t *testing.T, input []byte) map[string]int {
	t.Helper()
	dat, err := hpl.ReadDat(bytes.NewReader(input), "hpccinf.txt")
	if err != nil || dat.Combinations() != 12 {
		t.Fatal(dat.Combinations(), err)
	}
	sum := map[string]int{}
	for k := range dat.Combinations() {
		p, err := dat.Combination(k + 1)
		if err == nil {
			err = p.Pivots.Set("lu")
		}
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := hpl.Generate(t.Context(), &file, p, hpl.Options{}); err != nil {
			t.Fatal(err)
		}
		count(t, tracetest.Open(t, file.Bytes()), func(family string) string { return family }, sum)
	}
	return sum
}

// partOfHPL cuts HPL out and returns how often messages are sent on the communicators of rows and
// columns.
func partOfHPL(t *testing.T, tr *trace.Trace) map[string]int {
	t.Helper()
	names, all := roles(t, tr)
	var file bytes.Buffer
	from, to := cut.Mark{Kind: cut.CommFirst, Name: all}, cut.Mark{Kind: cut.CommLast, Name: all}
	if _, err := cut.Write(&file, tr, from, to, cut.Options{}); err != nil {
		t.Fatal(err)
	}
	part := tracetest.Open(t, file.Bytes())
	if _, err := verify.Trace(part, nil); err != nil {
		t.Fatal(err)
	}
	sum := map[string]int{}
	count(t, part, func(family string) string { return names[family] }, sum)
	return sum
}

// roles tells the communicators of HPL by the tags on them: those of broadcasts of panels are of
// rows, those of pivots and swaps of columns; on that of all ranks is support alone.
func roles(t *testing.T, tr *trace.Trace) (names map[string]string, all string) {
	t.Helper()
	tags := map[string]map[int32]bool{}
	for _, list := range actions(t, tr) {
		for _, a := range list {
			if sends(&a) {
				family := tr.Header().CommFamilies[a.Sym].Name
				if tags[family] == nil {
					tags[family] = map[int32]bool{}
				}
				tags[family][a.Tag] = true
			}
		}
	}
	names = map[string]string{}
	for _, family := range slices.Sorted(maps.Keys(tags)) {
		between := func(low, high int32) bool {
			for tag := range tags[family] {
				if tag >= low && tag < high {
					return true
				}
			}
			return false
		}
		switch {
		case !tags[family][ofSupport]:
		case len(tags[family]) == 1:
			all = family
		case between(2001, 3001):
			names[family] = "row"
		case between(1001, 2001):
			names[family] = "col"
		}
	}
	if all == "" || len(names) != 2 {
		t.Fatalf("communicators %v and %q, of tags %v", names, all, tags)
	}
	return names, all
}

func sends(a *trace.Action) bool {
	switch a.Kind {
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindExchange, trace.KindSyncExchange, trace.KindSendrecv:
		return true
	}
	return false
}

// count adds up the messages on communicators that have a name, but for those of support.
func count(t *testing.T, tr *trace.Trace, name func(family string) string, sum map[string]int) {
	t.Helper()
	cursors := must(tr.Cursors(nil, trace.CursorOptions{}))
	for rank := range cursors {
		r := trace.NewActionReader(&cursors[rank], trace.Hit{}, 0)
		for a := r.Next(); a != nil; a = r.Next() {
			if !sends(a) || a.Tag == ofSupport {
				continue
			}
			if of := name(tr.Header().CommFamilies[a.Sym].Name); of != "" {
				sum[fmt.Sprintf("%s: %d to %d, tag %d, %d bytes", of, rank, a.Peer, a.Tag, a.X[0])]++
			}
		}
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
