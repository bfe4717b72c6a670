// Package wholefile writes files that appear whole or not at all.
package wholefile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// bufferSize is what is collected before a file is written to, in bytes.
const bufferSize = 64 << 10

// Write lets content write to the file at path. A regular file, new or old, is
// replaced when its content is complete and safe on the disk; if content fails,
// nothing has changed. Anything else, such as a named pipe, is written to as it
// is.
func Write(path string, content func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, content)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	if err = fill(f, content); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// fill writes a temporary file and closes it, its content safe on the disk.
func fill(f *os.File, content func(io.Writer) error) error {
	err := Buffered(f, content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	return closing(f, err)
}

func writeThrough(path string, content func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return closing(f, Buffered(f, content))
}

// closing closes f; it keeps the error of what was done before.
func closing(f *os.File, err error) error {
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

// WriteDir lets content fill a directory that then becomes path: a new one, or
// one that replaces an empty one. If content fails, nothing has changed. The
// files in it are not forced to the disk.
func WriteDir(path string, content func(dir string) error) error {
	path = filepath.Clean(path)
	old, err := os.ReadDir(path)
	switch {
	case err == nil && len(old) > 0:
		return &os.PathError{Op: "write directory", Path: path, Err: errors.New("it exists and is not empty")}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	if err = content(dir); err == nil {
		err = replaceDir(dir, path)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return nil
}

// replaceDir moves a directory to where there is none, or an empty one.
func replaceDir(dir, path string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(dir, path)
}
