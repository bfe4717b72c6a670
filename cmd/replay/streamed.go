package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"reprise/internal/atomicfile"
)

// streamed is a file that another goroutine writes while a replay goes on, and that appears when it is complete. If it
// cannot be written the replay ends. The replay hands chunks over by an io.Pipe: it waits where the disk is slower than
// the replay. A named pipe opens when somebody reads from it: until then chunks wait, and the end of the context gives
// it up (leavePipe). After that the goroutine still waits in open, for which there is no remedy, and writes nothing once
// it is let through.
type streamed struct {
	path   string
	buffer *bufio.Writer // of small pieces, as handing one over may switch goroutines
	to     *io.PipeWriter
	from   *io.PipeReader
	end    context.CancelCauseFunc // of the replay
	named  bool                    // the file is a named pipe
	opened atomic.Bool             // somebody reads from it, or it is given up, whatever comes first

	once  sync.Once
	ended chan struct{} // closed when err has its value
	err   error         // nil once the file is there, else the reason why it is not
}

// streamChunk is the size of a chunk, in bytes; two of them are under way.
const streamChunk = 256 << 10

// errGivenUp ends a file that is not wanted any more.
var errGivenUp = errors.New("given up")

// newStreamed begins a file, compressed by gzip if it is to be, of a replay whose context is ctx and is ended by end.
func newStreamed(ctx context.Context, path string, zipped bool, end context.CancelCauseFunc) (*streamed, error) {
	if err := atomicfile.Check(path); err != nil {
		return nil, err
	}
	f := &streamed{path: path, ended: make(chan struct{}), end: end}
	f.from, f.to = io.Pipe()
	f.buffer = bufio.NewWriterSize(f.to, streamChunk)
	if info, err := os.Stat(path); err == nil {
		f.named = info.Mode()&os.ModeNamedPipe != 0
	}
	context.AfterFunc(ctx, f.leavePipe)
	go func() {
		f.finish(atomicfile.Write(path, func(w io.Writer) error {
			if !f.opened.CompareAndSwap(false, true) {
				return errGivenUp
			}
			finish := func() error { return nil }
			if zipped {
				zip := gzip.NewWriter(w)
				w, finish = zip, zip.Close
			}
			// A chunk is read at once, and so the next one is gathered while it is written.
			if _, err := io.CopyBuffer(struct{ io.Writer }{w}, f.from, make([]byte, streamChunk)); err != nil {
				return err
			}
			return finish()
		}))
	}()
	return f, nil
}

// finish sets the result, once, and has what is still written fail for its reason.
func (f *streamed) finish(err error) {
	f.once.Do(func() {
		f.err = err
		close(f.ended)
		f.from.CloseWithError(err)
	})
}

// writeStreamed lets content write a file, as atomicfile.Write does, until ctx ends while nobody reads from it.
func writeStreamed(ctx context.Context, path string, content func(io.Writer) error) error {
	f, err := newStreamed(ctx, path, false, func(error) {})
	if err != nil {
		return err
	}
	return f.close(ctx, content(f))
}

// leavePipe gives a named pipe up that nobody reads from. It is called when a context ends, of the replay or of the
// outputs, and by abandon.
func (f *streamed) leavePipe() {
	if f.named && f.opened.CompareAndSwap(false, true) {
		f.finish(fmt.Errorf("interrupted while nobody reads from the pipe %s", f.path))
	}
}

// Write implements io.Writer. The file has all that was written when close has returned. If the file fails, so does
// Write, which ends the replay.
func (f *streamed) Write(p []byte) (int, error) {
	n, err := f.buffer.Write(p)
	if err != nil {
		f.end(err)
	}
	return n, err
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
	if f.buffer.Flush() == nil { // else the file has failed
		f.to.Close()
	}
	<-f.ended
	return f.err
}

// giveUp leaves nothing of the file, and returns an error that names it. The failure of the disk, or of the reader of a
// pipe, comes before err, which may follow from it.
func (f *streamed) giveUp(err error) error {
	select {
	case <-f.ended:
		return f.err
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
	f.to.CloseWithError(errGivenUp)
	<-f.ended
}
