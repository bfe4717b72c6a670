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

// nowhere is the input of a worker that is not there.
type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// FuzzWorker: whatever a worker says, be it a library's greeting or a core dump, is taken
// for seconds or for an error of a few lines.
func FuzzWorker(f *testing.F) {
	for _, text := range []string{"ready BLAS\n1e-3\n2\n", "ready\n", "error no memory\n", "ready x\nerror y\n", "ready x\nNaN\n", "ready x\n1e300\n-0\n", strings.Repeat("x", 1<<17)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		w := &worker{cmd: exec.Command("none"), in: nowhere{io.Discard}, out: bufio.NewScanner(bytes.NewReader(output)), stderr: &tail{}}
		err := w.ready()
		for err == nil {
			var seconds float64
			if seconds, err = w.seconds(Size{1, 2, 3}); err == nil && !(seconds >= 0 && seconds < 1e9) {
				t.Errorf("%g seconds", seconds)
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
