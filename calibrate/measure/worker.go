package measure

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"reprise/internal/wording"
)

// worker is a process that times calls.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	about  string // what it says of its dgemm
	stderr *tail
}

// threadVariables tell the usual libraries how many threads to use.
var threadVariables = []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "GOMAXPROCS"}

// startWorker starts a command on the cores, nil for any. It ends with ctx, or when close is called.
func startWorker(ctx context.Context, command []string, cores []int, threads int) (*worker, error) {
	w := &worker{cmd: exec.CommandContext(ctx, command[0], command[1:]...), stderr: &tail{}}
	w.cmd.Env = os.Environ()
	for _, name := range threadVariables {
		w.cmd.Env = append(w.cmd.Env, name+"="+strconv.Itoa(threads))
	}
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for us only
	w.cmd.Stderr = w.stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if cores == nil {
		err = w.cmd.Start()
	} else {
		err = startOn(w.cmd, cores)
	}
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	w.out = bufio.NewScanner(out)
	if err := w.ready(); err != nil {
		_ = w.close() // with the same reason
		return nil, err
	}
	return w, nil
}

// ready reads what the worker says first.
func (w *worker) ready() error {
	line, err := w.line()
	if err != nil {
		return err
	}
	about, ok := strings.CutPrefix(line, "ready ")
	if !ok {
		return fmt.Errorf("worker: want \"ready\", found %s", wording.Quote(line))
	}
	w.about = about
	return nil
}

// line returns the next line of the worker.
func (w *worker) line() (string, error) {
	if !w.out.Scan() {
		err := w.out.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return "", fmt.Errorf("worker ended: %w: %s", err, w.why())
	}
	line := w.out.Text()
	if text, ok := strings.CutPrefix(line, "error "); ok {
		return "", fmt.Errorf("worker: %s", wording.Cut(text, mostKept))
	}
	return line, nil
}

// why waits for the end of a worker that says nothing more, and returns what is
// known of it.
func (w *worker) why() string {
	if err := w.cmd.Wait(); err != nil {
		return strings.TrimSpace(err.Error() + " " + w.stderr.String())
	}
	return strings.TrimSpace("without an error " + w.stderr.String())
}

// seconds returns the time of one call.
func (w *worker) seconds(s Size) (float64, error) {
	if _, err := fmt.Fprintf(w.in, "%d %d %d\n", s.M, s.N, s.K); err != nil {
		return 0, fmt.Errorf("worker ended: %w: %s", err, w.why())
	}
	line, err := w.line()
	if err != nil {
		return 0, err
	}
	seconds, err := strconv.ParseFloat(line, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e9) {
		return 0, fmt.Errorf("worker: want seconds, found %s", wording.Quote(line))
	}
	return seconds, nil
}

// close lets the worker end.
func (w *worker) close() error {
	err := w.in.Close()
	if w.cmd.ProcessState == nil {
		err = errors.Join(err, w.cmd.Wait())
	}
	return err
}

// tail keeps the beginning of what a worker writes to standard error.
type tail struct{ text strings.Builder }

const mostKept = 500

func (t *tail) Write(p []byte) (int, error) {
	if room := mostKept - t.text.Len(); room > 0 {
		t.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *tail) String() string { return firstLine(t.text.String()) }
