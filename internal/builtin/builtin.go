// Package builtin tells names of files from names of what is built in: where either may
// stand, a file goes before.
package builtin

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// IsFile reports whether there is something at path that is no directory.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// Missing gives err, of a name that is neither a file nor built in, another text if it is a
// directory, or looks like a path.
func Missing(path string, err error) error {
	if err == nil {
		return nil
	}
	if info, serr := os.Stat(path); serr == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, want a file or a built-in name", path)
	}
	if strings.ContainsAny(path, "./\\") {
		return fmt.Errorf("%s: %w; %w", path, fs.ErrNotExist, err)
	}
	return err
}
