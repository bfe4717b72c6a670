package main

import (
	"context"
	"io"
)

// stream is a trace that is read once, such as standard input, by another goroutine: so
// that who waits for it gives up when the context ends.
type stream struct {
	ctx    context.Context
	chunks chan []byte // closed at the end
	err    error       // why, then
	rest   []byte      // of the last chunk
}

// chunkSize is what is read at once, in bytes; a pipe holds as much.
const chunkSize = 64 << 10

func newStream(ctx context.Context, r io.Reader) *stream {
	s := &stream{ctx: ctx, chunks: make(chan []byte)}
	go s.fill(r)
	return s
}

func (s *stream) fill(r io.Reader) {
	defer close(s.chunks)
	for s.err == nil {
		var n int
		buf := make([]byte, chunkSize)
		if n, s.err = r.Read(buf); n > 0 {
			select {
			case s.chunks <- buf[:n]:
			case <-s.ctx.Done():
				s.err = context.Cause(s.ctx)
			}
		}
	}
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case chunk, more := <-s.chunks:
			if !more {
				return 0, s.err
			}
			s.rest = chunk
		case <-s.ctx.Done():
			return 0, context.Cause(s.ctx)
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
