package capture_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// mergeError returns what is wrong with recordings.
func mergeError(t *testing.T, dir string, o capture.Options) string {
	t.Helper()
	o.Rate = 1e9
	if _, err := capture.Merge(dir, io.Discard, o); err != nil {
		return err.Error()
	}
	return ""
}

func wantError(t *testing.T, got string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(got, word) {
			t.Errorf("error %q does not say %q", got, word)
		}
	}
}

// collectives counts the collective operations of each rank.
func collectives(ranks [][]trace.Action) (counts []int) {
	for _, list := range ranks {
		counts = append(counts, kinds(list)[trace.KindCollective])
	}
	return counts
}

// TestEnds: testdata/ends.c makes ten reductions and ends in one way or another; what its ranks
// have done together until then is there, and a rank that is killed is named, with what is lost with it. The
// launcher may kill one in the tenth when the other has ended. A program that fails passes its status on, and
// its trace is complete.
func TestEnds(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "ends.c")
		for _, c := range []struct {
			how             string
			fails           bool
			words, warnings []string
		}{
			{"abort", true, []string{"rank ", "--partial"}, nil},
			{"kill", true, []string{"rank ", "without MPI_Finalize", "--partial"},
				[]string{"without MPI_Finalize", "bytes of its recording have no checksum"}},
			{"exit", m.name == "openmpi", []string{"rank 0", "without MPI_Finalize"}, nil},
		} {
			dir, out, err := m.record(t, "2", program, c.how)
			if c.fails && err == nil {
				t.Errorf("%s: it did not fail\n%s", c.how, out)
			}
			wantError(t, mergeError(t, dir, capture.Options{}), c.words...)
			tr, s := merged(t, dir, capture.Options{Partial: true})
			wantError(t, strings.Join(s.Warnings, "\n"), c.warnings...)
			for rank, n := range collectives(actions(t, tr)) {
				if n < 9 {
					t.Errorf("%s: rank %d: %d operations, want 9 at least", c.how, rank, n)
				}
			}
		}
		dir, _, err := m.record(t, "2", program, "code")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 5 {
			t.Errorf("%v, want status 5", err)
		}
		merged(t, dir, capture.Options{})
	})
}

// TestRefused: calls that a trace cannot have are named and counted, or left out. Debian's MPICH
// cannot spawn.
func TestRefused(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		if m.name == "mpich" {
			t.Skip("it cannot spawn")
		}
		dir := m.recorded(t, "2", m.compile(t, "ends.c"), "spawn")
		wantError(t, mergeError(t, dir, capture.Options{}), "MPI_Comm_spawn (2)", "--leave-out")
		s, err := capture.Merge(dir, io.Discard, capture.Options{Rate: 1e9, LeaveOut: true})
		if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "MPI_Comm_spawn (2)") {
			t.Errorf("%v, %+v", err, s)
		}
	})
}

// TestFiles: recordings that do not belong together, or are damaged.
func TestFiles(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "ring.c")
		dir, other := m.recorded(t, "3", program), m.recorded(t, "3", program)
		one := filepath.Join(dir, "1")
		data, foreign := must(os.ReadFile(one)), must(os.ReadFile(filepath.Join(other, "1")))
		damaged := bytes.Clone(data)
		for i := 4096; i < len(damaged); i++ {
			damaged[i] = 0xff
		}
		for _, c := range []struct {
			data []byte
			word string
		}{
			{foreign, "different runs"}, {data[:len(data)-100], "cut"}, {data[:4000], "less than the header"},
			{bytes.Repeat([]byte("x"), 5000), "not the recording"}, {damaged, "damaged"},
		} {
			if err := os.WriteFile(one, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			wantError(t, mergeError(t, dir, capture.Options{}), one, c.word)
		}
		if err := os.Remove(one); err != nil {
			t.Fatal(err)
		}
		wantError(t, mergeError(t, dir, capture.Options{}), dir, "rank 1 of 3 has no recording")
	})
}

// TestStatic: a program with MPI in it is refused before it runs, and so is one that is linked
// statically, unless another one comes before it: then it has recorded nothing when it has run.
func TestStatic(t *testing.T) {
	source := filepath.Join(t.TempDir(), "static.c")
	program := strings.TrimSuffix(source, ".c")
	for _, c := range []struct {
		text, word string
		flags      []string
		before     []string
	}{
		{"int main(void) { return 0; }", "is linked statically", []string{"-static"}, []string{"env"}},
		{"int main(void) { for (;;); }", "is linked statically", []string{"-static"}, nil},
		{"int main(void) { for (;;); }", "is linked statically", []string{"-static"}, []string{"mpirun", "-np", "2"}},
		{"int MPI_Init(void) { return 0; } int main(void) { return MPI_Init(); }", "MPI's library in it", nil, []string{"env"}},
	} {
		if err := os.WriteFile(source, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		build(t, "cc", append(c.flags, "-o", program, source)...)
		err := capture.Record(t.Context(), t.TempDir(), capture.Command{Args: append(c.before, program)})
		if err == nil {
			t.Fatalf("%s: recorded", c.text)
		}
		wantError(t, err.Error(), program, c.word)
	}
}

// TestStaticArgument: a program that is linked statically may be an argument of one that is not.
func TestStaticArgument(t *testing.T) {
	argument := filepath.Join(t.TempDir(), "code")
	build(t, "sh", "-c", "echo 'int main(void) { return 0; }' | cc -static -x c -o $0 -", argument)
	eachMPI(t, func(t *testing.T, m mpi) {
		m.traced(t, "2", m.compile(t, "ends.c"), argument)
	})
}

// TestFullDisk: a program whose recording finds no room goes on; the merge says what was full.
func TestFullDisk(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "ends.c")
		dir := t.TempDir()
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", dir).CombinedOutput(); err != nil {
			t.Skipf("no small file system: %v %s", err, out)
		}
		defer func() {
			if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
				t.Errorf("%v %s", err, out)
			}
		}()
		var text bytes.Buffer
		err := capture.Record(t.Context(), dir, capture.Command{
			Args: append(m.launcher[:len(m.launcher):len(m.launcher)], "2", program, "many"), Stdout: &text, Stderr: &text})
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		wantError(t, text.String(), "No space left on device")
		wantError(t, mergeError(t, dir, capture.Options{}), filepath.Join(dir, "0"), "rank 0", "no space left on device")
		tr, _ := merged(t, dir, capture.Options{Partial: true})
		for rank, n := range collectives(actions(t, tr)) {
			if n != 10 {
				t.Errorf("rank %d: %d operations, want 10", rank, n)
			}
		}
	})
}

// TestDamaged: recordings of testdata/ring.c some of whose bytes are others, or from elsewhere, are
// refused, or what they say is what it was; --partial is no way around that.
func TestDamaged(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir := m.recorded(t, "3", m.compile(t, "ring.c"))
		merge := func(partial bool) ([]byte, error) {
			var b bytes.Buffer
			_, err := capture.Merge(dir, &b, capture.Options{Rate: 1e9, Partial: partial})
			return b.Bytes(), err
		}
		want := must(merge(false))
		var files [3][]byte
		for rank := range files {
			files[rank] = must(os.ReadFile(filepath.Join(dir, strconv.Itoa(rank))))
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
