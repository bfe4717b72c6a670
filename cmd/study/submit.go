package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/slurm"
)

// usualWorkers is how many workers are submitted if nobody says.
const usualWorkers = 20

func submitCommand() *cli.Command {
	return &cli.Command{
		Name:      "submit",
		Usage:     "have a scheduler start workers of a study that is planned",
		UsageText: "study submit DIR --slurm [options] [-- --SBATCH-OPTION=VALUE ...]",
		Description: "Submits an array of workers, never one of runs. DIR must be shared by all nodes, and so must this program.\n" +
			fmt.Sprintf("A study has at most %d tasks in the queue. What follows -- is passed on to sbatch. Other schedulers: docs/clusters.md.\n\n", slurm.MaxTasks) +
			"    study plan nb.yaml -o nb\n" +
			"    study submit nb --slurm\n" +
			"    study submit nb --slurm --workers 8 --partition short --time 2:00:00 -- --qos=low",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "slurm", Usage: "submit to Slurm", DisableDefaultText: true},
			&cli.IntFlag{Name: "workers", Usage: "submit `N` workers, with a processor each, or as many as runs are left",
				Value: usualWorkers},
			&cli.StringFlag{Name: "partition", Usage: "`NAME` of the partition", DefaultText: "Slurm's default"},
			&cli.StringFlag{Name: "account", Usage: "`NAME` of the account", DefaultText: "Slurm's default"},
			&cli.StringFlag{Name: "time", Usage: "`LIMIT` of time of a worker, as sbatch takes it: minutes, or [DAYS-]HOURS:MINUTES:SECONDS", DefaultText: "the partition's"},
			&cli.StringFlag{Name: "memory", Usage: "`SIZE` of memory of a worker, such as 2GB",
				DefaultText: "twice what the largest run takes, and 256 MiB"},
			&cli.DurationFlag{Name: "lease", Usage: "take workers on other hosts for dead that have not been seen for `TIME`",
				Value: defaultLease},
		},
		Action: submit,
	}
}

// submit is the command submit.
func submit(c *cli.Context) error {
	dir, further, err := submitted(c)
	if err != nil {
		return err
	}
	p, err := study.Open(dir, version())
	if err != nil {
		return err
	}
	s, err := p.NewStatus()
	if err != nil {
		return err
	}
	left := s.Running + s.Waiting
	if left == 0 {
		_, err := fmt.Fprintf(c.App.Writer, "%s: all %s are made%s: nothing is submitted\n", dir,
			textutil.Count(s.Runs, "run"), study.OfWhich(s.Failed))
		return err
	}
	array, err := arrayOf(c, p, dir)
	if err != nil {
		return err
	}
	array.Workers, array.Arguments = min(array.Workers, left), further
	job, err := slurm.Submit(c.Context, *array)
	var wrong *slurm.ArgumentError
	switch {
	case errors.As(err, &wrong):
		return command.Usagef("submit: %w", err)
	case err != nil:
		return fmt.Errorf("%s: %w", dir, err)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: job %s, %s for %s\n", dir, job, textutil.Count(array.Workers, "worker"),
		textutil.Count(left, "run"))
	return err
}

// submitted returns the arguments: the study's directory, and what is passed on to sbatch.
func submitted(c *cli.Context) (dir string, further []string, err error) {
	args := c.Args().Slice()
	switch {
	case len(args) == 0:
		return "", nil, command.Usagef("submit: want the directory of a study")
	case !c.Bool("slurm"):
		return "", nil, command.Usagef("submit: want --slurm; for other schedulers see docs/clusters.md")
	}
	return args[0], args[1:], nil
}

// arrayOf returns what is asked for of Slurm.
func arrayOf(c *cli.Context, p *study.Plan, dir string) (*slurm.Array, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &slurm.Array{
		Name: slurm.Name(abs), Workers: c.Int("workers"), Dir: abs,
		Worker: []string{program, "worker", abs, "--until", untilSlurm, "--lease", c.Duration("lease").String(),
			"--quiet"},
		Partition: c.String("partition"), Account: c.String("account"), Time: c.String("time"),
		Memory: 2*p.Memory() + 256<<20, // a worker keeps traces
	}
	if c.IsSet("memory") {
		if a.Memory, err = parseSize(c.String("memory")); err != nil {
			return nil, command.Usagef("submit: --memory %w", err)
		}
	}
	if a.Workers < 1 || a.Workers > slurm.MaxTasks {
		return nil, command.Usagef("submit: --workers %d, want 1 to %d: each takes runs until none is left", a.Workers,
			slurm.MaxTasks)
	}
	_, err = leaseOf(c)
	return a, err
}
