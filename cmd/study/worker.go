package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/study"
	"reprise/study/slurm"
)

func workerCommand() *cli.Command {
	return &cli.Command{
		Name:      "worker",
		Usage:     "make runs of a study that is planned, beside other workers",
		UsageText: "study worker DIR [options]",
		Description: "Workers on any number of hosts share DIR. Each takes runs that are free, the longest first, until none is.\n" +
			"A run whose worker dies is free for the others: at once on the same host, else after --lease.\n\n" +
			"    study worker nb\n" +
			"    study worker nb --until 55m                 # begin nothing that would not end by then\n" +
			"    study worker nb --until 2026-12-01T08:00:00",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "jobs", Usage: "make `N` runs at once", Value: 1},
			&cli.StringFlag{Name: "until", Usage: "`TIME` at which, or duration after which, to have ended; slurm: before the limit of the job of Slurm that this runs in", DefaultText: "when nothing is left"},
			&cli.DurationFlag{Name: "lease", Usage: "take workers on other hosts for dead that have not been seen for `TIME`",
				Value: defaultLease},
			&cli.BoolFlag{Name: "quiet", Usage: "no progress on stderr", DisableDefaultText: true},
		},
		Action: runWorker,
	}
}

// runWorker is the command worker.
func runWorker(c *cli.Context) error {
	dir, err := directory(c)
	if err != nil {
		return err
	}
	o := study.WorkOptions{}
	if o.Jobs, err = jobsOf(c, 1); err != nil {
		return err
	}
	if o.Lease, err = leaseOf(c); err != nil {
		return err
	}
	if o.Until, err = untilOf(c); err != nil {
		return err
	}
	p, err := study.Open(dir, version())
	if err != nil {
		return err
	}
	return work(c, p, o)
}

// untilSlurm has a worker end with its job of Slurm.
const untilSlurm = "slurm"

// untilOf returns when the worker is to have ended.
func untilOf(c *cli.Context) (time.Time, error) {
	if c.String("until") != untilSlurm {
		return parseUntil(c.String("until"), time.Now())
	}
	left, limited, err := slurm.Left(c.Context)
	if err != nil || !limited {
		return time.Time{}, err
	}
	return time.Now().Add(left), nil
}

// parseUntil reads a duration from now on, or a time of this host's clock; the zero time for "".
func parseUntil(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		if d <= 0 {
			return now, command.Usagef("worker: --until %s, want a duration such as 55m", text)
		}
		return now.Add(d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return now, command.Usagef("worker: --until %q, want a duration such as 55m, a time such as 2026-12-01T08:00:00, or slurm", text)
}
