// Package atomicfile writes files that appear whole or not at all.
//
// A file is written under a hidden name in the directory of its own name. Once it is complete and safe
// on the disk it is renamed. Hidden files that a dead process has left are removed by the next
// one that writes the same output (hidden.go).
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"reprise/internal/regular"
)

// bufferSize is in bytes.
const bufferSize = 64 << 10

var errDirectory = errors.New("want the name of a file, not of a directory")

// maxLinks bounds how many symbolic links are followed.
const maxLinks = 40

// Write lets content write to the file at path. A regular file, new or old, is
// replaced when its content is complete and safe on the disk; if content fails,
// nothing has changed. An old file keeps its permissions, and nobody else may read the
// new one before; a new file has those that the umask leaves. Symbolic links are
// followed. Anything else, such as a named pipe, is written to as it is. Errors name path.
func Write(path string, content func(io.Writer) error) error {
	old, err := existing(path)
	switch {
	case err != nil:
		return err
	case old != nil && !old.Mode().IsRegular():
		return writeThrough(path, content)
	}
	h, target, err := begin(path, old)
	if err != nil {
		return err
	}
	err = Buffered(h.file, content)
	if err == nil && old != nil {
		err = keepOwner(h.file, old)
	}
	if err == nil {
		err = h.file.Sync()
	}
	if err == nil {
		err = h.become(target)
	}
	return naming(path, h.name, h.end(err))
}

// Replace is Write for a file in a directory of the program's own, where anything but a regular file is
// an error: a pipe would wait for a reader.
func Replace(path string, content func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil {
		if err := regular.Check(path, info); err != nil {
			return err
		}
	}
	return Write(path, content)
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
	return naming(path, h.name, errors.Join(h.remove(), h.end(nil)))
}

// existing returns what is at path, nil if there is nothing yet.
func existing(path string) (fs.FileInfo, error) {
	old, err := os.Stat(path)
	switch {
	case err == nil:
		return old, nil
	case strings.HasSuffix(path, "/"):
		return nil, &os.PathError{Op: "open", Path: path, Err: errDirectory}
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	}
	return nil, opening(path, err)
}

// opening replaces the operation and the path of an error by the opening of path.
func opening(path string, err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
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
		perm = 0o600 // until it has those of the old one
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

// trimSlashes removes what the name of a directory may end in. It does not use Clean, as a .. may
// come after a link.
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

// writeThrough writes to what is no regular file.
func writeThrough(path string, content func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = Buffered(f, content)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// Buffered lets content write to w through a buffer.
func Buffered(w io.Writer, content func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, bufferSize)
	if err := content(b); err != nil {
		return err
	}
	return b.Flush()
}
