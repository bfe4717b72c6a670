package capture

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"reprise/internal/textutil"
)

// Command is a program to record: what a user would type to run it.
type Command struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Started        func(*os.Process) // called when it runs, if set
	BLAS           bool              // record calls of BLAS, LAPACK and FFTW with their dimensions
	Compiling      func()            // called before the recorder is compiled, which takes seconds, if set
}

// Failure is the error of a command that has failed before any rank recorded anything: a launcher that
// refuses its options, a program that does not exist.
type Failure struct {
	Command string          // its first word
	Exit    *exec.ExitError // how it ended
	Last    string          // the last line with words in it that a launcher wrote on standard error; ""
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("%s: %v, before any rank recorded anything", f.Command, f.Exit)
	if f.Last != "" {
		text += "; its last line: " + f.Last
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Exit }

// Record runs a command and has each of its ranks record into a file in dir, which must be
// seen by all hosts and have a path without blanks and colons, as LD_PRELOAD wants it. It returns
// the command's own error, an *exec.ExitError if it failed, in a *Failure if nothing was recorded then, or why it
// has recorded nothing, if that can be told.
func Record(ctx context.Context, dir string, c Command) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if strings.ContainsAny(dir, " :") {
		return fmt.Errorf("%s: programs are recorded by LD_PRELOAD, which takes no path with blanks or colons: record into another directory (--recordings)", dir)
	}
	if err := checkPrograms(c.Args); err != nil {
		return err
	}
	library := filepath.Join(dir, "recorder.so")
	if err := buildShim(ctx, library, c.BLAS, c.Compiling); err != nil {
		return err
	}
	var run [8]byte
	rand.Read(run[:])
	preload := library
	if other := os.Getenv("LD_PRELOAD"); other != "" {
		preload += ":" + other
	}
	args, env := launch(ctx, preloading(c.Args, library, preload), []string{
		"LD_PRELOAD=" + preload, "REPRISE_CAPTURE=" + dir, "REPRISE_CAPTURE_RUN=" +
			strconv.FormatUint(binary.NativeEndian.Uint64(run[:]), 10)})
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	var said tail
	if isLauncher(c.Args[0]) && c.Stderr != nil { // a program keeps the terminal that it has
		cmd.Stderr = io.MultiWriter(c.Stderr, &said)
		if c.Stdout == c.Stderr { // one writer is never called by two at once
			cmd.Stdout = cmd.Stderr
		}
		cmd.WaitDelay = 5 * time.Second // for what a launcher leaves running with its standard error
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.Started != nil {
		c.Started(cmd.Process)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch entries, _ := os.ReadDir(dir); {
	case errors.As(err, &exit) && !slices.ContainsFunc(entries, isRecording):
		return &Failure{c.Args[0], exit, said.lastLine()}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return err
	}
	return checkRecorded(dir, c.Args)
}

// isRecording reports whether a file is called like the recording of a rank.
func isRecording(e fs.DirEntry) bool { return e.Name()[0] >= '0' && e.Name()[0] <= '9' }

// tail is a writer that keeps the end of what is written.
type tail []byte

// tailSize is how much a tail keeps, in bytes.
const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p[max(0, len(p)-tailSize):]...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-tailSize):]...)
	return len(p), nil
}

// lastLine returns the last line in which there is a letter.
func (t tail) lastLine() string {
	lines := strings.Split(string(t), "\n")
	for _, line := range slices.Backward(lines) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			return textutil.Cut(textutil.Visible(strings.TrimSpace(line)), 200)
		}
	}
	return ""
}
