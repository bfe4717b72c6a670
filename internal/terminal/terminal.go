// Package terminal tells terminals from other files.
package terminal

import (
	"os"

	"golang.org/x/term"
)

// Is reports whether w is a terminal: a file at whose other end a person may be.
// Other devices, such as the null device, are none.
func Is(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// IsPath reports whether there is a terminal at path.
func IsPath(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false // who opens it next learns why
	}
	defer f.Close()
	return Is(f)
}
