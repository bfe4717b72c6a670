package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"

	"reprise/internal/textutil"
)

// This file writes and reads the frames of a file: the preamble, and records with their headers and checksums
// (frameWriter.record, frameReader.next and content). What records contain is encoded elsewhere.

// Errors that callers branch on; they come wrapped with the file's name, the offset and what was found.
var (
	// ErrNotTrace marks input that does not begin as a trace does.
	ErrNotTrace = errors.New("not a trace")
	// ErrVersion marks a trace of a newer format than this package reads.
	ErrVersion = errors.New("unsupported format version")
	// ErrTruncated marks a trace that ends before its end record.
	ErrTruncated = errors.New("truncated")
	// ErrCorrupt marks a trace whose bytes break a rule of the format.
	ErrCorrupt = errors.New("corrupt")
	// ErrOpenChunks reports that the cursors of a trace are too far apart.
	ErrOpenChunks = errors.New("ranks are too far apart in the trace")
)

// errHash is the error of a record whose content does not have the hash in its header.
var errHash = corruptf("the content does not have the hash that the record names")

// corruptf returns an error about bytes that break a rule of the format.
func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

// The wire format of frames, as docs/trace-format.md states it. Numbers are little endian.
const (
	// A skippable frame of zstd (RFC 8878, section 3.1.2) is a magic number, the size of what follows, and bytes that a
	// decoder passes over. The preamble and the header of each record are such frames, so that the file is a legal zstd
	// stream, and "zstd -d" yields the contents of all records, one after the other.
	skippable    = 0x184D2A52 // a zstd skippable frame: the file is a legal zstd stream
	signature    = "reprise\n"
	preambleSize = 24
	frameSize    = 88 // header of a record
	// The largest ratio of a record's content to its compressed bytes. An RLE block of zstd states 128 KiB of content
	// in 4 bytes (RFC 8878, section 3.1.1.2.2), and nothing expresses more with less.
	maxExpansion = 1 << 15 // of content to its compressed bytes
	// The largest contents of the kinds of records, in bytes after decoding. They bound the memory of a reader.
	maxHeaderSize = 8 << 20 // bytes of a decoded header, and so on
	maxDefsSize   = 4 << 20
	maxChunkSize  = 32 << 20
	maxIndexSize  = 64 << 20
)

// recordKind is what a record holds, as its four letters.
type recordKind [4]byte

// Kinds of records, by the letters that they have in the file.
var (
	kindHeader = recordKind{'H', 'E', 'A', 'D'}
	kindDefs   = recordKind{'D', 'E', 'F', 'S'}
	kindChunk  = recordKind{'W', 'I', 'N', 'D'}
	kindIndex  = recordKind{'I', 'N', 'D', 'X'}
	kindEnd    = recordKind{'E', 'N', 'D', '.'}
)

// contentLimits are the largest sizes of a record's decoded content.
var contentLimits = map[recordKind]int64{kindHeader: maxHeaderSize, kindDefs: maxDefsSize, kindChunk: maxChunkSize,
	kindIndex: maxIndexSize, kindEnd: 0}

// frame is the header of a record. A file is a preamble and a sequence of records: the header first, then chunks, each
// after the definitions that it is the first to need, then the index and the end record. Three fields protect the
// sequence. Each record names its own offset and the size of the record before it, so that a record that was left out,
// repeated or moved is noticed. And it names the hash of its decoded content, so that two files can be compared chunk
// by chunk without reading the chunks.
type frame struct {
	kind          recordKind
	number        uint32 // of the chunk, or of the first block; 0 otherwise
	count         uint32 // units, blocks, index entries; of the end record: chunks
	first, last   uint32 // steps of the first and last unit of a chunk
	plain, packed uint32 // bytes of the content, decoded and compressed
	prev          uint32 // bytes of the record before, its header included; 0 for the first
	offset        uint64 // of this record in the file
	hash          [32]byte
	sum           uint32 // CRC-32C of the compressed content
}

// size returns the bytes of the record, header included.
func (f *frame) size() int64 { return frameSize + int64(f.packed) }

// describe names the record in an error.
func (f *frame) describe() string {
	switch f.kind {
	case kindHeader:
		return "header"
	case kindDefs:
		return fmt.Sprintf("definitions of blocks from %d", f.number)
	case kindChunk:
		return fmt.Sprintf("chunk %d", f.number)
	case kindIndex:
		return "index"
	}
	return "end record"
}

// castagnoli is the table of CRC-32C, the checksum of headers and of compressed contents.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendPreamble appends the first bytes of a file of a version.
func appendPreamble(dst []byte, version uint32) []byte {
	le := binary.LittleEndian
	start := len(dst)
	dst = le.AppendUint32(dst, skippable)
	dst = le.AppendUint32(dst, preambleSize-8)
	dst = append(dst, signature...)
	dst = le.AppendUint32(dst, version)
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// append appends the frame's bytes.
//
//	bytes  0.. 7  frame of zstd: magic number, size of the rest
//	bytes  8..11  kind, as four letters
//	bytes 12..39  number, count, first, last, plain, packed, prev
//	bytes 40..47  offset
//	bytes 48..79  hash
//	bytes 80..83  checksum of the compressed content
//	bytes 84..87  checksum of the bytes before
func (f *frame) append(dst []byte) []byte {
	le := binary.LittleEndian
	start := len(dst)
	dst = le.AppendUint32(dst, skippable)
	dst = le.AppendUint32(dst, frameSize-8)
	dst = append(dst, f.kind[:]...)
	for _, v := range [...]uint32{f.number, f.count, f.first, f.last, f.plain, f.packed, f.prev} {
		dst = le.AppendUint32(dst, v)
	}
	dst = le.AppendUint64(dst, f.offset)
	dst = append(dst, f.hash[:]...)
	dst = le.AppendUint32(dst, f.sum)
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// parseFrame reads the header of a record and checks all that can be checked without the record's content. b holds
// frameSize bytes in the layout that append writes.
func parseFrame(b []byte) (frame, error) {
	le := binary.LittleEndian
	if le.Uint32(b) != skippable || le.Uint32(b[4:]) != frameSize-8 {
		return frame{}, corruptf("no record: % x", b[:8])
	}
	// The checksum comes before all fields: from here on a wrong value was written so, and is not a
	// damage of the medium or of a transfer.
	if le.Uint32(b[84:]) != crc32.Checksum(b[:84], castagnoli) {
		return frame{}, corruptf("checksum of the record's header")
	}
	f := frame{
		kind: recordKind(b[8:12]), number: le.Uint32(b[12:]), count: le.Uint32(b[16:]),
		first: le.Uint32(b[20:]), last: le.Uint32(b[24:]),
		plain: le.Uint32(b[28:]), packed: le.Uint32(b[32:]), prev: le.Uint32(b[36:]),
		offset: le.Uint64(b[40:]), hash: [32]byte(b[48:80]), sum: le.Uint32(b[80:]),
	}
	return f, f.check()
}

// check reports what no record can have. Sizes are compared before anything is allocated by them: a compressor cannot
// expand content by more than an eighth and some bytes, nor shrink it by more than maxExpansion.
func (f *frame) check() error {
	limit, known := contentLimits[f.kind]
	switch {
	case !known:
		return corruptf("unknown kind of record %q", f.kind[:])
	case int64(f.plain) > limit:
		return corruptf("%s of %d bytes, at most %d", f.describe(), f.plain, limit)
	case int64(f.plain) > int64(f.packed)*maxExpansion:
		return corruptf("%s: %d bytes cannot hold %d", f.describe(), f.packed, f.plain)
	case int64(f.packed) > limit+limit/8+64:
		return corruptf("%s: %d bytes compressed, %d plain", f.describe(), f.packed, f.plain)
	case f.kind == kindEnd && f.packed != 0:
		return corruptf("end record with %d bytes of content", f.packed)
	// Fields that a kind of record does not use are zero, so that a record has one form only.
	case f.first > f.last || f.last > maxStep || f.last > 0 && f.kind != kindChunk:
		return corruptf("%s: steps %d to %d", f.describe(), f.first, f.last)
	case f.number != 0 && f.kind != kindChunk && f.kind != kindDefs || f.count != 0 && f.kind == kindHeader ||
		f.sum != 0 && f.kind == kindEnd:
		return corruptf("%s: number %d, count %d, checksum %d where it has none", f.describe(), f.number, f.count, f.sum)
	}
	return nil
}

// frameWriter writes a file's records. Its encoder has one goroutine, as the bytes of a file must not
// depend on the number of cores. zstd's own checksum is left out, as a record has one.
type frameWriter struct {
	w      io.Writer
	enc    [2]*zstd.Encoder // the second for definitions: few bytes, in which the same operations come again and again
	offset uint64
	prev   uint32
	buf    []byte
}

// newFrameWriter begins a file: the preamble is written at once, so that a wrong output shows early.
func newFrameWriter(w io.Writer) (*frameWriter, error) {
	f := &frameWriter{w: w}
	for i, level := range []zstd.EncoderLevel{zstd.SpeedDefault, zstd.SpeedBetterCompression} {
		var err error
		if f.enc[i], err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
			zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(level)); err != nil {
			return nil, err
		}
	}
	return f, f.write(appendPreamble(nil, Version))
}

// record writes a record of the given content, and fills in the sizes, the place and the checksum of f. If err is
// set, from the encoding of the content, it writes nothing and returns err.
func (w *frameWriter) record(f *frame, plain []byte, err error) error {
	if err != nil {
		return err
	}
	if limit := contentLimits[f.kind]; int64(len(plain)) > limit {
		return fmt.Errorf("%s of %d bytes, at most %d", f.describe(), len(plain), limit)
	}
	// The header is filled in last, as it holds the size and the checksum of what follows it. The
	// whole record then goes out in one write.
	w.buf = append(w.buf[:0], make([]byte, frameSize)...)
	switch f.kind {
	case kindEnd:
	case kindDefs:
		w.buf = w.enc[1].EncodeAll(plain, w.buf)
	default:
		w.buf = w.enc[0].EncodeAll(plain, w.buf)
	}
	packed := w.buf[frameSize:]
	f.plain, f.packed = uint32(len(plain)), uint32(len(packed))
	f.prev, f.offset, f.sum = w.prev, w.offset, crc32.Checksum(packed, castagnoli)
	f.append(w.buf[:0])
	w.prev = uint32(len(w.buf))
	return w.write(w.buf)
}

// write writes bytes to the file and counts those that were written, also before an error.
func (w *frameWriter) write(b []byte) error {
	n, err := w.w.Write(b)
	w.offset += uint64(n)
	return err
}

// unlinked, as the size of the record before, says that the size is not known and not compared.
const unlinked = -1

// frameReader reads records one after the other. Its errors begin with the name of the input and the offset of the
// record. A file that is read at any step uses the same type: before each record r, offset and prev are set to the
// record's place.
type frameReader struct {
	r      io.Reader
	name   string
	offset int64 // of the next byte
	// prev is compared with the field of that name in the next header.
	prev   int64 // size of the record before, or unlinked
	head   [frameSize]byte
	packed bytes.Buffer
	plain  []byte
	dec    *zstd.Decoder
}

// newFrameReader returns a reader from the first byte on. The decoder is bounded to the largest record and
// has no goroutines of its own.
func newFrameReader(r io.Reader, name string) (*frameReader, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxIndexSize), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	return &frameReader{r: r, name: name, dec: dec}, nil
}

// errorAt adds the file's name and an offset to an error, and shortens quotes of the file to what people can read.
func (r *frameReader) errorAt(offset int64, err error) error {
	return fmt.Errorf("%s: offset %d: %w", r.name, offset, textutil.Brief(err))
}

// corrupt is the error of a record that is not as it must be.
func (r *frameReader) corrupt(f *frame, format string, args ...any) error {
	return r.errorAt(int64(f.offset), corruptf(format, args...))
}

// preamble reads the first bytes of a file, and checks that it is a trace that this package can read.
func (r *frameReader) preamble() error {
	b := r.head[:preambleSize]
	n, err := io.ReadFull(r.r, b)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return r.errorAt(int64(n), err)
	}
	le := binary.LittleEndian
	begin := b[:min(n, 16)] // all but version and checksum
	switch {
	// An input of no bytes at all counts as truncated, as it is what an interrupted writer leaves. Of a short input all
	// that is there is compared, so that other kinds of files are told by their first bytes.
	case n > 0 && !bytes.HasPrefix(appendPreamble(nil, Version), begin):
		return r.errorAt(0, fmt.Errorf("%w: it begins with % x", ErrNotTrace, begin))
	case err != nil:
		return r.errorAt(int64(n), fmt.Errorf("beginning: %w", ErrTruncated))
	}
	r.offset = preambleSize

	// The version comes first: another one may have another checksum.
	if v := le.Uint32(b[16:]); v < 1 || v > Version {
		return r.errorAt(0, fmt.Errorf("%w %d: this program reads up to version %d", ErrVersion, v, Version))
	}
	if le.Uint32(b[20:]) != crc32.Checksum(b[:20], castagnoli) {
		return r.errorAt(0, corruptf("checksum of the first %d bytes", preambleSize))
	}
	return nil
}

// next reads the header of the next record. The content must be read, or skipped, before the next call.
func (r *frameReader) next() (frame, error) {
	n, err := io.ReadFull(r.r, r.head[:])
	if err != nil {
		return frame{}, r.short("record header", int64(n), frameSize, err)
	}
	f, err := parseFrame(r.head[:])
	if err != nil {
		return frame{}, r.errorAt(r.offset, err)
	}
	// The header is sound. What is left to check is that the record belongs at this place of this file.
	if f.offset != uint64(r.offset) {
		return frame{}, r.errorAt(r.offset, corruptf("%s says that it is at offset %d", f.describe(), f.offset))
	}
	if r.prev != unlinked && int64(f.prev) != r.prev {
		return frame{}, r.errorAt(r.offset,
			corruptf("%s follows a record of %d bytes, not of %d", f.describe(), r.prev, f.prev))
	}
	r.offset += frameSize
	r.prev = f.size()
	return f, nil
}

// short turns an end of the input after n of want bytes into an error.
func (r *frameReader) short(what string, n, want int64, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("%s: %d of %d bytes: %w", what, n, want, ErrTruncated)
	}
	return r.errorAt(r.offset+n, err)
}

// pass reads a record's content into w, and checks its checksum. Memory grows with the bytes that are there, and not
// with the size that the header claims: a few bytes must not make a reader allocate megabytes.
func (r *frameReader) pass(f *frame, w io.Writer) error {
	at, sum := r.offset-frameSize, crc32.New(castagnoli)
	n, err := io.CopyN(io.MultiWriter(sum, w), r.r, int64(f.packed))
	if err != nil {
		return r.short(f.describe(), n, int64(f.packed), err)
	}
	r.offset += n
	if sum.Sum32() != f.sum {
		return r.errorAt(at, corruptf("checksum of %s", f.describe()))
	}
	return nil
}

// content reads, checks and decodes a record's content. It is valid until the next call. The decoder never
// sees bytes that were damaged on their way, as the checksum comes before it.
func (r *frameReader) content(f *frame) ([]byte, error) {
	at := r.offset - frameSize
	r.packed.Reset()
	if err := r.pass(f, &r.packed); err != nil {
		return nil, err
	}
	if cap(r.plain) < int(f.plain) {
		r.plain = make([]byte, 0, f.plain)
	}
	plain, err := r.dec.DecodeAll(r.packed.Bytes(), r.plain[:0:f.plain])
	if err != nil {
		return nil, r.errorAt(at, corruptf("%s: %v", f.describe(), err))
	}
	if len(plain) != int(f.plain) {
		return nil, r.errorAt(at, corruptf("%s holds %d bytes, not %d", f.describe(), len(plain), f.plain))
	}
	return plain, nil
}

// end checks that nothing follows the end record.
func (r *frameReader) end() error {
	for {
		switch n, err := r.r.Read(r.head[:1]); {
		case n > 0:
			return r.errorAt(r.offset, corruptf("data after the end record"))
		case err == io.EOF:
			return nil
		case err != nil:
			return r.errorAt(r.offset, err)
		}
	}
}
