package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/terminal"
	"reprise/study"
)

func archiveCommand() *cli.Command {
	return &cli.Command{
		Name:        "archive",
		Usage:       "put a study that is done into one file",
		UsageText:   "study archive DIR [-o FILE]",
		Description: "The file has all that study rerun needs, and the results: a zip.\n\n    study archive nb -o nb.zip",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "write the archive to `FILE`, or to stdout if that is -", DefaultText: "DIR.zip"},
		},
		Action: func(c *cli.Context) error {
			dir, err := directory(c)
			if err != nil {
				return err
			}
			path, err := archivePath(c, dir)
			if err != nil {
				return err
			}
			p, r, err := results(c, dir)
			if err != nil {
				return err
			}
			if path == "-" {
				return p.WriteArchive(c.App.Writer, r)
			}
			if err := p.CheckOutput(path); err != nil {
				return command.Usagef("archive: --output %w", err)
			}
			return atomicfile.Write(path, func(w io.Writer) error { return p.WriteArchive(w, r) })
		},
	}
}

// archivePath returns where the archive of a directory is to be: beside it, unless it is said.
func archivePath(c *cli.Context, dir string) (string, error) {
	if path := c.String("output"); path != "" {
		return path, nil
	}
	abs, err := filepath.Abs(dir)
	return abs + ".zip", err
}

// results opens a study's directory for what it has found out, and tells what does not count.
func results(c *cli.Context, dir string) (*study.Plan, *study.Results, error) {
	p, err := study.Open(dir, "")
	if err != nil {
		return nil, nil, err
	}
	r := p.NewResults()
	err = r.Update()
	tell(c, r.Torn(), len(r.Torn()))
	return p, r, err
}

func rerunCommand() *cli.Command {
	return &cli.Command{
		Name:        "rerun",
		Usage:       "make the runs of an archived study again, and compare",
		UsageText:   "study rerun FILE -o DIR [options]",
		Description: "Exit 0: the same bits; 1: not, and what differs; 2: trouble.\n\n    study rerun nb.zip -o again",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "the directory `DIR` of the new study"},
			&cli.IntFlag{Name: "jobs", Usage: "make `N` runs at once", DefaultText: "one a core"},
			&cli.BoolFlag{Name: "quiet", Usage: "no progress on stderr", DisableDefaultText: true},
		},
		Action: func(c *cli.Context) error {
			d, err := rerun(c)
			if err == nil {
				err = tellRerun(c, d)
			}
			switch {
			case err != nil:
				return command.Code(err, trouble)
			case d.Different > 0:
				return command.Silent
			}
			return nil
		},
	}
}

// rerun makes the runs of an archive again.
func rerun(c *cli.Context) (*study.Rerun, error) {
	if c.NArg() != 1 || c.String("output") == "" {
		return nil, command.Usagef("rerun: want the archive of a study, and --output DIR for the new one")
	}
	jobs, err := jobsOf(c, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	a, err := openArchive(c.Args().First())
	if err != nil {
		return nil, err
	}
	p, found, err := a.Create(c.String("output"), version())
	if err == nil {
		err = tellFound(c, p, found)
	}
	if err != nil {
		return nil, err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), p.Different(), "runs")
	w, err := p.Work(ctx, study.WorkOptions{Jobs: jobs, Lease: defaultLease, Progress: bar.SetOf})
	bar.Clear()
	tell(c, w.Torn, len(w.Torn))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	r := p.NewResults()
	if err := r.Update(); err != nil {
		return nil, err
	}
	return a.Compare(p, r), nil
}

func openArchive(path string) (*study.Archive, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return study.ReadArchive(f, info.Size(), path)
}

// tellRerun prints how the results differ.
func tellRerun(c *cli.Context, d *study.Rerun) error {
	for _, text := range append(d.Causes, d.Differences...) {
		if _, err := fmt.Fprintln(c.App.Writer, text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(c.App.Writer, d.Summary())
	return err
}
