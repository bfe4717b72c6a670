package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"syscall"

	"reprise/internal/regular"
	"reprise/internal/textutil"
)

// This file opens the recording of a rank (openStream), checks it, and reads its events (stream.events).

// Sizes and limits of a recording, and the begin of its file.
const (
	headerBytes = 4096 // a page: the recorder maps it into memory, so that it survives the process
	magic       = "reprise capture"
	version     = '5' // of records
	mostRanks   = 1 << 24
	mostRecords = 1 << 34 // bytes of a rank
	usedOffset  = 1144    // of the header's part that has a checksum
	// mostUnsummed bounds the bytes of records behind the last mark of a process: a block, and a record.
	mostUnsummed = 1<<10 + 1<<26
)

// States of a stream, of which the recorder writes the last one that it reaches.
const (
	running    = 1 + iota // the process ended without MPI_Finalize
	finalized             // complete
	aborted               // by MPI_Abort
	outOfSpace            // the disk was full
)

// mark says how far a recording is, with a checksum (shim/stream.h). There are two, which the recorder writes in
// turn, so that one is whole whenever the process is killed.
type mark struct {
	Number       uint64 // of the mark, from 1
	Used, Failed int64  // bytes of records; calls that returned an error
	Ticks        uint64 // of the processor's counter, and at the same moment
	Clock        int64  // nanoseconds of the system's clock
	State, Error int32  // the error, an errno, of a recording that ran out of space
	Sum          uint64
}

// header is the first page of a stream (shim/stream.h), in the byte order of the processor.
type header struct {
	Magic [16]byte // and the version of records
	Run   uint64   // a random number, the same of all ranks
	// Rank and number of ranks, binary interface of the MPI, and whether threads may call at once.
	Rank, Size, ABI, Multiple int32
	// At MPI_Init; with those of a mark they tell how long a tick is.
	Ticks            uint64
	Clock            int64
	Library, Program [512]byte // version of the MPI, path of the program
	Host             [64]byte
	Used             int64 // also of records behind those of the newer mark
	Marks            [2]mark
}

// stream is the recording of one rank, which is read an event at a time.
type stream struct {
	name string
	head header
	mark mark   // the newer one that is whole
	data []byte // of the records

	unsummed   int64   // bytes at the end, of a process that was killed, that no checksum covers
	torn       bool    // the newer mark is not whole
	nanosecond float64 // ticks in it

	// Of the events so far. Records name things by their age or number, so these decode them.
	position
	comms    []streamComm
	windows  []int      // by number: their communicators
	stranger streamComm // the last one that no recorded call has made
	key      uint64     // of the last record, without its gap: equal calls have equal keys

	// Of a rank whose threads may call at once:
	during  uint64   // how many beginnings and ends there were while the last call was under way
	moments []moment // if calls were under way at once
	moment  int      // that is next

	err error // the first of a record; later reads of the record return zeros
}

// position is the place of a record, with what was counted before it.
type position struct {
	at         int   // byte of the record
	made       int64 // requests
	persistent int64
	matched    int64  // messages that matched probes have found
	count      int64  // events
	ended      uint64 // number of the last record's end, where threads may call at once
}

// streamComm holds the properties of a communicator that the size of a record depends on.
type streamComm struct {
	size, rank, remote, sources, destinations int
	strange                                   bool // no recorded call has made it, or its parent
}

// openStream reads the stream of a rank, and checks its header and its checksum.
func openStream(name string) (_ *stream, err error) {
	defer textutil.Stopped(&err)
	f := textutil.Must(regular.Open(name))
	defer f.Close()
	info := textutil.Must(f.Stat())
	s := &stream{name: name}
	page := make([]byte, headerBytes)
	if _, err := io.ReadFull(f, page); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s: %d bytes, less than the header of a recording", name, info.Size())
	} else if err != nil {
		return nil, err
	}
	if _, err := binary.Decode(page, binary.NativeEndian, &s.head); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// The newer mark says how many records are valid. The length of the file bounds all that the header claims.
	h := &s.head
	newer, older := h.Marks[0], h.Marks[1]
	if older.Number > newer.Number {
		newer, older = older, newer
	}
	there := info.Size() - headerBytes
	switch {
	case string(h.Magic[:len(magic)]) != magic:
		return nil, fmt.Errorf("%s: not the recording of a rank", name)
	case h.Magic[len(magic)] != version:
		return nil, fmt.Errorf("%s: a recording by another version of tracegen, which can merge it", name)
	case newer.Used > there || h.Used > there:
		return nil, fmt.Errorf("%s: cut: %d bytes of records, %d are there", name, max(newer.Used, h.Used), there)
	case newer.Used > mostRecords || h.Used > mostRecords:
		return nil, fmt.Errorf("%s: %d bytes of records, at most %d", name, max(newer.Used, h.Used), int64(mostRecords))
	}
	// The older mark counts if the process was killed while it wrote the newer one. No memory is allocated for records
	// before their checksum is right, so that a damaged length costs none.
	s.mark = newer
	whole := textutil.Must(s.isWhole(page, f))
	if !whole {
		s.mark, s.torn = older, true
		whole = textutil.Must(s.isWhole(page, f))
	}
	switch {
	case !whole:
		return nil, fmt.Errorf("%s: damaged: the checksum of its %d bytes of records is another one", name, newer.Used)
	case h.Size < 1 || h.Size > mostRanks || h.Rank < 0 || h.Rank >= h.Size:
		return nil, fmt.Errorf("%s: rank %d of %d", name, h.Rank, h.Size)
	case s.mark.Clock <= h.Clock || s.mark.Ticks <= h.Ticks:
		return nil, fmt.Errorf("%s: its clocks stand still", name)
	}
	used := s.mark.Used
	if s.mark.State == running { // the process was killed, some records behind the mark
		if s.unsummed = h.Used - used; s.unsummed < 0 || s.unsummed > mostUnsummed {
			return nil, fmt.Errorf("%s: damaged: %d bytes of records, and a checksum of %d", name, h.Used, used)
		}
		used = h.Used
	}
	s.data = make([]byte, used)
	if _, err := io.ReadFull(io.NewSectionReader(f, headerBytes, used), s.data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.nanosecond = float64(s.mark.Ticks-h.Ticks) / float64(s.mark.Clock-h.Clock)
	s.rewind()
	return s, nil
}

// isWhole reports whether the checksum of the stream's mark is that of the header's page and of the records that the
// mark counts.
func (s *stream) isWhole(page []byte, f io.ReaderAt) (bool, error) {
	// A length that cannot be right makes the mark not whole, before anything is read by it.
	m := &s.mark
	if m.Used < 0 || m.Used > mostRecords {
		return false, nil
	}
	head, _ := checksum(bytes.NewReader(page[:usedOffset]))
	sum, err := checksum(io.NewSectionReader(f, headerBytes, m.Used))
	if err != nil {
		return false, fmt.Errorf("%s: %w", s.name, err)
	}
	return m.Sum == m.checksum(head, sum), nil
}

// checksum returns the checksum of a mark, from those of the header and of the records.
func (m *mark) checksum(head, records uint64) uint64 {
	sum := head
	for _, word := range []uint64{records, m.Number, uint64(m.Used), uint64(m.Failed), m.Ticks, uint64(m.Clock),
		uint64(m.State)<<32 | uint64(uint32(m.Error))} {
		sum = mix(sum, word)
	}
	return sum
}

// checksum returns the checksum of a text. Each fourth word of 8 bytes goes into one of four sums, which processors
// compute side by side, and these are then mixed.
func checksum(r io.Reader) (uint64, error) {
	const stripe = 32
	sums := [stripe / 8]uint64{1, 2, 3, 4}
	buffer := make([]byte, 1<<16)
	for last := false; !last; {
		n, err := io.ReadFull(r, buffer)
		if last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !last {
			return 0, err
		}
		if last { // the last stripe is filled with zeros, and there always is one
			clear(buffer[n:])
			n = n/stripe*stripe + stripe
		}
		for at := 0; at < n; at += stripe {
			for i := range sums {
				sums[i] = mix(sums[i], binary.NativeEndian.Uint64(buffer[at+8*i:]))
			}
		}
	}
	return mix(mix(mix(sums[0], sums[1]), sums[2]), sums[3]), nil
}

// mix adds a word to a checksum. It is a bijection of either argument, so that texts that differ in one word have
// different checksums.
func mix(sum, word uint64) uint64 {
	sum = (sum ^ word) * 0x9e3779b97f4a7c15
	return sum ^ sum>>32
}

// rewind begins again with the first event. The backing arrays are kept, as the parts of calls that threads made
// need what later events put there.
func (s *stream) rewind() {
	size, rank := int(s.head.Size), int(s.head.Rank)
	s.comms = append(s.comms[:0], streamComm{size: size, rank: rank}, streamComm{size: 1})
	s.windows = s.windows[:0]
	s.position, s.err, s.moment = position{}, nil, 0
}

// events returns the events from the first on, each valid until the next. An error is the last.
func (s *stream) events() iter.Seq2[*event, error] {
	return func(yield func(*event, error) bool) {
		var e event
		s.rewind()
		for err := s.next(&e); !errors.Is(err, io.EOF); err = s.next(&e) {
			if !yield(&e, err) || err != nil {
				return
			}
		}
	}
}

// complete returns nil if the rank has come to its end, or the reason why its recording ends before.
func (s *stream) complete() error {
	switch s.mark.State {
	case finalized:
		return nil
	case aborted:
		return errors.New("the program called MPI_Abort")
	case outOfSpace:
		return fmt.Errorf("the recording ended: %w", syscall.Errno(s.mark.Error))
	}
	return errors.New("the process ended without MPI_Finalize")
}

// text returns the text of a field of the header, which zeros fill.
func text(field []byte) string {
	text, _, _ := bytes.Cut(field, []byte{0})
	return string(text)
}

// read reads the next event in the order of records, which is that in which the calls ended; io.EOF behind the last.
// It reuses the lists of the event.
func (s *stream) read(e *event) error {
	if s.at == len(s.data) {
		return io.EOF
	}
	*e = event{comm: -1, window: -1, ranks: e.ranks[:0], tags: e.tags[:0], requests: e.requests[:0], ended: e.ended[:0]}
	// The lists of the event keep their backing arrays, so that reading a stream allocates little.
	begin := s.at
	if s.head.Multiple != 0 {
		s.during = s.uint()
		if s.ended += 1 + s.uint(); s.during >= s.ended {
			s.fail("it began before the first call")
		}
	}
	// The time before the call: brief ones are ticks. A long one is the processor's time of the thread since its clock
	// was last read, less the ticks of the brief ones since; it says whether the thread lost its processor.
	if v := s.uint(); v&1 == 0 {
		e.gap = float64(v>>1) / s.nanosecond
	} else {
		e.gap, e.lost = max(0, float64(v>>2)-float64(s.uint())/s.nanosecond), v&2 != 0
	}
	// The key covers the record from here on, without the time: equal calls are equal bytes.
	structure := s.at
	n, known := s.uint(), len(procedures())
	switch {
	case s.err != nil:
	case n >= uint64(known+len(kernels)):
		s.fail("procedure %d", n)
	case n >= uint64(known):
		e.proc, e.called = procKernel, procKernel
		s.kernel(e, int(n)-known)
	default:
		e.called = procedureNumber(n)
		p := e.called.known()
		if e.proc = p.as; !p.refused {
			s.record(e, p)
		}
	}
	if s.err != nil {
		return fmt.Errorf("%s: call %d, at byte %d: %w", s.name, s.count+1, headerBytes+begin, s.err)
	}
	s.count++
	// Sites must not depend on the timing of the recording machine: on the request that MPI_Waitany has chosen, or on
	// the answer of MPI_Win_test.
	switch {
	case e.proc == procWaitany, e.proc == procWaitsome:
		s.key = uint64(e.proc)
	case e.proc == procWintest:
		s.key = e.question()
	default: // FNV-1a of 64 bits
		s.key = 14695981039346656037
		for _, b := range s.data[structure:s.at] {
			s.key = (s.key ^ uint64(b)) * 1099511628211
		}
	}
	return nil
}

// fail notes the first error of a record.
func (s *stream) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// uint reads an unsigned number, 0 after an error.
func (s *stream) uint() uint64 {
	// Numbers are varints as in encoding/binary, which the recorder writes as well.
	v, n := binary.Uvarint(s.data[s.at:])
	if n <= 0 {
		s.fail("cut or corrupt")
		return 0
	}
	s.at += n
	return v
}

// number reads a number, which may be at most that.
func (s *stream) number(most int64) int64 {
	v := s.uint()
	if v > uint64(most) {
		s.fail("%d, at most %d", v, most)
		return 0
	}
	return int64(v)
}

// signed reads a number of either sign, in zigzag encoding.
func (s *stream) signed() int64 {
	v := s.uint()
	return int64(v>>1) ^ -int64(v&1)
}

// int32 reads a number of either sign of at most 32 bits.
func (s *stream) int32() int32 {
	v := s.signed()
	if v != int64(int32(v)) {
		s.fail("%d has more than 32 bits", v)
	}
	return int32(v)
}

// length reads the number of things that follow. Each takes a byte at least, which bounds their number.
func (s *stream) length() int { return int(s.number(int64(len(s.data) - s.at))) }
