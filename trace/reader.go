package trace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sort"
	"weak"

	"reprise/internal/sniff"
)

// Trace is a trace being read: a stream, read once from front to back, or a
// file, read at any step. A Trace and its cursors must be used by one goroutine;
// a file may be opened as often as wanted.
type Trace struct {
	prog    *Program
	frames  *frameReader
	unpack  unpacker
	file    io.ReaderAt // nil for a stream
	closer  io.Closer
	entries []frame // definitions and chunks: of a file all, of a stream those read
	chunks  []int   // entries that are chunks
	totals  Totals  // of a stream those read
	skipped bool    // a stream passed over chunks
	hash    [sha256.Size]byte
	head    [sha256.Size]byte

	features featureSet // that the file lists; of a stream in the records read

	// Of a stream: the header of the next chunk, or why there is none.
	pending *frame
	ended   error // nil while pending or at a good end
	first   weak.Pointer[Chunk]
	started bool

	open    []weak.Pointer[Chunk] // chunks that may still be in use
	maxOpen int
}

// ErrStream reports that a trace is a stream where a file is needed.
var ErrStream = errors.New("a stream can be read only once: want a file")

// DefaultOpenChunks is how many chunks may be in use at a time.
const DefaultOpenChunks = 4096

// Open opens a trace. Of a regular file it reads the index, so that cursors can
// begin at any step; anything else, such as a named pipe, is read as a stream.
func Open(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	var t *Trace
	if info.Mode().IsRegular() {
		t, err = NewReaderAt(f, info.Size(), path)
	} else {
		t, err = NewReader(f, path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	t.closer = f
	return t, nil
}

// NewReader begins to read a trace as a stream: it reads up to the first chunk.
// The name is for error messages. Close does not close r.
func NewReader(r io.Reader, name string) (*Trace, error) {
	head := sniff.Remember(r)
	t, err := newTrace(head, name)
	if err != nil {
		return nil, head.Instead(err, name, sniff.Trace)
	}
	t.advance()
	if t.ended != nil {
		return nil, t.ended
	}
	return t, nil
}

// NewReaderAt opens a trace of size bytes for reading at any step. The name is for
// error messages. Close does not close r.
func NewReaderAt(r io.ReaderAt, size int64, name string) (*Trace, error) {
	t, err := newTrace(io.NewSectionReader(r, 0, size), name)
	if err != nil {
		return nil, sniff.InsteadAt(err, name, r, sniff.Trace)
	}
	t.file = r
	if err := t.readIndex(size); err != nil {
		return nil, t.diagnose(r, size, err)
	}
	if err := t.readDefinitions(); err != nil {
		return nil, err
	}
	return t, nil
}

// newTrace reads the beginning of a file and its header.
func newTrace(r io.Reader, name string) (*Trace, error) {
	frames, err := newFrameReader(r, name)
	if err != nil {
		return nil, err
	}
	t := &Trace{frames: frames, maxOpen: DefaultOpenChunks}
	if err := frames.preamble(); err != nil {
		return nil, err
	}
	f, err := frames.next()
	if err != nil {
		return nil, err
	}
	if f.kind != kindHeader {
		return nil, frames.errorAt(preambleSize, corruptf("%s, want the header", f.describe()))
	}
	plain, err := frames.content(&f)
	if err != nil {
		return nil, err
	}
	if err := t.setHeader(plain, &f); err != nil {
		return nil, frames.errorAt(preambleSize, fmt.Errorf("header: %w", err))
	}
	return t, nil
}

func (t *Trace) setHeader(plain []byte, f *frame) error {
	if sha256.Sum256(plain) != f.hash {
		return errHash
	}
	h, features, err := decodeHeader(plain)
	if err != nil {
		return err
	}
	if err := t.features.read(features, h.Tool); err != nil {
		return err
	}
	if err := t.features.lack(h.features()); err != nil {
		return err
	}
	if t.prog, err = NewProgram(h); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	t.head = f.hash
	t.unpack = unpacker{prog: t.prog, known: &t.features, layout: newLayout(h), digest: newDigest()}
	return nil
}

// Header returns the trace's header; it must not be changed.
func (t *Trace) Header() *Header { return t.prog.header }

// Features lists what the file uses beyond what all files do, sorted by name: of a
// stream as far as its records were read. docs/trace-format.md says what they mean.
func (t *Trace) Features() []string { return t.features.names() }

// Program returns the header with the blocks: of a file all, of a stream those
// read so far.
func (t *Trace) Program() *Program { return t.prog }

// Name returns what error messages call the trace.
func (t *Trace) Name() string { return t.frames.name }

// IsStream reports that the trace can be read once only, from front to back.
func (t *Trace) IsStream() bool { return t.file == nil }

// SetMaxOpenChunks changes how many chunks may be in use at a time: those
// between the slowest cursor and the fastest.
func (t *Trace) SetMaxOpenChunks(n int) { t.maxOpen = n }

// Close frees what reading takes.
func (t *Trace) Close() error {
	t.frames.dec.Close()
	if t.closer != nil {
		return t.closer.Close()
	}
	return nil
}

// ChunkInfo tells where a chunk is and what it holds, without decoding it.
type ChunkInfo struct {
	First, Last   int   // steps of the first and last unit
	Units         int   //
	Offset        int64 // of its record in the file
	Packed, Plain int64 // bytes of its content, compressed and not
	// Hash names the decoded content: chunks of equal hash, in whatever traces of
	// equal headers, mean the same actions.
	Hash [sha256.Size]byte
}

// ChunkInfos lists the chunks: of a file all, of a stream those read so far.
func (t *Trace) ChunkInfos() []ChunkInfo {
	infos := make([]ChunkInfo, len(t.chunks))
	for i, e := range t.chunks {
		f := &t.entries[e]
		infos[i] = ChunkInfo{First: int(f.first), Last: int(f.last), Units: int(f.count), Offset: int64(f.offset),
			Packed: int64(f.packed), Plain: int64(f.plain), Hash: f.hash}
	}
	return infos
}

// Totals sums up the trace; ok is false for a stream that has not been read to
// its end.
func (t *Trace) Totals() (totals Totals, ok bool) { return t.totals, t.complete() }

// Hash names the trace: the SHA-256 of the hashes of its header and its chunks.
// ok is false for a stream that has not been read to its end.
func (t *Trace) Hash() (hash [sha256.Size]byte, ok bool) { return t.hash, t.complete() }

func (t *Trace) complete() bool { return t.file != nil || t.pending == nil && t.ended == nil }

// start returns the first chunk that holds a step >= from, nil if there is none.
func (t *Trace) start(from int) (*Chunk, error) {
	if t.file != nil {
		i := sort.Search(len(t.chunks), func(i int) bool { return int(t.entries[t.chunks[i]].last) >= from })
		return t.chunk(i)
	}
	if t.started {
		if w := t.first.Value(); w != nil && (from == 0 || w.units[0].Step <= from && from <= w.units[len(w.units)-1].Step) {
			return w, nil
		}
		return nil, fmt.Errorf("%s: a stream can be read only once", t.frames.name)
	}
	t.started = true
	for t.pending != nil && int(t.pending.last) < from {
		if err := t.skipPending(); err != nil {
			return nil, err
		}
	}
	w, err := t.nextChunk()
	if w != nil {
		t.first = weak.Make(w)
	}
	return w, err
}

// after returns the chunk after w, nil if w is the last. It is decoded once and
// linked, and freed when the last cursor has left it.
func (t *Trace) after(w *Chunk) (*Chunk, error) {
	if w.next != nil || w.last {
		return w.next, nil
	}
	var err error
	if t.file != nil {
		w.next, err = t.chunk(w.number + 1)
	} else {
		w.next, err = t.nextChunk()
	}
	return w.next, err
}

// chunk decodes chunk i of a file, nil if there is none.
func (t *Trace) chunk(i int) (*Chunk, error) {
	if i >= len(t.chunks) {
		return nil, nil
	}
	if err := t.admit(); err != nil {
		return nil, err
	}
	f := &t.entries[t.chunks[i]]
	plain, err := t.contentAt(f)
	if err != nil {
		return nil, err
	}
	w, _, err := t.unpack.unpack(plain, f)
	if err != nil {
		return nil, t.frames.errorAt(int64(f.offset), fmt.Errorf("chunk %d: %w", i, err))
	}
	w.last = i == len(t.chunks)-1
	t.open = append(t.open, weak.Make(w))
	return w, nil
}

// contentAt reads a record of a file that the index names.
func (t *Trace) contentAt(want *frame) ([]byte, error) {
	r := t.frames
	r.r = io.NewSectionReader(t.file, int64(want.offset), want.size())
	r.offset = int64(want.offset)
	r.prev = int64(want.prev)
	f, err := r.next()
	if err != nil {
		return nil, err
	}
	if sum := f.sum; f != (frame{kind: want.kind, number: want.number, count: want.count, first: want.first,
		last:  want.last,
		plain: want.plain, packed: want.packed, prev: want.prev, offset: want.offset, hash: want.hash, sum: sum}) {
		return nil, r.errorAt(int64(want.offset), corruptf("%s is not what the index says", f.describe()))
	}
	return r.content(&f)
}

// CheckContents reads all chunks of a file and checks their hashes, so that what Chunks
// says of them can be believed.
func (t *Trace) CheckContents() error {
	for _, i := range t.chunks {
		if _, err := t.contentAt(&t.entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// admit makes room for one more chunk, or reports that too many are in use.
func (t *Trace) admit() error {
	if len(t.open) < t.maxOpen {
		return nil
	}
	for range 2 {
		alive := t.open[:0]
		for _, p := range t.open {
			if p.Value() != nil {
				alive = append(alive, p)
			}
		}
		if t.open = alive; len(alive) < t.maxOpen {
			return nil
		}
		runtime.GC() // what has been left may not have been collected yet
	}
	return fmt.Errorf("%s: %w: %d chunks are in use, from step %d on", t.frames.name, ErrOpenChunks, len(t.open),
		t.slowest())
}

// slowest returns the step of the first chunk in use.
func (t *Trace) slowest() int {
	if w := t.open[0].Value(); w != nil {
		return w.units[0].Step
	}
	return 0
}

// Sizes returns the bytes of the whole trace, which must have been read, if it is a stream;
// and those of the content of its blocks and columns, before compression.
func (t *Trace) Sizes() (file, content int64, err error) {
	for i := range t.entries {
		content += int64(t.entries[i].plain)
	}
	file, err = t.size()
	return file, content, err
}

func (t *Trace) size() (int64, error) {
	if t.file == nil {
		return t.frames.offset, nil
	}
	at := int64(preambleSize)
	if n := len(t.entries); n > 0 {
		at = int64(t.entries[n-1].offset) + t.entries[n-1].size()
	}
	for {
		var b [frameSize]byte
		if _, err := t.file.ReadAt(b[:], at); err != nil {
			return 0, t.frames.errorAt(at, err)
		}
		f, err := parseFrame(b[:])
		if err != nil {
			return 0, t.frames.errorAt(at, err)
		}
		at += f.size()
		if f.kind == kindEnd {
			return at, nil
		}
	}
}
