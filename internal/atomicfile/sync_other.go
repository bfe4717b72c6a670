//go:build !linux

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// syncTree flushes all files of a directory to the disk.
func syncTree(dir *os.File) error {
	list, err := os.ReadDir(dir.Name())
	for _, entry := range list {
		if err == nil {
			err = syncFile(filepath.Join(dir.Name(), entry.Name()))
		}
	}
	return errors.Join(err, syncDir(dir.Name()))
}

func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
