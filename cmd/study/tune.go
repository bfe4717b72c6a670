package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/tune"
)

// tuneCommand is the command of both programs, HPL and HPCG. Flags of which only one has a use are refused with the
// other, rather than ignored.
func tuneCommand() *cli.Command {
	return &cli.Command{
		Name:  "tune",
		Usage: "recommend an HPL.dat, or an hpcg.dat, for a machine",
		UsageText: "study tune --machine NAME [--ranks N | --nodes N] (-N ORDER | --memory SIZE) [options]\n" +
			"study tune --machine NAME --dat FILE [options]\n" +
			"study tune FILE.yaml [options]\n" +
			"study tune --program hpcg --machine NAME [--ranks N | --nodes N] --memory SIZE [options]",
		Description: "Replays few of all configurations, first coarsely, then closely; the best again with new seeds.\n\n" +
			"    study tune --machine dahu --nodes 2 --memory 192GB --dry-run\n" +
			"    study tune --machine dahu --ranks 64 -N 20000 -o tuned\n" +
			"    study tune --machine dahu --dat HPL.dat --json\n" +
			"    study tune --machine dahu --budget 5m       # the best that is found until then\n" +
			"    study tune nb.yaml                          # within the configurations of a study\n" +
			"    study tune --program hpcg --ranks 8 --memory 4GB",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "program", Value: "hpl",
				Usage: "`NAME` of the program: hpl; or hpcg, of which process grid and boxes are chosen"},
			textFlag("machine", "`NAME` of a built-in machine, a machine directory, or the file of a platform",
				"the generic machine"),
			textFlag("kernels", "kernel models: a `FILE`, or a built-in set", "those of the machine"),
			&cli.StringSliceFlag{Name: "set", Usage: "`WORD=VALUE` of all runs, by any key of a study's file, such as PFACT=crout," +
				" without=node-3 or smpi/iprobe=1e-6; may be repeated"},
			textFlag("dat", "choose within the lists of this HPL.dat, a `FILE`",
				"usual grids, block sizes, depths, broadcasts and swaps"),
			&cli.IntFlag{Name: "ranks", Usage: "`N` ranks", DefaultText: "one for each core"},
			&cli.IntFlag{Name: "nodes", Usage: "the first `N` nodes, with a rank for each core", DefaultText: "all"},
			&cli.IntFlag{Name: "order", Aliases: []string{"N"}, Usage: "`order` of the matrix",
				DefaultText: "what fills --memory"},
			textFlag("memory", "each node has `SIZE` of memory, such as 256GB: chooses the order, or checks that it fits",
				"enough"),
			&cli.StringFlag{Name: "fill", Usage: "the matrix takes this `SHARE` of the memory", Value: "80%"},
			&cli.StringFlag{Name: "tolerance", Usage: "replay to within `T` at last, such as 0.3%, or exact", Value: "exact"},
			&cli.StringFlag{Name: "within", Usage: "a difference of less than this `SHARE` of the time does not matter",
				Value: "0.5%"},
			&cli.Uint64Flag{Name: "seed", Usage: "`seed` of the machine's noise, the same for all configurations", Value: 1},
			outputFlag("keep results and HPL.dat in the directory `DIR`, from which the same command continues", ""),
			jobsFlag("make `N` replays at once"),
			&cli.DurationFlag{Name: "budget", DefaultText: "none",
				Usage: "stop after this `TIME`, such as 10m, and print the best so far"},
			command.Switch("dry-run", "say what would be searched and what it may cost, and stop"),
			command.Switch("json", "print the result as JSON"),
			command.Switch("quiet", "no progress on stderr"),
		},
		Action: runTune,
	}
}

// runTune is the command tune.
func runTune(c *cli.Context) (err error) {
	jobs := jobsOf(c, runtime.GOMAXPROCS(0))
	command.Choice(c, "program", "hpl", "hpcg")
	s := toTune(c)

	// Tolerances: that of a study's file counts unless --tolerance is given.
	o := tune.Options{Jobs: jobs, Seed: s.Seeds[0], Dir: c.String("output")}
	last := s.Tolerance
	if text := c.String("tolerance"); text != "exact" {
		if last, err = textutil.ParsePercent(text, "the makespan", false); err != nil {
			return command.Usagef("tune: --tolerance %w; or exact", err)
		}
	} else if c.IsSet("tolerance") {
		last = 0
	}
	o.Tolerances = tune.Tolerances(last)
	o.Indifference, err = textutil.ParsePercent(c.String("within"), "the makespan", true)
	command.CheckFlag(c, "within", err)
	// The plan is never written: its runs are made by the search, a few of all.
	p := textutil.Must(study.NewPlan(s, version()))
	// Before --dry-run, which would promise a search that Run refuses.
	textutil.Check(tune.Check(p))
	if c.Bool("dry-run") {
		return tune.WritePrediction(c.App.Writer, p, o)
	}

	ctx, stop, stopped := searchTime(c)
	defer stop()
	bar := terminal.NewCount(c.App.ErrWriter, c.Bool("quiet"), "replays")
	end, limited := ctx.Deadline()
	o.Progress = func(done, all int, left time.Duration) {
		if limited {
			left = min(left, time.Until(end))
		}
		bar.SetLeft(done, all, left)
	}
	o.SoFar = func(r *tune.Result) {
		bar.Note(r.Line())
		if o.Dir != "" {
			_ = r.Save(o.Dir) // for study status; at the end it has to succeed
		}
	}
	since := tune.Begin()
	r, err := tune.Run(ctx, p, o)
	bar.Clear()
	if err != nil {
		return cmp.Or(stopped(o.Dir), tooShort(c, err))
	}
	r.Effort = since()
	// The file stands beside the results, ready for the benchmark.
	if name, text := r.BestFile(); o.Dir != "" && text != "" {
		textutil.Check(atomicfile.Write(filepath.Join(o.Dir, name), atomicfile.Bytes([]byte(text))))
	}
	if o.Dir != "" {
		textutil.Check(r.Save(o.Dir))
	}
	textutil.Check(show(c, r))
	if r.Stopped {
		return stopped(o.Dir)
	}
	return nil
}

// searchTime returns a context that ends at a signal or with --budget. stopped is the error of a command that a signal
// has ended, with what goes on; the end of the budget is none.
func searchTime(c *cli.Context) (ctx context.Context, stop func(), stopped func(dir string) error) {
	budget := c.Duration("budget")
	if c.IsSet("budget") && budget <= 0 {
		command.Refuse(c, "--budget %v, want a positive time such as 10m", budget)
	}
	signalled, stop := command.Interruptible(c.Context)
	ctx = signalled
	if budget > 0 {
		within, cancel := context.WithTimeout(signalled, budget)
		unlisten := stop
		ctx, stop = within, func() { cancel(); unlisten() }
	}
	return ctx, stop, func(dir string) error {
		switch {
		case signalled.Err() == nil:
			return nil
		case dir == "":
			return command.Code(errors.New("interrupted"), 1)
		}
		return command.Code(fmt.Errorf("interrupted: the same command goes on with what is in %s", dir), 1)
	}
}

// tooShort names --budget in the error of a search that it has ended before there was a result.
func tooShort(c *cli.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("--budget %v was over before the first replays had ended", c.Duration("budget"))
	}
	return err
}

// toTune returns the study of all configurations, from a file or from the flags.
func toTune(c *cli.Context) *study.Study {
	if c.NArg() > 1 {
		command.Refuse(c, "%d arguments, want the file of a study, or none", c.NArg())
	}
	if c.NArg() == 1 {
		for _, name := range []string{"program", "machine", "kernels", "set", "dat", "ranks", "nodes", "order", "memory", "fill",
			"seed"} {
			if c.IsSet(name) {
				command.Refuse(c, "--%s: the study's file says that", name)
			}
		}
		s := textutil.Must(study.Load(c.Args().First()))
		if len(s.Seeds) > 1 {
			textutil.Stop(fmt.Errorf("%s: %d seeds, want one: the best is replayed with others", s.File, len(s.Seeds)))
		}
		return s
	}

	// Without a file: a study of all configurations that come into question, by the flags.
	r := &tune.Request{HPCG: c.String("program") == "hpcg", Dat: c.String("dat"), N: c.Int("order"), Ranks: c.Int("ranks"), Nodes: c.Int("nodes")}
	for _, name := range []string{"dat", "order"} {
		if r.HPCG && c.IsSet(name) {
			command.Refuse(c, "--%s is for --program hpl", name)
		}
	}
	r.Memory, r.Fill = memoryOf(c)
	for _, name := range []string{"machine", "kernels"} {
		if c.IsSet(name) {
			r.Settings = append(r.Settings, study.Setting{Word: name, Value: c.String(name)})
		}
	}
	for _, text := range c.StringSlice("set") {
		command.CheckFlag(c, "set", r.Set(text))
	}
	s, leftOut, err := r.Study()
	textutil.Check(err)
	// Configurations without room are no error as long as others are left.
	if leftOut > 0 && !c.Bool("quiet") {
		command.Tell(c.App.ErrWriter, "study",
			fmt.Sprintf("%s would not fit into the memory, and are left out", textutil.Count(leftOut, "configuration")))
	}
	s.Seeds = []uint64{c.Uint64("seed")}
	return s
}

// memoryOf checks the flags that are numbers, and reads the memory of a node, in bytes, and the
// share of it that is used. Without --memory the memory is 0.
func memoryOf(c *cli.Context) (memory, fill float64) {
	for _, name := range []string{"order", "ranks", "nodes"} {
		if c.IsSet(name) && c.Int(name) < 1 {
			command.Refuse(c, "--%s %d, want a positive number", name, c.Int(name))
		}
	}
	if c.IsSet("fill") && (c.IsSet("order") || c.IsSet("dat") || !c.IsSet("memory")) {
		command.Refuse(c, "--fill chooses the order of the matrix by --memory: give that, and neither --order nor --dat")
	}
	fill, err := textutil.ParsePercent(c.String("fill"), "the memory", false)
	command.CheckFlag(c, "fill", err)
	if c.IsSet("memory") {
		memory = float64(sizeOf(c))
	}
	return memory, fill
}
