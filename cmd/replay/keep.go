package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
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
		&cli.StringFlag{Name: "checkpoint", Usage: "save the state of the replay in `FILE` now and then, and when it is interrupted"},
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
	stderr io.Writer // notes; io.Discard if nobody wants them

	attention atomic.Bool // resumed, due or signal is set
	due       atomic.Bool
	signal    atomic.Pointer[os.Signal]

	deaf    func() // stops waiting for signals
	timer   *time.Timer
	from    *os.File // what is gone on from, or nil
	resumed bool     // not yet told
	written bool     // a checkpoint by this process
	failed  int      // checkpoints that could not be written
	last    error    // why not
}

// newKeeper sets the options of a replay that is looked after from now on.
func newKeeper(s *settings, in *input, o *replay.Options, stderr io.Writer) (*keeper, error) {
	k := &keeper{keepSettings: &s.keep, stderr: stderr, begin: time.Now()}
	if s.quiet {
		k.stderr = io.Discard
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
	})
	return k, nil
}

// prepare opens the checkpoint to go on from and says what the run depends on.
func (k *keeper) prepare(s *settings, in *input, o *replay.Options) (err error) {
	if info, err := os.Stat(s.trace); err == nil && !info.Mode().IsRegular() {
		return command.Usagef("--checkpoint and --resume need a trace that can be read again, and %s is no file", s.trace)
	}
	if err := k.spare(); err != nil {
		return err
	}
	if o.Identity, err = identity(s, in); err != nil || k.resume == "" {
		return err
	}
	k.from, err = os.Open(k.resume)
	if k.again() && errors.Is(err, fs.ErrNotExist) {
		k.from = nil
		fmt.Fprintf(k.stderr, "replay: there is no %s yet: replaying from the beginning\n", k.resume)
		return nil
	}
	if err != nil {
		return err
	}
	info, err := k.from.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return command.Usagef("--resume %s: want a regular file", k.resume)
	}
	o.Resume = &replay.Checkpoint{File: k.from, Size: info.Size(), Name: k.resume}
	k.resumed = true
	k.attention.Store(true)
	return nil
}

// spare refuses to replace a file that is something else than a checkpoint.
func (k *keeper) spare() error {
	info, err := os.Stat(k.file)
	if k.file == "" || err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil
	}
	f, err := os.Open(k.file)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 16)
	if n, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || !replay.IsCheckpoint(head[:n]) {
		return command.Usagef("--checkpoint %s: it exists and is no checkpoint, so it is not replaced", k.file)
	}
	return nil
}

// identity names what a replay depends on and the library does not see: files by
// their content, what is built in by its name.
func identity(s *settings, in *input) ([]replay.Property, error) {
	list := []replay.Property{{Name: "program", Value: "replay " + version}}
	files := [][2]string{{"platform", s.platform}, {"kernels", s.kernels}}
	if s.networkNoise != "" {
		files = append(files, [2]string{"network noise", s.networkNoise})
	}
	for _, p := range files {
		text, err := contentHash(p[1])
		if err != nil {
			return nil, err
		}
		list = append(list, replay.Property{Name: p[0], Value: text})
	}
	if in.text != nil {
		hash, err := in.text.Hash()
		if err != nil {
			return nil, err
		}
		list = append(list, replay.Property{Name: "trace", Value: fmt.Sprintf("%x", hash)})
	}
	return list, nil
}

// contentHash names a file by its content, or something that is built in.
func contentHash(name string) (string, error) {
	switch {
	case name == "":
		return "by default", nil
	case !command.Exists(name):
		return "built-in " + name, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", command.Usagef("--checkpoint and --resume need regular files, and %s is none", name)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
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
		fmt.Fprintf(k.stderr, "replay: resumed from %s at %.9g s of simulated time, after %d messages\n", k.resume, p.Date(), p.Messages())
	}
	sig := k.signal.Load()
	due := k.due.Swap(false)
	var err error
	if k.file != "" && (due || sig != nil) {
		err = k.save(p)
	}
	switch {
	case sig != nil:
		return k.interrupted(p, *sig, err)
	case err == nil:
	case !k.written:
		return err
	default:
		fmt.Fprintf(k.stderr, "replay: %v; the older checkpoint is still there, and the replay goes on\n", err)
	}
	return nil
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
func (k *keeper) interrupted(p *replay.Pause, sig os.Signal, err error) error {
	text := fmt.Sprintf("stopped by a signal (%v) at %.9g s of simulated time, after %d messages", sig, p.Date(), p.Messages())
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

// warnings are for the report.
func (k *keeper) warnings() []warning.Warning {
	if k.failed == 0 {
		return nil
	}
	return []warning.Warning{warning.New("%s could not be written: %v", words.Count(k.failed, "checkpoint"), k.last)}
}
