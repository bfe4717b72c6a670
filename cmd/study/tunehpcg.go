package main

import (
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/study/tune"
)

// tuneHPCG is the command tune for HPCG.
func tuneHPCG(c *cli.Context, jobs int) error {
	if c.NArg() > 0 {
		return command.Usagef("tune: %d arguments, want none with --program hpcg", c.NArg())
	}
	for _, name := range []string{"set", "dat", "order", "tolerance", "output"} {
		if c.IsSet(name) {
			return command.Usagef("tune: --%s is for --program hpl", name)
		}
	}
	b := tune.Boxes{Machine: c.String("machine"), Kernels: c.String("kernels"), Ranks: c.Int("ranks"),
		Nodes: c.Int("nodes")}
	o := tune.BoxOptions{Jobs: jobs, Seed: c.Uint64("seed"), Tool: "study " + version()}
	var err error
	if b.Memory, b.Fill, err = memoryOf(c); err != nil {
		return err
	}
	if o.Indifference, err = textutil.ParsePercent(c.String("within"), "the rate", true); err != nil {
		return command.Usagef("tune: --within %w", err)
	}
	if c.Bool("dry-run") {
		return b.WritePrediction(c.App.Writer)
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	bar := terminal.NewCount(c.App.ErrWriter, c.Bool("quiet"), "replays")
	o.Progress = bar.SetOf
	since := tune.Begin()
	r, err := tune.RunBoxes(ctx, b, o)
	bar.Clear()
	if err != nil {
		return err
	}
	r.Effort = since()
	if c.Bool("json") {
		return writeJSON(c.App.Writer, r)
	}
	return r.WriteText(c.App.Writer)
}
