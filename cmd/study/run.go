package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/study"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "plan a study and make its runs on this machine",
		UsageText: "study run FILE.yaml -o DIR [options]",
		Description: "Called again, it makes what is missing. DIR/table.csv has a row for each run.\n\n" +
			"    study run nb.yaml -o nb --dry-run           # how many runs, how long, how much memory\n" +
			"    study run nb.yaml -o nb --jobs 4",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "the study's directory `DIR`: plan, journals, tables"},
			&cli.IntFlag{Name: "jobs", Usage: "make `N` runs at once", DefaultText: "one a core"},
			&cli.StringFlag{Name: "memory", Usage: "make as many runs at once as fit in `SIZE`, such as 8GB",
				DefaultText: "no limit"},
			&cli.DurationFlag{Name: "lease", Usage: "take workers on other hosts for dead that have not been seen for `TIME`",
				Value: defaultLease},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be run, and stop", DisableDefaultText: true},
			&cli.BoolFlag{Name: "quiet", Usage: "no progress and no notes on stderr", DisableDefaultText: true},
		},
		Action: runStudy,
	}
}

// defaultLease is how long a worker on another host may not be seen.
const defaultLease = 30 * time.Second

// runStudy is the command run.
func runStudy(c *cli.Context) error {
	if c.NArg() != 1 {
		return command.Usagef("run: want the file of a study, got %d arguments", c.NArg())
	}
	dir := c.String("output")
	if dir == "" && !c.Bool("dry-run") {
		return command.Usagef("run: --output DIR is missing: where the results are to be")
	}
	jobs, err := jobsOf(c, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	lease, err := leaseOf(c)
	if err != nil {
		return err
	}
	s, err := study.Load(c.Args().First())
	if err != nil {
		return err
	}
	p, err := study.NewPlan(s, version())
	if err != nil {
		return err
	}
	if jobs, err = fitting(c, p, jobs); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return p.Predict(dir, jobs).WriteText(c.App.Writer)
	}
	if !c.Bool("quiet") {
		tellNotes(c, p)
	}
	found, err := p.Create(dir)
	if err != nil {
		return err
	}
	if err := tellFound(c, p, found); err != nil {
		return err
	}
	return work(c, p, study.WorkOptions{Jobs: jobs, Lease: lease, Retry: true, Wait: true})
}

// fitting returns how many runs at once fit in the memory, if that is bounded.
func fitting(c *cli.Context, p *study.Plan, jobs int) (int, error) {
	if !c.IsSet("memory") {
		return jobs, nil
	}
	budget, err := parseSize(c.String("memory"))
	if err != nil {
		return 0, command.Usagef("run: --memory %w", err)
	}
	each := p.Memory()
	if each > budget {
		return 0, fmt.Errorf("the largest run takes about %s: more than --memory %s", study.Bytes(each), c.String("memory"))
	}
	return int(min(int64(jobs), budget/each)), nil
}

// tellNotes says what whoever makes the runs may not expect.
func tellNotes(c *cli.Context, p *study.Plan) {
	for _, note := range p.Notes() {
		command.Tell(c.App.ErrWriter, "study", note)
	}
}

// tellFound says what is there already.
func tellFound(c *cli.Context, p *study.Plan, found bool) error {
	if !found || c.Bool("quiet") {
		return nil
	}
	s, err := p.NewStatus()
	if err != nil {
		return err
	}
	command.Tell(c.App.ErrWriter, "study",
		fmt.Sprintf("%s has %d of %s: going on", s.Dir, s.Done, textutil.Count(s.Runs, "run")))
	return nil
}

// work makes runs until there are none, and says what came out.
func work(c *cli.Context, p *study.Plan, o study.WorkOptions) error {
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), p.Different(), "runs")
	o.Progress = bar.SetOf
	w, err := p.Work(ctx, o)
	bar.Clear()
	if err != nil {
		return err
	}
	tell(c, w.Torn, len(w.Torn))
	tell(c, w.Errors, w.Failed)
	if _, err := fmt.Fprintf(c.App.Writer, "%s: %s\n", p.Dir(), w.Summary()); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return command.Code(fmt.Errorf("interrupted: study run again makes what is missing"), 1)
	case w.Failed > 0:
		return fmt.Errorf("%s failed: their errors are in the table", textutil.Count(w.Failed, "run"))
	case w.Done:
		_, err = fmt.Fprintf(c.App.Writer, "all runs are done%s: %s/%s\n", study.OfWhich(w.Lost), p.Dir(), study.CSVFile)
	}
	return err
}

// maxTold is how many lines of a kind are told.
const maxTold = 10

// tell tells the first of so many errors, and how many there are besides.
func tell(c *cli.Context, list []string, all int) {
	list = list[:min(len(list), maxTold)]
	for _, text := range list {
		command.Tell(c.App.ErrWriter, "study", text)
	}
	if more := all - len(list); more > 0 {
		command.Tell(c.App.ErrWriter, "study", fmt.Sprintf("and %s more", textutil.Count(more, "error")))
	}
}

// leaseOf returns how long a worker on another host may not be seen.
func leaseOf(c *cli.Context) (time.Duration, error) {
	d := c.Duration("lease")
	if err := study.CheckLease(d); err != nil {
		return 0, command.Usagef("%s: --lease %w", c.Command.Name, err)
	}
	return d, nil
}

// jobsOf returns how many runs to make at once.
func jobsOf(c *cli.Context, usual int) (int, error) {
	if !c.IsSet("jobs") {
		return usual, nil
	}
	if n := c.Int("jobs"); n >= 1 && n <= maxJobs {
		return n, nil
	}
	return 0, command.Usagef("%s: --jobs %d, want 1 to %d", c.Command.Name, c.Int("jobs"), maxJobs)
}

// maxJobs is more than any machine has cores.
const maxJobs = 1 << 14
