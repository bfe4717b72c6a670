package command

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// OnEnding calls end, beside what goes on, with the first signal that should end the
// command in an orderly way: SIGINT, SIGTERM, or a hangup unless that is ignored, as nohup
// wants it. After it SIGINT and SIGTERM end the process at once, and hangups nothing: a
// terminal that closes sends several. stop ends the waiting.
func OnEnding(end func(os.Signal)) (stop func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	came, stopped := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, signals...)
	go func() {
		select {
		case sig := <-came:
			signal.Ignore(syscall.SIGHUP)
			signal.Stop(came)
			end(sig)
		case <-stopped:
			signal.Stop(came)
		}
	}()
	return sync.OnceFunc(func() { close(stopped) })
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
