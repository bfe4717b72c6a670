package simgrid

import (
	"os"
	"path/filepath"
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
	tr, err := Open(filepath.Join(dir, "index"), dir)
	if err != nil {
		t.Fatal(err)
	}
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
		tr, err := Open(filepath.Join(dir, "index"), dir)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := tr.Hash()
		if err != nil {
			t.Fatal(err)
		}
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
