package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/slurm"
	"reprise/study/tune"
)

// This file has the commands about workers under Slurm: submit, cancel and status.

// usualWorkers is the default number of workers.
const usualWorkers = 20

func submitCommand() *cli.Command {
	return &cli.Command{
		Name:      "submit",
		Usage:     "have a scheduler start workers of a planned study",
		UsageText: "study submit DIR --slurm [options] [-- --SBATCH-OPTION=VALUE ...]",
		Description: "Submits an array of workers, not of runs. All nodes must see DIR and this program.\n" +
			fmt.Sprintf("A study has at most %d tasks in the queue. ", slurm.MaxTasks) +
			"Options after -- go to sbatch. Other schedulers: docs/clusters.md.\n\n" +
			"    study plan nb.yaml -o nb\n" +
			"    study submit nb --slurm\n" +
			"    study submit nb --slurm --dry-run\n" +
			"    study submit nb --slurm --workers 8 --partition short --time 2:00:00 -- --qos=low",
		Flags: []cli.Flag{
			command.Switch("slurm", "submit to Slurm"),
			&cli.IntFlag{Name: "workers", Usage: "submit `N` workers, with a processor each, at most one for each run that is left",
				Value: usualWorkers},
			textFlag("partition", "`NAME` of the partition", "Slurm's default"),
			textFlag("account", "`NAME` of the account", "Slurm's default"),
			textFlag("time", "`LIMIT` of time of a worker, as sbatch takes it: minutes, or [DAYS-]HOURS:MINUTES:SECONDS",
				"the partition's"),
			textFlag("memory", "`SIZE` of memory of a worker, such as 2GB", "twice what the largest run takes, and 256 MiB"),
			leaseFlag(),
			command.Switch("dry-run", "print the command and the script that would be submitted, and stop"),
		},
		Action: submit,
	}
}

// submit is the command submit. Arguments behind the directory are passed on to sbatch.
func submit(c *cli.Context) error {
	args := c.Args().Slice()
	switch {
	case len(args) == 0:
		return command.Usagef("submit: want the directory of a study")
	case !c.Bool("slurm"):
		return command.Usagef("submit: want --slurm; for other schedulers see docs/clusters.md")
	}
	dir := args[0]
	p := textutil.Must(study.Open(dir, version()))
	s := textutil.Must(p.NewStatus())
	// Runs that failed are not left: workers do not make them again, only study run does.
	left := s.Running + s.Waiting
	if left == 0 {
		_, err := fmt.Fprintf(c.App.Writer, "%s: all %s are made%s: nothing is submitted\n", dir,
			textutil.Count(s.Runs, "run"), study.OfWhich(s.Failed))
		return err
	}

	// The tasks run this program, on the directory by its absolute name.
	abs := textutil.Must(filepath.Abs(dir))
	// The program itself, by its absolute path: nodes need not have it on PATH, but see the same file system.
	program := textutil.Must(os.Executable())
	array := slurm.Array{
		Name: slurm.Name(abs), Workers: c.Int("workers"), Dir: abs,
		Worker: []string{program, "worker", abs, "--until", slurm.UntilLimit, "--lease", c.Duration("lease").String(),
			"--quiet"},
		Partition: c.String("partition"), Account: c.String("account"), Time: c.String("time"),
		Memory: 2*p.Memory() + 256<<20, // a worker keeps traces
	}
	if c.IsSet("memory") {
		array.Memory = sizeOf(c)
	}
	if array.Workers < 1 || array.Workers > slurm.MaxTasks {
		return command.Usagef("submit: --workers %d, want 1 to %d: each takes runs until none is left", array.Workers,
			slurm.MaxTasks)
	}
	// The worker would refuse it too, but only once its task runs.
	leaseOf(c)
	// More workers than runs would start, find nothing to do, and end.
	array.Workers, array.Arguments = min(array.Workers, left), args[1:]
	if c.Bool("dry-run") {
		text, err := array.Text()
		if wrong := (*slurm.ArgumentError)(nil); errors.As(err, &wrong) {
			return command.Usagef("submit: %w", err)
		}
		textutil.Check(err)
		_, err = io.WriteString(c.App.Writer, text)
		return err
	}
	job, err := slurm.Submit(c.Context, array)
	// A wrong option is one of the command line, and no failure of Slurm.
	if wrong := (*slurm.ArgumentError)(nil); errors.As(err, &wrong) {
		return command.Usagef("submit: %w", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: job %s, %s for %s\n", dir, job, textutil.Count(array.Workers, "worker"),
		textutil.Count(left, "run"))
	return err
}

func cancelCommand() *cli.Command {
	return &cli.Command{
		Name:      "cancel",
		Usage:     "cancel the workers that were submitted",
		UsageText: "study cancel DIR",
		Description: "Cancels all jobs of the study in DIR. Workers give their runs back, long ones with a checkpoint;\n" +
			"study submit continues the study.\n\n    study cancel nb",
		Action: ofDirectory(func(c *cli.Context, dir string) error {
			textutil.Must(study.Open(dir, ""))
			tasks, err := slurm.TasksOf(c.Context, dir)
			if err == nil {
				err = slurm.Cancel(c.Context, tasks)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			_, err = fmt.Fprintf(c.App.Writer, "%s: %s cancelled\n", dir, textutil.Count(len(tasks), "task"))
			return err
		}),
	}
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "print the progress of a study",
		UsageText: "study status DIR [--json]",
		Description: "Prints the runs that are done, the workers with their runs, and the workers that study submit has in" +
			" the queue;\nof the directory of study tune the best configuration so far.\n\n" +
			"    study status nb\n" +
			"    study status tuned\n" +
			"    study status nb --json",
		Flags: []cli.Flag{command.Switch("json", "print the status as JSON")},
		Action: ofDirectory(func(c *cli.Context, dir string) error {
			// A search keeps its result, or the best so far, where a study has its plan.
			if r := textutil.Must(tune.Open(dir)); r != nil {
				return show(c, r)
			}
			s := textutil.Must(textutil.Must(study.Open(dir, "")).NewStatus())
			tasks, err := slurm.TasksOf(c.Context, dir)
			if err != nil { // a scheduler that does not answer is no reason to tell nothing
				s.Notes = append(s.Notes, "what has become of submitted workers is not known: "+err.Error())
			}
			return show(c, &fullStatus{s, append([]slurm.Task{}, tasks...)})
		}),
	}
}

// fullStatus is the status of a study and of the tasks of its workers.
//
// As JSON, the fields of the study's status and the tasks stand side by side.
type fullStatus struct {
	*study.Status
	Tasks []slurm.Task `json:"tasks"`
}

// WriteText writes the status for people.
func (s *fullStatus) WriteText(w io.Writer) error {
	if err := s.Status.WriteText(w); err != nil {
		return err
	}
	return slurm.WriteTasks(w, s.Tasks)
}
