package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"reprise/internal/regular"
)

const (
	headerBytes = 4096
	magic       = "reprise capture"
	version     = '4' // of records
	mostRanks   = 1 << 24
	mostRecords = 1 << 34 // bytes of a rank
	usedOffset  = 1080    // of the header's part that has a checksum
	// mostUnsummed bounds what a process has recorded since its last mark: a block, and a record.
	mostUnsummed = 1<<10 + 1<<26
)

// States of a stream.
const (
	running    = 1 + iota // the process ended without MPI_Finalize
	finalized             // complete
	aborted               // by MPI_Abort
	outOfSpace            // the disk was full
)

// mark says how far a recording is, with a checksum (shim/stream.h).
type mark struct {
	Number       uint64
	Used, Failed int64
	Ticks        uint64
	Clock        int64
	State, Error int32
	Sum          uint64
}

// header is the first page of a stream (shim/stream.h).
type header struct {
	Magic                     [16]byte
	Run                       uint64
	Rank, Size, ABI, Multiple int32
	Ticks                     uint64
	Clock                     int64
	Library, Program          [512]byte
	Used                      int64 // also of records behind those of the newer mark
	Marks                     [2]mark
}

// stream is what one rank has recorded, an event at a time.
type stream struct {
	name string
	head header
	mark mark   // the newer one that is whole
	data []byte // of the records
	at   int

	unsummed   int64   // bytes at the end, of a process that was killed, that no checksum is of
	torn       bool    // the newer mark is not whole
	nanosecond float64 // ticks in it
	comms      []streamComm
	windows    []int      // by number: their communicators
	stranger   streamComm // the last one that no recorded call has made
	made       int64      // requests so far
	persistent int64
	matched    int64  // messages that matched probes have found so far
	count      int64  // events so far
	key        uint64 // of the last record, without its gap

	// Of a rank whose threads may call at once:
	// the number of the last record's end; how many beginnings and ends there were while it was under way
	ended, during uint64
	moments       []moment // if calls were under way at once
	moment        int      // that is next

	err error
}

// streamComm is what the size of a record depends on.
type streamComm struct {
	size, rank, remote, sources, destinations int
	strange                                   bool // no recorded call has made it, or what it was made of
}

// openStream reads the stream of a rank, and checks its header and its checksum.
func openStream(name string) (*stream, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
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
	h := &s.head
	switch {
	case string(h.Magic[:len(magic)]) != magic:
		return nil, fmt.Errorf("%s: not the recording of a rank", name)
	case h.Magic[len(magic)] != version:
		return nil, fmt.Errorf("%s: a recording by another version of tracegen, which can merge it", name)
	}
	newer, older := h.Marks[0], h.Marks[1]
	if older.Number > newer.Number {
		newer, older = older, newer
	}
	there := info.Size() - headerBytes
	switch {
	case newer.Used > there || h.Used > there:
		return nil, fmt.Errorf("%s: cut: %d bytes of records, %d are there", name, max(newer.Used, h.Used), there)
	case newer.Used > mostRecords || h.Used > mostRecords:
		return nil, fmt.Errorf("%s: %d bytes of records, at most %d", name, max(newer.Used, h.Used), int64(mostRecords))
	}
	// Nothing is allocated for records before their checksum is right.
	s.mark = newer
	whole, err := s.isWhole(page, f)
	if err == nil && !whole {
		s.mark, s.torn = older, true
		whole, err = s.isWhole(page, f)
	}
	switch {
	case err != nil:
		return nil, err
	case !whole:
		return nil, fmt.Errorf("%s: damaged: the checksum of its %d bytes of records is another one", name, newer.Used)
	case h.Size < 1 || h.Size > mostRanks || h.Rank < 0 || h.Rank >= h.Size:
		return nil, fmt.Errorf("%s: rank %d of %d", name, h.Rank, h.Size)
	case s.mark.Clock <= h.Clock || s.mark.Ticks <= h.Ticks:
		return nil, fmt.Errorf("%s: its clocks stand still", name)
	}
	used := s.mark.Used
	if s.mark.State == running { // and was killed some records behind the mark
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

// isWhole reports whether the checksum of the stream's mark is that of the header's page and of
// the records that it counts.
func (s *stream) isWhole(page []byte, f io.ReaderAt) (bool, error) {
	m := &s.mark
	if m.Used < 0 || m.Used > mostRecords {
		return false, nil
	}
	head, err := checksum(bytes.NewReader(page[:usedOffset]))
	if err != nil {
		return false, err
	}
	sum, err := checksum(io.NewSectionReader(f, headerBytes, m.Used))
	if err != nil {
		return false, fmt.Errorf("%s: %w", s.name, err)
	}
	return m.Sum == m.checksum(head, sum), nil
}

// checksum returns that of a mark behind a header and records with theirs.
func (m *mark) checksum(head, records uint64) uint64 {
	sum := head
	for _, word := range []uint64{records, m.Number, uint64(m.Used), uint64(m.Failed), m.Ticks, uint64(m.Clock),
		uint64(m.State)<<32 | uint64(uint32(m.Error))} {
		sum = mix(sum, word)
	}
	return sum
}

// checksum returns that of a text: of each fourth word one, which are then mixed.
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

// mix adds a word to a checksum: two that differ in one of them are different.
func mix(sum, word uint64) uint64 {
	sum = (sum ^ word) * 0x9e3779b97f4a7c15
	return sum ^ sum>>32
}

// rewind begins again with the first event.
func (s *stream) rewind() {
	size, rank := int(s.head.Size), int(s.head.Rank)
	// goTo needs those made later, too
	s.comms = append(s.comms[:0], streamComm{size: size, rank: rank}, streamComm{size: 1})
	s.windows = s.windows[:0]
	s.at, s.made, s.persistent, s.matched, s.count, s.err = 0, 0, 0, 0, 0, nil
	s.ended, s.moment = 0, 0
}

// complete returns nil if the rank has come to its end, or what ended the recording.
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

func text(field []byte) string {
	text, _, _ := bytes.Cut(field, []byte{0})
	return string(text)
}

// read reads an event as it was recorded; io.EOF behind the last.
func (s *stream) read(e *event) error {
	if s.at == len(s.data) {
		return io.EOF
	}
	*e = event{comm: -1, window: -1, ranks: e.ranks[:0], tags: e.tags[:0], requests: e.requests[:0], ended: e.ended[:0]}
	begin := s.at
	if s.head.Multiple != 0 {
		s.during = s.uint()
		if s.ended += 1 + s.uint(); s.during >= s.ended {
			s.fail("it began before the first call")
		}
	}
	s.readGap(e)
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
	s.key = hash(s.data[structure:s.at])
	switch {
	case e.proc == procWaitany, e.proc == procWaitsome: // whichever they have chosen
		s.key = uint64(e.proc)
	case e.proc == procWintest: // whatever the answer
		s.key = e.question()
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
// the thread's clock was last read, less the ticks of what was brief since, and whether it lost its processor.
func (s *stream) readGap(e *event) {
	v := s.uint()
	if v&1 == 0 {
		e.gap, e.lost = float64(v>>1)/s.nanosecond, false
		return
	}
	e.gap, e.lost = max(0, float64(v>>2)-float64(s.uint())/s.nanosecond), v&2 != 0
}
