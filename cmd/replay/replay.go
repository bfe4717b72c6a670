package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/replay"
	"reprise/trace/warning"
)

// replayTrace opens everything, replays, and prints the report.
func replayTrace(ctx context.Context, s *settings, stdin io.Reader, stdout, stderr io.Writer) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	in, err := openInput(ctx, s.trace, stdin)
	if err != nil {
		return err
	}
	defer in.close()
	m, err := load(s, in, stderr)
	if err != nil {
		return err
	}
	bar := newBar(s, in, stderr)
	o := m.options
	o.Progress = bar.Set
	k, err := newCheckpointer(ctx, end, s, in, m.Source, &o, stderr)
	if err != nil {
		return err
	}
	if err := s.outputs.begin(ctx, end, in, m, &o); err != nil {
		k.close()
		return err
	}
	begun()
	in.readAhead() // only now: its goroutine would keep others from starting
	res, err := in.run(ctx, m.Machine, o)
	k.close()
	bar.Clear()
	err = k.ended(res, err)
	var stopped interruption
	if err != nil && !errors.As(err, &stopped) {
		s.outputs.abandon()
		return warning.With(err, warning.Join(in.warnings(), k.warnings(), m.causes()))
	}
	k.tellFailures()
	res.Warnings = warning.Join(res.Warnings, k.warnings(), s.noise.warnings(res.Seed), m.warnings)
	r := &results{Report: replay.NewReport(res, s.provenance(m, res.WallBefore+time.Since(k.begin).Seconds()))}
	var summary error
	r.HPCG, summary = s.hpcgOf(res)
	ctx, stop := command.Interruptible(ctx) // for what outputs replay once more
	failed := s.outputs.write(ctx, r)
	stop()
	return errors.Join(s.print(stdout, r), summary, failed, err)
}

// begun has a signal say no longer that nothing was replayed.
func begun() { command.InterruptedText("interrupted") }

// loaded is a machine with the options that come with it and the command line, and what is
// odd about them.
type loaded struct {
	replay.Machine
	options  replay.Options
	warnings []warning.Warning
}

// causes returns those of the warnings that may be why something failed.
func (m *loaded) causes() []warning.Warning {
	return slices.DeleteFunc(slices.Clone(m.warnings), func(w warning.Warning) bool { return w.Kind == warning.Choice })
}

// load loads the machine and the options that a trace is played with, and tells what was
// chosen where the command line leaves it open, and what may end the replay after hours.
func load(s *settings, in *input, stderr io.Writer) (*loaded, error) {
	if err := in.checkSteps(s.from, s.to); err != nil {
		return nil, err
	}
	if err := s.spare(in); err != nil {
		return nil, err
	}
	m, o, list, err := replay.LoadMachine(s.spec, in.traced())
	if err != nil {
		var setting *replay.SettingError
		if errors.As(err, &setting) {
			err = warning.With(command.Usagef("--%s: %w", setting.Name, setting.Err), warning.Of(err))
		}
		return nil, warning.With(err, s.odd)
	}
	if err := s.checkProfiles(m.Platform); err != nil {
		return nil, err
	}
	o.From, o.To, o.Seed = s.from, s.to, s.noise.seed
	if err := s.checkSetupTime(in.header); err != nil {
		return nil, err
	}
	l := &loaded{m, o, warning.Join(list, s.odd)}
	for _, w := range l.warnings {
		if w.Kind != warning.Oddity && !s.quiet {
			command.Tell(stderr, "replay", w.String())
		}
	}
	if s.verbose {
		l.describe(in.header, stderr)
	}
	return l, nil
}

// provenance is that of a replay on m which took so long.
func (s *settings) provenance(m *loaded, wallSeconds float64) replay.Provenance {
	return replay.Provenance{
		Tool: "replay " + command.Version(), Trace: s.trace, WallSeconds: wallSeconds, PeakRSS: peakRSS(),
	}.On(&m.Source)
}

// printable is what a replay prints.
type printable interface {
	WriteText(io.Writer) error
	WriteJSON(io.Writer) error
}

func (s *settings) print(stdout io.Writer, r printable) error {
	if s.json {
		return r.WriteJSON(stdout)
	}
	return r.WriteText(terminal.Wide(stdout))
}

// newBar returns a progress bar over the steps to replay.
func newBar(s *settings, in *input, stderr io.Writer) *terminal.Bar {
	return terminal.NewBar(stderr, s.quiet, s.steps(in), "steps")
}

// steps returns how many steps there are to replay, as far as is known before the end
// of a stream.
func (s *settings) steps(in *input) int {
	first, end := s.stepRange(in)
	return end - first
}

// stepRange returns the steps first <= step < end that there are to replay, likewise.
func (s *settings) stepRange(in *input) (first, end int) {
	first, end = s.stepsAsked(in)
	if in.trace != nil {
		if w := in.trace.ChunkInfos(); len(w) > 0 {
			first, end = max(first, w[0].First), min(end, w[len(w)-1].Last+1)
		}
	}
	return first, end
}

// stepsAsked returns the steps first <= step < end of a program that --steps asks for.
func (s *settings) stepsAsked(in *input) (first, end int) {
	first, end = s.from, in.header.Steps
	if s.to > 0 {
		end = min(end, s.to)
	}
	return first, end
}
