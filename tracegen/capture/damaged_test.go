package capture_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/tracegen/capture"
)

// TestDamaged: recordings of testdata/ring.c some of whose bytes are others, or from elsewhere, are
// refused, or what they say is what it was; --partial is no way around that.
func TestDamaged(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "3", m.compile(t, "ring.c"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		merge := func(partial bool) ([]byte, error) {
			var b bytes.Buffer
			_, err := capture.Merge(dir, &b, capture.Options{Rate: 1e9, Partial: partial})
			return b.Bytes(), err
		}
		want, err := merge(false)
		if err != nil {
			t.Fatal(err)
		}
		var files [3][]byte
		for rank := range files {
			if files[rank], err = os.ReadFile(filepath.Join(dir, strconv.Itoa(rank))); err != nil {
				t.Fatal(err)
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		refused := 0
		for attack := range 400 {
			rank := random.IntN(3)
			data := slices.Clone(files[rank])
			place := func() int { // half of them in the header
				if random.IntN(2) == 0 {
					return random.IntN(1300)
				}
				return 4096 + random.IntN(len(data)-4096)
			}
			at := place()
			length := min(1+random.IntN(64), len(data)-at)
			switch attack % 5 {
			case 0:
				data[at] ^= 1 << random.IntN(8)
			case 1:
				for range 1 + random.IntN(20) {
					data[place()] = byte(random.Uint32())
				}
			case 2: // of another rank, or of another place
				other := files[random.IntN(3)]
				from := random.IntN(len(other) - length)
				copy(data[at:at+length], other[from:])
			case 3: // taken out
				data = append(data[:at], data[at+length:]...)
			case 4: // twice
				data = slices.Insert(data, at, data[at:at+length]...)
			}
			name := filepath.Join(dir, strconv.Itoa(rank))
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, partial := range []bool{false, true} {
				got, err := merge(partial)
				switch {
				case err != nil && !strings.Contains(err.Error(), dir):
					t.Errorf("attack %d: error %q names no file", attack, err)
				case err != nil:
					refused++
				case !bytes.Equal(got, want):
					t.Errorf("attack %d, at byte %d of rank %d, partial %v: merged to another trace", attack, at, rank, partial)
				}
			}
			if err := os.WriteFile(name, files[rank], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if refused < 500 {
			t.Errorf("%d of 800 merges were refused: the attacks hit nothing", refused)
		}
	})
}

// TestPartialSays: a rank that is killed is named, with what is lost with it.
func TestPartialSays(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, _, err := m.record(t, "2", m.compile(t, "ends.c"), "kill")
		if err == nil {
			t.Fatal("it did not fail")
		}
		var b bytes.Buffer
		s, err := capture.Merge(dir, &b, capture.Options{Rate: 1e9, Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, strings.Join(s.Warnings, "\n"), "without MPI_Finalize", "bytes of its recording have no checksum")
	})
}
