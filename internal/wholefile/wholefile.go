// Package wholefile writes files that appear whole or not at all.
package wholefile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// bufferSize is what is collected before a file is written to, in bytes.
const bufferSize = 64 << 10

var errDirectory = errors.New("want the name of a file, not of a directory")

// maxLinks bounds how many symbolic links are followed.
const maxLinks = 40

// Write lets content write to the file at path. A regular file, new or old, is
// replaced when its content is complete and safe on the disk; if content fails,
// nothing has changed. An old file keeps its permissions; a new one has those
// that the umask leaves. Symbolic links are followed. Anything else, such as a
// named pipe, is written to as it is. Errors name path.
func Write(path string, content func(io.Writer) error) error {
	old, err := os.Stat(path)
	switch {
	case err != nil && strings.HasSuffix(path, "/"):
		return &os.PathError{Op: "open", Path: path, Err: errDirectory}
	case err != nil:
		old = nil // a new file, or an error that comes again
	case !old.Mode().IsRegular():
		return writeThrough(path, content)
	}
	target, err := follow(path)
	if err != nil {
		return err
	}
	f, err := createBeside(target)
	if err != nil {
		return naming(path, target, err)
	}
	if err = fill(f, old, content); err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return errors.Join(naming(path, f.Name(), err), os.Remove(f.Name()))
	}
	return nil
}

// Check reports whether Write could begin to write to the file at path, for those whose
// content takes long to get. "" and "-" are no files.
func Check(path string) error {
	old, err := os.Stat(path)
	switch {
	case path == "" || path == "-":
		return nil
	case err == nil && old.IsDir():
		return &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case err == nil && !old.Mode().IsRegular():
		return nil
	case err != nil && strings.HasSuffix(path, "/"):
		return &os.PathError{Op: "open", Path: path, Err: errDirectory}
	}
	target, err := follow(path)
	if err != nil {
		return err
	}
	f, err := createBeside(target)
	if err != nil {
		return naming(path, target, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
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

// createBeside creates a hidden file in the directory of path, with the
// permissions that the umask leaves (which os.CreateTemp does not ask).
func createBeside(path string) (f *os.File, err error) {
	_, err = beside(path, func(name string) (err error) {
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	return f, err
}

// beside creates something under a hidden name in the directory of path, and returns the
// name.
func beside(path string, create func(name string) error) (string, error) {
	dir, base := filepath.Split(path)
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s.%s.%d-%d", dir, base, os.Getpid(), i)
		if err := create(name); !errors.Is(err, os.ErrExist) {
			return name, naming(path, name, err)
		}
	}
}

// naming makes an error of the temporary file one of path.
func naming(path, temp string, err error) error {
	var link *os.LinkError
	if errors.As(err, &link) && link.Old == temp {
		return &os.PathError{Op: link.Op, Path: path, Err: link.Err}
	}
	var of *os.PathError
	if errors.As(err, &of) && of.Path == temp {
		of.Path = path
	}
	return err
}

// fill writes a temporary file and closes it, its content safe on the disk and
// its permissions those of the file that it replaces, if there is one.
func fill(f *os.File, old os.FileInfo, content func(io.Writer) error) error {
	err := Buffered(f, content)
	if err == nil && old != nil {
		err = f.Chmod(old.Mode().Perm())
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
	dir, err := makeBeside(path)
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

// makeBeside creates a hidden directory beside path, with the permissions that the umask
// leaves.
func makeBeside(path string) (string, error) {
	return beside(path, func(name string) error { return os.Mkdir(name, 0o777) })
}

// replaceDir moves a directory to where there is none, or an empty one.
func replaceDir(dir, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(dir, path)
}

// Spare returns an error if output is the same regular file as one of the inputs: it
// would replace what is read. "-" is the standard output, which replaces nothing, or the
// standard input, which may come from a file. What names no file is never the same.
func Spare(output string, inputs ...string) error {
	to, err := os.Stat(output)
	if output == "-" || err != nil || !to.Mode().IsRegular() {
		return nil
	}
	for _, input := range inputs {
		if from, err := statInput(input); err == nil && os.SameFile(to, from) {
			return fmt.Errorf("%s would replace the input %s: name another file", output, input)
		}
	}
	return nil
}

func statInput(name string) (os.FileInfo, error) {
	if name == "-" {
		return os.Stdin.Stat()
	}
	return os.Stat(name)
}

// Distinct returns an error if two of the outputs are the same file: the one that is
// written last would replace the other. Files that are not there yet are told by their
// paths, symbolic links followed. "", "-" and what is no regular file, such as
// /dev/null, is never the same.
func Distinct(outputs ...string) error {
	for i, a := range outputs {
		for _, b := range outputs[:i] {
			if same(a, b) {
				return fmt.Errorf("%s and %s are the same file: name another one", b, a)
			}
		}
	}
	return nil
}

// same reports whether Write replaces the same file for both paths.
func same(a, b string) bool {
	if a == "" || a == "-" || b == "" || b == "-" {
		return false
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	switch {
	case errA == nil && !x.Mode().IsRegular() || errB == nil && !y.Mode().IsRegular():
		return false
	case errA == nil && errB == nil && os.SameFile(x, y):
		return true
	}
	return place(a) == place(b)
}

// place returns the absolute path of where Write puts a file, as far as it can be told.
func place(path string) string {
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
