package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/replay"
	"reprise/trace/warning"
)

// maxRuns is the largest --runs.
const maxRuns = 1 << 20

// seedSettings is what the command line says about noise.
type seedSettings struct {
	seed uint64
	set  bool // by the user
	runs int  // 0: one replay
}

func seedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.Uint64Flag{Name: "seed", Usage: "`N` names the random numbers of models with noise", Value: 1},
		&cli.IntFlag{Name: "runs", Usage: "replay `N` times, with the seeds from --seed on, and print mean, interval and spread", DefaultText: "one replay"},
	}
}

func seedSettingsOf(c *cli.Context, s *settings) (seedSettings, error) {
	n := seedSettings{seed: c.Uint64("seed"), set: c.IsSet("seed"), runs: c.Int("runs")}
	if !c.IsSet("runs") {
		return n, nil
	}
	switch {
	case n.runs < 2 || n.runs > maxRuns:
		return n, command.Usagef("--runs %d, want 2 to %d", n.runs, maxRuns)
	case n.seed > math.MaxUint64-uint64(n.runs-1):
		return n, command.Usagef("--runs %d from --seed %d on would pass the largest seed, %d", n.runs, n.seed,
			uint64(math.MaxUint64))
	case s.sample.on():
		return n, command.Usagef("--runs is for exact replays, not for --tolerance and --budget")
	case s.keep.on():
		return n, command.Usagef("--checkpoint and --resume are for one replay, not for --runs")
	case s.trace == "-":
		return n, command.Usagef("--runs needs a trace that can be read again, not standard input")
	}
	return n, nil
}

// needless is the warning of a report where a seed was given and nothing is random.
const needless = "--seed changes nothing: neither the kernel models nor the network have noise"

// warnings are for a report that has this seed, or none.
func (n *seedSettings) warnings(used *uint64) []warning.Warning {
	if n.set && used == nil {
		return []warning.Warning{warning.New(needless)}
	}
	return nil
}

// replayRuns replays with several seeds, on all cores, and prints the spread.
func replayRuns(ctx context.Context, s *settings, stdout, stderr io.Writer) error {
	in, err := openAgain(ctx, s, "--runs")
	if err != nil {
		return err
	}
	defer in.close()
	m, err := load(s, in, stderr)
	if err != nil {
		return err
	}
	noisy, err := replay.HasNoise(in.header, m.Machine, m.options)
	if err != nil {
		return err
	}
	if !noisy {
		return command.Usagef("--runs: neither the kernel models nor the network have noise, so all runs would be the same")
	}
	ctx, stop := command.Interruptible(ctx)
	begun()
	bar := terminal.NewBar(stderr, s.quiet, s.noise.runs, "runs")
	begin, workers := time.Now(), min(runtime.GOMAXPROCS(0), s.noise.runs)
	ro := replay.RunsOptions{Runs: s.noise.runs, Workers: workers, Rating: s.ratingOf, Progress: bar.Set}
	e, err := replay.RunsFunc(ctx, m.options, ro, func(o replay.Options) (*replay.Result, error) {
		var ended func()
		o.Observers, ended = s.outputs.observeRun(in, m, &o)
		res, err := s.playAgain(ctx, m.Machine, o)
		if err == nil {
			ended()
		}
		return res, err
	})
	bar.Clear()
	stop()
	if e == nil {
		return warning.With(err, warning.Join(in.warnings(), m.causes()))
	}
	if err != nil {
		err = fmt.Errorf("stopped by a signal after %d of %d runs", len(e.Runs), s.noise.runs)
	}
	r := &runsResults{EnsembleReport: replay.NewEnsembleReport(e, s.provenance(m, time.Since(begin).Seconds()))}
	r.Workers, r.Warnings = workers, warning.Join(r.Warnings, m.warnings)
	failed := s.outputs.each(func(o *output) error { return o.writeRuns(in, m, r) })
	return errors.Join(s.print(stdout, r), failed, err)
}

// openAgain opens a trace that a flag reads several times.
func openAgain(ctx context.Context, s *settings, flag string) (*input, error) {
	if info, err := os.Stat(s.trace); err == nil && !info.Mode().IsRegular() {
		return nil, command.Usagef("%s needs a trace that can be read again, and %s is no file", flag, s.trace)
	}
	if s.draws > 0 && s.sample.on() {
		return openSampled(ctx, s)
	}
	return openInput(ctx, s.trace, nil)
}

// playAgain replays once, reading the trace for itself.
func (s *settings) playAgain(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
	in, err := openInput(ctx, s.trace, nil)
	if err != nil {
		return nil, err
	}
	defer in.close()
	return in.run(ctx, m, o)
}
