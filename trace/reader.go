package trace

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sort"
	"weak"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
)

// This file opens a trace (Open, NewReader, NewReaderAt) and reads a file at any step: readIndex reads the index
// at its end, by which chunk finds chunks. stream.go reads what is no file.

// Trace is a trace being read: a stream, read once from front to back, or a file, read at any step. A Trace and its
// cursors must be used by one goroutine; a file may be opened as often as wanted.
type Trace struct {
	// What the records so far define, and the parts that decode records: frames reads their bytes,
	// unpack decodes the content of chunks.
	prog    *Program
	frames  *frameReader
	unpack  unpacker
	file    io.ReaderAt // nil for a stream
	size    int64       // of the file, in bytes
	closer  io.Closer
	entries []frame // definitions and chunks: of a file all, of a stream those read
	chunks  []int   // entries that are chunks
	// totals, hash and head are compared with the end of the file: hash chains the hashes of all chunks, from
	// that of the header, head, on.
	totals  Totals // of a stream those read
	skipped bool   // a stream passed over chunks
	hash    [sha256.Size]byte
	head    [sha256.Size]byte

	features featureSet // that the file lists; of a stream in the records read

	// Of a stream: the header of the next chunk, or why there is none. A stream is read ahead up to the next
	// chunk's header, so that the end is known with the last chunk.
	pending *frame
	ended   error // nil while pending or at a good end
	first   weak.Pointer[Chunk]
	started bool
	only    *Chunk // of a file that has one chunk, once it is decoded: windows of steps all begin in it

	// A bound on the chunks in use keeps a program whose ranks drift apart from filling the memory.
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
	var t *Trace
	if err == nil && info.Mode().IsRegular() {
		t, err = NewReaderAt(f, info.Size(), path)
	} else if err == nil {
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
	if t.advance(); t.ended != nil {
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
	// From here on an error may have its cause anywhere in the file, as reading goes on at its end.
	t.file, t.size = r, size
	if err := t.readIndex(size); err != nil {
		return nil, t.diagnose(r, size, err)
	}
	// All definitions are read now, so that each chunk can be decoded by itself.
	for i := range t.entries {
		f := &t.entries[i]
		if f.kind != kindDefs {
			continue
		}
		plain, err := t.contentAt(f)
		if err == nil {
			err = t.define(plain, f)
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// newTrace reads the beginning of a file and its header, with what both kinds of reading need. It refuses, in this
// order, what is no trace, a version or a feature of a newer program, and a header that contradicts itself.
func newTrace(r io.Reader, name string) (_ *Trace, err error) {
	defer textutil.Stopped(&err)
	frames := textutil.Must(newFrameReader(r, name))
	textutil.Check(frames.preamble())
	f := textutil.Must(frames.next())
	if f.kind != kindHeader {
		return nil, frames.errorAt(preambleSize, corruptf("%s, want the header", f.describe()))
	}
	plain := textutil.Must(frames.content(&f))
	t := &Trace{frames: frames, maxOpen: DefaultOpenChunks, head: f.hash}
	fail := func(err error) (*Trace, error) {
		return nil, frames.errorAt(preambleSize, fmt.Errorf("header: %w", err))
	}
	if sha256.Sum256(plain) != f.hash {
		return fail(errHash)
	}
	h, features, err := decodeHeader(plain)
	if err != nil {
		return fail(err)
	}

	// Features come before all else: a file with one that is not known is refused by its name.
	if err := cmp.Or(t.features.read(features, h.Tool), t.features.lack(h.features())); err != nil {
		return fail(err)
	}
	if t.prog, err = NewProgram(h); err != nil {
		return fail(fmt.Errorf("%w: %w", ErrCorrupt, err))
	}
	t.unpack = unpacker{prog: t.prog, known: &t.features, layout: newLayout(h), digest: newDigest()}
	return t, nil
}

// Header returns the trace's header; it must not be changed.
func (t *Trace) Header() *Header { return t.prog.header }

// Features lists what the file uses beyond what all files do, sorted by name: of a
// stream as far as its records were read. docs/trace-format.md says what they mean.
func (t *Trace) Features() []string { return t.features.names() }

// Program returns the header with the blocks: of a file all, of a stream those read so far.
func (t *Trace) Program() *Program { return t.prog }

// Name returns what error messages call the trace.
func (t *Trace) Name() string { return t.frames.name }

// IsStream reports that the trace can be read once only, from front to back.
func (t *Trace) IsStream() bool { return t.file == nil }

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
	First, Last int // steps of the first and last unit
	Units       int
	// Hash names the decoded content: chunks of equal hash, in whatever traces of equal headers, mean the same actions.
	Hash [sha256.Size]byte
}

// ChunkInfos lists the chunks: of a file all, of a stream those read so far.
func (t *Trace) ChunkInfos() []ChunkInfo {
	infos := make([]ChunkInfo, len(t.chunks))
	for i, e := range t.chunks {
		f := &t.entries[e]
		infos[i] = ChunkInfo{First: int(f.first), Last: int(f.last), Units: int(f.count), Hash: f.hash}
	}
	return infos
}

// Totals sums up the trace; ok is false for a stream that has not been read to its end.
func (t *Trace) Totals() (totals Totals, ok bool) { return t.totals, t.complete() }

// Hash names the trace: the SHA-256 of the hashes of its header and its chunks.
// ok is false for a stream that has not been read to its end.
func (t *Trace) Hash() (hash [sha256.Size]byte, ok bool) { return t.hash, t.complete() }

// complete reports whether totals and hash are known: the index states them, at the end of the file.
func (t *Trace) complete() bool { return t.file != nil || t.pending == nil && t.ended == nil }

// start returns the first chunk that holds a step >= from, nil if there is none. A stream is begun once:
// later cursors share its first chunk, for as long as others hold it.
func (t *Trace) start(from int) (*Chunk, error) {
	if t.file != nil {
		// Steps of chunks ascend, see checkOrder.
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
	// Chunks before the step are passed over without being decoded; their checksums are checked.
	for t.pending != nil && int(t.pending.last) < from {
		if err := t.frames.pass(t.pending, io.Discard); err != nil {
			return nil, t.stop(err)
		}
		t.skipped = true
		t.passed(t.pending)
		if t.advance(); t.ended != nil {
			return nil, t.ended
		}
	}
	w, err := t.nextChunk()
	if w != nil {
		t.first = weak.Make(w)
	}
	return w, err
}

// after returns the chunk after w, nil if w is the last. It is decoded once and
// linked, and freed when the last cursor has left it: chunks point forwards only, so that the garbage
// collector frees those behind the slowest cursor. open holds weak pointers for counting them.
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
	if t.only != nil {
		return t.only, nil
	}
	if err := t.admit(); err != nil {
		return nil, err
	}
	f := &t.entries[t.chunks[i]]
	plain, err := t.contentAt(f)
	if err != nil {
		return nil, err
	}
	w, _, err := t.decode(plain, f)
	if err != nil {
		return nil, err
	}
	w.last = i == len(t.chunks)-1
	if len(t.chunks) == 1 {
		t.only = w
	}
	return w, nil
}

// decode returns the chunk of a record, which is in use from now on, and how much it holds.
func (t *Trace) decode(plain []byte, f *frame) (*Chunk, Totals, error) {
	w, counts, err := t.unpack.unpack(plain, f)
	if err != nil {
		return nil, counts, t.frames.errorAt(int64(f.offset), fmt.Errorf("chunk %d: %w", f.number, err))
	}
	t.open = append(t.open, weak.Make(w))
	return w, counts, nil
}

// contentAt reads a record of a file that the index names. The record's header must be the one that the index
// describes.
func (t *Trace) contentAt(want *frame) ([]byte, error) {
	r := t.frames
	r.r = io.NewSectionReader(t.file, int64(want.offset), want.size())
	r.offset = int64(want.offset)
	r.prev = int64(want.prev)
	f, err := r.next()
	if err != nil {
		return nil, err
	}
	listed := *want
	listed.sum = f.sum // the index does not repeat it
	if f != listed {
		return nil, r.errorAt(int64(want.offset), corruptf("%s is not what the index says", f.describe()))
	}
	return r.content(&f)
}

// CheckContents reads all chunks of a file and checks their hashes, so that what Chunks says of them can be believed.
func (t *Trace) CheckContents() error {
	for _, i := range t.chunks {
		if _, err := t.contentAt(&t.entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// admit makes room for one more chunk, or reports that too many are in use: cursors that are far apart
// hold all chunks between them.
func (t *Trace) admit() error {
	if len(t.open) < t.maxOpen {
		return nil
	}
	for range 2 {
		t.open = slices.DeleteFunc(t.open, func(p weak.Pointer[Chunk]) bool { return p.Value() == nil })
		if len(t.open) < t.maxOpen {
			return nil
		}
		// Weak pointers are cleared by the collector only. The second round counts what it has left.
		runtime.GC() // what has been left may not have been collected yet
	}
	slowest := 0 // step of the first chunk in use
	if w := t.open[0].Value(); w != nil {
		slowest = w.units[0].Step
	}
	return fmt.Errorf("%s: %w: %d chunks are in use, from step %d on", t.frames.name, ErrOpenChunks, len(t.open), slowest)
}

// Sizes returns the bytes of the whole trace, and those of the content of its blocks and columns before
// compression. A stream must have been read to its end.
func (t *Trace) Sizes() (file, content int64) {
	for i := range t.entries {
		content += int64(t.entries[i].plain)
	}
	if t.file == nil {
		return t.frames.offset, content
	}
	return t.size, content
}

// define adds the features and blocks of a definitions record, whose content it is.
func (t *Trace) define(plain []byte, f *frame) error {
	fail := func(err error) error {
		return t.frames.errorAt(int64(f.offset), fmt.Errorf("%s: %w", f.describe(), err))
	}
	blocks, features, err := decodeDefinitions(plain)
	if err != nil {
		return fail(err)
	}
	if err := t.features.read(features, t.Header().Tool); err != nil {
		return fail(err)
	}
	// Numbers of blocks are consecutive over all records, as calls name them.
	if int(f.number) != t.prog.NumBlocks() || int(f.count) != len(blocks) {
		return fail(corruptf("%d blocks from %d, want %d from %d", len(blocks), f.number, f.count, t.prog.NumBlocks()))
	}

	// The record names its content by the hashes of the blocks, which do not depend on their coding.
	hash := sha256.New()
	for i := range blocks {
		n, err := t.prog.AddBlock(blocks[i])
		if err != nil {
			return fail(fmt.Errorf("%w: %w", ErrCorrupt, err))
		}
		if n != int(f.number)+i {
			return fail(corruptf("block %d equals block %d", int(f.number)+i, n))
		}
		if err := t.features.lack(t.prog.infos[n].features); err != nil {
			return fail(fmt.Errorf("block %d: %w", n, err))
		}
		h := t.prog.BlockHash(n)
		hash.Write(h[:])
	}
	hashFeatures(hash, features)
	if [sha256.Size]byte(hash.Sum(nil)) != f.hash {
		return fail(errHash)
	}
	return nil
}

// indexContent reads the content of the index.
func (t *Trace) indexContent(f *frame) ([]frame, Totals, error) {
	plain, err := t.frames.content(f)
	if err != nil {
		return nil, Totals{}, err
	}
	entries, totals, err := decodeIndex(plain)
	switch {
	case err != nil:
	case sha256.Sum256(plain) != f.hash:
		err = errHash
	case len(entries) != int(f.count):
		err = corruptf("%d entries, the record names %d", len(entries), f.count)
	}
	if err != nil {
		return nil, Totals{}, t.frames.errorAt(int64(f.offset), fmt.Errorf("index: %w", err))
	}
	return entries, totals, nil
}

// checkEnd compares the end record with the chunks, and sets the trace's hash.
func (t *Trace) checkEnd(end *frame) error {
	// The chain covers header and chunks. Blocks are covered by the chunks that call them, whose
	// hashes include those of their blocks.
	chain := sha256.New()
	chain.Write(t.head[:])
	for _, w := range t.chunks {
		chain.Write(t.entries[w].hash[:])
	}
	chain.Sum(t.hash[:0])
	if end.kind != kindEnd {
		return t.frames.corrupt(end, "%s where the end record must be", end.describe())
	}
	if int(end.count) != len(t.chunks) || end.hash != t.hash {
		return t.frames.corrupt(end, "the end record names other chunks")
	}
	return nil
}

// readIndex reads the end record and the index of a file of size bytes.
// It trusts nothing that it has not compared: the records that the index lists must fill the space
// between header and index without gaps or overlaps, and chain to the hash of the end record.
func (t *Trace) readIndex(size int64) (err error) {
	defer textutil.Stopped(&err)
	// The end record has a known place, and says how far before it the index begins.
	var b [frameSize]byte
	at := size - frameSize
	if _, err := t.file.ReadAt(b[:], max(at, 0)); err != nil && err != io.EOF {
		return t.frames.errorAt(max(at, 0), err)
	}
	end, err := parseFrame(b[:])
	if err != nil {
		return t.frames.errorAt(max(at, 0), fmt.Errorf("end record: %w", err))
	}
	if end.kind != kindEnd || end.offset != uint64(at) || int64(end.prev) > at {
		return t.frames.errorAt(max(at, 0), corruptf("no end record"))
	}
	r := t.frames
	begin := r.offset // of the first record after the header
	r.r = io.NewSectionReader(t.file, at-int64(end.prev), size)
	r.offset, r.prev = at-int64(end.prev), unlinked
	index := textutil.Must(r.next())
	if index.kind != kindIndex || index.size() != int64(end.prev) {
		return r.corrupt(&index, "%s where the index must be", index.describe())
	}
	entries, totals, err := t.indexContent(&index)
	if err != nil {
		return err
	}
	t.totals = totals

	// The records that it lists lie side by side between the header and the index.
	prev, next := uint32(begin-preambleSize), uint64(begin)
	units := int64(0)
	for i := range entries {
		f := &entries[i]
		f.prev = prev
		if err := f.check(); err != nil || f.offset != next {
			return r.corrupt(&index, "index: entry %d at offset %d, want %d: %v", i, f.offset, next, err)
		}
		if f.kind == kindChunk {
			textutil.Check(t.checkOrder(f))
			t.chunks = append(t.chunks, i)
			units += int64(f.count)
		}
		t.entries = entries[:i+1]
		prev, next = uint32(f.size()), next+uint64(f.size())
	}
	if next != index.offset || prev != index.prev {
		return r.corrupt(&index, "index: the last record ends at offset %d", next)
	}
	if units != t.totals.Units {
		return r.corrupt(&index, "index: %d units, its chunks hold %d", t.totals.Units, units)
	}
	return t.checkEnd(&end)
}

// diagnose finds out why a file has no good end: it reads the records from the first on and returns the first
// fault, or else atEnd. It reads all of the file, which is only done for a bad file.
func (t *Trace) diagnose(r io.ReaderAt, size int64, atEnd error) (err error) {
	defer textutil.Stopped(&err)
	frames := &frameReader{r: io.NewSectionReader(r, 0, size), name: t.frames.name}
	textutil.Check(frames.preamble())
	for {
		f := textutil.Must(frames.next())
		if f.kind == kindHeader && f.offset != preambleSize {
			return frames.corrupt(&f, "a second header")
		}
		textutil.Check(frames.pass(&f, io.Discard))
		if f.kind == kindEnd {
			return cmp.Or(frames.end(), atEnd)
		}
	}
}
