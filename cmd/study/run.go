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
	"reprise/study/report"
	"reprise/study/slurm"
	"reprise/study/workqueue"
)

// This file has the commands that make runs: run, plan and worker.

// defaultLease is after how long without a sign a worker of another host counts as dead.
const defaultLease = 30 * time.Second

func runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "plan a study and make its runs on this machine",
		UsageText: "study run FILE.yaml -o DIR [options]",
		Description: "Called again, it makes what is missing. DIR/table.csv has a row for each run.\n\n" +
			"    study run nb.yaml -o nb --dry-run           # how many runs, how long, how much memory\n" +
			"    study run nb.yaml -o nb --jobs 4",
		Flags: []cli.Flag{
			outputFlag("the study's directory `DIR`: plan, journals, tables", ""),
			jobsFlag("make `N` runs at once"),
			textFlag("memory", "make as many runs at once as fit in `SIZE`, such as 8GB", "no limit"),
			leaseFlag(),
			command.Switch("dry-run", "say what would be run, and stop"),
			command.Switch("quiet", "no progress and no notes on stderr"),
		},
		Action: runStudy,
	}
}

// runStudy is the command run.
func runStudy(c *cli.Context) error {
	if c.NArg() != 1 {
		return command.Usagef("run: want the file of a study, got %d arguments", c.NArg())
	}
	dir := c.String("output")
	if dir == "" && !c.Bool("dry-run") {
		return command.Usagef("run: --output DIR is missing: where the results are to be")
	}
	jobs, lease := jobsOf(c, runtime.GOMAXPROCS(0)), leaseOf(c)
	p := planOf(c.Args().First())
	// The memory of a run is an estimate, by its ranks; the traces that an evaluator keeps come on top.
	if c.IsSet("memory") { // as many runs at once as it holds
		budget, each := sizeOf(c), p.Memory()
		if each > budget {
			return fmt.Errorf("the largest run takes about %s: more than --memory %s", study.Bytes(each), c.String("memory"))
		}
		jobs = int(min(int64(jobs), budget/each))
	}
	if c.Bool("dry-run") {
		// With a directory that has results, the prediction is by how long these took.
		return p.Predict(dir, jobs).WriteText(c.App.Writer)
	}
	if !c.Bool("quiet") {
		tellNotes(c, p)
	}
	// A directory of the same plan is gone on with; one of another plan is refused.
	tellFound(c, p, textutil.Must(p.Create(dir)))
	// This worker stays until the study is done, also by others, and makes failed runs again: the
	// user has asked for the whole table.
	return work(c, p, study.WorkOptions{Jobs: jobs, Lease: lease, Retry: true, Wait: true})
}

func planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "plan a study, for workers to make its runs",
		UsageText: "study plan FILE.yaml -o DIR",
		Description: "Writes the plan into DIR, for study submit or for workers on any hosts.\n\n" +
			"    study plan nb.yaml -o nb",
		Flags: []cli.Flag{outputFlag("the study's directory `DIR`, which workers share", "")},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return command.Usagef("plan: want the file of a study, got %d arguments", c.NArg())
			}
			dir := c.String("output")
			if dir == "" {
				return command.Usagef("plan: --output DIR is missing: where the plan is to be")
			}
			p := planOf(c.Args().First())
			tellNotes(c, p)
			textutil.Must(p.Create(dir))
			_, err := fmt.Fprintf(c.App.Writer, "%s: %s\n", dir, textutil.Count(p.Different(), "run"))
			return err
		},
	}
}

// planOf plans the study of a file.
func planOf(file string) *study.Plan {
	return textutil.Must(study.NewPlan(textutil.Must(study.Load(file)), version()))
}

// tellNotes prints the notes of a plan, such as that several seeds are one run.
func tellNotes(c *cli.Context, p *study.Plan) {
	for _, note := range p.Notes() {
		command.Tell(c.App.ErrWriter, "study", note)
	}
}

// tellFound prints how many runs of a study that was found are done.
func tellFound(c *cli.Context, p *study.Plan, found bool) {
	if !found || c.Bool("quiet") {
		return
	}
	s := textutil.Must(p.NewStatus())
	command.Tell(c.App.ErrWriter, "study",
		fmt.Sprintf("%s has %d of %s: going on", s.Dir, s.Done, textutil.Count(s.Runs, "run")))
}

func workerCommand() *cli.Command {
	return &cli.Command{
		Name:      "worker",
		Usage:     "make runs of a planned study, beside other workers",
		UsageText: "study worker DIR [options]",
		Description: "Workers on any number of hosts share DIR. Each takes runs that are free, the longest first, until" +
			" none is.\nA run whose worker dies is free for the others: at once on the same host, else after --lease.\n\n" +
			"    study worker nb\n" +
			"    study worker nb --until 55m                 # begin nothing that would not end by then\n" +
			"    study worker nb --until 2026-12-01T08:00:00",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "jobs", Usage: "make `N` runs at once", Value: 1},
			textFlag("until", "end by this `TIME`, or within this duration; slurm: before the limit of the Slurm job in which this"+
				" runs", "when no run is left"),
			leaseFlag(),
			command.Switch("quiet", "no progress on stderr"),
		},
		Action: ofDirectory(runWorker),
	}
}

// runWorker is the command worker.
func runWorker(c *cli.Context, dir string) (err error) {
	o := study.WorkOptions{Jobs: jobsOf(c, 1), Lease: leaseOf(c)}
	// The time is read before the plan, which may take seconds of it.
	if until := c.String("until"); until == slurm.UntilLimit {
		left, limited, err := slurm.Left(c.Context)
		textutil.Check(err)
		if limited {
			o.Until = time.Now().Add(left)
		}
	} else {
		o.Until, err = slurm.ParseUntil(until, time.Now())
		command.CheckFlag(c, "until", err)
	}
	return work(c, textutil.Must(study.Open(dir, version())), o)
}

// work makes runs until there are none, and prints a summary.
func work(c *cli.Context, p *study.Plan, o study.WorkOptions) error {
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), p.Different(), "runs")
	told := time.Now()
	o.Progress = func(done, all int) {
		bar.SetOf(done, all)
		if time.Since(told) > 5*time.Second { // it reads all results
			bar.Note(best(p))
			told = time.Now()
		}
	}
	w, err := p.Work(ctx, o)
	bar.Clear()
	textutil.Check(err)
	tell(c, w.Torn, len(w.Torn))
	tell(c, w.Errors, w.Failed)
	textutil.Must(fmt.Fprintf(c.App.Writer, "%s: %s\n", p.Dir(), w.Summary()))
	if text := best(p); text != "" && !w.Done {
		fmt.Fprintln(c.App.Writer, text)
	}
	switch {
	case ctx.Err() != nil:
		return command.Code(fmt.Errorf("interrupted: study run again makes what is missing"), 1)
	// Exit 1 for failures of this worker alone; those of others are in the last line.
	case w.Failed > 0:
		return fmt.Errorf("%s failed: their errors are in the table", textutil.Count(w.Failed, "run"))
	case w.Done:
		_, err = fmt.Fprintf(c.App.Writer, "all runs are done%s: %s/%s\n", study.OfWhich(w.Lost), p.Dir(), study.CSVFile)
	}
	return err
}

// best says in one line which configuration is the best so far; "" if none has a result.
func best(p *study.Plan) string {
	results := p.NewResults()
	if results.Update() != nil {
		return "" // whoever needs the results says why
	}
	r, err := report.Of(p, results)
	if err != nil {
		return ""
	}
	top := &r.Ranking[0]
	text := fmt.Sprintf("best so far: %s, %.6g s", top.Name, top.Makespan)
	if top.Interval != nil && *top.Interval > 0 {
		text += fmt.Sprintf(" ± %.2g s", *top.Interval)
	}
	if top.Gflops > 0 {
		text += fmt.Sprintf(", %.5g Gflop/s", top.Gflops)
	}
	return fmt.Sprintf("%s (%d of %s)", text, len(r.Ranking), textutil.Count(len(p.Configurations(results)), "configuration"))
}

// The lease bounds how long the runs of a dead host stay taken; on one host a death is known at once.
func leaseFlag() cli.Flag {
	return &cli.DurationFlag{Name: "lease", Value: defaultLease,
		Usage: "a worker on another host counts as dead after `TIME` without a sign of life"}
}

// leaseOf returns the value of leaseFlag.
func leaseOf(c *cli.Context) time.Duration {
	d := c.Duration("lease")
	command.CheckFlag(c, "lease", workqueue.CheckPeriod(d))
	return d
}
