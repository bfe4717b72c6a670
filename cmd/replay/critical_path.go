package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/replay"
	"reprise/report/path"
)

// pathOutput is the critical path of a replay.
type pathOutput struct {
	settings *settings
	whatIf   bool
	stderr   io.Writer
	in       *input
	machine  *loaded
	path     *path.Path
	windows  *path.Windows // of an estimate

	mu   sync.Mutex
	runs map[uint64]*path.Data // by seed, of --runs
}

func newPathOutput(c *cli.Context, s *settings) (*output, error) {
	p := &pathOutput{settings: s, whatIf: c.Bool("what-if"), stderr: c.App.ErrWriter, runs: map[uint64]*path.Data{}}
	switch {
	case !p.whatIf && !c.Bool("critical-path"):
		return nil, nil
	case p.whatIf && s.sample.on():
		return nil, command.Usagef("--what-if replays all steps: leave --tolerance and --budget out")
	case p.whatIf && s.noise.runs > 0:
		return nil, command.Usagef("--what-if replays once more: leave --runs out, --seed N names the one")
	case p.whatIf:
		if err := rereadable("what-if", s); err != nil {
			return nil, err
		}
	}
	return &output{
		flag: "critical-path", whole: true, begin: p.begin, write: p.write,
		observe: p.observe, writeEstimate: p.writeEstimate, observeRun: p.observeRun, writeRuns: p.writeRuns,
	}, nil
}

func (o *pathOutput) begin(_ context.Context, _ context.CancelCauseFunc, in *input,
	m *loaded) ([]replay.Observer, error) {
	o.in, o.machine, o.path = in, m, path.New(in.header, m.Machine, m.options)
	return []replay.Observer{o.path.Observer()}, nil
}

func (o *pathOutput) write(ctx context.Context, r *results) error {
	r.CriticalPath = o.path.Data()
	if !o.whatIf || len(r.CriticalPath.WhatIfs) == 0 || r.StoppedAt != nil {
		return nil
	}
	first := &r.CriticalPath.WhatIfs[0]
	m, options := first.Apply(o.machine.Machine, o.machine.options, path.Change)
	bar := terminal.NewBar(o.stderr, o.settings.quiet, o.settings.steps(o.in), "steps of a further replay")
	defer bar.Clear()
	options.Progress = bar.Set
	res, err := o.settings.playAgain(ctx, m, options)
	if ctx.Err() != nil {
		return errors.New("stopped by a signal before the replay of --what-if had ended")
	}
	if err != nil {
		return fmt.Errorf("--what-if: %s: %w", first.What, err)
	}
	gain := r.Makespan - res.Makespan
	first.Replayed = &gain
	return nil
}

func (o *pathOutput) observe(in *input, m *loaded) func(from, to int) ([]replay.Observer, func()) {
	o.windows = path.NewWindows(in.header, m.Machine, m.options)
	return o.windows.Observe
}

func (o *pathOutput) writeEstimate(_ *input, _ *loaded, r *estimateResults) error {
	r.CriticalPath = o.windows.Data(r.Estimate)
	return nil
}

// observeRun observes the replay with a seed. Where each path runs is left out.
func (o *pathOutput) observeRun(in *input, m *loaded, ro *replay.Options) ([]replay.Observer, func()) {
	p, seed := path.New(in.header, m.Machine, *ro), ro.Seed
	return []replay.Observer{p.Observer()}, func() {
		d := p.Data()
		d.Hops = path.Hops{}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.runs[seed] = d
	}
}

func (o *pathOutput) writeRuns(_ *input, _ *loaded, r *runsResults) error {
	var seeds []path.Seed
	for _, run := range r.Runs {
		seeds = append(seeds, path.Seed{Seed: run.Seed, Data: o.runs[run.Seed]})
	}
	r.CriticalPath = path.RunsOf(seeds)
	return nil
}
