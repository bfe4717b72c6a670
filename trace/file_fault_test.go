package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// few has 12 steps in chunks of 3.
var few = synthetic{n: 90, nb: 8, p: 3, q: 2, chunk: 3, draws: true}

func small(t testing.TB) []byte {
	var buf bytes.Buffer
	few.write(t, &buf, 0)
	return buf.Bytes()
}

// readStream and readFile read a whole trace, each in its way.
func readStream(data []byte) error {
	t, err := NewReader(bytes.NewReader(data), "x")
	if err != nil {
		return err
	}
	defer t.Close()
	_, err = readAll(t)
	return err
}

func readFile(data []byte) error {
	t, err := NewReaderAt(bytes.NewReader(data), int64(len(data)), "x")
	if err != nil {
		return err
	}
	defer t.Close()
	_, err = readAll(t)
	return err
}

var ways = map[string]func([]byte) error{"stream": readStream, "file": readFile}

// stride is 1, so that every byte is tested, but in short tests.
func stride() int {
	if testing.Short() {
		return 13
	}
	return 1
}

func TestEveryCutIsNoticed(t *testing.T) {
	data := small(t)
	for way, read := range ways {
		if err := read(data); err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		for n := 0; n < len(data); n += stride() {
			err := read(data[:n])
			if !errors.Is(err, ErrTruncated) {
				t.Fatalf("%s: %d of %d bytes: %v", way, n, len(data), err)
			}
			if want := fmt.Sprintf("x: offset %d: ", n); !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("%s: %d of %d bytes: %v, want %s…", way, n, len(data), err, want)
			}
		}
	}
}

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	data := small(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for way, read := range ways {
		for i := 0; i < len(data); i += stride() {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << rng.IntN(8)
			err := read(bad)
			if i < 16 && errors.Is(err, ErrNotTrace) {
				continue
			}
			if 16 <= i && i < 20 && errors.Is(err, ErrVersion) {
				continue
			}
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: byte %d of %d: %v", way, i, len(data), err)
			}
		}
	}
}

// reseal corrects the checksums of all records, as far as they can be followed.
func reseal(data []byte) []byte {
	data = bytes.Clone(data)
	le := binary.LittleEndian
	if len(data) >= preambleSize {
		le.PutUint32(data[20:], crc32.Checksum(data[:20], castagnoli))
	}
	for at := preambleSize; len(data)-at >= frameSize; {
		head := data[at : at+frameSize]
		packed := int(le.Uint32(head[32:]))
		if packed > len(data)-at-frameSize {
			packed = 0
		}
		at += frameSize + packed
		le.PutUint32(head[80:], crc32.Checksum(data[at-packed:at], castagnoli))
		le.PutUint32(head[84:], crc32.Checksum(head[:84], castagnoli))
	}
	return data
}

// Even with right checksums no flipped bit in the frames passes: everything is
// stated twice or bound by a hash. Flips inside compressed content are either refused, or
// decode to what was there before (zstd has bits without meaning).
func TestFlipsWithRightChecksums(t *testing.T) {
	data := small(t)
	check(t, readStream(reseal(data)))
	want := allStated(t, data)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 400 {
		bad := bytes.Clone(data)
		i := rng.IntN(len(data))
		bad[i] ^= 1 << rng.IntN(8)
		bad = reseal(bad)
		if bytes.Equal(bad, data) {
			continue // a checksum was flipped
		}
		for way, read := range ways {
			if err := read(bad); err == nil && sameStated(few.header(), want, allStated(t, bad)) != "" {
				t.Fatalf("%s: flip in byte %d of %d changes the trace", way, i, len(data))
			}
		}
	}
}

func allStated(t *testing.T, data []byte) []stated {
	tr := must(NewReader(bytes.NewReader(data), "x"))
	return must(readStated(tr, 0))
}

func TestNotATrace(t *testing.T) {
	for _, data := range []string{"<platform version=\"4.1\">", "0 compute 1e9\n", "\x28\xb5\x2f\xfd", strings.Repeat("\x00", 500)} {
		for way, read := range ways {
			if err := read([]byte(data)); !errors.Is(err, ErrNotTrace) {
				t.Errorf("%s: %q: %v", way, data, err)
			}
		}
	}
}

func TestNewerVersion(t *testing.T) {
	data := small(t)
	want := fmt.Sprintf("x: offset 0: unsupported format version %d: this program reads up to version %d", Version+1, Version)
	for way, read := range ways {
		copy(data, appendPreamble(nil, Version+1))
		if err := read(data); !errors.Is(err, ErrVersion) || err.Error() != want {
			t.Errorf("%s: %v, want %s", way, err, want)
		}
		copy(data, appendPreamble(nil, 0))
		if err := read(data); !errors.Is(err, ErrVersion) {
			t.Errorf("%s: version 0: %v", way, err)
		}
	}
}

// records splits a trace into its records.
func records(t *testing.T, data []byte) (frames []frame, plains [][]byte) {
	r := must(newFrameReader(bytes.NewReader(data), "x"))
	check(t, r.preamble())
	for {
		f := must(r.next())
		plain := must(r.content(&f))
		frames, plains = append(frames, f), append(plains, bytes.Clone(plain))
		if f.kind == kindEnd {
			return frames, plains
		}
	}
}

// assemble writes records, with places and checksums that fit.
func assemble(t *testing.T, frames []frame, plains [][]byte) []byte {
	var buf bytes.Buffer
	w := must(newFrameWriter(&buf))
	for i := range frames {
		f := frames[i]
		check(t, w.record(&f, plains[i], nil))
	}
	return buf.Bytes()
}

// Records that are whole but do not belong together are refused.
func TestRecordsThatDoNotFit(t *testing.T) {
	find := func(frames []frame, k recordKind) int {
		for i := range frames {
			if frames[i].kind == k {
				return i
			}
		}
		return -1
	}
	drop := func(k recordKind) func([]frame, [][]byte) ([]frame, [][]byte) {
		return func(f []frame, p [][]byte) ([]frame, [][]byte) {
			i := find(f, k)
			return append(f[:i:i], f[i+1:]...), append(p[:i:i], p[i+1:]...)
		}
	}
	change := func(k recordKind, set func(*frame)) func([]frame, [][]byte) ([]frame, [][]byte) {
		return func(f []frame, p [][]byte) ([]frame, [][]byte) {
			set(&f[find(f, k)])
			return f, p
		}
	}
	for name, mutate := range map[string]func([]frame, [][]byte) ([]frame, [][]byte){
		"no header":            drop(kindHeader),
		"no definitions":       drop(kindDefs),
		"no first chunk":       drop(kindChunk),
		"no index":             drop(kindIndex),
		"chunk number":         change(kindChunk, func(f *frame) { f.number = 1 }),
		"chunk units":          change(kindChunk, func(f *frame) { f.count++ }),
		"chunk steps":          change(kindChunk, func(f *frame) { f.last++ }),
		"chunk hash":           change(kindChunk, func(f *frame) { f.hash[3] ^= 4 }),
		"header hash":          change(kindHeader, func(f *frame) { f.hash[3] ^= 4 }),
		"definitions hash":     change(kindDefs, func(f *frame) { f.hash[3] ^= 4 }),
		"first block":          change(kindDefs, func(f *frame) { f.number = 7 }),
		"number of blocks":     change(kindDefs, func(f *frame) { f.count-- }),
		"index hash":           change(kindIndex, func(f *frame) { f.hash[3] ^= 4 }),
		"number of entries":    change(kindIndex, func(f *frame) { f.count-- }),
		"chain of hashes":      change(kindEnd, func(f *frame) { f.hash[3] ^= 4 }),
		"number of chunks":     change(kindEnd, func(f *frame) { f.count-- }),
		"header as the end":    change(kindEnd, func(f *frame) { f.kind = kindHeader }),
		"definitions as index": change(kindIndex, func(f *frame) { f.kind = kindDefs }),
		"chunks in another order": func(f []frame, p [][]byte) ([]frame, [][]byte) {
			i := find(f, kindChunk)
			f[i], f[i+1], p[i], p[i+1] = f[i+1], f[i], p[i+1], p[i]
			return f, p
		},
		"definitions twice": func(f []frame, p [][]byte) ([]frame, [][]byte) {
			i := find(f, kindDefs)
			return append(f[:i+1:i+1], f[i:]...), append(p[:i+1:i+1], p[i:]...)
		},
	} {
		frames, plains := records(t, small(t))
		frames, plains = mutate(frames, plains)
		data := assemble(t, frames, plains)
		for way, read := range ways {
			if err := read(data); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %s: %v", name, way, err)
			}
		}
	}
}

func TestFrameCheck(t *testing.T) {
	good := frame{kind: kindChunk, plain: 100, packed: 50, first: 1, last: 2, prev: 5, offset: 6, sum: 7, hash: [32]byte{8}}
	got, err := parseFrame(good.append(nil))
	if err != nil || got != good {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, mutate := range map[string]func(*frame){
		"unknown kind":       func(f *frame) { f.kind = recordKind{'W', 'I', 'N', 'E'} },
		"too large":          func(f *frame) { f.plain, f.packed = maxChunkSize+1, maxChunkSize },
		"impossible ratio":   func(f *frame) { f.plain = 50*maxExpansion + 1 },
		"expands":            func(f *frame) { f.packed = maxChunkSize * 2 },
		"end with content":   func(f *frame) { f.kind, f.plain = kindEnd, 0 },
		"steps backwards":    func(f *frame) { f.first = 3 },
		"step out of bounds": func(f *frame) { f.last = maxStep + 1 },
		"steps of a header":  func(f *frame) { *f = frame{kind: kindHeader, plain: 100, packed: 50, first: 1, last: 1} },
		"number of an index": func(f *frame) { *f = frame{kind: kindIndex, plain: 100, packed: 50, number: 1} },
		"count of a header":  func(f *frame) { *f = frame{kind: kindHeader, plain: 100, packed: 50, count: 1} },
		"checksum of an end": func(f *frame) { *f = frame{kind: kindEnd, sum: 1} },
	} {
		f := good
		mutate(&f)
		if _, err := parseFrame(f.append(nil)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDataAfterTheEnd(t *testing.T) {
	data := small(t)
	for name, tail := range map[string][]byte{"a byte": {0}, "another trace": data} {
		for way, read := range ways {
			if err := read(append(bytes.Clone(data), tail...)); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %s: %v", name, way, err)
			}
		}
	}
}

// The file is a legal zstd stream: any zstd decoder yields the contents of the
// records, one after the other.
func TestFileIsZstd(t *testing.T) {
	data := small(t)
	_, plains := records(t, data)
	dec := must(zstd.NewReader(bytes.NewReader(data)))
	defer dec.Close()
	got, err := io.ReadAll(dec)
	if err != nil || !bytes.Equal(got, bytes.Join(plains, nil)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A claim of size alone must not cost memory: the header's content is said to
// have 8 MiB, but there are 5 bytes.
func TestClaimsCostNothing(t *testing.T) {
	f := frame{kind: kindHeader, plain: maxHeaderSize, packed: maxHeaderSize, offset: preambleSize}
	data := append(f.append(appendPreamble(nil, Version)), "short"...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := readStream(data); !errors.Is(err, ErrTruncated) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}
