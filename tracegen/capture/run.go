package capture

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
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
// seen by all hosts and have a path without blanks and colons, as LD_PRELOAD wants it. It returns
// the command's own error, an *exec.ExitError if it failed, or why it has recorded nothing, if
// that can be told.
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
	if err := buildShim(ctx, library, c.BLAS); err != nil {
		return err
	}
	var run [8]byte
	rand.Read(run[:])
	preload := library
	if other := os.Getenv("LD_PRELOAD"); other != "" {
		preload += ":" + other
	}
	args, env := launch(ctx, preloading(c.Args, library, preload), []string{
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
	if err := cmd.Wait(); err != nil {
		return err
	}
	return checkRecorded(dir, c.Args)
}
