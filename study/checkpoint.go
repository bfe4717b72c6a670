package study

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"reprise/internal/atomicfile"
	"reprise/internal/regular"
	"reprise/replay"
)

// checkpointEvery is how often a replay asks whether its context has ended: it does so then by
// itself, and need not be asked before.
const checkpointEvery = 365 * 24 * time.Hour

// keeper saves the state of an exact replay whose context ends.
type keeper struct {
	file  string
	ctx   context.Context
	after time.Duration // before which nothing is saved
	from  *os.File      // what is gone on from

	begun time.Time
}

// prepare has a replay go on from its checkpoint, if there is one, and save its state at the end of its
// context.
func (k *keeper) prepare(o *replay.Options, version string) error {
	if k.file == "" {
		return nil
	}
	o.Identity = []replay.Property{{Name: "run", Value: filepath.Base(k.file)},
		{Name: "version of Reprise", Value: version}}
	o.Checkpoints = &replay.Checkpoints{Every: checkpointEvery, Write: k.write}
	f, err := regular.Open(k.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	k.from = f
	o.Resume = &replay.Checkpoint{File: f, Size: info.Size(), Name: k.file}
	return nil
}

func (k *keeper) close() {
	if k.from != nil {
		k.from.Close()
	}
}

// write saves the state if the context has ended.
func (k *keeper) write(p *replay.Pause) error {
	if k.ctx.Err() == nil {
		if k.begun.IsZero() {
			k.begun = time.Now()
		}
		return nil
	}
	if k.from == nil && time.Since(k.begun) < k.after {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(k.file), 0o777); err != nil {
		return err
	}
	return atomicfile.Replace(k.file, func(w io.Writer) error { return p.Save(w, 0) })
}
