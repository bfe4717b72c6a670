// Package atomicfile writes files that appear whole or not at all.
//
//	err := atomicfile.Write("table.csv", func(w io.Writer) error { return table.WriteCSV(w) })
//
// A file is written under a hidden name in the directory of its own name. Once it is complete and
// safe on the disk it is renamed (Write, Replace, WriteDir in directory.go). Hidden files of dead
// processes are removed by the next process that writes the same output (hidden.go).
// [CheckOverwrite] and [Distinct] are for commands with several inputs and outputs.
package atomicfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"reprise/internal/regular"
)

const (
	bufferSize = 64 << 10 // bytes
	maxLinks   = 40       // symbolic links that are followed, as in Linux
)

// Bytes is the content that a text is.
func Bytes(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// Write lets content write to the file at path. A regular file, new or old, is replaced when its content is complete
// and safe on the disk; if content fails, nothing has changed. An old file keeps its permissions, and only its owner
// may read the new one before; a new file has the permissions that the umask leaves. Symbolic links are followed.
// Anything else, such as a named pipe, is written to as it is. Errors name path.
//
// The steps are: find the end of the links at path; create the hidden file beside it and lock it;
// have content write to it; give it the permissions of the old file; have the disk know its content
// (fsync); rename it; have the disk know the name (fsync of the directory). A crash between any two of
// them leaves the old file, and at most a hidden one, which the next writer removes.
func Write(path string, content func(io.Writer) error) error {
	old, err := existing(path)
	if err != nil {
		return err
	}
	if old != nil && !old.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		err = Buffered(f, content)
		return cmp.Or(err, f.Close())
	}
	h, target, err := begin(path, old)
	if err != nil {
		return err
	}
	return h.become(path, target, old, Buffered(h.file, content))
}

// Replace is Write for a file in a directory of the program's own, where anything but a regular
// file is an error: a pipe would wait for a reader.
func Replace(path string, content func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil {
		if err := regular.Check(path, info); err != nil {
			return err
		}
	}
	return Write(path, content)
}

// Create writes a file that must not be there: otherwise the error is fs.ErrExist. Of several processes, on several
// hosts, that create the same file at the same time, one succeeds, and the others find its whole text: the file is a
// hard link of one with a name of its own, which is removed.
func Create(path string, text []byte) error {
	// A rename would replace the file of another process; a link fails where the name is taken, on NFS as well.
	own, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = own.Write(text)
	if err = errors.Join(err, own.Chmod(0o644), own.Close()); err == nil {
		err = os.Link(own.Name(), path)
	}
	rerr := os.Remove(own.Name())
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(err, rerr)
}

// Check reports whether Write could begin to write to the file at path. It is for callers whose
// content takes long to compute. "" and "-" name no file.
func Check(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	old, err := existing(path)
	switch {
	case err != nil:
		return err
	case old != nil && old.IsDir():
		return &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case old != nil && !old.Mode().IsRegular():
		return nil
	}
	h, _, err := begin(path, old)
	if err != nil {
		return err
	}
	return naming(path, h.name, h.end(nil))
}

// existing returns information on the file at path, nil if there is none yet.
func existing(path string) (fs.FileInfo, error) {
	old, err := os.Stat(path)
	switch {
	case err == nil:
		return old, nil
	case strings.HasSuffix(path, "/"):
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("want the name of a file, not of a directory")}
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	}
	return nil, opening(path, err)
}

// opening replaces the operation and the path of an error by the opening of path.
func opening(path string, err error) error {
	if of, ok := errors.AsType[*os.PathError](err); ok {
		err = of.Err
	}
	return &os.PathError{Op: "open", Path: path, Err: err}
}

// begin creates the hidden file that is to replace old at target, the end of the links at path.
func begin(path string, old fs.FileInfo) (h *hidden, target string, err error) {
	if target, err = follow(path); err != nil {
		return nil, "", err
	}
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600 // until it has the permissions of the old file
	}
	h, err = beside(target, func(name string) (*os.File, error) {
		return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	})
	if err != nil {
		return nil, "", opening(path, err)
	}
	return h, target, nil
}

// follow returns where a file or directory is, or is to be: the end of the symbolic links at path.
func follow(path string) (string, error) {
	at := trimSlashes(path)
	for range maxLinks {
		link, err := os.Readlink(at)
		if err != nil {
			return at, nil // no link
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(at)
			link = dir + link // not Join: a .. may come after a link
		}
		at = trimSlashes(link)
	}
	return "", &os.PathError{Op: "open", Path: path, Err: errors.New("too many symbolic links")}
}

// trimSlashes removes trailing slashes and "/." of the name of a directory. It does not use
// Clean, as a .. may come after a link.
func trimSlashes(path string) string {
	for {
		shorter, slash := strings.CutSuffix(path, "/")
		shorter, point := strings.CutSuffix(shorter, "/.")
		if !slash && !point || shorter == "" {
			return path
		}
		path = shorter
	}
}

// Buffered lets content write to w through a buffer.
func Buffered(w io.Writer, content func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, bufferSize)
	if err := content(b); err != nil {
		return err
	}
	return b.Flush()
}

// CheckOverwrite returns an error if output is the same regular file as one of the inputs: writing it would replace an
// input. The output "-" is the standard output, which replaces nothing; the input "-" is the standard input, which may
// come from a file. A name without a file is never the same.
func CheckOverwrite(output string, inputs ...string) error {
	to, err := os.Stat(output)
	if output == "-" || err != nil || !to.Mode().IsRegular() {
		return nil
	}
	for _, input := range inputs {
		stat := func() (fs.FileInfo, error) { return os.Stat(input) }
		if input == "-" {
			stat = os.Stdin.Stat
		}
		if from, err := stat(); err == nil && os.SameFile(to, from) {
			return fmt.Errorf("%s would replace the input %s: name another file", output, input)
		}
	}
	return nil
}

// Distinct returns an error if two of the outputs are the same file, of which the one that is written last would
// replace the other. Files that do not exist yet are compared by their paths, symbolic links followed. "", "-" and
// everything that is no regular file, such as /dev/null, is never the same.
func Distinct(outputs ...string) error {
	for i, a := range outputs {
		for _, b := range outputs[:i] {
			if a == "" || a == "-" || b == "" || b == "-" {
				continue
			}
			x, errA := os.Stat(a)
			y, errB := os.Stat(b)
			if errA == nil && !x.Mode().IsRegular() || errB == nil && !y.Mode().IsRegular() {
				continue
			}
			if errA == nil && errB == nil && os.SameFile(x, y) || Place(a) == Place(b) {
				return fmt.Errorf("%s and %s are the same file: name another one", b, a)
			}
		}
	}
	return nil
}

// Place returns the absolute path at which Write puts a file, symbolic links followed as far as they can be read.
func Place(path string) string {
	if at, err := follow(path); err == nil {
		path = at
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if at, err := filepath.Abs(path); err == nil {
		return at
	}
	return filepath.Clean(path)
}
