// Package slurm has Slurm start the workers of a study, and lists and cancels them.
//
//	array := slurm.Array{Name: name, Workers: 20, Dir: dir, Worker: []string{"/usr/bin/study", "worker", dir,
//		"--until", "slurm"}}
//	job, err := slurm.Submit(ctx, array)        // one job array, a worker in each task
//	tasks, err := slurm.Tasks(ctx, name, dir)   // those that wait or run
//	err = slurm.Cancel(ctx, tasks)
//
// Workers take runs from the directory themselves, so a study of any size needs few tasks, at most [MaxTasks]: no limit
// on the size of arrays or on submitted jobs matters. A task that is preempted, or whose node fails, is queued again by
// Slurm, and goes on with the runs that are left. Before its time is up a worker gets SIGTERM; [Left] returns how long
// it may work until then, so that it begins no run that would take longer.
//
// The package calls sbatch, squeue and scancel (commands.go); nothing is linked in. It knows
// directories of studies by name only: runs, leases and results belong to package study.
//
// # Units
//
// Memory is in bytes; limits of time are written as Slurm writes them.
//
// # Errors
//
// If a command of Slurm fails, the error has its message; if it is not installed on this machine,
// the error says so. An [*ArgumentError] reports that an option of sbatch conflicts with Submit.
//
// # Source
//
// Options and states are those of Slurm 22.05 and later (sbatch, squeue and scancel, their manual pages).
package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/internal/atomicfile"
	"reprise/internal/textutil"
)

const (
	// MaxTasks is how many tasks of a study may wait or run at a time: fewer than the usual limits
	// of clusters on submitted jobs and on the size of arrays.
	MaxTasks = 32

	// outputDir is the directory of a study for what its tasks print, and for a file of each
	// submitted job, jobPrefix + ID + jobSuffix.
	outputDir = "slurm"
	jobPrefix = "job-"
	jobSuffix = ".json"
)

// An Array is the workers of a study, each of which is a task of one job array.
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

// An ArgumentError is about a further argument of sbatch.
type ArgumentError struct{ Argument, Reason string }

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("argument %q of sbatch: %s", e.Argument, e.Reason)
}

// Name returns the name of the jobs for the study in a directory.
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

// Submit submits the array and returns the ID of the job, which it also writes into the study's
// directory: Tasks knows the job by it. The array is checked before anything is submitted.
//
// The job's life: it is queued; its file job-ID.json is written, without which it is cancelled; its
// tasks run the worker, append what that prints to slurm/ID_TASK.log, and get SIGTERM before their
// limit of time; tasks that are preempted, or whose node fails, are queued again under the same ID.
// The file stays when the job has ended: then the queue does not have its tasks any more.
func Submit(ctx context.Context, a Array) (job string, err error) {
	defer textutil.Stopped(&err)
	args := textutil.Must(a.arguments())

	// The job's file is written after the job is queued, so whether it can be written is found out before.
	file := func(job string) string { return filepath.Join(a.Dir, outputDir, jobPrefix+job+jobSuffix) }
	if err := os.Mkdir(filepath.Join(a.Dir, outputDir), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	textutil.Check(atomicfile.Check(file("0")))
	// Two submissions at the same moment may pass both: the limit is a courtesy, and Slurm has its own.
	waiting := textutil.Must(Tasks(ctx, a.Name, a.Dir))
	if len(waiting)+a.Workers > MaxTasks {
		return "", fmt.Errorf("%d tasks of this study wait or run, and %d more would be over %d: want at most %d workers",
			len(waiting), a.Workers, MaxTasks, MaxTasks-len(waiting))
	}
	out := textutil.Must(run(ctx, a.Script(), "sbatch", args...))
	job, _, _ = strings.Cut(strings.TrimSpace(out), ";") // the cluster's name follows it
	if _, err := strconv.ParseUint(job, 10, 32); err != nil {
		return "", fmt.Errorf("sbatch: printed %q, want the id of a job", out)
	}
	err = atomicfile.Replace(file(job), func(w io.Writer) error {
		return textutil.WriteJSON(w, struct {
			Job       string   `json:"job"`
			Arguments []string `json:"sbatch"`
		}{job, args})
	})
	if err != nil {
		_, undone := run(ctx, "", "scancel", job)
		return "", errors.Join(fmt.Errorf("job %s is cancelled, as it cannot be written down: %w", job, err), undone)
	}
	return job, nil
}

// Script returns the script of each task. The worker replaces the shell, so that Slurm's signals
// for the batch shell reach it.
func (a Array) Script() string { return "#!/bin/sh\nexec " + quoted(a.Worker) + "\n" }

// Text returns what Submit would submit, as a command for a shell.
func (a Array) Text() (string, error) {
	args, err := a.arguments()
	return "sbatch " + quoted(args) + " <<'SCRIPT'\n" + a.Script() + "SCRIPT\n", err
}

// quoted returns words as a shell reads them.
func quoted(words []string) string {
	var list []string
	for _, word := range words {
		list = append(list, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	return strings.Join(list, " ")
}

// elsewhere are options of sbatch with which it would not submit an array, or not one that Tasks finds.
var elsewhere = []string{"--wrap", "--no-requeue", "--wait", "--test-only", "--input", "--error", "--clusters"}

// arguments returns those of sbatch: the caller's, then the array's own, of which none may be among the caller's.
func (a Array) arguments() ([]string, error) {
	if a.Workers < 1 || a.Workers > MaxTasks {
		return nil, fmt.Errorf("%d workers, want 1 to %d: each takes runs until none is left", a.Workers, MaxTasks)
	}
	signal := lead
	if limit, ok := parseLimit(a.Time); ok {
		signal = leadOf(limit)
	}
	own := []string{
		"--parsable", "--requeue", "--open-mode=append", "--cpus-per-task=1",
		"--job-name=" + a.Name,
		fmt.Sprintf("--array=0-%d", a.Workers-1),
		"--chdir=" + a.Dir,
		"--output=" + filepath.Join(strings.ReplaceAll(a.Dir, "%", "%%"), outputDir, "%A_%a.log"),
		fmt.Sprintf("--signal=B:TERM@%d", int(signal/time.Second)),
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

	// sbatch takes names of options that are cut short, so a prefix of an own option is one too.
	for _, arg := range a.Arguments {
		name, _, _ := strings.Cut(arg, "=")
		if !strings.HasPrefix(arg, "--") || len(name) < 3 {
			return nil, &ArgumentError{arg, "want --NAME or --NAME=VALUE in one word"}
		}
		for _, o := range slices.Concat(own, elsewhere) {
			if full, _, _ := strings.Cut(o, "="); strings.HasPrefix(full, name) {
				return nil, &ArgumentError{arg, full + " is set by study submit, or does not go with it"}
			}
		}
	}
	return slices.Concat(a.Arguments, own), nil
}

// Jobs returns the IDs of the jobs that were submitted for the study in a directory.
func Jobs(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, outputDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var jobs []string
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), jobPrefix); ok && strings.HasSuffix(name, jobSuffix) {
			jobs = append(jobs, strings.TrimSuffix(name, jobSuffix))
		}
	}
	return jobs, err
}

// A Task is one of an array, as the queue has it.
type Task struct {
	Job    string `json:"job"`
	Index  string `json:"task"`   // its number in the job
	State  string `json:"state"`  // PENDING, RUNNING, COMPLETING and the like
	Node   string `json:"node"`   // "" if it has none yet
	Left   string `json:"left"`   // until its limit of time, as Slurm writes it
	Reason string `json:"reason"` // why it waits; "None" if it does not
	dir    string
}

// format has squeue print the fields of a Task, the directory last, as it may contain anything.
const format = "--format=%F|%K|%T|%N|%L|%r|%Z"

// Tasks returns the tasks of the study in a directory that wait or run, in the order of job and
// index. The jobs of a name may be those of another study, whose directory has the same last
// element, so only those count that this directory has a file of, or that run in it.
func Tasks(ctx context.Context, name, dir string) (tasks []Task, err error) {
	defer textutil.Stopped(&err)
	out := textutil.Must(run(ctx, "", "squeue", "--noheader", "--array", "--me", "--name="+name, format))
	jobs := textutil.Must(Jobs(dir))
	// By file rather than by name: nodes may see the directory under another path.
	here, notHere := os.Stat(dir)
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 7)
		if len(f) < 7 {
			continue // the rest of a directory with a line break in its name
		}
		t := Task{f[0], f[1], f[2], f[3], f[4], f[5], f[6]}
		at, err := os.Stat(t.dir)
		if slices.Contains(jobs, t.Job) || err == nil && notHere == nil && os.SameFile(at, here) {
			tasks = append(tasks, t)
		}
	}
	byNumber := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }
	slices.SortFunc(tasks, func(a, b Task) int { return cmp.Or(byNumber(a.Job, b.Job), byNumber(a.Index, b.Index)) })
	return tasks, nil
}

// TasksOf is Tasks for a directory of any name; nil, without asking the scheduler, if no job was submitted for it.
func TasksOf(ctx context.Context, dir string) ([]Task, error) {
	jobs, err := Jobs(dir)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return Tasks(ctx, Name(abs), abs)
}

// WriteTasks writes a table of tasks for people, with one row for those of a job that are in the
// same state for the same reason; nothing if there are none.
func WriteTasks(w io.Writer, tasks []Task) error {
	var rows []Task // without Index
	count := map[Task]int{}
	for _, t := range tasks {
		t.Index, t.dir = "", ""
		if count[t]++; count[t] == 1 {
			rows = append(rows, t)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	var table textutil.Table
	table.Row("job", "tasks", "state", "node", "time left", "reason")
	for _, t := range rows {
		table.Row(t.Job, strconv.Itoa(count[t]), t.State, t.Node, t.Left, t.Reason)
	}
	return table.Write(w)
}

// Cancel cancels the jobs of tasks. They get SIGTERM, and some time later SIGKILL.
func Cancel(ctx context.Context, tasks []Task) error {
	var jobs []string
	for _, t := range tasks {
		jobs = append(jobs, t.Job)
	}
	if len(jobs) == 0 {
		return nil
	}
	_, err := run(ctx, "", "scancel", slices.Compact(jobs)...) // tasks come in the order of their jobs
	return err
}
