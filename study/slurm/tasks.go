package slurm

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
)

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

// format has squeue print a line of Task, the directory last, as it may hold anything.
const format = "--format=%F|%K|%T|%N|%L|%r|%Z"

// Tasks returns the tasks of the study in a directory that wait or run, in the order of
// job and index: jobs of its name that this directory knows, or that run in it.
func Tasks(ctx context.Context, name, dir string) ([]Task, error) {
	out, err := run(ctx, "", "squeue", "--noheader", "--array", "--me", "--name="+name, format)
	if err != nil {
		return nil, err
	}
	jobs, err := Jobs(dir)
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 7)
		if len(f) < 7 {
			continue // the rest of a directory with a line break in its name
		}
		t := Task{f[0], f[1], f[2], f[3], f[4], f[5], f[6]}
		if slices.Contains(jobs, t.Job) || sameFile(t.dir, dir) {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, func(a, b Task) int {
		return cmp.Or(byNumber(a.Job, b.Job), byNumber(a.Index, b.Index))
	})
	return tasks, nil
}

// byNumber orders numbers that are texts.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// Cancel cancels the jobs of tasks. They get SIGTERM, and some time later SIGKILL.
func Cancel(ctx context.Context, tasks []Task) error {
	var jobs []string
	for _, t := range tasks {
		if !slices.Contains(jobs, t.Job) {
			jobs = append(jobs, t.Job)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	_, err := run(ctx, "", "scancel", jobs...)
	return err
}

func sameFile(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}
