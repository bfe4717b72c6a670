package main

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/replay"
	"reprise/replay/sampling"
	"reprise/trace"
	"reprise/trace/warning"
)

// maxDraws is the largest --draws.
const maxDraws = 1 << 16

func uncertaintyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "uncertainty",
			Usage: "replay on machines drawn by what the kernel file says of its own errors, and print an interval with its parts", DisableDefaultText: true},
		&cli.IntFlag{Name: "draws", Usage: "`N` machines of --uncertainty, with the seeds from --seed on", Value: 20},
	}
}

// drawsOf returns how many machines to draw, 0 without --uncertainty.
func drawsOf(c *cli.Context, s *settings) (int, error) {
	draws := c.Int("draws")
	switch {
	case !c.Bool("uncertainty") && c.IsSet("draws"):
		return 0, command.Usagef("--draws says how many machines --uncertainty draws: it needs that")
	case !c.Bool("uncertainty"):
		return 0, nil
	case draws < 3 || draws > maxDraws:
		return 0, command.Usagef("--draws %d, want 3 to %d", draws, maxDraws)
	case s.noise.seed > math.MaxUint64-uint64(draws-1):
		return 0, command.Usagef("--draws %d from --seed %d on would pass the largest seed, %d", draws, s.noise.seed,
			uint64(math.MaxUint64))
	case s.noise.runs > 0:
		return 0, command.Usagef("--uncertainty draws noise, too: leave --runs out")
	case s.sample.budget > 0:
		return 0, command.Usagef("--uncertainty needs estimates that are alike: --tolerance, not --budget")
	case s.sample.workers != "":
		return 0, command.Usagef("--workers is for one estimate, not for --uncertainty")
	case s.keep.on():
		return 0, command.Usagef("--checkpoint and --resume are for one replay, not for --uncertainty")
	case s.trace == "-":
		return 0, command.Usagef("--uncertainty needs a trace that can be read again, not standard input")
	}
	return draws, nil
}

// replayDraws replays on drawn machines and prints the intervals.
func replayDraws(ctx context.Context, s *settings, stdout, stderr io.Writer) error {
	in, err := openAgain(ctx, s, "--uncertainty")
	if err != nil {
		return err
	}
	defer in.close()
	m, err := load(s, in, stderr)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(ctx)
	defer stop()
	begun()
	var bar *terminal.Bar
	uo := replay.UncertaintyOptions{Draws: s.draws, Workers: runtime.GOMAXPROCS(0), Progress: func(ended, all int) {
		if bar == nil {
			bar = terminal.NewBar(stderr, s.quiet, all, "replays")
		}
		bar.Set(ended)
	}}
	play := s.playExactly
	if s.sample.on() {
		uo.Workers, play = 1, s.playInPart
	}
	begin := time.Now()
	u, err := replay.Uncertain(ctx, in.header, m.Machine, m.options, uo, play)
	if bar != nil {
		bar.Clear()
	}
	switch {
	case errors.Is(err, replay.ErrCertain):
		return command.Usagef("--uncertainty: %w", err)
	case err != nil && ctx.Err() != nil:
		return errors.New("stopped by a signal: no interval without all draws")
	case err != nil:
		return warning.With(err, warning.Join(in.warnings(), m.causes()))
	}
	r := replay.NewUncertaintyReport(u, s.provenance(m, time.Since(begin).Seconds()))
	r.Warnings = warning.Join(r.Warnings, m.warnings)
	return errors.Join(s.print(stdout, r), s.outputs.each(func(o *output) error { return o.writeDraws(in, m, r) }))
}

// playExactly replays all of the trace on a drawn machine.
func (s *settings) playExactly(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Played, error) {
	r, err := s.playAgain(ctx, m, o)
	if err != nil {
		return nil, err
	}
	p := replay.PlayedExactly(r)
	p.Rating, err = s.ratingOf(r)
	return p, err
}

// playInPart estimates on a drawn machine, or replays where that costs no more.
func (s *settings) playInPart(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Played, error) {
	so := replay.SampleOptions{Tolerance: s.sample.tolerance, Workers: runtime.GOMAXPROCS(0)}
	e, err := replay.Sample(ctx, func() (*trace.Trace, error) { return trace.Open(s.trace) }, m, o, so)
	if errors.Is(err, sampling.ErrExact) {
		return s.playExactly(ctx, m, o)
	}
	if err != nil {
		return nil, err
	}
	p := replay.PlayedInPart(e)
	if sum, err := s.hpcgEstimate(e); err != nil {
		return nil, err
	} else if sum != nil {
		p.Rating = sum.Rating
	}
	return p, nil
}
