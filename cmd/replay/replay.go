package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/words"
	"reprise/netmodel"
	"reprise/replay"
	"reprise/replay/collective"
	"reprise/warning"
)

// replayTrace opens everything, replays, and prints the report.
func replayTrace(s *settings, stdin io.Reader, stdout, stderr io.Writer) error {
	in, err := openInput(s.trace, stdin)
	if err != nil {
		return err
	}
	defer in.close()
	m, o, err := setUp(s, in, stderr)
	if err != nil {
		return err
	}
	bar := newBar(s, in, stderr)
	o.Progress = bar.Set
	k, err := newKeeper(s, in, &o, stderr)
	if err != nil {
		return err
	}
	in.readAhead() // only now: its goroutine would keep others from starting
	res, err := in.run(m.Machine, o)
	k.close()
	bar.Clear()
	err = k.ended(res, err)
	var stopped interruption
	if err != nil && !errors.As(err, &stopped) {
		return warning.With(err, warning.Join(in.warnings(), k.warnings(), m.oddities()))
	}
	m.notePolls(s, in.text != nil && res.Polls > 0, &o.Network) // of text it is known now
	k.tellFailures()
	res.Warnings = warning.Join(res.Warnings, k.warnings(), s.noise.warnings(res.Seed), m.warnings())
	r := replay.NewReport(res, s.provenance(m, res.WallBefore+time.Since(k.begin).Seconds()))
	return errors.Join(s.print(stdout, r), err)
}

// setUp makes the machine and the options that a trace is played with, and tells what
// was chosen where the command line leaves it open.
func setUp(s *settings, in *input, stderr io.Writer) (*machine, replay.Options, error) {
	m, err := loadMachine(s, in)
	if err != nil {
		return nil, replay.Options{}, err
	}
	if err := s.checkProfiles(m.Platform); err != nil {
		return nil, replay.Options{}, err
	}
	o, err := options(s, m)
	if err != nil {
		return nil, o, warning.With(err, m.odd)
	}
	m.odd = append(m.odd, netmodel.Windowed(m.Platform, &o.Network, m.Hosts)...)
	m.notePolls(s, in.polls(), &o.Network)
	m.incomplete = m.modelless()
	if !s.quiet {
		for _, note := range slices.Concat(m.notes, m.incomplete) { // what ends the replay after hours is told before
			command.Tell(stderr, "replay", note.String())
		}
	}
	return m, o, nil
}

// options returns the defaults, changed by the platform's file and then by the
// command line. A combination that makes no sense is a mistake in the command line
// if it made sense before that.
func options(s *settings, m *machine) (replay.Options, error) {
	o := replay.DefaultOptions()
	o.From, o.To, o.Seed = s.from, s.to, s.noise.seed
	if err := o.Network.ApplyConfig(m.Platform); err != nil {
		return o, err
	}
	platformErr := o.Validate()
	for _, c := range s.cfg {
		if err := o.Network.Set(c[0], c[1]); err != nil {
			return o, command.Usagef("--cfg: %w", err)
		}
		if err := knownAlgorithm(c[0], c[1]); err != nil {
			return o, command.Usagef("--cfg: %w", err)
		}
	}
	switch err := o.Validate(); {
	case err == nil:
		return o, nil
	case platformErr == nil:
		return o, command.Usagef("--cfg: %w", err)
	default:
		return o, fmt.Errorf("%s: %w", m.platformName, err)
	}
}

// knownAlgorithm refuses names of algorithms for collective operations that are none here.
// In a platform's file they may be, where nobody calls the operation.
func knownAlgorithm(option, name string) error {
	operation, ok := strings.CutPrefix(option, "smpi/")
	if known := collective.Algorithms(operation); ok && known != nil && !slices.Contains(known, name) {
		return fmt.Errorf("algorithm %s of %s, known are %s", words.Quote(name), operation, strings.Join(known, ", "))
	}
	return nil
}

// provenance is that of a replay on m which took so long.
func (s *settings) provenance(m *machine, wallSeconds float64) replay.Provenance {
	return replay.Provenance{
		Tool: "replay " + version, Trace: s.trace, Platform: m.platformName, KernelFile: m.kernelName, NetworkNoise: s.networkNoise,
		WallSeconds: wallSeconds, PeakRSS: peakRSS(),
	}
}

// report is what a replay prints.
type report interface {
	WriteText(io.Writer) error
	WriteJSON(io.Writer) error
}

func (s *settings) print(stdout io.Writer, r report) error {
	if s.json {
		return r.WriteJSON(stdout)
	}
	return r.WriteText(stdout)
}

// newBar returns a progress bar over the steps to replay.
func newBar(s *settings, in *input, stderr io.Writer) *terminal.Bar {
	return terminal.NewBar(stderr, s.quiet, s.steps(in), "steps")
}

// steps returns how many steps there are to replay, as far as is known before the end
// of a stream.
func (s *settings) steps(in *input) int {
	first, end := s.from, in.header.Steps
	if in.trace != nil {
		if w := in.trace.Windows(); len(w) > 0 {
			first, end = max(first, w[0].First), w[len(w)-1].Last+1
		}
	}
	if s.to > 0 {
		end = min(end, s.to)
	}
	return end - first
}
