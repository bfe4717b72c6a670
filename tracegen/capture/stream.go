package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

const (
	headerBytes = 4096
	magic       = "reprise capture"
	version     = '2' // of records
	mostRanks   = 1 << 24
)

// States of a stream.
const (
	running    = 1 + iota // the process ended without MPI_Finalize
	finalized             // complete
	aborted               // by MPI_Abort
	outOfSpace            // the disk was full
)

// header is the first page of a stream (shim/stream.h).
type header struct {
	Magic                     [16]byte
	Run                       uint64
	Rank, Size, ABI, Multiple int32
	Used, Calls, Failed       int64
	Ticks                     [2]uint64
	Clock                     [2]int64
	State, Error              int32
	Library, Program          [512]byte
}

// stream is what one rank has recorded, an event at a time.
type stream struct {
	name string
	head header
	data []byte // of the records
	at   int

	nanosecond float64 // ticks in it
	comms      []streamComm
	stranger   streamComm // the last one that no recorded call has made
	made       int64      // requests so far
	persistent int64
	matched    int64  // messages that matched probes have found so far
	count      int64  // events so far
	key        uint64 // of the last record, without its gap
	err        error
}

// streamComm is what the size of a record depends on.
type streamComm struct {
	size, rank, remote, sources, destinations int
	strange                                   bool // no recorded call has made it, or what it was made of
}

// openStream reads the stream of a rank, and checks its header.
func openStream(name string) (*stream, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &stream{name: name}
	if len(data) < headerBytes {
		return nil, fmt.Errorf("%s: %d bytes, less than the header of a recording", name, len(data))
	}
	if err := binary.Read(bytes.NewReader(data), binary.NativeEndian, &s.head); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	h := &s.head
	switch {
	case string(h.Magic[:len(magic)]) != magic:
		return nil, fmt.Errorf("%s: not the recording of a rank", name)
	case h.Magic[len(magic)] != version:
		return nil, fmt.Errorf("%s: a recording by another version of tracegen, which can merge it", name)
	case h.Size < 1 || h.Size > mostRanks || h.Rank < 0 || h.Rank >= h.Size:
		return nil, fmt.Errorf("%s: rank %d of %d", name, h.Rank, h.Size)
	case h.Used < 0 || h.Used > int64(len(data)-headerBytes):
		return nil, fmt.Errorf("%s: cut: %d bytes of records, %d are there", name, h.Used, len(data)-headerBytes)
	case h.Clock[1] <= h.Clock[0] || h.Ticks[1] <= h.Ticks[0]:
		return nil, fmt.Errorf("%s: its clocks stand still", name)
	}
	s.data = data[headerBytes:][:h.Used]
	s.nanosecond = float64(h.Ticks[1]-h.Ticks[0]) / float64(h.Clock[1]-h.Clock[0])
	s.rewind()
	return s, nil
}

// rewind begins again with the first event.
func (s *stream) rewind() {
	size, rank := int(s.head.Size), int(s.head.Rank)
	s.comms = []streamComm{{size: size, rank: rank}, {size: 1}}
	s.at, s.made, s.persistent, s.matched, s.count, s.err = 0, 0, 0, 0, 0, nil
}

// complete returns nil if the rank has come to its end, or what ended the recording.
func (s *stream) complete() error {
	switch s.head.State {
	case finalized:
		return nil
	case aborted:
		return errors.New("the program called MPI_Abort")
	case outOfSpace:
		return fmt.Errorf("the recording ended: %w", syscall.Errno(s.head.Error))
	}
	return errors.New("the process ended without MPI_Finalize")
}

func text(field []byte) string {
	text, _, _ := bytes.Cut(field, []byte{0})
	return string(text)
}

// next reads an event; io.EOF behind the last.
func (s *stream) next(e *event) error {
	if s.at == len(s.data) {
		return io.EOF
	}
	*e = event{comm: -1, ranks: e.ranks[:0], tags: e.tags[:0], requests: e.requests[:0], ended: e.ended[:0]}
	begin := s.at
	s.readGap(e)
	structure := s.at
	n := s.uint()
	switch {
	case s.err != nil:
	case n >= uint64(len(procedures)+len(kernels)):
		s.fail("procedure %d", n)
	case n >= uint64(len(procedures)):
		e.proc, e.called = procKernel, procKernel
		s.kernel(e, int(n)-len(procedures))
	default:
		e.called = procedureNumber(n)
		if p := &procedures[n]; p.refused {
			e.proc = e.called
		} else {
			e.proc = p.as
			s.record(e, p)
		}
	}
	if s.err != nil {
		return fmt.Errorf("%s: call %d, at byte %d: %w", s.name, s.count+1, headerBytes+begin, s.err)
	}
	s.count++
	s.key = hash(s.data[structure:s.at])
	switch e.proc {
	case procWaitany, procWaitsome: // whichever they have chosen
		s.key = uint64(e.proc)
	}
	return nil
}

// hash is FNV-1a of 64 bits.
func hash(data []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range data {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

func (s *stream) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

func (s *stream) uint() uint64 {
	v, n := binary.Uvarint(s.data[s.at:])
	if n <= 0 {
		s.fail("cut or corrupt")
		return 0
	}
	s.at += n
	return v
}

// number reads a number that is at most that.
func (s *stream) number(most int64) int64 {
	v := s.uint()
	if v > uint64(most) {
		s.fail("%d, at most %d", v, most)
		return 0
	}
	return int64(v)
}

func (s *stream) signed() int64 {
	v := s.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (s *stream) int32() int32 {
	v := s.signed()
	if v != int64(int32(v)) {
		s.fail("%d has more than 32 bits", v)
	}
	return int32(v)
}

// length reads how many things follow, of at least a byte each.
func (s *stream) length() int { return int(s.number(int64(len(s.data) - s.at))) }

// readGap reads the time before a call: ticks, or for a long one the processor's time since
// the thread's clock was last read, less the ticks of what was brief since.
func (s *stream) readGap(e *event) {
	v := s.uint()
	if v&1 == 0 {
		e.gap = float64(v>>1) / s.nanosecond
		return
	}
	e.gap = max(0, float64(v>>1)-float64(s.uint())/s.nanosecond)
}
