package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"reprise/internal/atomicfile"
	"reprise/internal/terminal"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file runs a command as a process (Main): signals, output and the exit code.

// Run is a command: it reads args and stdin; stdout gets results, stderr everything else.
type Run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error

// Main runs a command as a process. It ends the process by the error of the command, or of its standard output: a
// command that has printed on a full disk has failed. An early interrupt of those subcommands that compare is Trouble.
func Main(name string, run Run, comparing ...string) {
	// The flags are not parsed yet, and signals not listened to.
	if len(os.Args) > 1 && slices.Contains(comparing, os.Args[1]) {
		InterruptedCode(Trouble)
	}
	// SIGINT, SIGTERM, and SIGHUP unless it is ignored (nohup), end the process at once, also while it waits for a pipe
	// or a terminal. Files that are not yet complete are removed. OnEnding is for commands that save something first.
	//
	// The channel has room for one: a signal that comes before the goroutine runs is not lost.
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
	// A second signal, while a first one is seen to, ends the process at once.
	go func() {
		ending := false
		for sig := range came {
			endings.Lock()
			end, code, text := endings.end, endings.code, endings.text
			endings.end = nil
			endings.Unlock()
			switch {
			case end != nil:
				ending = true
				end(sig)
			case ending && sig == syscall.SIGHUP: // a terminal that closes sends several
			default:
				atomicfile.Abandon()
				begin := ""
				if terminal.Is(os.Stderr) {
					begin = "\n" // behind a progress bar
				}
				Tell(os.Stderr, begin+name, text)
				os.Exit(code)
			}
		}
	}()

	out, errs := &output{file: os.Stdout}, &output{file: os.Stderr}
	err := run(context.Background(), os.Args, os.Stdin, out, errs)
	// An error of the command comes first, as what was not printed may follow from it.
	if err == nil || errors.Is(err, Silent) && out.err != nil {
		err = out.err
	}
	os.Exit(Conclude(os.Stderr, name, err))
}

// Conclude tells on stderr how a command has ended, with the warnings that were gathered before, and returns its exit
// code.
func Conclude(stderr io.Writer, name string, err error) int {
	warn(stderr, name, warning.Of(err))
	switch {
	case err == nil || errors.Is(err, Silent):
	case errors.Is(err, context.Canceled):
		Tell(stderr, name, "interrupted")
	default:
		Tell(stderr, name, err.Error())
	}
	return ExitCode(err)
}

// mostTold is how many bytes a message has at most. Messages cut the texts that they quote; this bounds those of
// libraries, too.
const mostTold = 2 << 10

// Tell prints a message, on lines of its own, of a bounded length, and with nothing in it
// that a terminal would obey: it may quote a file of somebody else.
func Tell(w io.Writer, name, text string) {
	fmt.Fprintf(w, "%s: %s\n", name, textutil.Cut(textutil.Visible(text), mostTold))
}

// output is standard output, or standard error. It remembers its first error, which the help of the library does
// not report. On a terminal it shows visible characters only: names from files of others are among the text.
type output struct {
	file *os.File
	err  error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	var err error
	// What is shown in place of an invisible character is longer, but the caller is told of its own bytes.
	n := len(p)
	if terminal.Is(o.file) {
		_, err = io.WriteString(o.file, textutil.Visible(string(p)))
	} else {
		n, err = o.file.Write(p)
	}
	o.err = cmp.Or(o.err, err)
	return n, err
}

// Fd is the descriptor by which package terminal knows a terminal.
func (o *output) Fd() uintptr { return o.file.Fd() }

// Raw returns the file for those who move the cursor on purpose.
func (o *output) Raw() io.Writer { return o.file }

// endings are what signals do in this process. There is one set of them: a process has one set of signal handlers.
var endings = struct {
	sync.Mutex
	end  func(os.Signal) // what OnEnding asks for; nil: the process ends at once
	code int             // with this
	text string          // and says this
}{code: 1, text: "interrupted"}

// InterruptedCode has signals end the process with another code than 1, for commands where 1 has another meaning.
func InterruptedCode(code int) { changeEndings(func() { endings.code = code }) }

// InterruptedText has signals that end the process at once say something else than
// "interrupted", such as how far it has come.
func InterruptedText(text string) { changeEndings(func() { endings.text = text }) }

// changeEndings changes them while no signal looks at them.
func changeEndings(change func()) {
	endings.Lock()
	defer endings.Unlock()
	change()
}

// OnEnding calls end, in a goroutine of its own, with the first signal that should end the command, instead of ending
// it at once. After that signal SIGINT and SIGTERM end the process at once, and a hangup does nothing. stop ends the
// waiting. It is for code that has something to save, and only as long as it has; in a program that Main does not run
// it does nothing.
func OnEnding(end func(os.Signal)) (stop func()) {
	changeEndings(func() { endings.end = end })
	return func() { changeEndings(func() { endings.end = nil }) }
}

// Interruptible returns a context that ends as OnEnding says.
func Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := OnEnding(func(os.Signal) { cancel() })
	return ctx, func() {
		stop()
		cancel()
	}
}
