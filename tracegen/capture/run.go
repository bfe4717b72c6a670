package capture

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Command is a program to record: what a user would type to run it.
type Command struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Started        func(*os.Process) // called when it runs, if set
	BLAS           bool              // record calls of BLAS, LAPACK and FFTW with their dimensions
}

// Record runs a command and has each of its ranks record into a file in dir, which must be
// seen by all hosts. It returns the command's own error, an *exec.ExitError if it failed.
func Record(ctx context.Context, dir string, c Command) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := checkPrograms(c.Args); err != nil {
		return err
	}
	library := filepath.Join(dir, "recorder.so")
	if err := buildShim(ctx, library, c.BLAS); err != nil {
		return err
	}
	var run [8]byte
	rand.Read(run[:])
	preload := library
	if other := os.Getenv("LD_PRELOAD"); other != "" {
		preload += ":" + other
	}
	args, env := launch(ctx, c.Args, []string{
		"LD_PRELOAD=" + preload, "REPRISE_CAPTURE=" + dir, "REPRISE_CAPTURE_RUN=" + strconv.FormatUint(binary.NativeEndian.Uint64(run[:]), 10)})
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.Started != nil {
		c.Started(cmd.Process)
	}
	return cmd.Wait()
}

// launch adds variables to a command line: those launchers that have a flag for it give them
// to ranks only; others get them in their own environment.
func launch(ctx context.Context, args, variables []string) (with, env []string) {
	var flags []string
	switch launcher(ctx, args[0]) {
	case openMPI:
		for _, v := range variables {
			flags = append(flags, "-x", v)
		}
	case hydra:
		for _, v := range variables {
			name, value, _ := strings.Cut(v, "=")
			flags = append(flags, "-genv", name, value)
		}
	default:
		return args, variables
	}
	return append(append([]string{args[0]}, flags...), args[1:]...), nil
}

const (
	otherLauncher = iota
	openMPI
	hydra // of MPICH and its relatives
)

// launcher asks a command that is called like a launcher which one it is.
func launcher(ctx context.Context, command string) int {
	name := filepath.Base(command)
	if !strings.HasPrefix(name, "mpirun") && !strings.HasPrefix(name, "mpiexec") && !strings.HasPrefix(name, "orterun") {
		return otherLauncher
	}
	out, _ := exec.CommandContext(ctx, command, "--version").CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "Open MPI"), strings.Contains(text, "OpenRTE"):
		return openMPI
	case strings.Contains(text, "HYDRA"):
		return hydra
	}
	return otherLauncher
}
