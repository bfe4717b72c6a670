package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/study"
	"reprise/study/tune"
)

func tuneCommand() *cli.Command {
	return &cli.Command{
		Name:      "tune",
		Usage:     "recommend an HPL.dat, or an hpcg.dat, for a machine",
		UsageText: "study tune --machine NAME [--ranks N | --nodes N] (-N ORDER | --memory SIZE) [options]\nstudy tune --machine NAME --dat FILE [options]\nstudy tune FILE.yaml [options]\nstudy tune --program hpcg --machine NAME [--ranks N | --nodes N] --memory SIZE [options]",
		Description: "Few of all configurations are replayed, the coarse first; the best is replayed again with seeds that the search has not seen.\n\n" +
			"    study tune --machine dahu --nodes 2 --memory 192GB --dry-run\n" +
			"    study tune --machine dahu --ranks 64 -N 20000 -o tuned\n" +
			"    study tune --machine dahu --dat HPL.dat --json\n" +
			"    study tune nb.yaml                          # within the configurations of a study\n" +
			"    study tune --program hpcg --ranks 8 --memory 4GB",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "program",
				Usage: "`NAME` of what is tuned: hpl, or hpcg, for which process grid and boxes are chosen", Value: "hpl"},
			&cli.StringFlag{Name: "machine",
				Usage: "`NAME` of a built-in machine, a machine directory, or the file of a platform", DefaultText: "the generic machine"},
			&cli.StringFlag{Name: "kernels", Usage: "kernel models: a `FILE`, or a built-in set",
				DefaultText: "those of the machine"},
			&cli.StringSliceFlag{Name: "set",
				Usage: "`WORD=VALUE`: what all runs have, any word of a study's file, such as PFACT=crout, without=node-3 or smpi/iprobe=1e-6; may be repeated"},
			&cli.StringFlag{Name: "dat", Usage: "choose within the lists of this HPL.dat, a `FILE`",
				DefaultText: "usual grids, block sizes, depths, broadcasts and swaps"},
			&cli.IntFlag{Name: "ranks", Usage: "`N` ranks", DefaultText: "one for each core"},
			&cli.IntFlag{Name: "nodes", Usage: "the first `N` nodes, with a rank for each core", DefaultText: "all"},
			&cli.IntFlag{Name: "order", Aliases: []string{"N"}, Usage: "`order` of the matrix",
				DefaultText: "what fills --memory"},
			&cli.StringFlag{Name: "memory",
				Usage: "each node has `SIZE` of memory, such as 256GB: chooses the order, or checks that it fits", DefaultText: "enough"},
			&cli.StringFlag{Name: "fill", Usage: "the matrix takes this `SHARE` of the memory", Value: "80%"},
			&cli.StringFlag{Name: "tolerance", Usage: "replay to within `T` at last, such as 0.3%, or exact", Value: "exact"},
			&cli.StringFlag{Name: "within", Usage: "a difference of less than this `SHARE` of the time does not matter",
				Value: "0.5%"},
			&cli.Uint64Flag{Name: "seed", Usage: "`seed` of the machine's noise, the same for all configurations", Value: 1},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "keep results in the directory `DIR`, from which the same command goes on, and put HPL.dat there"},
			&cli.IntFlag{Name: "jobs", Usage: "make `N` replays at once", DefaultText: "one a core"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be searched and what it may cost, and stop",
				DisableDefaultText: true},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON", DisableDefaultText: true},
			&cli.BoolFlag{Name: "quiet", Usage: "no progress on stderr", DisableDefaultText: true},
		},
		Action: runTune,
	}
}

// runTune is the command tune.
func runTune(c *cli.Context) error {
	jobs, err := jobsOf(c, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	switch program := c.String("program"); program {
	case "hpl":
	case "hpcg":
		return tuneHPCG(c, jobs)
	default:
		return command.Usagef("tune: --program %q, want hpl or hpcg", program)
	}
	s, err := toTune(c)
	if err != nil {
		return err
	}
	o := tune.Options{Jobs: jobs, Seed: s.Seeds[0], Dir: c.String("output")}
	if err := shares(c, s, &o); err != nil {
		return err
	}
	p, err := study.NewPlan(s, version())
	if err != nil {
		return err
	}
	if err := tune.Check(p); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return tune.WritePrediction(c.App.Writer, p, o)
	}
	return search(c, p, o)
}

// toTune returns the study of all configurations, which a file or the flags say.
func toTune(c *cli.Context) (*study.Study, error) {
	if c.NArg() > 1 {
		return nil, command.Usagef("tune: %d arguments, want the file of a study, or none", c.NArg())
	}
	if c.NArg() == 0 {
		request, err := requestOf(c)
		if err != nil {
			return nil, err
		}
		s, leftOut, err := request.Study()
		if err != nil {
			return nil, err
		}
		if leftOut > 0 && !c.Bool("quiet") {
			command.Tell(c.App.ErrWriter, "study",
				fmt.Sprintf("%s would not fit into the memory, and are left out", textutil.Count(leftOut, "configuration")))
		}
		s.Seeds = []uint64{c.Uint64("seed")}
		return s, nil
	}
	for _, name := range []string{"machine", "kernels", "set", "dat", "ranks", "nodes", "order", "memory", "fill",
		"seed"} {
		if c.IsSet(name) {
			return nil, command.Usagef("tune: --%s: the study's file says that", name)
		}
	}
	s, err := study.Load(c.Args().First())
	if err == nil && len(s.Seeds) > 1 {
		err = fmt.Errorf("%s: %d seeds, want one: the best is replayed with others", s.File, len(s.Seeds))
	}
	return s, err
}

// search tunes, and says what came out.
func search(c *cli.Context, p *study.Plan, o tune.Options) error {
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	bar := terminal.NewBar(c.App.ErrWriter, c.Bool("quiet"), len(p.Runs), "replays")
	o.Progress = bar.SetOf
	since := tune.Begin()
	r, err := tune.Run(ctx, p, o)
	bar.Clear()
	switch {
	case err != nil && ctx.Err() != nil && o.Dir != "":
		return command.Code(fmt.Errorf("interrupted: the same command goes on with what is in %s", o.Dir), 1)
	case err != nil:
		return err
	}
	r.Effort = since()
	if o.Dir != "" {
		if name, text := r.BestFile(); text != "" {
			if err := atomicfile.Write(filepath.Join(o.Dir, name), func(w io.Writer) error {
				_, err := io.WriteString(w, text)
				return err
			}); err != nil {
				return err
			}
		}
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, r)
	}
	return r.WriteText(c.App.Writer)
}

// shares reads the flags that are percentages.
func shares(c *cli.Context, s *study.Study, o *tune.Options) error {
	last := s.Tolerance
	switch text := c.String("tolerance"); {
	case text == "exact" && c.IsSet("tolerance"):
		last = 0
	case text != "exact":
		var err error
		if last, err = textutil.ParsePercent(text, "the makespan", false); err != nil {
			return command.Usagef("tune: --tolerance %w; or exact", err)
		}
	}
	o.Tolerances = tune.Tolerances(last)
	var err error
	if o.Indifference, err = textutil.ParsePercent(c.String("within"), "the makespan", true); err != nil {
		return command.Usagef("tune: --within %w", err)
	}
	return nil
}

// requestOf returns the request of the flags.
func requestOf(c *cli.Context) (*tune.Request, error) {
	r := &tune.Request{Dat: c.String("dat"), N: c.Int("order"), Ranks: c.Int("ranks"), Nodes: c.Int("nodes")}
	var err error
	if r.Memory, r.Fill, err = memoryOf(c); err != nil {
		return nil, err
	}
	for _, name := range []string{"machine", "kernels"} {
		if c.IsSet(name) {
			r.Settings = append(r.Settings, study.Setting{Word: name, Value: c.String(name)})
		}
	}
	for _, text := range c.StringSlice("set") {
		if err := r.Set(text); err != nil {
			return nil, command.Usagef("tune: --set %w", err)
		}
	}
	return r, nil
}

// memoryOf reads the memory of a node and the share of it that is used, and checks numbers.
func memoryOf(c *cli.Context) (memory, fill float64, err error) {
	for _, name := range []string{"order", "ranks", "nodes"} {
		if c.IsSet(name) && c.Int(name) < 1 {
			return 0, 0, command.Usagef("tune: --%s %d, want a positive number", name, c.Int(name))
		}
	}
	if c.IsSet("fill") && (c.IsSet("order") || c.IsSet("dat") || !c.IsSet("memory")) {
		return 0, 0, command.Usagef("tune: --fill chooses the order of the matrix by --memory: give that, and neither --order nor --dat")
	}
	if fill, err = textutil.ParsePercent(c.String("fill"), "the memory", false); err != nil {
		return 0, 0, command.Usagef("tune: --fill %w", err)
	}
	if !c.IsSet("memory") {
		return 0, fill, nil
	}
	size, err := parseSize(c.String("memory"))
	if err != nil {
		return 0, 0, command.Usagef("tune: --memory %w", err)
	}
	return float64(size), fill, nil
}
