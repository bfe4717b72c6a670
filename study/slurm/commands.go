package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"reprise/internal/textutil"
)

// This file runs the commands of Slurm; slurm.go says which ones, limit.go how long a worker may work.

const (
	// patience bounds how long a command of Slurm may take. The commands give up after some ten
	// seconds themselves if the controller does not answer.
	patience = 2 * time.Minute

	// mostSaid bounds the output of a command that is kept, in bytes: 32 tasks with long paths take a tenth of it.
	mostSaid = 4 << 20

	// lead is how long before its end a task gets SIGTERM.
	lead = 120 * time.Second
)

// leadOf returns lead for a task with a limit of time: a quarter of a short one, so that the
// signal does not come at the beginning.
func leadOf(limit time.Duration) time.Duration { return min(lead, limit/4) }

// run runs a command of Slurm and returns its output. The environment is that of the process
// without the variables that change the output of squeue.
func run(ctx context.Context, script, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not on PATH: no Slurm here; other schedulers start `study worker DIR`", name)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := exec.CommandContext(ctx, path, args...)
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SQUEUE_") })
	// A child that keeps the pipes open does not hold the worker up.
	c.Stdin, c.WaitDelay = strings.NewReader(script), time.Second
	var out, said limited
	c.Stdout, c.Stderr = &out, &said
	err = c.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("%s has not ended in %v: %s", name, patience, messageOf(said.String(), err))
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", fmt.Errorf("%s: %s", name, messageOf(said.String(), err))
}

// messageOf returns the standard error of a command in a line, without the command's name before each
// sentence; how the command ended if there is none.
func messageOf(said string, err error) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"sbatch: ", "squeue: ", "scancel: ", "error: ", "fatal: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return err.Error()
	}
	return textutil.Cut(strings.Join(lines, "; "), 1<<10)
}

// limited is a buffer of at most mostSaid bytes; further output is dropped.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), mostSaid-l.Len())])
	return len(p), nil
}
