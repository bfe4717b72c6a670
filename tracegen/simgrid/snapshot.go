package simgrid

import (
	"crypto/sha256"
	"errors"
	"io"
	"math"
	"os"
	"slices"

	"reprise/internal/snapshot"
	"reprise/trace"
)

// maxBatch bounds the actions that Fill is asked for at once, in a checkpoint.
const maxBatch = 1 << 16

// SaveState writes how far the ranks have come. Fill must always have been asked for the
// same number of actions.
func (t *Trace) SaveState(w io.Writer) error { return snapshot.Save(w, t.snapshot) }

// RestoreState takes the ranks of the same trace, opened anew, to where SaveState was
// called: the text is read again up to there, which takes a small part of the time that
// replaying it took.
func (t *Trace) RestoreState(r io.Reader) error { return snapshot.Restore(r, t.snapshot) }

func (t *Trace) snapshot(c *snapshot.Codec) {
	c.Section("text", Trace{}, stream{}, requests{}, lines{}, sumLists{})
	c.Const("ranks", len(t.streams))
	batch := t.batch
	snapshot.Index(c, &batch, 0, maxBatch)
	if c.Reading() {
		t.resumed = make([][]trace.Action, len(t.streams))
	}
	buf := make([]trace.Action, batch)
	for r := range t.streams {
		fills := t.fills[r]
		snapshot.Index(c, &fills, 0, math.MaxInt)
		if !c.Reading() {
			continue
		}
		n := 1
		for n > 0 && t.fills[r] < fills && c.Err() == nil {
			var err error
			if n, err = t.Fill(int32(r), buf); err != nil {
				c.Fail(err)
				return
			}
		}
		c.Check(t.fills[r] == fills, "rank %d has asked %d times, and its text ends after %d", r, fills, t.fills[r])
		if fills > 0 {
			t.resumed[r] = slices.Clone(buf[:n])
		}
	}
}

// Follows says whether rest is the end of what the last Fill before a checkpoint has
// given to a rank. It may be asked once.
func (t *Trace) Follows(rank int32, rest []trace.Action) error {
	last := t.resumed[rank]
	t.resumed[rank] = nil
	if len(rest) > len(last) || !slices.Equal(rest, last[len(last)-len(rest):]) {
		return errors.New("its actions are not those of its text")
	}
	return nil
}

// Hash names the trace by the contents of its files, which it reads.
func (t *Trace) Hash() (hash [sha256.Size]byte, err error) {
	sum := sha256.New()
	add := func(path string) {
		if err == nil {
			err = addFile(sum, path)
		}
	}
	for _, path := range t.Files() {
		add(path)
	}
	sum.Sum(hash[:0])
	return hash, err
}

// addFile writes the hash of a file's content.
func addFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}
