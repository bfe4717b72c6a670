package main

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/replay"
)

// output is something that is made of a replay besides what is printed, such as a file of
// what every rank did when.
type output interface {
	// flag names the flag that asks for it.
	flag() string
	// begin prepares for a replay and returns what it is to tell; nil: nothing. end ends the
	// context of the replay where going on is in vain.
	begin(ctx context.Context, end context.CancelCauseFunc, in *input, m *loaded) (replay.Observer, error)
	// write writes it, once the replay has ended, or been interrupted (Report.StoppedAt), and
	// adds to what will be printed.
	write(ctx context.Context, r *results) error
	// abandon leaves nothing behind: the replay has failed, or another output has.
	abandon()
}

// estimateOutput is an output that can be made of an estimate, too. Where sampling does not
// pay it is made of the exact replay, as any.
type estimateOutput interface {
	output
	// writeEstimate writes it of an estimate.
	writeEstimate(ctx context.Context, in *input, m *loaded, r *estimateResults) error
}

// windowOutput is an estimateOutput that is told what happens in the windows.
type windowOutput interface {
	estimateOutput
	// observe returns who is told, for replay.SampleOptions; nil: nobody.
	observe(in *input, m *loaded) func(from, to int) (replay.Observer, func())
}

// runsOutput is an output that can be made of replays with several seeds, too.
type runsOutput interface {
	output
	// observeRun returns who is told what happens with the seed of o, nil if nobody, and what is
	// called once it has. It is called from several goroutines.
	observeRun(in *input, m *loaded, o *replay.Options) (replay.Observer, func())
	writeRuns(in *input, m *loaded, r *runsResults) error
}

// drawsOutput is an output that can be made of replays on drawn machines, too.
type drawsOutput interface {
	output
	writeDraws(in *input, m *loaded, r *replay.UncertaintyReport) error
}

// filed is an output that is a file.
type filed interface{ file() string }

// ofAll is an output that adds up a whole replay, which nothing is left out of.
type ofAll interface{ ofAll() }

// outputs are those that the command line asks for.
type outputs []output

// outputMakers make the outputs of a command line; nil for those that it does not ask for.
// Those that show what others have added to the results come behind them.
var outputMakers = []func(*cli.Context, *settings) (output, error){
	newPathOutput, newEfficiencies, newTimelineOutput, newProfileOutput, newTableOutput, newPageFile,
}

// outputFlags are the flags of all outputs.
func outputFlags() []cli.Flag {
	return slices.Concat(pathFlags(), []cli.Flag{popFlag()}, reportFlags(), timelineFlags(), profileFlags(), tableFlags())
}

func outputsOf(c *cli.Context, s *settings) (list outputs, err error) {
	var files []string
	for _, make := range outputMakers {
		o, err := make(c, s)
		if err != nil {
			return nil, err
		}
		if o != nil {
			list = append(list, o)
		}
		if f, ok := o.(filed); ok {
			files = append(files, f.file())
		}
	}
	if err := atomicfile.Distinct(append(files, s.keep.file)...); err != nil {
		return nil, command.Usage(err)
	}
	return list, nil
}

// has reports whether the output of a flag is among them.
func (list outputs) has(flag string) bool {
	return slices.ContainsFunc(list, func(o output) bool { return o.flag() == flag })
}

// onlyOf refuses outputs that are not of type T, with the reason and what to do.
func onlyOf[T output](list outputs, reason string) error {
	for _, o := range list {
		if _, ok := o.(T); !ok {
			return command.Usagef("--%s %s", o.flag(), reason)
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

// begin begins all, and has the replay tell them what they ask for.
func (list outputs) begin(ctx context.Context, end context.CancelCauseFunc, in *input, m *loaded, o *replay.Options) error {
	var told []replay.Observer
	for i, out := range list {
		if _, all := out.(ofAll); all && o.Resume != nil {
			list[:i].abandon()
			return command.Usagef("--%s adds up a replay from its beginning, and this one goes on from %s", out.flag(), o.Resume.Name)
		}
		to, err := out.begin(ctx, end, in, m)
		if err != nil {
			list[:i].abandon()
			return err
		}
		if to != nil {
			told = append(told, to)
		}
	}
	o.Observer = replay.Observers(told...)
	return nil
}

// observe returns who is told what happens in the windows of an estimate; nil: nobody.
func (list outputs) observe(in *input, m *loaded) func(from, to int) (replay.Observer, func()) {
	var told []func(from, to int) (replay.Observer, func())
	for _, out := range list {
		w, ok := out.(windowOutput)
		if !ok {
			continue
		}
		if observe := w.observe(in, m); observe != nil {
			told = append(told, observe)
		}
	}
	if told == nil {
		return nil
	}
	return func(from, to int) (replay.Observer, func()) {
		var all observers
		for _, observe := range told {
			all.add(observe(from, to))
		}
		return all.join()
	}
}

// observeRun returns who is told what happens with the seed of o, nil if nobody, and what is
// called once it has.
func (list outputs) observeRun(in *input, m *loaded, o *replay.Options) (replay.Observer, func()) {
	var all observers
	for _, out := range list {
		all.add(out.(runsOutput).observeRun(in, m, o))
	}
	return all.join()
}

// observers are observers of one replay, and what is called once it has ended.
type observers struct {
	told []replay.Observer
	ends []func()
}

func (a *observers) add(o replay.Observer, ended func()) {
	if o != nil {
		a.told, a.ends = append(a.told, o), append(a.ends, ended)
	}
}

// join returns them as one, nil if there are none.
func (a *observers) join() (replay.Observer, func()) {
	return replay.Observers(a.told...), func() {
		for _, end := range a.ends {
			end()
		}
	}
}

// write writes all. What cannot be written is an error of its own: the others are.
func (list outputs) write(ctx context.Context, r *results) error {
	var errs []error
	for _, out := range list {
		errs = append(errs, out.write(ctx, r))
	}
	return errors.Join(errs...)
}

// writeEstimate writes all of an estimate, which they all can be made of.
func (list outputs) writeEstimate(ctx context.Context, in *input, m *loaded, r *estimateResults) error {
	var errs []error
	for _, out := range list {
		errs = append(errs, out.(estimateOutput).writeEstimate(ctx, in, m, r))
	}
	return errors.Join(errs...)
}

// writeRuns writes all of replays with several seeds, which they all can be made of.
func (list outputs) writeRuns(in *input, m *loaded, r *runsResults) error {
	var errs []error
	for _, out := range list {
		errs = append(errs, out.(runsOutput).writeRuns(in, m, r))
	}
	return errors.Join(errs...)
}

// writeDraws writes all of replays on drawn machines, which they all can be made of.
func (list outputs) writeDraws(in *input, m *loaded, r *replay.UncertaintyReport) error {
	var errs []error
	for _, out := range list {
		errs = append(errs, out.(drawsOutput).writeDraws(in, m, r))
	}
	return errors.Join(errs...)
}

func (list outputs) abandon() {
	for _, out := range list {
		out.abandon()
	}
}
