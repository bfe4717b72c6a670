// Package atomicfile writes files that appear whole or not at all.
//
// What is written has a hidden name beside its own until it is complete: see hidden.go.
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

// bufferSize is what is collected before a file is written to, in bytes.
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
	if err = h.fill(old, content); err == nil {
		err = h.become(target)
	}
	return naming(path, h.name, h.end(err))
}

// Replace is Write to a file of a directory that is ours: what is there and is no regular file, such as
// a pipe, which would wait for a reader, is an error.
func Replace(path string, content func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil {
		if err := regular.Check(path, info); err != nil {
			return err
		}
	}
	return Write(path, content)
}

// Check reports whether Write could begin to write to the file at path, for those whose
// content takes long to get. "" and "-" are no files.
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

// opening makes an error one of opening the file at path.
func opening(path string, err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return &os.PathError{Op: "open", Path: path, Err: err}
}

// begin creates the hidden file that is to replace old at path, or where links there
// lead to: target.
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

// follow returns where a file is, or is to be.
func follow(path string) (string, error) {
	at := path
	for range maxLinks {
		link, err := os.Readlink(at)
		if err != nil {
			return at, nil // no link
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(at)
			link = dir + link // not Join: a .. may come after a link
		}
		at = link
	}
	return "", &os.PathError{Op: "open", Path: path, Err: errors.New("too many symbolic links")}
}

// fill writes a hidden file, until its content is safe on the disk and its permissions
// are those of the file that it replaces, if there is one.
func (h *hidden) fill(old fs.FileInfo, content func(io.Writer) error) error {
	err := Buffered(h.file, content)
	if err == nil && old != nil {
		err = dress(h.file, old)
	}
	if err == nil {
		err = h.file.Sync()
	}
	return err
}

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
