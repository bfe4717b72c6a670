package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// syncDir has the disk know the names in a directory: without that a crash of the
// machine may undo a rename. It does what it can: some file systems have no such call,
// and a directory that one may write to need not be one that one may read.
func syncDir(dir string) error {
	if dir == "" {
		dir = "."
	}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err = f.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
