package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/replay"
	"reprise/report/pop"
	"reprise/trace/warning"
)

// efficiencies is the output of --pop: two further replays, and what they tell.
type efficiencies struct {
	settings *settings
	stderr   io.Writer
	in       *input
	machine  *loaded
}

func newEfficiencies(c *cli.Context, s *settings) (*output, error) {
	if !c.Bool("pop") {
		return nil, nil
	}
	e := &efficiencies{settings: s, stderr: c.App.ErrWriter}
	return &output{flag: "pop", begin: e.begin, write: e.write}, rereadable("pop", s)
}

// rereadable refuses a trace that an output cannot replay again.
func rereadable(flag string, s *settings) error {
	if s.trace == "-" {
		return command.Usagef("--%s needs a trace that can be read again, not standard input", flag)
	}
	if info, err := os.Stat(s.trace); err == nil && !info.Mode().IsRegular() {
		return command.Usagef("--%s needs a trace that can be read again, and %s is no file", flag, s.trace)
	}
	return nil
}

func (e *efficiencies) begin(_ context.Context, _ context.CancelCauseFunc, in *input,
	m *loaded) ([]replay.Observer, error) {
	e.in, e.machine = in, m
	return nil, nil
}

// write replays the run twice more. One that was interrupted has no efficiencies, and a
// signal ends the further replays: the run is reported without.
func (e *efficiencies) write(ctx context.Context, r *results) error {
	if r.StoppedAt != nil {
		return nil
	}
	s, steps, before := e.settings, e.settings.steps(e.in), 0
	bar := terminal.NewBar(e.stderr, s.quiet, 2*steps, "steps of further replays")
	defer bar.Clear()
	d, err := pop.Of(ctx, r.Result, e.machine.Machine, e.machine.options,
		func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
			o.Progress = func(n int) { bar.Set(before + n) }
			res, err := s.playAgain(ctx, m, o)
			before += steps
			return res, err
		})
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("--pop: stopped by a signal: there are no efficiencies without the further replays")
	case err != nil:
		return warning.With(fmt.Errorf("--pop: %w", err), e.machine.causes())
	}
	r.POP = d
	return nil
}
