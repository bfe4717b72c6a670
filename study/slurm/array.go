package slurm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// MaxTasks is how many tasks of a study may wait or run at a time: fewer than the limits
// on submitted jobs and on the size of arrays that clusters have.
const MaxTasks = 32

// outputDir is the directory of a study in which its tasks leave what they print.
const outputDir = "slurm"

// lead is how long before its end a task gets SIGTERM.
const lead = 120 * time.Second

// leadOf returns how long before the end of a limit that is: a quarter of it if that is
// shorter, so that the signal does not come at the beginning.
func leadOf(limit time.Duration) time.Duration { return min(lead, limit/4) }

// An Array is workers of a study, each a task of one job array.
type Array struct {
	Name      string   // of the job; see Name
	Workers   int      // 1 to MaxTasks
	Dir       string   // the study's directory, absolute: the same on all nodes
	Worker    []string // the command of a worker
	Partition string   // "": Slurm's default, as of the following
	Account   string
	Time      string   // limit of a task, as sbatch takes it
	Memory    int64    // of a worker, in bytes; 0: as the partition says
	Arguments []string // further ones of sbatch, each --NAME or --NAME=VALUE
}

// Name returns the name that the jobs of the study in a directory have.
func Name(dir string) string {
	plain := strings.Map(func(r rune) rune {
		if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._-", r)) {
			return r
		}
		return '_'
	}, filepath.Base(dir))
	return "study-" + plain[:min(len(plain), 40)]
}

// Submit submits the array and returns the id of the job, which it leaves in the study's directory.
// What is asked for and not in order is an error before anything is submitted.
func Submit(ctx context.Context, a Array) (job string, err error) {
	args, err := a.arguments()
	if err != nil {
		return "", err
	}
	if err := checkRemembering(a.Dir); err != nil {
		return "", err
	}
	waiting, err := Tasks(ctx, a.Name, a.Dir)
	if err != nil {
		return "", err
	}
	if len(waiting)+a.Workers > MaxTasks {
		return "", &QueueFullError{Tasks: len(waiting), Wanted: a.Workers}
	}
	out, err := run(ctx, a.Script(), "sbatch", args...)
	if err != nil {
		return "", err
	}
	job, _, _ = strings.Cut(strings.TrimSpace(out), ";") // behind it the cluster's name
	if _, err := strconv.ParseUint(job, 10, 32); err != nil {
		return "", fmt.Errorf("sbatch: printed %q, want the id of a job", out)
	}
	if err := remember(a.Dir, job, args); err != nil {
		_, undone := run(ctx, "", "scancel", job)
		return "", errors.Join(fmt.Errorf("job %s is cancelled, as it cannot be written down: %w", job, err), undone)
	}
	return job, nil
}

// A QueueFullError says that a study has, or would have, too many tasks.
type QueueFullError struct{ Tasks, Wanted int }

func (e *QueueFullError) Error() string {
	return fmt.Sprintf("%d tasks of this study wait or run, and %d more would be over %d: want at most %d workers",
		e.Tasks, e.Wanted, MaxTasks, MaxTasks-e.Tasks)
}

// Script returns what each task runs. The worker takes the place of the shell, so that
// signals of Slurm for the batch shell reach it.
func (a Array) Script() string {
	var quoted []string
	for _, word := range a.Worker {
		quoted = append(quoted, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	return "#!/bin/sh\nexec " + strings.Join(quoted, " ") + "\n"
}

// arguments returns those of sbatch: the caller's, then the own ones, of which none may
// be among the caller's.
func (a Array) arguments() ([]string, error) {
	if a.Workers < 1 || a.Workers > MaxTasks {
		return nil, fmt.Errorf("%d workers, want 1 to %d: each takes runs until none is left", a.Workers, MaxTasks)
	}
	own := []string{
		"--parsable", "--requeue", "--open-mode=append", "--cpus-per-task=1",
		"--job-name=" + a.Name,
		fmt.Sprintf("--array=0-%d", a.Workers-1),
		"--chdir=" + a.Dir,
		"--output=" + filepath.Join(strings.ReplaceAll(a.Dir, "%", "%%"), outputDir, "%A_%a.log"),
		fmt.Sprintf("--signal=B:TERM@%d", int(a.lead()/time.Second)),
	}
	for _, o := range []struct{ name, value string }{{"partition", a.Partition}, {"account", a.Account},
		{"time", a.Time}} {
		if o.value != "" {
			own = append(own, "--"+o.name+"="+o.value)
		}
	}
	if a.Memory > 0 {
		own = append(own, fmt.Sprintf("--mem=%dK", (a.Memory+1023)/1024))
	}
	for _, arg := range a.Arguments {
		if err := checkArgument(arg, own); err != nil {
			return nil, err
		}
	}
	return append(append([]string{}, a.Arguments...), own...), nil
}

// An ArgumentError is about a further argument of sbatch.
type ArgumentError struct{ Argument, Reason string }

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("argument %q of sbatch: %s", e.Argument, e.Reason)
}

// elsewhere are options of sbatch with which it would not do what Submit is for.
var elsewhere = []string{"--wrap", "--no-requeue", "--wait", "--test-only", "--input", "--error", "--clusters"}

// checkArgument refuses what is not one whole option of sbatch, or one that is set here.
// Names may be cut short, as sbatch allows it.
func checkArgument(arg string, own []string) error {
	name, _, _ := strings.Cut(arg, "=")
	if !strings.HasPrefix(arg, "--") || len(name) < 3 {
		return &ArgumentError{arg, "want --NAME or --NAME=VALUE in one word"}
	}
	for _, o := range append(own, elsewhere...) {
		if full, _, _ := strings.Cut(o, "="); strings.HasPrefix(full, name) {
			return &ArgumentError{arg, full + " is set by study submit, or does not go with it"}
		}
	}
	return nil
}

// lead returns how long before its end a task gets the signal.
func (a Array) lead() time.Duration {
	if limit, ok := parseLimit(a.Time); ok {
		return leadOf(limit)
	}
	return lead
}
