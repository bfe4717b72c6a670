package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/snapshot"
	"reprise/internal/wholefile"
	"reprise/internal/words"
	"reprise/replay"
	"reprise/warning"
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
		&cli.StringFlag{Name: "checkpoint", Usage: "save the state of the replay in `FILE` now and then, and when it is interrupted; go on from it if it is there"},
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

// keeper looks after a replay: it writes checkpoints when they are due, and stops the
// replay as command.OnEnding says.
type keeper struct {
	*keepSettings
	begin  time.Time
	stderr io.Writer // errors
	notes  io.Writer // the same, or io.Discard if nobody wants them

	attention atomic.Bool // resumed, due or signal is set
	due       atomic.Bool
	signal    atomic.Pointer[os.Signal]

	deaf    func() // stops waiting for signals
	timer   *time.Timer
	from    *os.File // what is gone on from, or nil
	found   bool     // it was there where the first checkpoint should be written
	resumed bool     // not yet told
	written bool     // a checkpoint by this process
	failed  int      // checkpoints that could not be written
	last    error    // why not
}

// newKeeper sets the options of a replay that is looked after from now on.
func newKeeper(s *settings, in *input, o *replay.Options, stderr io.Writer) (*keeper, error) {
	k := &keeper{keepSettings: &s.keep, stderr: stderr, notes: stderr, begin: time.Now()}
	if s.quiet {
		k.notes = io.Discard
	}
	if k.on() {
		if err := k.prepare(s, in, o); err != nil {
			return nil, err
		}
	}
	o.AtPause, o.PauseAsked = k.atPause, &k.attention
	if k.file != "" {
		k.due.Store(true) // the first one shows at once whether the file can be written
		k.attention.Store(true)
		k.timer = time.AfterFunc(k.every, k.tick)
	}
	k.deaf = command.OnEnding(func(sig os.Signal) {
		k.signal.Store(&sig)
		k.attention.Store(true)
		in.interrupt()
	})
	return k, nil
}

// tick makes a checkpoint due.
func (k *keeper) tick() {
	k.due.Store(true)
	k.attention.Store(true)
}

// close ends the looking after.
func (k *keeper) close() {
	k.deaf()
	if k.timer != nil {
		k.timer.Stop()
	}
	if k.from != nil {
		k.from.Close()
	}
}

// atPause is called between two events of the replay when it has attention.
func (k *keeper) atPause(p *replay.Pause) error {
	k.attention.Store(false)
	if k.resumed {
		k.resumed = false
		fmt.Fprintf(k.notes, "replay: resumed from %s at %.9g s of simulated time, after %d messages\n", k.resume, p.Date(), p.Messages())
	}
	sig := k.signal.Load()
	due := k.due.Swap(false)
	var err error
	if k.file != "" && (due || sig != nil) {
		err = k.save(p)
	}
	switch {
	case sig != nil:
		return k.interrupted(*sig, p.Date(), p.Messages(), err)
	case err == nil:
	case !k.written:
		return err
	default:
		k.tellFailure()
	}
	return nil
}

// tellFailure says that a checkpoint could not be written: the first time, and then every
// tenth, as the disk of a long replay may be full for days.
func (k *keeper) tellFailure() {
	const every = 10
	switch {
	case k.failed == 1:
		command.Tell(k.stderr, "replay", fmt.Sprintf("%v; the older checkpoint is still there, and the replay goes on", k.last))
	case k.failed%every == 0:
		command.Tell(k.stderr, "replay", fmt.Sprintf("%v; it is the %dth that could not be written", k.last, k.failed))
	}
}

// tellFailures says at the end how many there were, if nobody knows that yet.
func (k *keeper) tellFailures() {
	if k.failed > 1 {
		command.Tell(k.stderr, "replay", k.warnings()[0].String())
	}
}

// save writes a checkpoint.
func (k *keeper) save(p *replay.Pause) error {
	err := wholefile.Write(k.file, func(w io.Writer) error { return p.Save(w, time.Since(k.begin).Seconds()) })
	k.timer.Reset(k.every)
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
// checkpoint was written or failed with err.
func (k *keeper) interrupted(sig os.Signal, date float64, messages int64, err error) error {
	text := fmt.Sprintf("stopped by a signal (%v) at %.9g s of simulated time, after %d messages", sig, date, messages)
	switch {
	case k.file == "":
		return interruption{fmt.Errorf("%s; nothing was saved: see --checkpoint", text)}
	case err == nil:
		return interruption{fmt.Errorf("%s; the same command with --resume %s goes on from there", text, k.file)}
	case k.written:
		return interruption{fmt.Errorf("%s; %w; the same command with --resume %s goes on from an older checkpoint", text, err, k.file)}
	}
	return interruption{fmt.Errorf("%s; %w", text, err)}
}

// ended returns the error with which the replay has ended, as the user should read it.
func (k *keeper) ended(res *replay.Result, err error) error {
	switch sig := k.signal.Load(); {
	case sig != nil && res != nil && errors.Is(err, replay.ErrInterrupted):
		return k.interrupted(*sig, *res.StoppedAt, res.Messages, nil) // a stream: nothing to save
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
func (k *keeper) warnings() []warning.Warning {
	if k.failed == 0 {
		return nil
	}
	return []warning.Warning{warning.New("%s could not be written: %v", words.Count(k.failed, "checkpoint"), k.last)}
}
