package simgrid

import (
	"crypto/sha256"
	"io"
	"os"

	"reprise/internal/snapshot"
	"reprise/trace"
)

// SaveState writes how far the ranks have come. Fill must always have been asked for the
// same number of actions.
func (t *Trace) SaveState(w io.Writer) error { return snapshot.Save(w, t.state) }

// RestoreState takes the ranks of the same trace, opened anew, to where SaveState was
// called: the text is read again up to there, which takes a small part of the time that
// replaying it took.
func (t *Trace) RestoreState(r io.Reader) error { return snapshot.Restore(r, t.state) }

func (t *Trace) state(s *snapshot.State) {
	s.Section("text")
	batch, fills := t.batch, t.fills
	s.Vars(&batch, &fills)
	if !s.Reading() || s.Err() != nil {
		return
	}
	buf := make([]trace.Action, batch)
	t.fills = make([]int, len(fills))
	for r := range fills {
		for t.fills[r] < fills[r] {
			if _, err := t.Fill(int32(r), buf); err != nil {
				s.Fail(err)
				return
			}
		}
	}
}

// Hash names the trace by the contents of its files, which it reads.
func (t *Trace) Hash() (hash [sha256.Size]byte, err error) {
	all := sha256.New()
	for _, path := range t.Files() {
		f, err := os.Open(path)
		if err != nil {
			return hash, err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return hash, err
		}
		all.Write(sum.Sum(nil))
	}
	all.Sum(hash[:0])
	return hash, nil
}
