package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/trace/warning"
)

// output is what a job makes besides its result: a file, or a part of the printed text. Functions that an output does
// not need are nil. Without writeEstimate, writeRuns or writeDraws the output is refused for estimates, several seeds
// or draws. Of one replay the order of calls is begin, then either write, once the report is known, or abandon. Of an
// estimate it is observe, then writeEstimate; of several seeds observeRun for each of them, then writeRuns; of draws
// writeDraws alone.
type output struct {
	flag  string // that asks for it
	file  string // that it writes; "": none
	whole bool   // it adds up a replay from its beginning, and so not from a checkpoint

	// begin prepares for one replay and returns its observers.
	begin func(ctx context.Context) ([]replay.Observer, error)
	// write is called when the replay has ended, or been interrupted (Report.StoppedAt). It adds to r, which is
	// printed after the last output.
	write func(ctx context.Context, r *results) error
	// abandon leaves nothing behind: the replay has failed, or another output has.
	abandon func()

	// observe returns a function for replay.SampleOptions.Observe; nil: the windows are not observed.
	observe func() windowObserver
	// observeRun returns the observers of the replay with the seed of o, and a function that is called when it
	// has ended. It is called from several goroutines.
	observeRun func(o *replay.Options) ([]replay.Observer, func())

	writeEstimate func(r *estimateResults) error
	writeRuns     func(r *runsResults) error
	writeDraws    func(r *replay.UncertaintyReport) error
}

// windowObserver returns the observers of the window of steps [from, to), and a function that is called when the window
// has been played. It is called from several goroutines. It is nil where no output looks at windows, which then cost
// less.
type windowObserver = func(from, to int) ([]replay.Observer, func())

// outputs are those that the command line asks for, in the order of the table.
type outputs []*output

// outputTable lists all outputs. The page comes last, as it shows the findings that the others add to results.
var outputTable = []struct {
	flag    string // with a file for its value, or if it is a switch none
	implied string // by another switch; "": none
	file    bool
	make    func(*job, *cli.Context, *output) error
}{
	{"critical-path", "what-if", false, makePath},
	{"pop", "", false, makePOP},
	{"timeline", "", true, makeTimeline},
	{"profile", "", true, makeProfile},
	{"table", "", true, makeTable},
	{"report", "", true, makePage},
}

// readOutputs makes the outputs that the command line asks for, and refuses files that would replace one that is read,
// or each other. An output that replaced a file which is read, or the one of another output, would destroy what the
// user has.
func (j *job) readOutputs(c *cli.Context) error {
	for _, name := range []string{"window", "window-ranks"} {
		if c.IsSet(name) && c.String("timeline") == "" && c.String("report") == "" {
			return command.Usagef("--%s needs --timeline or --report", name)
		}
	}
	// An output makes its own checks first, as of the ending of its name; then come those that all files have in
	// common.
	files := []string{j.checkpoint}
	for _, row := range outputTable {
		o := &output{flag: row.flag}
		if row.file {
			o.file = c.String(row.flag)
		}
		if o.file == "" && (row.file || !c.Bool(row.flag) && !c.Bool(row.implied)) {
			continue
		}
		textutil.Check(row.make(j, c, o))
		if o.file == "-" {
			return command.Usagef("--%s wants a file, as the result goes to standard output; write ./- for a file named -",
				o.flag)
		}
		read := []string{j.trace, j.spec.Platform, j.spec.Kernels, j.spec.Hostfile, j.spec.NetworkNoise, j.checkpoint,
			j.resume}
		if j.spec.Machine != "" {
			read = append(read, filepath.Join(j.spec.Machine, "platform.xml"),
				filepath.Join(j.spec.Machine, "kernels.yaml"))
		}
		if err := atomicfile.CheckOverwrite(o.file, read...); err != nil {
			return command.Usagef("--%s %w", o.flag, err)
		}
		textutil.Check(atomicfile.Check(o.file))
		j.outputs, files = append(j.outputs, o), append(files, o.file)
	}
	if err := atomicfile.Distinct(files...); err != nil {
		return command.Usage(err)
	}
	return nil
}

// begin begins all, and sets the observers of the replay. If one of them cannot begin, nothing is left of the others.
// Observers are called in the order of the table.
func (list outputs) begin(ctx context.Context, o *replay.Options) error {
	for i, out := range list {
		err := error(nil)
		var observers []replay.Observer
		switch {
		case out.whole && o.Resume != nil:
			err = command.Usagef("--%s adds up a replay from its beginning, and this one goes on from %s", out.flag,
				o.Resume.Name)
		case out.begin != nil:
			observers, err = out.begin(ctx)
		}
		if err != nil {
			list[:i].abandon()
			return err
		}
		o.Observers = append(o.Observers, observers...)
	}
	return nil
}

// abandon leaves nothing of outputs that have begun: of a file that is written whole or not at all no part remains.
func (list outputs) abandon() {
	for _, out := range list {
		if out.abandon != nil {
			out.abandon()
		}
	}
}

// each calls f for all outputs, also if one of them fails: hours of work should not be lost with a file that cannot be
// written.
func (list outputs) each(f func(*output) error) error {
	var errs []error
	for _, out := range list {
		errs = append(errs, f(out))
	}
	return errors.Join(errs...)
}

// observe returns the observer of the windows of an estimate; nil: there is none.
func (list outputs) observe() windowObserver {
	var all []windowObserver
	for _, out := range list {
		if out.observe == nil {
			continue
		}
		if observe := out.observe(); observe != nil {
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

// observed collects the observers of a replay, with the functions that are called when it has ended. An estimate plays
// windows, and --runs replays, at the same time: each has its own.
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

// rereadable refuses a trace that an output cannot replay again. A second replay cannot share the first one's reader,
// which is at the end.
func (j *job) rereadable(flag string) error {
	if j.trace == "-" {
		return command.Usagef("--%s needs a trace that can be read again, not standard input", flag)
	}
	if info, err := os.Stat(j.trace); err == nil && !info.Mode().IsRegular() {
		return command.Usagef("--%s needs a trace that can be read again, and %s is no file", flag, j.trace)
	}
	return nil
}

// makePath makes the output of --critical-path and --what-if, which is printed.
func makePath(j *job, c *cli.Context, o *output) error {
	whatIf := c.Bool("what-if")
	switch {
	case whatIf && j.sampled():
		return command.Usagef("--what-if replays all steps: leave --tolerance and --budget out")
	case whatIf && j.runs > 0:
		return command.Usagef("--what-if is for one replay: --seed N in place of --runs")
	case whatIf:
		textutil.Check(j.rereadable("what-if"))
	}

	// Of one replay: the path, and a further replay with the change that shortens the path most, the first of the list.
	// That replay shows how much of the gain other chains, which become the longest then, leave.
	var p *path.Path
	o.whole = true
	o.begin = func(context.Context) ([]replay.Observer, error) {
		p = path.New(j.in.header, j.machine, j.options)
		return []replay.Observer{p.Observer()}, nil
	}
	o.write = func(ctx context.Context, r *results) error {
		r.CriticalPath = p.Data()
		if !whatIf || len(r.CriticalPath.WhatIfs) == 0 || r.StoppedAt != nil {
			return nil
		}
		first := &r.CriticalPath.WhatIfs[0]
		m, options := first.Apply(j.machine, j.options, path.Change)
		bar := terminal.NewBar(j.stderr, j.quiet, j.steps(), "steps of a further replay")
		defer bar.Clear()
		options.Progress = bar.Set
		res, err := j.playAgain(ctx, m, options)
		if ctx.Err() != nil {
			return errors.New("stopped by a signal before the replay of --what-if had ended")
		}
		if err != nil {
			return fmt.Errorf("--what-if: %s: %w", first.What, err)
		}
		first.Replayed = new(r.Makespan - res.Makespan)
		return nil
	}

	// Of an estimate: the paths of its windows.
	var windows *path.Windows
	o.observe = func() windowObserver {
		windows = path.NewWindows(j.in.header, j.machine, j.options)
		return windows.Observe
	}
	o.writeEstimate = func(r *estimateResults) error {
		r.CriticalPath = windows.Data(r.Estimate)
		return nil
	}

	// Of several seeds: the paths without their places.
	var runs sync.Map // *path.Data by seed
	o.observeRun = func(ro *replay.Options) ([]replay.Observer, func()) {
		p, seed := path.New(j.in.header, j.machine, *ro), ro.Seed
		return []replay.Observer{p.Observer()}, func() {
			d := p.Data()
			d.Hops = path.Hops{}
			runs.Store(seed, d)
		}
	}
	o.writeRuns = func(r *runsResults) error {
		var seeds []path.Seed
		for _, run := range r.Runs {
			d, _ := runs.Load(run.Seed)
			seeds = append(seeds, path.Seed{Seed: run.Seed, Data: d.(*path.Data)})
		}
		r.CriticalPath = path.RunsOf(seeds)
		return nil
	}
	return nil
}

// makePOP makes the output of --pop, which is printed: it replays the run twice more. A run that was interrupted has no
// efficiencies, and a signal ends the further replays: the run is reported without. Efficiencies compare the run with
// one on an ideal network and one without contention (see report/pop).
func makePOP(j *job, _ *cli.Context, o *output) error {
	o.write = func(ctx context.Context, r *results) (err error) {
		if r.StoppedAt != nil {
			return nil
		}
		// The bar counts the steps of both further replays.
		steps, before := j.steps(), 0
		bar := terminal.NewBar(j.stderr, j.quiet, 2*steps, "steps of further replays")
		defer bar.Clear()
		play := func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
			o.Progress = func(n int) { bar.Set(before + n) }
			res, err := j.playAgain(ctx, m, o)
			before += steps
			return res, err
		}
		r.POP, err = pop.Of(ctx, r.Result, j.machine, j.options, play)
		switch {
		case err != nil && ctx.Err() != nil:
			return errors.New("--pop: stopped by a signal: there are no efficiencies without the further replays")
		case err != nil:
			return warning.With(fmt.Errorf("--pop: %w", err), j.causes())
		}
		return nil
	}
	return j.rereadable("pop")
}

// hostsOf returns the name of the host of each rank. Recorders take names, as they know nothing of platforms.
func hostsOf(m *replay.Machine) []string {
	hosts := make([]string, len(m.Hosts))
	for rank, host := range m.Hosts {
		hosts[rank] = m.Platform.Host(int(host)).Name
	}
	return hosts
}
