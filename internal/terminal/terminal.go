// Package terminal tells terminals from other files.
package terminal

import (
	"os"
	"syscall"

	"golang.org/x/term"
)

// Is reports whether w is a terminal: a file, or what writes to one and says so by its
// descriptor, at whose other end a person may be.
// Other devices, such as the null device, are none.
func Is(w any) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// IsPath reports whether there is a terminal at path.
func IsPath(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0) // a modem may wait for a call
	if err != nil {
		return false // who opens it next learns why
	}
	defer f.Close()
	return Is(f)
}
