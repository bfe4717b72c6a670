package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/snapshot"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/trace/warning"
)

// keepSettings is what the command line says about checkpoints.
type keepSettings struct {
	file   string // to write; "": none
	every  time.Duration
	resume string // to go on from; "": none
}

func (k *keepSettings) on() bool { return k.file != "" || k.resume != "" }

// again reports that the file to go on from is the one to write: it need not be there yet.
func (k *keepSettings) again() bool {
	return k.resume != "" && k.file != "" && filepath.Clean(k.resume) == filepath.Clean(k.file)
}

func keepFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "checkpoint",
			Usage: "save the state of the replay in `FILE` now and then, and when it is interrupted; go on from it if it is there"},
		&cli.DurationFlag{Name: "every", Usage: "`TIME` between two checkpoints", Value: 10 * time.Minute},
		&cli.StringFlag{Name: "resume", Usage: "go on from the checkpoint `FILE`; trace and options must be the same"},
	}
}

func keepSettingsOf(c *cli.Context, s *settings) (k keepSettings, err error) {
	k = keepSettings{file: c.String("checkpoint"), every: c.Duration("every"), resume: c.String("resume")}
	switch {
	case k.file == "-" || k.resume == "-":
		err = command.Usagef("--checkpoint and --resume want a file; ./- is one of the name -")
	case c.IsSet("every") && k.every <= 0:
		err = command.Usagef("--every %v, want a positive time such as 10m", k.every)
	case c.IsSet("every") && k.file == "":
		err = command.Usagef("--every says how often --checkpoint FILE is written: it needs one")
	case k.on() && s.sample.on():
		err = command.Usagef("--checkpoint and --resume are for exact replays, not for --tolerance and --budget")
	case k.on() && s.trace == "-":
		err = command.Usagef("--checkpoint and --resume need a trace that can be read again, not standard input")
	}
	return k, err
}

// checkpointer looks after a replay: it writes checkpoints, and has the replay's context end as
// command.OnEnding says.
type checkpointer struct {
	*keepSettings
	ctx    context.Context
	begin  time.Time
	stderr io.Writer // errors
	notes  io.Writer // the same, or io.Discard if nobody wants them

	deaf    func()   // stops waiting for signals
	from    *os.File // what is gone on from, or nil
	found   bool     // it was there where the first checkpoint should be written
	resumed bool     // not yet told
	written bool     // a checkpoint by this process
	failed  int      // checkpoints that could not be written
	last    error    // why not, the last time
	unsaved error    // why the last checkpoint could not; nil if it could
}

// newCheckpointer sets the options of a replay that is looked after from now on: end ends its
// context.
func newCheckpointer(ctx context.Context, end context.CancelCauseFunc, s *settings, in *input,
	source replay.MachineSpec, o *replay.Options, stderr io.Writer) (*checkpointer, error) {
	k := &checkpointer{keepSettings: &s.keep, ctx: ctx, stderr: stderr, notes: stderr, begin: time.Now()}
	if s.quiet {
		k.notes = io.Discard
	}
	if k.on() {
		if err := k.prepare(s, in, source, o); err != nil {
			return nil, err
		}
		o.Checkpoints = &replay.Checkpoints{Every: k.every, Write: k.write}
	}
	k.deaf = command.OnEnding(func(sig os.Signal) { end(ending{sig}) })
	return k, nil
}

// ending is the end of a context by a signal.
type ending struct{ signal os.Signal }

func (e ending) Error() string { return fmt.Sprintf("stopped by a signal (%v)", e.signal) }

// close ends the looking after.
func (k *checkpointer) close() {
	k.deaf()
	if k.from != nil {
		k.from.Close()
	}
}

// write writes a checkpoint, if it is to. The first one shows whether the file can be written.
func (k *checkpointer) write(p *replay.Pause) error {
	if k.resumed {
		k.resumed = false
		fmt.Fprintf(k.notes, "replay: resumed from %s at %.9g s of simulated time, after %d messages\n", k.resume, p.Time(),
			p.Messages())
	}
	if k.file == "" {
		return nil
	}
	switch k.unsaved = k.save(p); {
	case k.unsaved == nil || k.ctx.Err() != nil: // the error of the end says it
		return nil
	case !k.written:
		return k.unsaved
	}
	k.tellFailure()
	return nil
}

// tellFailure says that a checkpoint could not be written: the first time, and then every
// tenth, as the disk of a long replay may be full for days.
func (k *checkpointer) tellFailure() {
	const every = 10
	switch {
	case k.failed == 1:
		command.Tell(k.stderr, "replay",
			fmt.Sprintf("%v; the older checkpoint is still there, and the replay goes on", k.last))
	case k.failed%every == 0:
		command.Tell(k.stderr, "replay", fmt.Sprintf("%v; it is the %dth that could not be written", k.last, k.failed))
	}
}

// tellFailures says at the end how many there were, if nobody knows that yet.
func (k *checkpointer) tellFailures() {
	if k.failed > 1 {
		command.Tell(k.stderr, "replay", k.warnings()[0].String())
	}
}

// save writes a checkpoint.
func (k *checkpointer) save(p *replay.Pause) error {
	err := atomicfile.Write(k.file, func(w io.Writer) error { return p.Save(w, time.Since(k.begin).Seconds()) })
	if err != nil {
		k.failed++
		k.last = fmt.Errorf("checkpoint: %w", err)
		return k.last
	}
	k.written = true
	return nil
}

// interruption is the error of a replay that a signal has stopped.
type interruption struct{ error }

// interrupted returns the error of a replay that a signal has stopped, after the last
// checkpoint was written or failed.
func (k *checkpointer) interrupted(end ending, at float64, messages int64) error {
	text, err := fmt.Sprintf("%v at %.9g s of simulated time, after %d messages", end, at, messages), k.unsaved
	switch {
	case k.file == "":
		return interruption{fmt.Errorf("%s; no checkpoint was saved: see --checkpoint", text)}
	case err == nil:
		return interruption{fmt.Errorf("%s; the same command with --resume %s goes on from there", text, k.file)}
	case k.written:
		return interruption{fmt.Errorf("%s; %w; the same command with --resume %s goes on from an older checkpoint", text,
			err, k.file)}
	}
	return interruption{fmt.Errorf("%s; %w", text, err)}
}

// ended returns the error with which the replay has ended, as the user should read it.
func (k *checkpointer) ended(res *replay.Result, err error) error {
	var end ending
	switch {
	case errors.As(err, &end) && res == nil:
		return fmt.Errorf("%w before the first event: nothing was replayed", end)
	case errors.As(err, &end):
		return k.interrupted(end, *res.StoppedAt, res.Messages)
	case k.found && notResumed(err):
		return command.Usagef("--checkpoint: %w; the replay cannot go on from it and does not replace it: remove it, or name another file", err)
	}
	return err
}

// notResumed reports that an error is about the checkpoint to go on from.
func notResumed(err error) bool {
	return errors.Is(err, replay.ErrOtherRun) || errors.Is(err, snapshot.ErrCorrupt) || errors.Is(err, snapshot.ErrVersion)
}

// warnings are for the report.
func (k *checkpointer) warnings() []warning.Warning {
	if k.failed == 0 {
		return nil
	}
	return []warning.Warning{warning.New("%s could not be written: %v", textutil.Count(k.failed, "checkpoint"), k.last)}
}
