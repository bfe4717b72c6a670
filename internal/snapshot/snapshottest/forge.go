package snapshottest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Sizes of the parts of a file around its content, see package snapshot.
const (
	headSize = 12
	tailSize = 8 + sha256.Size
)

// Content returns the content of a file.
func Content(t testing.TB, file []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	content, err := d.DecodeAll(file[headSize:len(file)-tailSize], nil)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// File returns a file of the version of another one with a content of its own, whose
// checksum is right.
func File(t testing.TB, like, content []byte) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	file := e.EncodeAll(content, bytes.Clone(like[:headSize]))
	file = binary.LittleEndian.AppendUint64(file, uint64(len(content)))
	sum := sha256.Sum256(file)
	return append(file, sum[:]...)
}

// extremes are numbers at the ends of what types hold, and at the beginning.
var extremes = []int64{0, 1, -1, 2, 7, 127, 128, -128, 255, 1 << 15, math.MaxInt32, math.MinInt32, 1 << 40, 1 << 50, math.MaxInt64, math.MinInt64}

var extremeFloats = []float64{0, -1, 1, 1e-300, 1e300, 1e9, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}

// Forge changes the content of a checkpoint behind the first so many bytes: a bit, a
// number, or several, or a part taken from another one of the same run.
func Forge(r *rand.Rand, content, other []byte, from int) []byte {
	content = bytes.Clone(content)
	for n := 1 + r.IntN(2); n > 0; n-- {
		at := from + r.IntN(len(content)-from)
		switch r.IntN(5) {
		case 0:
			content[at] ^= 1 << r.IntN(8)
		case 1:
			content = replaceInt(content, at, func(int64) int64 { return extremes[r.IntN(len(extremes))] })
		case 2:
			content = replaceInt(content, at, func(v int64) int64 { return v + int64(r.IntN(5)-2) })
		case 3:
			if at+8 <= len(content) {
				binary.LittleEndian.PutUint64(content[at:], math.Float64bits(extremeFloats[r.IntN(len(extremeFloats))]))
			}
		case 4:
			content = splice(r, content, other, from)
		}
	}
	return content
}

// replaceInt changes what may be the integer around a byte.
func replaceInt(content []byte, at int, change func(int64) int64) []byte {
	for n := 0; at > 0 && content[at-1] >= 0x80 && n < binary.MaxVarintLen64; n++ {
		at--
	}
	v, size := binary.Varint(content[at:])
	if size <= 0 {
		return content
	}
	changed := binary.AppendVarint(bytes.Clone(content[:at]), change(v))
	return append(changed, content[at+size:]...)
}

// splice takes a part of the other content that has the same beginning and end as one here.
func splice(r *rand.Rand, content, other []byte, from int) []byte {
	const mark = 6 // bytes that are rarely equal by chance
	if len(other) < from+2*mark {
		return content
	}
	at := from + r.IntN(len(other)-from-mark)
	begin := bytes.Index(content[min(from, len(content)):], other[at:at+mark])
	if begin < 0 {
		return content
	}
	begin += from
	for size := 1 + r.IntN(400); size > 0; size-- {
		end := at + size
		if end+mark > len(other) {
			continue
		}
		if to := bytes.Index(content[begin:], other[end:end+mark]); to >= 0 {
			return append(append(bytes.Clone(content[:begin]), other[at:end]...), content[begin+to:]...)
		}
	}
	return content
}
