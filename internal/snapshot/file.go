package snapshot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Write and Read write and read the file of a state:
//
//	magic    8 bytes
//	version  4 bytes, little endian: of the content's format
//	content  a zstd frame
//	sum      32 bytes: SHA-256 of all that precedes it

var magic = [8]byte{'R', 'e', 'p', 'r', 'C', 'k', 'p', 't'}

const (
	headSize  = len(magic) + 4
	windowLog = 20 // of the compression: bounds the memory that it takes
)

// ErrFormat marks the error of a file that is no checkpoint.
var ErrFormat = errors.New("not a checkpoint")

// ErrVersion marks the error of a checkpoint in another version of the format.
var ErrVersion = errors.New("checkpoint of another version")

// Write writes a file with the state that content stores.
// The content is compressed while it is stored, so that the memory this takes does not go with the size of the state.
func Write(w io.Writer, version uint32, content func(*State)) error {
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	if _, err := out.Write(binary.LittleEndian.AppendUint32(magic[:], version)); err != nil {
		return err
	}
	enc, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(1<<windowLog), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	if err := cmp.Or(Save(enc, content), enc.Close()); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// IsFile reports whether head, the beginning of a file, is that of a checkpoint.
func IsFile(head []byte) bool { return bytes.HasPrefix(head, magic[:]) }

// Read reads a file of size bytes, which must have the version. It verifies the checksum of the whole
// file before content sees any of it.
func Read(r io.ReaderAt, size int64, version uint32, content func(*State)) error {
	// What the head says comes first: a file of another kind or version needs no checksum to be refused.
	head := make([]byte, min(size, int64(headSize)))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), head); err != nil {
		return err
	}
	if !IsFile(head) {
		return ErrFormat
	}
	if size < int64(headSize+sha256.Size) {
		return fmt.Errorf("%w: it is cut off after %d bytes", ErrCorrupt, size)
	}
	if v := binary.LittleEndian.Uint32(head[len(magic):]); v != version {
		return fmt.Errorf("%w: it has format %d, this program reads %d", ErrVersion, v, version)
	}
	// The whole file is read twice, once for its checksum: content would be lost on a file that is damaged at its end.
	sum, end := sha256.New(), size-sha256.Size
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, end)); err != nil {
		return err
	}
	want := make([]byte, sha256.Size)
	if _, err := io.ReadFull(io.NewSectionReader(r, end, sha256.Size), want); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return fmt.Errorf("%w: its checksum is wrong, it is damaged or cut off", ErrCorrupt)
	}

	dec, err := zstd.NewReader(io.NewSectionReader(r, int64(headSize), end-int64(headSize)),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<windowLog))
	if err != nil {
		return err
	}
	defer dec.Close()
	return Restore(dec, func(s *State) {
		content(s)
		if _, err := s.r.Peek(1); err == nil {
			s.Fail(fmt.Errorf("%w: there is more content behind it", ErrCorrupt))
		}
	})
}
