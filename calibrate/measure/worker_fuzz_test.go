package measure

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// FuzzWorker: whatever a process says, be it a library's greeting or a core dump, is taken
// for timings of calls that there are or for an error of a few lines.
func FuzzWorker(f *testing.F) {
	for _, text := range []string{"ready BLAS\n0 1e-3 1e-3\nend\n", "ready\n", "error no memory\n", "ready x\nerror y\n", "ready x\n0 NaN 1\n", "ready x\n1 1e300 0\n-1 1 1\n", strings.Repeat("x", 1<<17)} {
		f.Add([]byte(text))
	}
	const calls = 3
	f.Fuzz(func(t *testing.T, output []byte) {
		w := &worker{cmd: exec.Command("none"), out: bufio.NewScanner(bytes.NewReader(output)), stderr: &tail{}}
		err := w.ready()
		for err == nil {
			number, seconds, cpu, next := 0, 0.0, 0.0, error(nil)
			number, seconds, cpu, next = w.next(calls)
			if err = next; err == nil && !(number >= 0 && number < calls && seconds > 0 && seconds < 1e9 && cpu >= 0 && cpu < 1e9) {
				t.Errorf("call %d of %d, %g and %g seconds", number, calls, seconds, cpu)
			}
		}
		if len(err.Error()) > 4*mostKept {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		if len(output) == 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
}
