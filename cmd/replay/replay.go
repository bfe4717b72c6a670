package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/smpi"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/hpcg"
)

// This file runs a job: job.run opens its trace and machine, and makes one replay; several.go makes more.

// run opens everything and does what the command line asks for.
func (j *job) run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	j.end = end
	// A job has one way to run. Draws come first: they may be estimates themselves, one for each machine. An output
	// needs the function for that way; why is the message of those without it.
	exactly := func(ctx context.Context) error { return j.replayExactly(ctx, nil) }
	way, can, why := exactly, func(*output) bool { return true }, ""
	switch {
	case j.draws > 0:
		way, can = j.replayDraws, func(o *output) bool { return o.writeDraws != nil }
		why = "is for one replay: leave --uncertainty out"
	case j.sampled():
		way, can = j.sampleTrace, func(o *output) bool { return o.writeEstimate != nil }
		why = "is for exact replays, and this is an estimate: " +
			"leave --tolerance and --budget out, with --steps A:B for a part of the run"
	case j.runs > 0:
		way, can = j.replayRuns, func(o *output) bool { return o.writeRuns != nil }
		why = "is for one replay: --seed N in place of --runs"
	}
	for _, o := range j.outputs {
		if !can(o) {
			return command.Usagef("--%s %s", o.flag, why)
		}
	}
	// The input is closed at the end also if only the machine could not be loaded.
	defer func() {
		if j.in != nil {
			j.in.close()
		}
	}()
	textutil.Check(j.open(ctx))
	return way(ctx)
}

// open opens the trace, loads the machine and the options that the trace is played with, and tells on stderr which
// choices the command line leaves open, and what may end the replay after hours. Its stages: can this input be played
// the way that is asked for; what the trace is, with the steps and the files of its index; the machine for it; what of
// the command line depends on both; notes to the user, warnings and choices made for them.
func (j *job) open(ctx context.Context) (err error) {
	// Several replays read the trace several times, and an estimate reads its steps in any order.
	again, special := "", false
	switch {
	case j.draws > 0:
		again = "--uncertainty"
	case j.runs > 0:
		again = "--runs"
	}
	if info, err := os.Stat(j.trace); err == nil {
		special = !info.Mode().IsRegular()
	}
	const anyOrder = "--tolerance and --budget read the steps in any order: they need a trace file, "
	switch {
	case again != "" && special:
		return command.Usagef("%s needs a trace that can be read again, and %s is no file", again, j.trace)
	case j.sampled() && j.trace == "-":
		return command.Usagef(anyOrder + "not standard input")
	case j.sampled() && special:
		return command.Usagef(anyOrder+"and %s is none", j.trace)
	}
	// From here on the header is known: program, ranks, steps, kernels.
	j.in = textutil.Must(openInput(ctx, j.trace, j.stdin))
	if j.sampled() && j.in.trace == nil {
		return command.Usagef("--tolerance and --budget need a trace that marks its steps, and %s is a text trace", j.trace)
	}
	textutil.Check(j.in.checkSteps(j.from, j.to))
	// The index of a text trace names files, which are known only now: no output may replace one of them.
	if j.in.text != nil {
		if err := atomicfile.CheckOverwrite(j.checkpoint, j.in.text.Files()...); err != nil {
			return command.Usagef("--checkpoint %w", err)
		}
		for _, o := range j.outputs {
			if err := atomicfile.CheckOverwrite(o.file, j.in.text.Files()...); err != nil {
				return command.Usagef("--%s %w", o.flag, err)
			}
		}
	}

	// The machine, and what on the command line depends on it or on the trace.
	var list []warning.Warning
	if j.machine, j.options, list, err = replay.LoadMachine(j.spec, j.in.traced()); err != nil {
		if setting, ok := errors.AsType[*replay.SettingError](err); ok {
			err = warning.With(command.Usagef("--%s: %w", setting.Name, setting.Err), warning.Of(err))
		}
		return warning.With(err, j.odd)
	}
	if p := j.machine.Platform; len(p.Profiles()) > 0 { // parts of a trace do not begin at time 0
		for _, o := range []struct {
			name  string
			given bool
		}{{"steps", j.from > 0 || j.to > 0}, {"tolerance", j.tolerance > 0}, {"budget", j.budget > 0}} {
			if o.given {
				return command.Usagef("--%s: %s has profiles, whose times are of a run from its beginning: "+
					"all steps must be played", o.name, p.Name())
			}
		}
	}
	// The time of the set-up counts in the rating of HPCG only, and only if all of it was played.
	j.options.From, j.options.To, j.options.Seed = j.from, j.to, j.seed
	switch h := j.in.header; {
	case j.setupTime == 0:
	case !(j.setupTime > 0) || math.IsInf(j.setupTime, 0):
		return command.Usagef("--setup-time %g, want 0 or more seconds", j.setupTime)
	case h.Program != hpcg.Program:
		return command.Usagef("--setup-time goes with a trace of HPCG, and this is one of %s", h.Program)
	case !rates(h) || j.from > 0 || j.to > 0 && j.to < h.Steps:
		return command.Usagef("--setup-time counts in the rating of all of HPCG, and this is a part of it: leave it out")
	}

	j.warnings = warning.Join(list, j.odd)
	// Oddities are printed with the result, where scripts find them. Choices, such as the default machine, and
	// warnings of failures to come are told now: the replay may take hours.
	for _, w := range j.warnings {
		if w.Kind != warning.Oddity && !j.quiet {
			command.Tell(j.stderr, "replay", w.String())
		}
	}
	if j.verbose {
		j.describe()
	}
	j.begin = time.Now()
	return nil
}

// describe tells which ranks are replayed on which machine, and which options are not the defaults of smpirun:
// by the platform's file, or by the command line.
func (j *job) describe() {
	tell := func(format string, args ...any) { command.Tell(j.stderr, "replay", fmt.Sprintf(format, args...)) }
	used := slices.Compact(slices.Sorted(slices.Values(j.machine.Hosts))) // hosts that have ranks
	source := &j.machine.Source
	tell("%s of %s on %d of the %s of %s", textutil.Count(j.in.header.Ranks, "rank"), j.in.header.Program, len(used),
		textutil.Count(j.machine.Platform.NumHosts(), "host"), source.Platform)
	if source.Kernels != "" {
		tell("kernel models %s", source.Kernels)
	}
	// Settings of both are lists of all options, in the same order.
	usual := smpi.DefaultOptions()
	defaults := usual.Settings()
	for i, o := range j.options.Network.Settings() {
		if o.Value != defaults[i].Value {
			tell("%s:%s, not %s", o.Name, o.Value, cmp.Or(defaults[i].Value, "empty"))
		}
	}
}

// begun changes the message of a signal from "nothing was replayed" to "interrupted". It is called when the work begins
// that a signal can stop with a result.
func begun() { command.InterruptedText("interrupted") }

// results are those of one replay: its report, and the findings of outputs. In JSON the first two fields, which only an
// exact replay in place of an estimate has, come before the report. Outputs fill in their findings before the whole is
// printed, and the page, which is the last of them, shows those of the others.
type results struct {
	IsEstimate *bool  `json:"estimate,omitempty"`      // false
	Because    string `json:"exact_because,omitempty"` // the reason why the replay is exact
	*replay.Report
	HPCG         *hpcg.Summary `json:"hpcg,omitempty"`
	CriticalPath *path.Data    `json:"critical_path,omitempty"`
	POP          *pop.Data     `json:"pop,omitempty"`
}

// replayExactly replays all steps. why is the reason for that where an estimate was asked for, of which the budget ends
// ctx; else nil. Outputs show the run up to its end, a signal or the end of the time. Its stages: options, with
// progress, checkpoints and observers; the replay; the error that its end means to the user; the report; outputs, which
// see it and add to it; the printed result. An output that fails does not keep the others or the result from being
// written: the error comes at the end.
func (j *job) replayExactly(ctx context.Context, why error) error {
	start, steps := time.Now(), 0
	bar := terminal.NewBar(j.stderr, j.quiet, j.steps(), "steps")
	o := j.options
	o.Progress = func(n int) {
		steps = n
		bar.Set(n)
	}
	k := newCheckpointer(ctx, j, &o)
	// After the checkpoints: an output that adds up a whole replay must know that this one goes on from a file.
	if err := j.outputs.begin(ctx, &o); err != nil {
		k.close()
		return err
	}
	begun()
	if j.in.text != nil {
		j.in.text.ReadAhead() // only now: its goroutine would keep others from starting
	}
	// A replay that was stopped has a result and an error; one that has failed only an error.
	res, err := j.in.run(ctx, j.machine, o)
	k.close()
	bar.Clear()

	// A replay that a signal has stopped is reported up to there, and so are outputs of one whose time is over.
	over := why != nil && res != nil && errors.Is(err, context.DeadlineExceeded)
	var stopped ending
	// An estimate that was replaced by an exact replay has no checkpoints, so a signal needs no advice how to go on.
	if why == nil {
		err = k.ended(res, err)
	} else if res != nil && errors.As(err, &stopped) {
		err = interruption{stopped.at(res)}
	}
	if err != nil && !over && !errors.As(err, new(interruption)) {
		j.outputs.abandon()
		return warning.With(err, warning.Join(j.in.warnings(), k.warnings(), j.causes()))
	}
	// write has told of the first checkpoint that failed.
	unsaved := k.warnings()
	if k.failed > 1 {
		command.Tell(j.stderr, "replay", unsaved[0].String())
	}
	res.Warnings = warning.Join(res.Warnings, unsaved, j.seedWarnings(res.Seed), j.warnings)
	r := &results{Report: replay.NewReport(res, j.provenance(res.WallBefore+time.Since(j.begin).Seconds()))}
	var summary error
	r.HPCG, summary = j.hpcgOf(res)
	if why != nil {
		r.IsEstimate, r.Because = new(bool), why.Error()
		ctx = context.WithoutCancel(ctx) // outputs are written even if the time is over
	}
	ctx, stop := command.Interruptible(ctx) // for outputs that replay once more
	failed := j.outputs.each(func(o *output) error { return o.write(ctx, r) })
	stop()
	if over {
		// The time that all steps would take is extrapolated from the steps so far, which in HPL, whose steps grow
		// shorter, is too long.
		seconds, all := time.Since(start).Seconds(), j.steps()
		err := fmt.Errorf("the time is over: the exact replay has not come to the end of the first of %s",
			textutil.Count(all, "step"))
		if steps > 0 {
			err = fmt.Errorf("the time is over: the exact replay has come to step %d of %d, "+
				"all of them would take about %.0f s", steps, all, max(1, seconds/float64(steps)*float64(all)))
		}
		return errors.Join(failed, err)
	}
	printed := j.print(r, r.HPCG, r.Report, r.CriticalPath, r.POP)
	// In JSON the first keys say so.
	if why != nil && !j.json && printed == nil {
		_, printed = fmt.Fprintf(j.stdout, "exact: all steps were simulated, since %s\n", r.Because)
	}
	return errors.Join(printed, summary, failed, err)
}

// causes returns those warnings that may be the reason of a failure: all but choices, which the user has been told.
func (j *job) causes() []warning.Warning {
	return slices.DeleteFunc(slices.Clone(j.warnings), func(w warning.Warning) bool { return w.Kind == warning.Choice })
}

// seedWarnings are for the report of a replay that has used a seed, or none: nil.
func (j *job) seedWarnings(used *uint64) []warning.Warning {
	if j.seedGiven && used == nil {
		return []warning.Warning{
			warning.New("--seed changes nothing: neither the kernel models nor the network have noise")}
	}
	return nil
}

// textWriter is a part of a result that people read.
type textWriter interface{ WriteText(io.Writer) error }

// print writes a result to standard output: all of it as JSON, or the texts of its parts, of which pointers that are
// nil have none. Parts are passed as interfaces of typed pointers, so that nil ones are found by reflection.
func (j *job) print(r any, parts ...textWriter) error {
	if j.json {
		return textutil.WriteJSON(j.stdout, r)
	}
	w := terminal.Wide(j.stdout)
	for _, part := range parts {
		if reflect.ValueOf(part).IsNil() {
			continue
		}
		if err := part.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

// steps returns how many steps there are to replay, as far as is known before the end of a stream.
func (j *job) steps() int {
	first, end := j.stepRange()
	return end - first
}

// stepRange returns the steps first <= step < end that there are to replay, as far as is known. A part of a trace
// (trace cut) holds fewer than the program has; a stream lists its steps at its end only.
func (j *job) stepRange() (first, end int) {
	first, end = j.stepsAsked()
	if j.in.trace != nil {
		if w := j.in.trace.ChunkInfos(); len(w) > 0 {
			first, end = max(first, w[0].First), min(end, w[len(w)-1].Last+1)
		}
	}
	return first, end
}

// stepsAsked returns the steps first <= step < end of a program that --steps asks for.
func (j *job) stepsAsked() (first, end int) {
	first, end = j.from, j.in.header.Steps
	if j.to > 0 {
		end = min(end, j.to)
	}
	return first, end
}

// rates reports whether a trace is of all of HPCG: a part of it does not count its flop.
func rates(h *trace.Header) bool { return h.Program == hpcg.Program && h.Flops > 0 }

// hpcgSummary returns HPCG's own report of a run by the seconds that its phases take; nil if the run is not all of
// HPCG. Keys of seconds are names of phases. HPCG derives its flop/s from the times of its own phases, not from the
// makespan.
func (j *job) hpcgSummary(h *trace.Header, whole bool, seconds map[string]float64) (*hpcg.Summary, error) {
	if !rates(h) || !whole {
		return nil, nil
	}
	return hpcg.NewSummary(h, func(name string) float64 { return seconds[name] }, j.setupTime)
}

// hpcgOf returns HPCG's own report of an exact replay, by the times of rank 0, which is the one that HPCG itself
// reports.
func (j *job) hpcgOf(res *replay.Result) (*hpcg.Summary, error) {
	seconds := map[string]float64{}
	for i, s := range res.RootPhases {
		seconds[res.Header.Phases[i]] = s
	}
	return j.hpcgSummary(res.Header, res.Complete && res.StoppedAt == nil, seconds)
}

// rating is that of HPCG's own report, in 1e9 flop/s; 0 of a replay that has no such report.
func rating(sum *hpcg.Summary, err error) (float64, error) {
	if sum == nil {
		return 0, err
	}
	return sum.Rating, err
}

// hpcgEstimate returns HPCG's own report by an estimate, with the times of the mean rank: an estimate has none of rank
// 0 alone. Ranks of HPCG wait for each other in each iteration, so that the difference is small.
func (j *job) hpcgEstimate(e *replay.Estimate) (*hpcg.Summary, error) {
	seconds := map[string]float64{}
	for _, phase := range e.Phases {
		seconds[phase.Name] = phase.Mean
	}
	return j.hpcgSummary(e.Header, e.Complete, seconds)
}

// provenance returns the origin of a result of the job, which took so many seconds of the wall clock: version, inputs,
// machine.
func (j *job) provenance(wallSeconds float64) replay.Provenance {
	return replay.Provenance{
		Tool: "replay " + command.Version(), Trace: j.trace, WallSeconds: wallSeconds, PeakRSS: peakRSS(),
	}.On(&j.machine)
}

// peakRSS returns the largest resident set of this process in bytes, 0 if it is not known. Linux states it by
// process; getrusage, the answer elsewhere, may count the process that started this one.
func peakRSS() int64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		// A line is "VmHWM: N kB".
		_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
		line, _, _ := bytes.Cut(rest, []byte(" kB"))
		if kilobytes, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 53); err == nil {
			return kilobytes << 10
		}
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss // bytes there
	}
	return u.Maxrss << 10
}
