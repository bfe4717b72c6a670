package main

import (
	"io"
	"sync"

	"reprise/replay"
)

// stream is a trace that is read once, such as standard input, by another goroutine: so
// that who waits for it can be told to give up.
type stream struct {
	chunks chan []byte   // closed at the end
	err    error         // why, then
	rest   []byte        // of the last chunk
	stop   chan struct{} // closed by interrupt
	once   sync.Once
}

// chunkSize is what is read at once, in bytes; a pipe holds as much.
const chunkSize = 64 << 10

func newStream(r io.Reader) *stream {
	s := &stream{chunks: make(chan []byte), stop: make(chan struct{})}
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
			case <-s.stop:
				s.err = replay.ErrInterrupted
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
		case <-s.stop:
			return 0, replay.ErrInterrupted
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// interrupt has reads fail from now on.
func (s *stream) interrupt() { s.once.Do(func() { close(s.stop) }) }
