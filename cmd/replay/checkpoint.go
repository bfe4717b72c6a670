package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/internal/snapshot"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/trace/warning"
)

// checkpointer looks after a replay: it writes checkpoints, and ends the context of the replay as command.OnEnding
// says. Every exact replay has one, also without --checkpoint: signals are the same to all. With --checkpoint FILE it
// saves the state of the replay every so often and when a signal stops it; with --resume FILE the replay begins at a
// state that was saved. The file is replaced as a whole, so that a kill at any time leaves the older state.
type checkpointer struct {
	*job
	ctx   context.Context
	notes io.Writer // stderr, or io.Discard with --quiet

	// Set by newCheckpointer and prepare.
	deaf    func()   // stops waiting for signals
	from    *os.File // the checkpoint to go on from, or nil
	found   bool     // from is the file that --checkpoint names
	resumed bool     // from is read, and nobody has been told yet
	// Set by write: how saving goes.
	written bool  // this process has written a checkpoint
	failed  int   // checkpoints that could not be written
	last    error // the reason, the last time
	unsaved error // the reason why the last checkpoint could not be written; nil if it could
}

// newCheckpointer sets the options of a replay that is looked after from now on, until close.
func newCheckpointer(ctx context.Context, j *job, o *replay.Options) *checkpointer {
	k := &checkpointer{job: j, ctx: ctx, notes: j.stderr}
	if j.quiet {
		k.notes = io.Discard
	}
	if j.keeps() {
		textutil.Check(k.prepare(o))
		// Also for --resume alone: write then tells where the replay goes on, and saves nothing.
		o.Checkpoints = &replay.Checkpoints{Every: j.every, Write: k.write}
	}
	k.deaf = command.OnEnding(func(sig os.Signal) { j.end(ending{sig}) })
	return k
}

// prepare finds and opens the checkpoint to go on from, and states all that the run depends on. A checkpoint that is
// there where checkpoints should be written is gone on from, as if --resume named it: the same command again, after a
// job was killed, must not lose the work of that job. Any other file is not replaced.
func (k *checkpointer) prepare(o *replay.Options) error {
	if info, err := os.Stat(k.trace); err == nil && !info.Mode().IsRegular() {
		return command.Usagef("--checkpoint and --resume need a trace that can be read again, and %s is no file", k.trace)
	}
	// --resume may name the file that is written, so that the same command can be queued many times in a batch system:
	// the first of several jobs finds none there.
	again := k.resume != "" && k.checkpoint != "" && filepath.Clean(k.resume) == filepath.Clean(k.checkpoint)
	// Is there something at the place where checkpoints go? A pipe or a socket would take the state and lose it. An
	// empty file, as of mktemp, may be replaced. A device such as /dev/full is left to the first write.
	there, err := os.Stat(k.checkpoint)
	switch {
	case k.checkpoint == "" || err != nil:
	case there.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
		return command.Usagef("--checkpoint %s: want a file that can be read again, not a pipe", k.checkpoint)
	case there.Mode().IsRegular() && there.Size() > 0:
		if !replay.IsCheckpoint(textutil.Must(readHead(k.checkpoint, 16))) {
			return command.Usagef("--checkpoint %s: it exists and is no checkpoint, so it is not replaced", k.checkpoint)
		}
		if k.resume == "" {
			k.resume, k.found = k.checkpoint, true
		} else if from, err := os.Stat(k.resume); err == nil && !os.SameFile(from, there) {
			return command.Usagef("--checkpoint %s: it is a checkpoint already, and is not replaced by what follows %s: "+
				"go on from it with --resume %s, or remove it", k.checkpoint, k.resume, k.checkpoint)
		}
	}
	// The state says for which run it is: package replay compares the identity, and its own part of it (steps, options,
	// mapping).
	if o.Identity = identity(k.job); k.resume == "" {
		return nil
	}

	// The file stays open during the replay: it is read when the replay begins, and may be the one that is replaced.
	info, err := os.Stat(k.resume)
	if err == nil && !info.Mode().IsRegular() { // not opened: a pipe may wait for ever
		return command.Usagef("--resume %s: want a regular file", k.resume)
	}
	k.from, err = os.Open(k.resume)
	if again && errors.Is(err, fs.ErrNotExist) {
		k.from = nil
		command.Tell(k.notes, "replay", fmt.Sprintf("there is no %s yet: replaying from the beginning", k.resume))
		return nil
	}
	textutil.Check(err)
	info = textutil.Must(k.from.Stat())
	o.Resume = &replay.Checkpoint{File: k.from, Size: info.Size(), Name: k.resume}
	k.resumed = true
	return nil
}

// close stops listening to signals, and closes the checkpoint from which the replay has gone on.
func (k *checkpointer) close() {
	k.deaf()
	if k.from != nil {
		k.from.Close()
	}
}

// write writes a checkpoint, if --checkpoint asks for it. The replay waits in a state that can be saved. The first one
// shows whether the file can be written: its failure ends the replay, rather than hours later with nothing saved. Of
// later failures the user is told the first time, and then every tenth, as the disk of a long replay may be full for
// days; the replay goes on.
func (k *checkpointer) write(p *replay.Pause) error {
	if k.resumed {
		k.resumed = false
		fmt.Fprintf(k.notes, "replay: resumed from %s at %.9g s of simulated time, after %d messages\n", k.resume, p.Time(),
			p.Messages())
	}
	if k.checkpoint == "" {
		return nil
	}
	// The state holds the time of the wall that the replay took so far, with that of earlier parts.
	save := func(w io.Writer) error { return p.Save(w, time.Since(k.begin).Seconds()) }
	if k.unsaved = atomicfile.Write(k.checkpoint, save); k.unsaved == nil {
		k.written = true
		return nil
	}
	k.failed++
	k.unsaved = fmt.Errorf("checkpoint: %w", k.unsaved)
	k.last = k.unsaved
	// Whether a failure ends the replay depends on whether there is an older checkpoint to go on from.
	const every = 10
	switch {
	case k.ctx.Err() != nil: // the error of the end tells it
	case !k.written:
		return k.unsaved
	case k.failed == 1:
		command.Tell(k.stderr, "replay",
			fmt.Sprintf("%v; the older checkpoint is still there, and the replay goes on", k.last))
	case k.failed%every == 0:
		command.Tell(k.stderr, "replay", fmt.Sprintf("%v; it is the %dth that could not be written", k.last, k.failed))
	}
	return nil
}

// warnings are for the report, which is kept: notes on stderr may be lost.
func (k *checkpointer) warnings() []warning.Warning {
	if k.failed == 0 {
		return nil
	}
	return []warning.Warning{warning.New("%s could not be written: %v", textutil.Count(k.failed, "checkpoint"), k.last)}
}

// ending is the cause of a context that a signal has ended. The engine returns it, wrapped, with the result so far.
type ending struct{ signal os.Signal }

func (e ending) Error() string { return fmt.Sprintf("stopped by a signal (%v)", e.signal) }

// at is the error of a replay that the signal has stopped with a result.
func (e ending) at(res *replay.Result) error {
	return fmt.Errorf("%w at %.9g s of simulated time, after %d messages", e, *res.StoppedAt, res.Messages)
}

// interruption is the error of a replay that a signal has stopped; the result so far is reported all the same.
type interruption struct{ error }

// ended returns the error with which the replay has ended, in words for the user: after a signal it says whether
// and how the replay can go on. res is nil if nothing was replayed. After errors that are no interruption no
// outputs are written.
func (k *checkpointer) ended(res *replay.Result, err error) error {
	var end ending
	// After a signal the cases differ in the state that is left: none, the newest, an older one. A checkpoint that was
	// found, not named, and does not fit is a mistake of the command line.
	switch signalled := errors.As(err, &end); {
	case signalled && res == nil:
		return fmt.Errorf("%w before the first event: nothing was replayed", end)
	case signalled && k.checkpoint == "":
		return interruption{fmt.Errorf("%w; no checkpoint was saved: see --checkpoint", end.at(res))}
	case signalled && k.unsaved == nil:
		return interruption{fmt.Errorf("%w; the same command with --resume %s goes on from there", end.at(res),
			k.checkpoint)}
	case signalled && k.written:
		return interruption{fmt.Errorf("%w; %w; the same command with --resume %s goes on from an older checkpoint",
			end.at(res), k.unsaved, k.checkpoint)}
	case signalled:
		return interruption{fmt.Errorf("%w; %w", end.at(res), k.unsaved)}
	case k.found && (errors.Is(err, replay.ErrOtherRun) || errors.Is(err, snapshot.ErrCorrupt) ||
		errors.Is(err, snapshot.ErrVersion)):
		return command.Usagef("--checkpoint: %w; the replay cannot go on from it and does not replace it: "+
			"remove it, or name another file", err)
	}
	return err
}

// identity names all that a replay depends on and package replay does not see: files by their content, built-in
// machines and models by their names. A replay that goes on from a checkpoint, or shares windows, must have the same
// identity. Two identities are equal if both replays must have the same bits. Names of files do not count: the same
// machine may lie elsewhere on another host.
func identity(j *job) []replay.Property {
	list := []replay.Property{{Name: "program", Value: "replay " + command.Version()}}
	platform, kernels := j.spec.Platform, j.spec.Kernels
	if j.spec.Machine != "" {
		platform, kernels = j.machine.Source.Platform, j.machine.Source.Kernels
	}
	// Options and mapping are compared by package replay. The version counts, as another one may cost events otherwise.
	files := [][2]string{{"platform", platform}, {"kernels", kernels}}
	if j.spec.NetworkNoise != "" {
		files = append(files, [2]string{"network noise", j.spec.NetworkNoise})
	}
	for _, p := range files {
		// A file is named by its content, and anything built in by its name: the version says what is built in.
		name, text := p[1], "built-in "+p[1]
		if name == "" {
			text = "by default"
		} else if regular.IsFile(name) {
			var err error
			if text, err = regular.Hash(name); errors.Is(err, regular.ErrSpecial) {
				err = command.Usagef("--checkpoint, --resume and --workers need regular files, and %s is none", name)
			}
			textutil.Check(err)
		}
		list = append(list, replay.Property{Name: p[0], Value: text})
	}
	// A trace of our own carries its hash, which package replay compares.
	if j.in.text != nil {
		list = append(list, replay.Property{Name: "trace", Value: fmt.Sprintf("%x", textutil.Must(j.in.text.Hash()))})
	}
	return list
}
