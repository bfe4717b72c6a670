package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var (
	errNotEmpty = errors.New("it exists and is not empty")
	errWorking  = errors.New("want a directory that can be replaced as a whole: neither . nor .. can")
)

// WriteDir lets content fill a directory that then becomes path: a new one, or
// one that replaces an empty one, whose permissions it keeps. Symbolic links are
// followed. If content fails, nothing has changed. Errors name path.
func WriteDir(path string, content func(dir string) error) error {
	path = trimSlashes(path)
	target, err := followDir(path)
	if err != nil {
		return err
	}
	old, err := emptyDir(path, target)
	if err != nil {
		return err
	}
	h, err := beside(target, func(name string) (*os.File, error) { return makeDir(name, old) })
	if err != nil {
		return naming(path, target, err)
	}
	h.dir = true
	if err = content(h.name); err == nil && old != nil {
		err = dress(h.file, old)
	}
	if err == nil {
		err = syncTree(h.file)
	}
	if err == nil {
		err = h.become(target)
	}
	return naming(path, h.name, h.end(err))
}

// HiddenDir makes a hidden directory beside path for what is needed until path is there. It goes
// with remove, or when signals end the process. Errors name path.
func HiddenDir(path string) (dir string, remove func() error, err error) {
	h, err := beside(path, func(name string) (*os.File, error) { return makeDir(name, nil) })
	if err != nil {
		return "", nil, err
	}
	h.dir = true
	return h.name, func() error { return h.end(nil) }, nil
}

// followDir is follow for a directory, whose name, and links to it, may end in a slash.
func followDir(path string) (string, error) {
	at := trimSlashes(path)
	for range maxLinks {
		next, err := follow(at)
		if err != nil {
			return "", err
		}
		if next = trimSlashes(next); next == at {
			if base := filepath.Base(at); base == "." || base == ".." || at == "/" {
				return "", &os.PathError{Op: "write directory", Path: path, Err: errWorking}
			}
			return at, nil
		}
		at = next
	}
	return "", &os.PathError{Op: "write directory", Path: path, Err: errors.New("too many symbolic links")}
}

// trimSlashes takes off what a directory's name may end in. Not by Clean: a .. may come
// after a link.
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

// emptyDir returns the empty directory at target, nil if there is nothing.
func emptyDir(path, target string) (fs.FileInfo, error) {
	list, err := os.ReadDir(target)
	switch {
	case len(list) > 0:
		return nil, &os.PathError{Op: "write directory", Path: path, Err: errNotEmpty}
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, naming(path, target, err)
	}
	return os.Stat(target)
}

// makeDir creates a directory and opens it, with the permissions that the umask leaves,
// or, until it has those of the one that it replaces, for nobody else.
func makeDir(name string, old fs.FileInfo) (*os.File, error) {
	perm := fs.FileMode(0o777)
	if old != nil {
		perm = 0o700
	}
	if err := os.Mkdir(name, perm); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return f, nil
}

// MakeDir makes the directory at path, or where links there lead to, and those above it,
// where they are not there yet.
func MakeDir(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	target, err := followDir(path)
	if err != nil {
		return err
	}
	return naming(path, target, os.MkdirAll(target, 0o777))
}
