package command

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"reprise/internal/atomicfile"
	"reprise/internal/terminal"
)

// endings are what signals do in this process. There is one set of them: a process has
// one set of signal handlers.
var endings = struct {
	sync.Mutex
	end  func(os.Signal) // what OnEnding asks for; nil: the process ends at once
	code int             // with this
	text string          // and says this
}{code: 1, text: "interrupted"}

// listen has SIGINT, SIGTERM, and a hangup unless that is ignored, as nohup wants it, end
// the process at once, whatever it waits for: a pipe that nobody opens, a terminal that
// nobody types at. What is being written is removed. See OnEnding for those who have
// something to save.
func listen(name string) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
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
				if terminal.Is(os.Stderr) {
					name = "\n" + name // behind a progress bar
				}
				Tell(os.Stderr, name, text)
				os.Exit(code)
			}
		}
	}()
}

// InterruptedCode has signals end the process with another code than 1, where that means
// something else.
func InterruptedCode(code int) {
	endings.Lock()
	defer endings.Unlock()
	endings.code = code
}

// InterruptedText has signals that end the process at once say something else than
// "interrupted", such as how far it has come.
func InterruptedText(text string) {
	endings.Lock()
	defer endings.Unlock()
	endings.text = text
}

// OnEnding calls end, beside what goes on, with the first signal that should end the
// command, instead of ending it at once. After it SIGINT and SIGTERM end the process at
// once, and hangups nothing. stop ends the waiting. It is for what has something to save,
// and for no longer than that; in a program that Main does not run it does nothing.
func OnEnding(end func(os.Signal)) (stop func()) {
	endings.Lock()
	defer endings.Unlock()
	endings.end = end
	return func() {
		endings.Lock()
		defer endings.Unlock()
		endings.end = nil
	}
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
