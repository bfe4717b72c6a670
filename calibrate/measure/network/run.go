package network

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/calibrate/measure"
)

//go:embed helper/bench.c
var source []byte

// grace is how long a launcher may take to end its ranks when it is told to.
const grace = 10 * time.Second

// Run compiles the program and has the launcher start it. progress, if it is not nil, is called about once a
// second with the time since the start, until the ranks have ended. When ctx ends, so do they. What was timed
// is the result, also of ranks that fail, beside their error.
func Run(ctx context.Context, o Options, progress func(time.Duration)) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	compiler, err := o.FindTools()
	if err != nil {
		return nil, err
	}
	dir, err := tempDir(o.Dir)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, file := filepath.Join(dir, "bench"), filepath.Join(dir, "timings")
	about, err := measure.Compile(ctx, compiler, source, program, "-lm")
	if err != nil {
		return nil, fmt.Errorf("the program that times messages: %w", err)
	}
	failure := launch(ctx, &o, program, file, progress)
	r, err := readFile(file)
	switch {
	case err != nil && ctx.Err() != nil:
		return &Result{Compiler: about, Interrupted: true}, nil
	case errors.Is(err, fs.ErrNotExist) && failure == nil:
		return nil, fmt.Errorf("%s ended without an error, but the program has written nothing below %s: it did not start, or not all hosts see that directory (--dir)", o.Launcher[0], o.Dir)
	case err != nil && failure != nil:
		return nil, failure
	case err != nil:
		return nil, err
	}
	r.Compiler, r.Interrupted = about, ctx.Err() != nil
	if r.Interrupted {
		return r, nil
	}
	return r, r.check(&o, failure)
}

// FindTools returns the path of the compiler, and looks for the launcher, of which there is one.
func (o *Options) FindTools() (compiler string, err error) {
	if compiler, err = exec.LookPath(o.Compiler); err != nil {
		return "", fmt.Errorf("no compiler for MPI programs: %w: install one (on Debian libopenmpi-dev or libmpich-dev), load its module, or name it (--mpicc)", err)
	}
	if _, err := exec.LookPath(o.Launcher[0]); err != nil {
		return "", fmt.Errorf("launcher: %w: name the command that starts MPI programs here, as in -- mpirun -np 2", err)
	}
	return compiler, nil
}

// tempDir returns the absolute path of a new directory: launchers may start ranks elsewhere.
func tempDir(parent string) (string, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(parent, "reprise-network-")
}

// launch runs the program until it ends.
func launch(ctx context.Context, o *Options, program, file string, progress func(time.Duration)) error {
	args := append(append([]string{}, o.Launcher[1:]...), program, file, strconv.FormatUint(o.Seed, 10),
		strconv.Itoa(o.Sizes), strconv.FormatInt(o.MaxBytes, 10),
		strconv.Itoa(o.Reps), strconv.FormatFloat(o.Budget.Seconds(), 'g', -1, 64), o.Between.wanted())
	cmd := exec.CommandContext(ctx, o.Launcher[0], args...)
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for us only
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("launcher: %w", err)
	}
	ended := make(chan struct{})
	if progress != nil {
		go tick(ended, progress)
	}
	err := cmd.Wait()
	close(ended)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what a launcher that was killed has left; mostly nothing
	if err != nil {
		return fmt.Errorf("%s: %w%s", o.Launcher[0], err, said.after())
	}
	return nil
}

// wanted is what the program is asked for: it times what there is, check says if something is
// missing.
func (b Between) wanted() string {
	if b == Auto {
		return string(Both)
	}
	return string(b)
}

func tick(ended <-chan struct{}, progress func(time.Duration)) {
	begin, every := time.Now(), time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-ended:
			return
		case <-every.C:
			progress(time.Since(begin))
		}
	}
}

// tail keeps the beginning of what a launcher and its ranks say.
type tail struct{ text strings.Builder }

const mostKept = 1000

func (t *tail) Write(p []byte) (int, error) {
	if room := mostKept - t.text.Len(); room > 0 {
		t.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// after returns what was said, for the end of a message, on one line and without rules of dashes.
func (t *tail) after() string {
	var lines []string
	for line := range strings.Lines(t.text.String()) {
		if line = strings.Join(strings.Fields(line), " "); strings.Trim(line, "-=*") != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines, " ")
}
