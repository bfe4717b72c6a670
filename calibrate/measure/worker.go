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

// worker is a process that times the calls of a plan.
type worker struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	about  string // what it says of its BLAS
	stderr *tail
}

// threadVariables tell the usual libraries how many threads to use.
var threadVariables = []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}

// startWorker starts a command on the cores, nil for any. It ends with ctx.
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
	if cores == nil {
		err = w.cmd.Start()
	} else {
		err = startOn(w.cmd, cores)
	}
	if err != nil {
		return nil, fmt.Errorf("measuring process: %w", err)
	}
	w.out = bufio.NewScanner(out)
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
		return fmt.Errorf("measuring process: want \"ready\", found %s", wording.Quote(line))
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
		return "", fmt.Errorf("measuring process ended: %w: %s", err, w.why())
	}
	line := w.out.Text()
	if text, ok := strings.CutPrefix(line, "error "); ok {
		return "", errors.New(wording.Cut(text, mostKept))
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

// next returns the number of a call of the plan, its seconds and those of the processor;
// io.EOF at the end.
func (w *worker) next(calls int) (number int, seconds, cpu float64, err error) {
	line, err := w.line()
	switch {
	case err != nil:
		return 0, 0, 0, err
	case line == "end":
		return 0, 0, 0, io.EOF
	}
	var texts [3]string
	n, _ := fmt.Sscan(line, &texts[0], &texts[1], &texts[2]) // its error is a small n
	number, err1 := strconv.Atoi(texts[0])
	seconds, err2 := strconv.ParseFloat(texts[1], 64)
	cpu, err3 := strconv.ParseFloat(texts[2], 64)
	if n != 3 || errors.Join(err1, err2, err3) != nil || number < 0 || number >= calls || !(seconds > 0 && seconds < 1e9) || !(cpu >= 0 && cpu < 1e9) {
		return 0, 0, 0, fmt.Errorf("measuring process: want the number of a call and seconds, found %s", wording.Quote(line))
	}
	return number, seconds, cpu, nil
}

// close waits for the end of a worker that was told to end.
func (w *worker) close() {
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Wait() // it may have been killed
	}
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
