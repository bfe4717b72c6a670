package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A file is
//
//	magic    8 bytes
//	version  4 bytes, little endian: of the content's format
//	content  a zstd frame
//	size     8 bytes, little endian: of the content, not compressed
//	sum      32 bytes: SHA-256 of all that precedes it

var magic = [8]byte{'R', 'e', 'p', 'r', 'C', 'k', 'p', 't'}

const (
	headSize  = len(magic) + 4
	tailSize  = 8 + sha256.Size
	windowLog = 20 // of the compression: bounds the memory that it takes
)

// ErrFormat marks the error of a file that is no checkpoint.
var ErrFormat = errors.New("not a checkpoint")

// ErrVersion marks the error of a checkpoint in another version of the format.
var ErrVersion = errors.New("checkpoint of another version")

// Write writes a file whose content is what content gives to the codec.
func Write(w io.Writer, version uint32, content func(*Codec)) error {
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	head := binary.LittleEndian.AppendUint32(magic[:], version)
	if _, err := out.Write(head); err != nil {
		return err
	}
	enc, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(1<<windowLog), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	c := NewWriter(enc)
	content(c)
	err = c.Flush()
	if cerr := enc.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], uint64(c.written))
	if _, err := out.Write(size[:]); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// IsFile reports whether head, the beginning of a file, is that of a checkpoint.
func IsFile(head []byte) bool { return bytes.HasPrefix(head, magic[:]) }

// Read reads a file of size bytes, which must have the version: the whole of it is
// checked against its sum before content gets to see any of it.
func Read(r io.ReaderAt, size int64, version uint32, content func(*Codec)) error {
	plain, err := check(r, size, version)
	if err != nil {
		return err
	}
	body := io.NewSectionReader(r, int64(headSize), size-int64(headSize+tailSize))
	dec, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<windowLog))
	if err != nil {
		return err
	}
	defer dec.Close()
	c := NewReader(&limited{dec, plain})
	content(c)
	c.section = ""
	if c.err == nil {
		c.end()
	}
	return c.err
}

// check checks a file's head and sum and returns the size of its content.
func check(r io.ReaderAt, size int64, version uint32) (plain int64, err error) {
	head := make([]byte, min(size, int64(headSize)))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), head); err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(head, magic[:]) {
		return 0, ErrFormat
	}
	if size < int64(headSize+tailSize) {
		return 0, fmt.Errorf("%w: it is cut off after %d bytes", ErrCorrupt, size)
	}
	if v := binary.LittleEndian.Uint32(head[len(magic):]); v != version {
		return 0, fmt.Errorf("%w: it has format %d, this program reads %d", ErrVersion, v, version)
	}
	return checkSum(r, size)
}

func checkSum(r io.ReaderAt, size int64) (plain int64, err error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, size-sha256.Size)); err != nil {
		return 0, err
	}
	tail := make([]byte, tailSize)
	if _, err := r.ReadAt(tail, size-int64(tailSize)); err != nil && err != io.EOF {
		return 0, err
	}
	if !matches(sum, tail[8:]) {
		return 0, fmt.Errorf("%w: its checksum is wrong, it is damaged or cut off", ErrCorrupt)
	}
	return int64(binary.LittleEndian.Uint64(tail) & (1<<63 - 1)), nil
}

func matches(sum hash.Hash, want []byte) bool { return bytes.Equal(sum.Sum(nil), want) }

// limited yields at most left bytes and tells what the decoder says of a damaged
// frame as ErrCorrupt.
type limited struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return n, err
}
