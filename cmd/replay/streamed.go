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

// streamed is a file that another goroutine writes while a replay goes on, and that appears when it is complete. If it
// cannot be written the replay ends. The replay hands chunks over by a channel of a few: it waits where the disk is
// slower than the replay. A nil chunk gives the file up. The goroutine sets its one result, err, and then closes ended.
// A named pipe opens when somebody reads from it: until then chunks wait, and the end of the context gives it up
// (unread). After that the goroutine still waits in open, for which there is no remedy, and writes nothing once it is
// let through.
type streamed struct {
	path   string
	chunks chan []byte             // closed at the end
	ended  chan struct{}           // closed when err has its value
	err    error                   // nil once the file is there, else the reason why it is not
	end    context.CancelCauseFunc // of the replay
	chunk  []byte                  // not handed over yet

	pipe   bool // the file is a named pipe, and not given up
	mu     sync.Mutex
	open   bool          // somebody reads from it
	unread chan struct{} // closed when a pipe is given up that nobody reads from
}

// streamChunk is the size of a chunk, in bytes; a few of them are under way.
const streamChunk = 256 << 10

// errGivenUp ends a file that is not wanted any more.
var errGivenUp = errors.New("given up")

// newStreamed begins a file, compressed by gzip if it is to be, of a replay whose context is ctx and is ended by end.
func newStreamed(ctx context.Context, path string, zipped bool, end context.CancelCauseFunc) (*streamed, error) {
	if err := atomicfile.Check(path); err != nil {
		return nil, err
	}
	f := &streamed{path: path, chunks: make(chan []byte, 4), ended: make(chan struct{}), end: end,
		unread: make(chan struct{})}
	if info, err := os.Stat(path); err == nil {
		f.pipe = info.Mode()&os.ModeNamedPipe != 0
	}
	context.AfterFunc(ctx, f.leavePipe)
	go func() {
		f.err = atomicfile.Write(path, func(w io.Writer) error {
			// The file is open. A pipe that was given up before is not wanted any more.
			f.mu.Lock()
			select {
			case <-f.unread:
			default:
				f.open = true
			}
			f.mu.Unlock()
			if !f.open {
				return errGivenUp
			}
			finish := func() error { return nil }
			if zipped {
				zip := gzip.NewWriter(w)
				w, finish = zip, zip.Close
			}
			for chunk := range f.chunks {
				if chunk == nil {
					return errGivenUp
				}
				if _, err := w.Write(chunk); err != nil {
					return err
				}
			}
			return finish()
		})
		close(f.ended)
	}()
	return f, nil
}

// writeStreamed lets content write a file, as atomicfile.Write does, until ctx ends while nobody reads from it.
func writeStreamed(ctx context.Context, path string, content func(io.Writer) error) error {
	f, err := newStreamed(ctx, path, false, func(error) {})
	if err != nil {
		return err
	}
	return f.close(ctx, content(f))
}

// leavePipe gives a pipe up that nobody reads from. It is called when a context ends, of the replay or of the outputs,
// and by abandon; once is enough.
func (f *streamed) leavePipe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pipe && !f.open {
		f.pipe = false
		close(f.unread)
	}
}

// Write implements io.Writer. Small pieces are gathered, as handing one over may switch goroutines; what was written is
// not in the file before close.
func (f *streamed) Write(p []byte) (int, error) {
	f.chunk = append(f.chunk, p...)
	if len(f.chunk) >= streamChunk {
		if err := f.hand(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// hand hands over the bytes that are gathered, unless the file has failed: then the replay ends. It is called from the
// replay's goroutine only.
func (f *streamed) hand() error {
	select {
	case f.chunks <- f.chunk:
		// The chunk belongs to the writer now. The next one may be as large, with the piece that overflows it.
		f.chunk = make([]byte, 0, streamChunk+len(f.chunk)/8)
		return nil
	case <-f.ended:
		f.end(f.err)
		return f.err
	case <-f.unread:
		return f.unreadError()
	}
}

func (f *streamed) unreadError() error {
	return fmt.Errorf("interrupted while nobody reads from the pipe %s", f.path)
}

// fail ends the replay as the content of the file cannot be made.
func (f *streamed) fail(err error) { f.end(fmt.Errorf("%s: %w", f.path, err)) }

// close completes the file, or gives it up if its content could not be made, for the reason err. It waits for a
// reader of a pipe until ctx ends.
func (f *streamed) close(ctx context.Context, err error) error {
	if err != nil {
		return f.giveUp(err)
	}
	context.AfterFunc(ctx, f.leavePipe)
	if len(f.chunk) > 0 {
		if err := f.hand(); err != nil {
			return err
		}
	}
	close(f.chunks)
	select {
	case <-f.ended:
		return f.err
	case <-f.unread:
		return f.unreadError()
	}
}

// giveUp leaves nothing of the file, and returns an error that names it. The failure of the disk, or of the reader of a
// pipe, comes before err, which may follow from it.
func (f *streamed) giveUp(err error) error {
	select {
	case <-f.ended:
		return f.err
	case <-f.unread:
		return f.unreadError()
	default:
		f.abandon()
		return fmt.Errorf("%s: %w; the file is not written", f.path, err)
	}
}

// abandon leaves nothing of the file. It waits until the temporary file is removed.
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
	case <-f.ended:
	}
	<-f.ended
}
