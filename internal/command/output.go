package command

import (
	"io"
	"os"

	"reprise/internal/terminal"
	"reprise/internal/textutil"
)

// output is standard output, or standard error. It remembers its first error, as help,
// for one, does not. On a terminal it shows what is to be seen only: names from files of
// others are among what is printed.
type output struct {
	file *os.File
	err  error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	var err error
	n := len(p)
	if terminal.Is(o.file) {
		_, err = io.WriteString(o.file, textutil.Visible(string(p)))
	} else {
		n, err = o.file.Write(p)
	}
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Fd tells package terminal which file it is.
func (o *output) Fd() uintptr { return o.file.Fd() }

// Raw is for what moves the cursor on purpose.
func (o *output) Raw() io.Writer { return o.file }
