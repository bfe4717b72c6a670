package main

import (
	"cmp"
	"io"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/report"
)

// This file has the commands that read results of a study: report, check, archive and rerun.

// results reads the plan and the results of a study's directory, and prints which lines of its journals do not count.
func results(c *cli.Context, dir string) (*study.Plan, *study.Results) {
	p := textutil.Must(study.Open(dir, ""))
	r := p.NewResults()
	err := r.Update()
	tell(c, r.Torn(), len(r.Torn()))
	textutil.Check(err)
	return p, r
}

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "print the findings of a study",
		UsageText: "study report DIR [-o FILE.html] [--json]",
		Description: "The best configurations, those that cannot be told from them, and what each factor does.\n\n" +
			"    study report nb\n" +
			"    study report nb -o nb.html",
		Flags: []cli.Flag{
			outputFlag("write a page for a browser to `FILE`, beside the text", ""),
			command.Switch("json", "print the findings as JSON"),
		},
		Action: ofDirectory(func(c *cli.Context, dir string) error {
			path := c.String("output")
			if path == "-" {
				return command.Usagef("report: --output -: a page goes to a file")
			}
			p, r := results(c, dir)
			f := textutil.Must(report.Of(p, r))
			if path != "" {
				command.CheckFlag(c, "output", p.CheckOutput(path))
				// The page first: a report is printed only if all that was asked for is there.
				textutil.Check(atomicfile.Write(path, f.WriteHTML))
			}
			return show(c, f)
		}),
	}
}

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "tell whether a study has become slower since another one",
		UsageText: "study check DIR --against DIR [--threshold T] [--json]",
		Description: "Exit 0: no configuration is slower by more than --threshold; 1: one is; 2: trouble.\n\n" +
			"    study check today --against yesterday --threshold 1%",
		Flags: []cli.Flag{
			textFlag("against", "`DIR` of the study that is the base", ""),
			&cli.StringFlag{Name: "threshold", Usage: "allow a slowdown of up to `T` (1%, or 0.01)", Value: "0%"},
			command.Switch("json", "print the comparison as JSON"),
		},
		Action: comparing(func(c *cli.Context) (_ result, worse bool, err error) {
			defer textutil.Stopped(&err)
			dir := directory(c)
			if c.String("against") == "" {
				return nil, false, command.Usagef("check: --against DIR is missing: the study to compare with")
			}
			threshold, err := textutil.ParsePercent(c.String("threshold"), "the makespan", true)
			command.CheckFlag(c, "threshold", err)
			// A is the base, B the study that may have become slower.
			a, ra := results(c, c.String("against"))
			b, rb := results(c, dir)
			d, err := study.NewCheck(a, b, ra, rb, threshold)
			return d, err == nil && d.Worse, err
		}),
	}
}

// comparing returns the action of a command that compares. The exit code says how that has ended, for scripts: 0 if all
// is well, 1 if the comparison is bad, which its text has said, and trouble if there is no comparison.
func comparing(compare func(c *cli.Context) (r result, bad bool, err error)) cli.ActionFunc {
	return func(c *cli.Context) error {
		r, bad, err := compare(c)
		if err == nil {
			err = show(c, r)
		}
		return command.Compared(bad, err)
	}
}

func archiveCommand() *cli.Command {
	return &cli.Command{
		Name:      "archive",
		Usage:     "put a finished study into one file",
		UsageText: "study archive DIR [-o FILE]",
		Description: "The file has all that study rerun needs, and the results: a zip.\n\n" +
			"    study archive nb -o nb.zip",
		Flags: []cli.Flag{outputFlag("write the archive to `FILE`, or to stdout if that is -", "DIR.zip")},
		Action: ofDirectory(func(c *cli.Context, dir string) error {
			path := c.String("output")
			if path == "" { // beside the directory, also if its name is . or ends with a slash
				path = textutil.Must(filepath.Abs(dir)) + ".zip"
			}
			p, r := results(c, dir)
			if path == "-" {
				return p.WriteArchive(c.App.Writer, r)
			}
			command.CheckFlag(c, "output", p.CheckOutput(path))
			// An archive of a study that is not done fails before anything is written.
			return atomicfile.Write(path, func(w io.Writer) error { return p.WriteArchive(w, r) })
		}),
	}
}

func rerunCommand() *cli.Command {
	return &cli.Command{
		Name:        "rerun",
		Usage:       "make the runs of an archived study again, and compare",
		UsageText:   "study rerun FILE -o DIR [options]",
		Description: "Exit 0: the same bits; 1: not, and what differs; 2: trouble.\n\n    study rerun nb.zip -o again",
		Flags: []cli.Flag{
			outputFlag("the directory `DIR` of the new study", ""),
			jobsFlag("make `N` runs at once"),
			command.Switch("quiet", "no progress on stderr"),
		},
		Action: comparing(rerun),
	}
}

// rerun makes the runs of an archive again, and compares. It is bad if any row differs.
func rerun(c *cli.Context) (_ result, different bool, err error) {
	defer textutil.Stopped(&err)
	if c.NArg() != 1 || c.String("output") == "" {
		return nil, false, command.Usagef("rerun: want the archive of a study, and --output DIR for the new one")
	}
	jobs := jobsOf(c, runtime.GOMAXPROCS(0))
	// The archive is checked as a whole before a directory is made.
	a := textutil.Must(study.OpenArchive(c.Args().First()))
	// The runs get this version's names, as they are to be made by it.
	p, found, err := a.Create(c.String("output"), version())
	textutil.Check(err)
	tellFound(c, p, found)
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), p.Different(), "runs")
	w, err := p.Work(ctx, study.WorkOptions{Jobs: jobs, Lease: defaultLease, Progress: bar.SetOf})
	bar.Clear()
	tell(c, w.Torn, len(w.Torn))
	// An interrupt gives the leases back, and the same command goes on.
	textutil.Check(cmp.Or(err, ctx.Err()))
	r := p.NewResults()
	textutil.Check(r.Update())
	d := a.Compare(p, r)
	return d, d.Different > 0, nil
}
