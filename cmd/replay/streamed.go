package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"reprise/internal/atomicfile"
)

// streamed is a file that is written while a replay goes on, by another goroutine, and appears
// when it is complete. Where it cannot be written the replay ends.
type streamed struct {
	path   string
	chunks chan []byte // closed at the end
	ended  chan error  // once the file is there, or why it is not
	failed chan struct{}
	end    context.CancelCauseFunc // of the replay
	chunk  []byte                  // not handed over yet

	pipe   bool // it is a named pipe, which opens when somebody reads from it
	mu     sync.Mutex
	open   bool
	unread chan struct{} // closed when a pipe is given up that nobody reads from
}

// streamChunk is what is handed over at once, in bytes; a few of them are under way.
const streamChunk = 256 << 10

// errGivenUp ends a file that is not wanted any more.
var errGivenUp = errors.New("given up")

// newStreamed begins a file, compressed by gzip if it is to be, of a replay whose context is ctx
// and is ended by end.
func newStreamed(ctx context.Context, path string, zipped bool, end context.CancelCauseFunc) (*streamed, error) {
	if err := atomicfile.Check(path); err != nil {
		return nil, err
	}
	f := &streamed{path: path, chunks: make(chan []byte, 4), ended: make(chan error, 1), failed: make(chan struct{}),
		end: end, unread: make(chan struct{})}
	if info, err := os.Stat(path); err == nil {
		f.pipe = info.Mode()&os.ModeNamedPipe != 0
	}
	context.AfterFunc(ctx, f.leavePipe)
	go func() {
		err := atomicfile.Write(path, func(w io.Writer) error {
			if !f.opened() {
				return errGivenUp
			}
			if !zipped {
				return f.copy(w)
			}
			zip := gzip.NewWriter(w)
			if err := f.copy(zip); err != nil {
				return err
			}
			return zip.Close()
		})
		f.ended <- err
		close(f.failed)
	}()
	return f, nil
}

// writeStreamed lets content write a file, as atomicfile.Write does, until ctx ends while nobody
// reads from it.
func writeStreamed(ctx context.Context, path string, content func(io.Writer) error) error {
	f, err := newStreamed(ctx, path, false, func(error) {})
	if err != nil {
		return err
	}
	if err := content(f); err != nil {
		return f.giveUp(err)
	}
	return f.close(ctx)
}

// opened notes that the file is open, and reports whether it is still wanted.
func (f *streamed) opened() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.unread:
	default:
		f.open = true
	}
	return f.open
}

// leavePipe gives a pipe up that nobody reads from.
func (f *streamed) leavePipe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pipe && !f.open {
		f.pipe = false
		close(f.unread)
	}
}

// copy writes what is handed over.
func (f *streamed) copy(w io.Writer) error {
	for chunk := range f.chunks {
		if chunk == nil {
			return errGivenUp
		}
		if _, err := w.Write(chunk); err != nil {
			return err
		}
	}
	return nil
}

// Write implements io.Writer.
func (f *streamed) Write(p []byte) (int, error) {
	f.chunk = append(f.chunk, p...)
	if len(f.chunk) >= streamChunk {
		if err := f.hand(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// hand hands over what there is.
func (f *streamed) hand() error {
	select {
	case f.chunks <- f.chunk:
		f.chunk = make([]byte, 0, streamChunk+len(f.chunk)/8)
		return nil
	case <-f.failed:
		err := f.failure()
		f.end(err)
		return err
	case <-f.unread:
		return f.unreadError()
	}
}

func (f *streamed) unreadError() error {
	return fmt.Errorf("interrupted while nobody reads from the pipe %s", f.path)
}

// failure returns why the file is not there.
func (f *streamed) failure() error {
	err := <-f.ended
	f.ended <- err
	return err
}

// fail ends the replay as what the file holds cannot be made.
func (f *streamed) fail(err error) { f.end(fmt.Errorf("%s: %w", f.path, err)) }

// close completes the file. It waits for a reader of a pipe until ctx ends.
func (f *streamed) close(ctx context.Context) error {
	context.AfterFunc(ctx, f.leavePipe)
	if len(f.chunk) > 0 {
		if err := f.hand(); err != nil {
			return err
		}
	}
	close(f.chunks)
	select {
	case err := <-f.ended:
		return err
	case <-f.unread:
		return f.unreadError()
	}
}

// giveUp leaves nothing of the file, and returns an error that names it.
func (f *streamed) giveUp(err error) error {
	select {
	case <-f.failed:
		return f.failure()
	case <-f.unread:
		return f.unreadError()
	default:
		f.abandon()
		return fmt.Errorf("%s: %w; the file is not written", f.path, err)
	}
}

// abandon leaves nothing of the file.
func (f *streamed) abandon() {
	if f == nil {
		return
	}
	f.leavePipe()
	select {
	case <-f.unread:
		return
	default:
	}
	select {
	case f.chunks <- nil:
	case <-f.failed:
	}
	<-f.failed
}
