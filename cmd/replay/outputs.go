package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/replay"
)

// output is made of a replay besides its report: a file, or a part of what is printed. Functions that an
// output has no use for are nil; without one of the last four it cannot be made of what that is for.
type output struct {
	flag  string // that asks for it
	file  string // that it writes; "": none
	whole bool   // it adds up a replay from its beginning, not from a checkpoint

	// begin prepares for one replay and returns its observers. end ends the context of the replay where
	// going on is in vain.
	begin func(ctx context.Context, end context.CancelCauseFunc, in *input, m *loaded) ([]replay.Observer, error)
	// write is called when the replay has ended, or been interrupted (Report.StoppedAt), and adds to what
	// will be printed.
	write func(ctx context.Context, r *results) error
	// abandon leaves nothing behind: the replay has failed, or another output has.
	abandon func()

	// observe returns a function for replay.SampleOptions.Observe; nil: the windows are not observed.
	observe func(in *input, m *loaded) func(from, to int) ([]replay.Observer, func())
	// observeRun returns the observers of the replay with the seed of o, and a function that is called when
	// it has ended. It is called from several goroutines.
	observeRun func(in *input, m *loaded, o *replay.Options) ([]replay.Observer, func())

	writeEstimate func(in *input, m *loaded, r *estimateResults) error
	writeRuns     func(in *input, m *loaded, r *runsResults) error
	writeDraws    func(in *input, m *loaded, r *replay.UncertaintyReport) error
}

// outputs are those that the command line asks for.
type outputs []*output

// outputMakers make the outputs of a command line; nil for those that it does not ask for. The page comes
// last, as it shows what the others have added to the results.
var outputMakers = []func(*cli.Context, *settings) (*output, error){
	newPathOutput, newEfficiencies, newTimelineOutput, newProfileOutput, newTableOutput, newPageFile,
}

func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "critical-path",
			Usage: "print what the longest chain of computations and messages consists of, and what would shorten it", DisableDefaultText: true},
		&cli.BoolFlag{Name: "what-if", Usage: "replay once more with the change that shortens the critical path most, and print what it does; implies --critical-path", DisableDefaultText: true},
		&cli.BoolFlag{Name: "pop", Usage: "print POP's efficiencies: load balance, serialisation, transfer, and of this wire and contention; takes two further replays", DisableDefaultText: true},
		&cli.StringFlag{Name: "report",
			Usage: "write pictures of where the time went to `FILE`.html: one file for any browser, without a network"},
		&cli.StringFlag{Name: "timeline",
			Usage: "write what every rank does when to `FILE`: .pftrace for Perfetto, .paje for Pajé; .gz behind it compresses"},
		&cli.StringFlag{Name: "window",
			Usage: "the timeline shows what lies between two times, `T0:T1` in seconds, or in steps, \"step A:B\", B not included", DefaultText: "all; of --report two steps in the middle"},
		&cli.StringFlag{Name: "window-ranks", Usage: "the timeline shows ranks `A-B`",
			DefaultText: "all; of --report some 64"},
		&cli.StringFlag{Name: "profile",
			Usage: "write where the time of all ranks goes, by phase, kernel and host, to `FILE` such as run.pb.gz, for go tool pprof"},
		&cli.StringFlag{Name: "table", Usage: "write a row for each rank and step, with times by kind, kernel and phase, to `FILE`: .csv or .parquet"},
	}
}

func outputsOf(c *cli.Context, s *settings) (list outputs, err error) {
	files := []string{s.keep.file}
	for _, make := range outputMakers {
		o, err := make(c, s)
		if err != nil {
			return nil, err
		}
		if o != nil {
			list, files = append(list, o), append(files, o.file)
		}
	}
	if err := atomicfile.Distinct(files...); err != nil {
		return nil, command.Usage(err)
	}
	return list, nil
}

// checkOutput refuses an output that would replace what is read.
func checkOutput(flag, path string, s *settings) error {
	machine := []string{filepath.Join(s.spec.Machine, "platform.xml"), filepath.Join(s.spec.Machine, "kernels.yaml")}
	if err := atomicfile.CheckOverwrite(path, machine...); err != nil && s.spec.Machine != "" {
		return command.Usagef("--%s %w", flag, err)
	}
	if err := atomicfile.CheckOverwrite(path, s.trace, s.spec.Platform, s.spec.Kernels, s.spec.Hostfile,
		s.spec.NetworkNoise, s.keep.file, s.keep.resume); err != nil {
		return command.Usagef("--%s %w", flag, err)
	}
	return nil
}

// spare refuses outputs that would replace what the index of a text trace names.
func (s *settings) spare(in *input) error {
	if in.text == nil {
		return nil
	}
	if err := atomicfile.CheckOverwrite(s.keep.file, in.text.Files()...); err != nil {
		return command.Usagef("--checkpoint %w", err)
	}
	for _, o := range s.outputs {
		if err := atomicfile.CheckOverwrite(o.file, in.text.Files()...); err != nil {
			return command.Usagef("--%s %w", o.flag, err)
		}
	}
	return nil
}

// has reports whether the output of a flag is among them.
func (list outputs) has(flag string) bool {
	return slices.ContainsFunc(list, func(o *output) bool { return o.flag == flag })
}

// check refuses the command line if one of the outputs cannot be made of several replays, with the reason.
func (list outputs) check(can func(*output) bool, reason string) error {
	for _, o := range list {
		if !can(o) {
			return command.Usagef("--%s %s", o.flag, reason)
		}
	}
	return nil
}

// Why an output that is of one replay is not of several.
const (
	notOfRuns     = "is of one replay, and --runs are several: leave --runs out, --seed N names the one"
	notOfDraws    = "is of one replay, and --uncertainty is of several on drawn machines: leave --uncertainty out"
	notOfEstimate = "is of all that happens, and an estimate plays windows of it: leave --tolerance and --budget out, with --steps A:B for a part of the run"
)

// begin begins all, and sets the observers of the replay.
func (list outputs) begin(ctx context.Context, end context.CancelCauseFunc, in *input, m *loaded,
	o *replay.Options) error {
	for i, out := range list {
		if out.whole && o.Resume != nil {
			list[:i].abandon()
			return command.Usagef("--%s adds up a replay from its beginning, and this one goes on from %s", out.flag,
				o.Resume.Name)
		}
		observers, err := out.begin(ctx, end, in, m)
		if err != nil {
			list[:i].abandon()
			return err
		}
		o.Observers = append(o.Observers, observers...)
	}
	return nil
}

// observe returns the observers of the windows of an estimate, for replay.SampleOptions; nil: there are none.
func (list outputs) observe(in *input, m *loaded) func(from, to int) ([]replay.Observer, func()) {
	var all []func(from, to int) ([]replay.Observer, func())
	for _, out := range list {
		if out.observe == nil {
			continue
		}
		if observe := out.observe(in, m); observe != nil {
			all = append(all, observe)
		}
	}
	if all == nil {
		return nil
	}
	return func(from, to int) ([]replay.Observer, func()) {
		var o observed
		for _, observe := range all {
			o.add(observe(from, to))
		}
		return o.observers, o.ended
	}
}

// observeRun returns the observers of the replay with the seed of o, and a function that is called when it
// has ended.
func (list outputs) observeRun(in *input, m *loaded, o *replay.Options) ([]replay.Observer, func()) {
	var all observed
	for _, out := range list {
		if out.observeRun != nil {
			all.add(out.observeRun(in, m, o))
		}
	}
	return all.observers, all.ended
}

// observed collects the observers of a replay, with the functions that are called when it has ended.
type observed struct {
	observers []replay.Observer
	ends      []func()
}

func (a *observed) add(list []replay.Observer, ended func()) {
	a.observers, a.ends = append(a.observers, list...), append(a.ends, ended)
}

func (a *observed) ended() {
	for _, end := range a.ends {
		end()
	}
}

// each calls f for all outputs, also if one of them fails.
func (list outputs) each(f func(*output) error) error {
	var errs []error
	for _, out := range list {
		errs = append(errs, f(out))
	}
	return errors.Join(errs...)
}

// write writes all.
func (list outputs) write(ctx context.Context, r *results) error {
	return list.each(func(o *output) error { return o.write(ctx, r) })
}

func (list outputs) abandon() {
	for _, out := range list {
		if out.abandon != nil {
			out.abandon()
		}
	}
}
