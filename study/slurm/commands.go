package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"reprise/internal/textutil"
)

// patience bounds how long a command of Slurm may take, which gives up after some ten
// seconds itself where the controller does not answer.
const patience = 2 * time.Minute

// mostSaid bounds what is kept of a command's output: 32 tasks with long paths take a tenth.
const mostSaid = 4 << 20

// A NoCommandError says that a command of Slurm is not on PATH.
type NoCommandError struct{ Name string }

func (e *NoCommandError) Error() string {
	return fmt.Sprintf("%s is not on PATH: no Slurm here; other schedulers start `study worker DIR`", e.Name)
}

// run runs a command of Slurm and returns what it prints.
func run(ctx context.Context, script, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &NoCommandError{name}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := exec.CommandContext(ctx, path, args...)
	c.Env, c.Stdin, c.WaitDelay = environment(), strings.NewReader(script), time.Second
	var out, said limited
	c.Stdout, c.Stderr = &out, &said
	err = c.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("%s has not ended in %v: %s", name, patience, words(said.String(), err))
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", fmt.Errorf("%s: %s", name, words(said.String(), err))
}

// environment is that of the process, without what changes the output of squeue.
func environment() []string {
	var kept []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SQUEUE_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// words returns what a command said on standard error, in a line and without its name
// before each sentence; how it ended if it said nothing.
func words(said string, err error) string {
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

// limited is a buffer of at most mostSaid bytes; what comes after them is dropped.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), mostSaid-l.Len())])
	return len(p), nil
}
