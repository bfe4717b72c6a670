// Package sniff tells the format of a file by its beginning. It is asked after a file could not be read in the format
// that was expected, so it never refuses a file: the error then says what the file is instead, and what to do with it.
//
// A reader of a stream wraps it by [Remember] and passes its error through [Head.Instead]; one that has a file asks
// [InFile] or [InsteadAt]. Formats are the rows of a table, with a [Kind] for those that commands read. Only the
// beginning of a file is looked at, [HeadSize] bytes: whether the rest is right is left to its reader.
package sniff

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"reprise/internal/textutil"
)

// Kind is a kind of files.
type Kind int

// Kinds that commands read. Others, which only the table knows, follow.
const (
	Unknown    Kind = iota
	Trace           // of ours
	Index           // of SimGrid's text
	Actions         // a file of that text
	Platform        // SimGrid's XML
	YAML            // kernel models, laws of noise, machine models
	Dat             // HPL.dat
	HPCGDat         // hpcg.dat
	Table           // CSV
	Checkpoint      // of replay
	Hostfile
	Outcomes // of polls
	Pivots   // of a factorisation
	Result   // of a replay, as JSON or a page
	foreign
)

// HeadSize is how much of a file is looked at, in bytes.
const HeadSize = 4 << 10

// Head passes on what it reads and remembers the beginning, so that a pipe, which cannot be
// read twice, can be recognised, too.
type Head struct {
	r    io.Reader
	head []byte
}

// Remember returns a reader of r that remembers the beginning.
func Remember(r io.Reader) *Head { return &Head{r: r} }

// Read implements io.Reader.
func (h *Head) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if room := HeadSize - len(h.head); room > 0 && n > 0 {
		h.head = append(h.head, p[:min(n, room)]...)
	}
	return n, err
}

// Bytes returns the beginning of what has been read.
func (h *Head) Bytes() []byte { return h.head }

// Instead returns err, of reading r as one of the wanted kinds, or an error that says what the file is instead. If less
// than a line or two has been read, it reads once more.
func (h *Head) Instead(err error, name string, want ...Kind) error {
	if err == nil {
		return nil
	}
	if len(h.head) < 512 {
		more := make([]byte, HeadSize-len(h.head))
		n, _ := h.r.Read(more) // what cannot be read is not recognised
		h.head = append(h.head, more[:n]...)
	}
	return Instead(err, name, h.head, want...)
}

// InFile is Instead of a regular file, which it opens anew.
func InFile(err error, name string, want ...Kind) error {
	if info, serr := os.Stat(name); err == nil || serr != nil || !info.Mode().IsRegular() {
		return err
	}
	f, oerr := os.Open(name)
	if oerr != nil {
		return err
	}
	defer f.Close()
	return InsteadAt(err, name, f, want...)
}

// InsteadAt is Instead, for an error, of a file that can be read again.
func InsteadAt(err error, name string, r io.ReaderAt, want ...Kind) error {
	head := make([]byte, HeadSize)
	n, _ := r.ReadAt(head, 0)
	return Instead(err, name, head[:n], want...)
}

// Instead returns err, of reading a file as one of the wanted kinds, or an error that says what the file is instead if
// its head shows that: with err behind it where the head only suggests it.
func Instead(err error, name string, head []byte, want ...Kind) error {
	if err == nil {
		return nil
	}
	f := formatOf(head)
	switch {
	case f == nil || slices.Contains(want, f.kind):
		return err
	case f.guess && errors.As(err, new(*guessed)):
		return err
	case f.guess:
		return &guessed{fmt.Errorf("%w; it looks like %s: %s", err, f.what, f.todo)}
	}
	return textutil.Reworded(err, fmt.Sprintf("%s: this is %s, not %s: %s", name, f.what, nouns[want[0]], f.todo))
}

// guessed is an error that says what the file looks like. Only the first of several readers adds it.
type guessed struct{ error }

func (g *guessed) Unwrap() error { return g.error }

// nouns are what the wanted kinds are called.
var nouns = map[Kind]string{
	Trace: "a trace of Reprise", Index: "the index of a SimGrid trace", Actions: "a file of a SimGrid trace", Platform: "a SimGrid platform", YAML: "a YAML file",
	Dat: "an HPL.dat", HPCGDat: "an hpcg.dat", Table: "a table of timings (CSV)", Checkpoint: "a checkpoint", Hostfile: "a hostfile", Outcomes: "outcomes of polls", Pivots: "pivot rows",
	Result: "a report of replay",
}
