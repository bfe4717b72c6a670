package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteDir lets content fill a directory that then becomes path: a new one, or one that replaces an empty one, whose
// permissions it keeps. Symbolic links are followed. If content fails, nothing has changed. Errors name path.
func WriteDir(path string, content func(dir string) error) error {
	path = trimSlashes(path)
	target, err := followDir(path)
	if err != nil {
		return err
	}
	var old fs.FileInfo // the empty directory at target
	list, err := os.ReadDir(target)
	switch {
	case len(list) > 0:
		return &os.PathError{Op: "write directory", Path: path, Err: errors.New("it exists and is not empty")}
	case err == nil:
		if old, err = os.Stat(target); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return naming(path, target, err)
	}
	h, err := beside(target, func(name string) (*os.File, error) { return makeDir(name, old) })
	if err != nil {
		return naming(path, target, err)
	}
	h.dir = true
	return h.become(path, target, old, content(h.name))
}

// HiddenDir makes a temporary hidden directory beside path. It is removed by remove, or when a
// signal ends the process. Errors name path.
//
// It is for results of a process that are needed only until the output is made of them, on the file
// system that has room for the output.
func HiddenDir(path string) (dir string, remove func() error, err error) {
	h, err := beside(path, func(name string) (*os.File, error) { return makeDir(name, nil) })
	if err != nil {
		return "", nil, err
	}
	h.dir = true
	return h.name, func() error { return h.end(nil) }, nil
}

// MakeDir makes the directory at path, or at the end of the links there, and those above it,
// where they do not exist yet.
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

// followDir is follow for a directory that can be replaced or made.
func followDir(path string) (string, error) {
	at, err := follow(path)
	if base := filepath.Base(at); err == nil && (base == "." || base == ".." || at == "/") {
		err = &os.PathError{Op: "write directory", Path: path,
			Err: errors.New("want a directory that can be replaced as a whole: neither . nor .. can")}
	}
	return at, err
}

// makeDir creates a directory and opens it. A directory that is to replace old is for its owner
// only until it has the permissions of old.
func makeDir(name string, old fs.FileInfo) (*os.File, error) {
	// The umask takes its bits from that, as for any new directory.
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
