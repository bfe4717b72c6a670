package capture

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"reprise/internal/regular/regulartest"
)

// writeRecordings writes recordings under the names of ranks.
func writeRecordings(t *testing.T, files ...[]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for rank, data := range files {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(rank)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var finalizes = []byte{20, byte(procFinalize), 0}

// TestPartialDrops: from a send that the other rank has not received on, and from an operation on a
// communicator on that it has not made, the rank is cut, and --partial says so.
func TestPartialDrops(t *testing.T) {
	gap := byte(20)
	for _, c := range []struct {
		records []byte
		want    string
	}{
		{[]byte{gap, byte(procSend), 1, 2, 14, 5, 8}, "rank 0: the last 1 of 2 actions are dropped, as other ranks have not recorded their side"},
		{[]byte{gap, byte(procCommsplit), 1, 3, 0, 0, 1, 0, 2, 0, 0, 0, gap, byte(procBarrier), 3, gap, byte(procFinalize), 0},
			"rank 0: the last 2 of 3 calls are dropped: MPI_Barrier: a communicator that not all of its ranks have made"},
		{[]byte{gap, byte(procCommsplit), 1, 3, 0, 0, 1, 0, 2, 0, 0, 0, gap, byte(procCommdup), 3, 3, 0, 0, 0, 0, 0, 0,
			gap, byte(procBarrier), 4, gap, byte(procFinalize), 0},
			"rank 0: the last 2 of 4 calls are dropped: MPI_Barrier: a communicator that not all of its ranks have made"},
	} {
		s, err := Merge(writeRecordings(t, recording(0, c.records), recording(1, finalizes)), io.Discard, Options{Rate: 1e9, Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Warnings, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("warnings %q, want %q", got, c.want)
		}
	}
}

// TestHeader: the part of the header that has a checksum is all before used.
func TestHeader(t *testing.T) {
	if got := unsafe.Offsetof(header{}.Used); got != usedOffset {
		t.Errorf("used is at byte %d, not %d", got, usedOffset)
	}
}

func TestSpecialRecordings(t *testing.T) {
	regulartest.Special(t, func(t *testing.T, what string, put func(string)) {
		dir := writeRecordings(t, recording(0, finalizes))
		put(filepath.Join(dir, "1"))
		_, err := Merge(dir, io.Discard, Options{Rate: 1e9})
		if want := filepath.Join(dir, "1") + ": want a regular file, this is " + what; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// TestOddRecordings: sizes are claims, and a rank has one recording.
func TestOddRecordings(t *testing.T) {
	for _, claim := range []struct {
		used int64
		want string
	}{{1 << 40, "at most 17179869184"}, {1 << 26, "damaged: the checksum"}} {
		dir := writeRecordings(t, recording(0, finalizes))
		path := filepath.Join(dir, "1")
		regulartest.Sparse(t, path, headerBytes+claim.used)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		h := header{Run: 1, Rank: 1, Size: 2}
		copy(h.Magic[:], magic+string(version))
		data := stated(h, mark{Used: claim.used}, nil)
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if _, err := Merge(dir, io.Discard, Options{Rate: 1e9}); err == nil || !strings.Contains(err.Error(), claim.want) {
			t.Errorf("%v, want %s", err, claim.want)
		}
	}
	dir := writeRecordings(t, recording(0, finalizes), recording(0, finalizes))
	if _, err := Merge(dir, io.Discard, Options{Rate: 1e9}); err == nil || !strings.Contains(err.Error(), "are both of rank 0") {
		t.Errorf("two recordings of a rank: %v", err)
	}
}
