package simgrid

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"reprise/internal/snapshot"
	"reprise/internal/snapshot/snapshottest"
	"reprise/trace"
)

// TestSnapshotFields: what is not saved follows from the files and the number of times that
// each rank was asked for actions.
func TestSnapshotFields(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"index": "a\nb\n", "a": "0 send 1 0 5\n0 send 1 0 6\n", "b": "1 recv 0 0 5\n1 recv 0 0 6\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr := must(Open(filepath.Join(dir, "index"), dir))
	if _, err := tr.Fill(0, make([]trace.Action, 1)); err != nil {
		t.Fatal(err)
	}
	snapshottest.Fields(t, tr, func(c *snapshot.State, tr *Trace) { tr.state(c) }, "name ranks defaultSize streams shared memory recent numbers form ahead")
	snapshottest.Fields(t, &tr.streams[0], func(c *snapshot.State, _ *stream) { tr.state(c) },
		"requests rank lines queue taken over last lists odd odds own err")
}

// TestHash: the hash depends on the text of every file.
func TestHash(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash := func() string {
		tr := must(Open(filepath.Join(dir, "index"), dir))
		sum := must(tr.Hash())
		return string(sum[:])
	}
	write("index", "a\nb\n")
	write("a", "0 init\n")
	write("b", "1 init\n")
	seen := map[string]bool{hash(): true}
	for _, change := range [][2]string{{"a", "0 init\n0 compute 1\n"}, {"b", "1 init\n1 compute 1\n"}, {"index", "a\n"}} {
		write(change[0], change[1])
		if sum := hash(); seen[sum] {
			t.Errorf("%s changed: same hash", change[0])
		} else {
			seen[sum] = true
		}
	}
}

// TestDigits: numbers of all lengths are read as the standard library reads them, whatever
// follows, at any distance from the end of the text.
func TestDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200000 {
		n := random.Int64N(1 << random.IntN(52))
		field := strconv.FormatInt(n, 10)
		if random.IntN(8) == 0 {
			field = "000"[:random.IntN(4)] + field
		}
		behind := []string{"\n", " \n", " 7\n", "\t12345678\n", "\r\n", "x\n", ".5\n", "-1\n", ":\n", "/ 1\n", "\xff\n", "\x80 \n"}[random.IntN(12)]
		text := []byte(" \t  "[:random.IntN(5)] + field + behind)
		got, end := digits(text, 0)
		if len(field) > 15 || !in(ends, behind[0]) {
			if end != 0 {
				t.Fatalf("%q: %d up to %d, want another field", text, got, end)
			}
			continue
		}
		if want := fmt.Sprint(n); fmt.Sprint(got) != want || end != len(text)-len(behind) {
			t.Fatalf("%q: %d up to %d, want %s up to %d", text, got, end, want, len(text)-len(behind))
		}
	}
	for _, text := range []string{"\n", " x\n", "-1\n", "+1\n", "x1234567890\n"} {
		if _, end := digits([]byte(text), 0); end != 0 {
			t.Errorf("%q is read as a number", text)
		}
	}
}

// must returns a value that tests need.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
