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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/calibrate/measure"
	"reprise/internal/textutil"
)

//go:embed helper/bench.c
var source []byte

// grace is how long a launcher may take to end its ranks when it is told to.
const grace = 10 * time.Second

// mostKept bounds the output of a launcher and its ranks that is part of an error, in bytes.
const mostKept = 1000

// Run compiles the message timer, helper/bench.c, and has the launcher start it. progress, if it is not nil, is called
// about once a second with the time since the start, until the ranks have ended. When ctx ends, so do they. The timings
// so far are the result, also of ranks that fail, beside their error.
func Run(ctx context.Context, o Options, progress func(time.Duration)) (result *Result, err error) {
	defer textutil.Stopped(&err)
	textutil.Check(o.Validate())
	compiler := textutil.Must(o.FindTools())
	parent := textutil.Must(filepath.Abs(o.Dir)) // launchers may start ranks elsewhere
	dir := textutil.Must(os.MkdirTemp(parent, "reprise-network-"))
	defer os.RemoveAll(dir)
	// All hosts must see the directory: the program starts from it, and rank 0 writes its file there.
	program, file := filepath.Join(dir, "bench"), filepath.Join(dir, "timings")
	// The program is compiled by the MPI's own compiler, where it is run.
	about, err := measure.Compile(ctx, compiler, source, program, "-lm")
	if err != nil {
		return nil, fmt.Errorf("the program that times messages: %w", err)
	}
	// A launcher may fail after all ranks have written their timings, and succeed without having started any.
	failure := launch(ctx, &o, program, file, progress)

	// The file decides, with or without a failure of the launcher.
	var r *Result
	f, err := os.Open(file)
	if err == nil {
		r, err = read(f)
		f.Close()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return &Result{Compiler: about, Interrupted: true}, nil
	case errors.Is(err, fs.ErrNotExist) && failure == nil:
		return nil, fmt.Errorf("%s ended without an error, but the program has written nothing below %s: it did not start, "+
			"or not all hosts see that directory (--dir)", o.Launcher[0], o.Dir)
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
		return "", fmt.Errorf("no compiler for MPI programs: %w: install one (on Debian libopenmpi-dev or libmpich-dev), "+
			"load its module, or name it (--mpicc)", err)
	}
	if _, err := exec.LookPath(o.Launcher[0]); err != nil {
		return "", fmt.Errorf("launcher: %w: name the command that starts MPI programs here, as in -- mpirun -np 2", err)
	}
	return compiler, nil
}

// launch runs the program until it ends. An error has the output of the launcher and its ranks.
func launch(ctx context.Context, o *Options, program, file string, progress func(time.Duration)) error {
	between := o.Between
	if between == Auto { // the program times as much of both as it can; check says if something is missing
		between = Both
	}
	args := append(slices.Clone(o.Launcher[1:]), program, file, strconv.FormatUint(o.Seed, 10), strconv.Itoa(o.Sizes),
		strconv.FormatInt(o.MaxBytes, 10), strconv.Itoa(o.Reps), strconv.FormatFloat(o.Budget.Seconds(), 'g', -1, 64),
		string(between))
	// The arguments stand as helper/bench.c reads them.
	cmd := exec.CommandContext(ctx, o.Launcher[0], args...)
	// The program itself prints nothing, so that the output is that of the launcher.
	said := &measure.Beginning{Most: mostKept}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for us only
	// Launchers end their ranks when they are told to; those that do not are killed after grace.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("launcher: %w", err)
	}
	// The ticks end with the command.
	ended := make(chan struct{})
	if progress != nil {
		go func() {
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
		}()
	}
	err := cmd.Wait()
	close(ended)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // ranks that a killed launcher has left; mostly there are none
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", o.Launcher[0], err)
	var lines []string // without rules of dashes
	for line := range strings.Lines(said.String()) {
		if line = strings.Join(strings.Fields(line), " "); strings.Trim(line, "-=*") != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(lines, " "))
	}
	return err
}
