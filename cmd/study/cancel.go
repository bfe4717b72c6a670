package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/slurm"
)

func cancelCommand() *cli.Command {
	return &cli.Command{
		Name:      "cancel",
		Usage:     "cancel the workers that were submitted",
		UsageText: "study cancel DIR",
		Description: "Cancels all jobs of the study in DIR. Workers give back what they are making, long runs with a checkpoint;\n" +
			"study submit goes on.\n\n    study cancel nb",
		Action: cancel,
	}
}

// cancel is the command cancel.
func cancel(c *cli.Context) error {
	dir, err := directory(c)
	if err != nil {
		return err
	}
	if _, err := study.Open(dir, ""); err != nil {
		return err
	}
	tasks, err := tasksOf(c, dir)
	if err == nil {
		err = slurm.Cancel(c.Context, tasks)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %s cancelled\n", dir, textutil.Count(len(tasks), "task"))
	return err
}

// tasksOf returns the tasks of a study that wait or run; nil, without asking the scheduler, if
// none was ever submitted.
func tasksOf(c *cli.Context, dir string) ([]slurm.Task, error) {
	jobs, err := slurm.Jobs(dir)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return slurm.Tasks(c.Context, slurm.Name(abs), abs)
}

// fullStatus is that of a study and of its tasks.
type fullStatus struct {
	*study.Status
	Tasks []slurm.Task `json:"tasks"`
}

// newFullStatus adds the tasks to a status. A scheduler that does not answer is a note in it.
func newFullStatus(c *cli.Context, dir string, s *study.Status) *fullStatus {
	tasks, err := tasksOf(c, dir)
	if err != nil {
		s.Notes = append(s.Notes, "what has become of submitted workers is not known: "+err.Error())
	}
	return &fullStatus{s, append([]slurm.Task{}, tasks...)}
}

// writeTasks writes a table of tasks, of those that wait for the same reason one row.
func writeTasks(c *cli.Context, tasks []slurm.Task) error {
	var t textutil.Table
	t.Row("job", "tasks", "state", "node", "time left", "reason")
	type row struct{ job, state, node, left, reason string }
	var rows []row
	count := map[row]int{}
	for _, task := range tasks {
		r := row{task.Job, task.State, task.Node, task.Left, task.Reason}
		if count[r]++; count[r] == 1 {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		t.Row(r.job, fmt.Sprint(count[r]), r.state, r.node, r.left, r.reason)
	}
	if t.Len() == 1 {
		return nil
	}
	return t.Write(c.App.Writer)
}
