package capture_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestFortran: testdata/ring.f90 by each of the three bindings. A rank sends 10, 20, 30 and 40
// doubles in turn and receives them from the rank before it; then 5 integers.
func TestFortran(t *testing.T) {
	source, err := os.ReadFile("testdata/ring.f90")
	if err != nil {
		t.Fatal(err)
	}
	eachMPI(t, func(t *testing.T, m mpi) {
		compiler := map[string]string{"openmpi": "mpifort.openmpi", "mpich": "mpifort.mpich"}[m.name]
		for _, b := range []struct{ module, request string }{
			{"use mpi_f08", "type(MPI_Request)"},
			{"use mpi", "integer"},
			{"include 'mpif.h'", "integer"},
		} {
			t.Run(strings.Fields(b.module)[1], func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "ring.f90")
				text := strings.NewReplacer("! A ring in Fortran. REQUEST and MODULE are", "! These were", "MODULE", b.module, "REQUEST", b.request).Replace(string(source))
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				program := strings.TrimSuffix(file, ".f90")
				if out, err := exec.Command(compiler, "-fallow-argument-mismatch", "-o", program, file).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				dir, out, err := m.record(t, "3", program)
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				for rank, list := range actions(t, merged(t, dir, capture.Options{})) {
					to, from := (rank+1)%3, (rank+2)%3
					var got, want []string
					for i := int64(1); i <= 4; i++ {
						want = append(want, fmt.Sprint("irecv ", from, 7, 80*i), fmt.Sprint("isend ", to, 7, 80*i), "waitall", "allreduce 3x8")
					}
					want = append(want, fmt.Sprint("sendrecv ", to, 1, 20))
					for _, a := range list {
						switch a.Kind {
						case trace.KindCollective:
							got = append(got, fmt.Sprintf("%v %dx%d", trace.CollectiveKind(a.Sym), a.X[0], a.X[3]&0xffffffff))
						case trace.KindWaitAll:
							got = append(got, "waitall")
						default:
							got = append(got, fmt.Sprint(a.Kind.String()+" ", a.Peer, a.Tag, a.X[0]))
						}
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("rank %d (-want +got):\n%s", rank, diff)
					}
				}
			})
		}
	})
}
