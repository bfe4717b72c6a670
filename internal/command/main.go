package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// Run is a command: it reads args and stdin; stdout gets results, stderr everything else.
type Run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error

// Main runs a command as a process, and ends it by the error of the command, or of its
// standard output: what was printed on a full disk has failed, whoever printed it.
func Main(name string, run Run) {
	listen(name)
	out, errs := &output{file: os.Stdout}, &output{file: os.Stderr}
	err := run(context.Background(), os.Args, os.Stdin, out, errs)
	if err == nil || errors.Is(err, Silent) && out.err != nil {
		err = out.err
	}
	exit(name, err)
}

// exit ends the process by the error of a command, after printing it and, before it, the
// warnings that were gathered on the way to it.
func exit(name string, err error) {
	warn(os.Stderr, name, warning.Of(err))
	switch {
	case err == nil || errors.Is(err, Silent):
	case errors.Is(err, context.Canceled):
		Tell(os.Stderr, name, "interrupted")
	default:
		Tell(os.Stderr, name, err.Error())
	}
	os.Exit(ExitCode(err))
}

// mostTold is how many bytes a message has. Those who make messages cut what they quote;
// this holds for all, whatever libraries put into theirs.
const mostTold = 2 << 10

// Tell prints a message, on lines of its own, of a bounded length, and with nothing in it
// that a terminal would obey: it may quote a file of somebody else.
func Tell(w io.Writer, name, text string) {
	fmt.Fprintf(w, "%s: %s\n", name, textutil.Cut(textutil.Visible(text), mostTold))
}
