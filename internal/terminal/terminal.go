// Package terminal tells terminals from other files ([Is], [IsPath]), knows how wide they are ([Wide]), and shows
// progress on them ([Bar]), in lines on other files. Colours and cursors are left to the libraries.
package terminal

import (
	"io"
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

// Wide returns w, of a terminal with the number of its columns, for those who write more where
// there is room (replay.Report.WriteText).
func Wide(w io.Writer) io.Writer {
	if Is(w) {
		columns, _, _ := term.GetSize(int(w.(interface{ Fd() uintptr }).Fd())) // 0 with an error
		if columns > 0 {
			return &wide{w, columns}
		}
	}
	return w
}

// wide is a writer with so many columns.
type wide struct {
	io.Writer
	columns int
}

// Columns returns how many columns a line has.
func (w *wide) Columns() int { return w.columns }

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
