package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

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
}

// streamChunk is what is handed over at once, in bytes; a few of them are under way.
const streamChunk = 256 << 10

// errGivenUp ends a file that is not wanted any more.
var errGivenUp = errors.New("given up")

// newStreamed begins a file, compressed by gzip if it is to be.
func newStreamed(path string, zipped bool, end context.CancelCauseFunc) (*streamed, error) {
	if err := atomicfile.Check(path); err != nil {
		return nil, err
	}
	f := &streamed{path: path, chunks: make(chan []byte, 4), ended: make(chan error, 1), failed: make(chan struct{}), end: end}
	go func() {
		err := atomicfile.Write(path, func(w io.Writer) error {
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
	}
}

// failure returns why the file is not there.
func (f *streamed) failure() error {
	err := <-f.ended
	f.ended <- err
	return err
}

// fail ends the replay as what the file holds cannot be made.
func (f *streamed) fail(err error) { f.end(fmt.Errorf("%s: %w", f.path, err)) }

// close completes the file.
func (f *streamed) close() error {
	if len(f.chunk) > 0 {
		if err := f.hand(); err != nil {
			return err
		}
	}
	close(f.chunks)
	return <-f.ended
}

// giveUp leaves nothing of the file, and returns an error that names it.
func (f *streamed) giveUp(err error) error {
	select {
	case <-f.failed:
		return f.failure()
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
	select {
	case f.chunks <- nil:
	case <-f.failed:
	}
	<-f.failed
}
