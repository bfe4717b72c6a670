// Package typedarray holds columns of numbers as a report's page carries them.
//
//	shares := typedarray.Of([]float32{0.25, 0.5})
//	text, err := json.Marshal(shares) // a string, which page and replay compare read
//	values, err := typedarray.Values[float32](shares)
//
// In JSON they are base64 of raw deflate (RFC 1951), which browsers undo without help.
//
// # Units
//
// Numbers are little endian, one behind the other; their meaning and unit are the owner's.
//
// # Errors
//
// Text that is no such base64, or that is longer than MaxSize once it is undone, is an error of encoding/json.
//
// # Source
//
// RFC 1951, and RFC 4648 for base64.
package typedarray

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
)

// MaxSize bounds the bytes of a column, so that a forged page cannot ask for more.
const MaxSize = 1 << 28

// Bytes is a column of numbers. In memory it is plain: it is compressed when it becomes JSON, and undone when it is
// read.
type Bytes []byte

// level is that of compression: the best level takes twenty times as long, for 5 % fewer bytes.
const level = 6

// MarshalText implements encoding.TextMarshaler.
func (b Bytes) MarshalText() ([]byte, error) {
	var out bytes.Buffer // takes all
	w, _ := flate.NewWriter(&out, level)
	_, _ = w.Write(b)
	_ = w.Close()
	return base64.StdEncoding.AppendEncode(nil, out.Bytes()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. A few bytes of deflate can stand for a thousand times as many, so
// the length is bounded while they are undone.
func (b *Bytes) UnmarshalText(text []byte) error {
	deflated, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(deflated)), MaxSize+1))
	if err != nil {
		return fmt.Errorf("a packed column: %w", err)
	}
	if len(raw) > MaxSize {
		return fmt.Errorf("a packed column of more than %d bytes", MaxSize)
	}
	*b = raw
	return nil
}

// number is a type of numbers that browsers have arrays of.
type number interface {
	float32 | float64 | uint16 | uint32
}

// Of returns a column of numbers.
func Of[T number](values []T) Bytes {
	b, err := binary.Append(Bytes{}, binary.LittleEndian, values)
	if err != nil {
		panic(err) // the size is not fixed
	}
	return b
}

// Values returns the numbers of a column that Of has made of numbers of that type.
func Values[T number](b Bytes) ([]T, error) {
	size := binary.Size(T(0))
	if len(b)%size != 0 {
		return nil, fmt.Errorf("a packed column of %d bytes, want a multiple of %d", len(b), size)
	}
	values := make([]T, len(b)/size)
	_, err := binary.Decode(b, binary.LittleEndian, values)
	return values, err
}
