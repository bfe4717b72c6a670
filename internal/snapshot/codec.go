// Package snapshot moves the state of a program to a file and back.
//
// A type with state has one method that serves both directions:
//
//	func (q *queue) Snapshot(c *snapshot.Codec) {
//		c.Section("queue", *q, event{})
//		snapshot.Slice(c, &q.events, maxEvents, func(e *event) { c.Float64(&e.time) })
//	}
//
// On a [Codec] that writes, the variables that it names are stored; on one that
// reads, they are set. What is read is bounded: lengths by what the file holds,
// indices by the limits that the method gives. The first error sticks.
//
// Exported types do not show the codec: their SaveState(io.Writer) and
// RestoreState(io.Reader) call [Save] and [Restore] with such a method.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"reflect"
)

// ErrCorrupt marks the error of a file that is not what a Codec has written.
var ErrCorrupt = errors.New("corrupt checkpoint")

// ErrLayout marks the error of a file by a program whose state has other fields.
var ErrLayout = errors.New("written by another version of the program, whose state has other fields")

// Codec stores variables in a stream, or sets them from it. Integers are zigzag
// varints, floats their 8 bytes, little endian; nothing is aligned.
type Codec struct {
	w       io.Writer // nil: the codec reads
	r       io.Reader
	buf     []byte // reading: buf[at:] is not yet consumed; writing: not yet written
	at      int
	written int64
	section string // for errors
	err     error
}

// bufferSize is what a codec collects, in bytes; it is more than any one value takes.
const bufferSize = 32 << 10

// NewWriter returns a codec that writes to w. Flush ends it.
func NewWriter(w io.Writer) *Codec { return &Codec{w: w, buf: make([]byte, 0, bufferSize)} }

// NewReader returns a codec that reads from r.
func NewReader(r io.Reader) *Codec { return &Codec{r: r, buf: make([]byte, 0, bufferSize)} }

// Save writes the state that move stores to w. If w is a codec, as where the state is a
// part of a larger one, that goes on with it.
func Save(w io.Writer, move func(*Codec)) error {
	c, part := w.(*Codec)
	if !part {
		c = NewWriter(w)
	}
	move(c)
	if part {
		return c.err
	}
	return c.Flush()
}

// Restore sets the state that Save has written. If r is a codec, that goes on behind the
// state; of another reader more may be taken than belongs to it.
func Restore(r io.Reader, move func(*Codec)) error {
	c, part := r.(*Codec)
	if !part {
		c = NewReader(r)
	}
	move(c)
	return c.err
}

// Part moves the state of what is a part of a larger one.
func (c *Codec) Part(s interface {
	SaveState(w io.Writer) error
	RestoreState(r io.Reader) error
}) {
	if c.Reading() {
		c.Fail(s.RestoreState(c))
	} else {
		c.Fail(s.SaveState(c))
	}
}

// Write implements io.Writer, for the state of types that know no codec.
func (c *Codec) Write(p []byte) (int, error) {
	for done := 0; done < len(p) && c.err == nil; {
		n := min(len(p)-done, bufferSize)
		if buf := c.room(n); buf != nil {
			c.buf = append(buf, p[done:done+n]...)
			done += n
		}
	}
	if c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}

// Read implements io.Reader, for the state of types that know no codec.
func (c *Codec) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n := copy(p, c.ahead(1))
	c.at += n
	switch {
	case c.err != nil:
		return 0, c.err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Reading reports whether variables are set.
func (c *Codec) Reading() bool { return c.w == nil }

// Err returns the first error.
func (c *Codec) Err() error { return c.err }

// Fail makes err the codec's error, unless it has one. Later calls do nothing.
func (c *Codec) Fail(err error) {
	if c.err == nil && err != nil {
		c.err = err
		if c.section != "" {
			c.err = fmt.Errorf("%s: %w", c.section, err)
		}
	}
}

func (c *Codec) corrupt(format string, args ...any) {
	c.Fail(fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...)))
}

// Flush writes what has been collected and returns the first error.
func (c *Codec) Flush() error {
	if c.err == nil && c.w != nil && len(c.buf) > 0 {
		_, c.err = c.w.Write(c.buf)
		c.written += int64(len(c.buf))
		c.buf = c.buf[:0]
	}
	return c.err
}

// Section begins the part of the stream that is called name and holds values of
// the types of values. A reader fails unless these have the same fields as in the
// program that wrote.
func (c *Codec) Section(name string, values ...any) {
	c.section = ""
	found := name
	c.String(&found, len(name))
	if found != name {
		c.corrupt("section %q where %q begins", found, name)
	}
	c.section = name
	h := fnv.New64a()
	for _, v := range values {
		io.WriteString(h, layout(reflect.TypeOf(v)))
	}
	want := int64(h.Sum64())
	sum := want
	Int(c, &sum)
	if sum != want && c.err == nil {
		c.Fail(ErrLayout)
	}
}

// layout returns the names and types of the fields of a struct.
func layout(t reflect.Type) string {
	text := t.Name() + "{"
	for i := range t.NumField() {
		text += t.Field(i).Name + " " + t.Field(i).Type.String() + ";"
	}
	return text + "}"
}

// room returns a buffer with room for n more bytes; nil after an error.
func (c *Codec) room(n int) []byte {
	if cap(c.buf)-len(c.buf) < n {
		c.Flush()
	}
	if c.err != nil {
		return nil
	}
	return c.buf
}

// ahead makes n bytes available in buf[at:], or fewer at the end of the stream.
func (c *Codec) ahead(n int) []byte {
	for len(c.buf)-c.at < n && c.err == nil {
		left := copy(c.buf[:cap(c.buf)], c.buf[c.at:])
		c.at = 0
		m, err := c.r.Read(c.buf[left:cap(c.buf)])
		c.buf = c.buf[:left+m]
		if err == io.EOF {
			break
		}
		if err != nil {
			c.Fail(err)
		}
	}
	return c.buf[c.at:]
}

// end fails unless all has been read.
func (c *Codec) end() {
	if len(c.ahead(1)) > 0 {
		c.corrupt("there is more in it than it should hold")
	}
}

// Float64 moves a float64, all its bits.
func (c *Codec) Float64(v *float64) {
	if c.w != nil {
		if buf := c.room(8); buf != nil {
			c.buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(*v))
		}
		return
	}
	b := c.ahead(8)
	if len(b) < 8 {
		c.short()
		return
	}
	c.at += 8
	*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Range moves a float64 of [low, high]; after an error low is read. Writing another one
// fails too, as with Index.
func (c *Codec) Range(v *float64, low, high float64) {
	x := *v
	c.Float64(&x)
	if c.err == nil && !(x >= low && x <= high) {
		c.corrupt("%g out of [%g,%g]", x, low, high)
	}
	if c.w != nil {
		return
	}
	if c.err != nil {
		x = low
	}
	*v = x
}

// Amount is Range for a finite number that is not negative: a time, a size, a rate.
func (c *Codec) Amount(v *float64) { c.Range(v, 0, math.MaxFloat64) }

func (c *Codec) short() {
	if c.err == nil {
		c.corrupt("it ends too early")
	}
}

// Float64s moves the elements of a slice whose length both sides know.
func (c *Codec) Float64s(s []float64) {
	for i := range s {
		c.Float64(&s[i])
	}
}

// integer moves an integer, in 10 bytes at most.
func (c *Codec) integer(v int64) int64 {
	if c.w != nil {
		if buf := c.room(binary.MaxVarintLen64); buf != nil {
			c.buf = binary.AppendVarint(buf, v)
		}
		return v
	}
	b := c.ahead(1) // mostly all is there
	v, n := binary.Varint(b)
	if n == 0 {
		v, n = binary.Varint(c.ahead(binary.MaxVarintLen64))
	}
	if n <= 0 || c.err != nil {
		c.short()
		return 0
	}
	c.at += n
	return v
}

// Bool moves a bool.
func (c *Codec) Bool(v *bool) {
	n := int8(0)
	if *v {
		n = 1
	}
	Index(c, &n, 0, 2)
	if c.w == nil {
		*v = n != 0
	}
}

// String moves a string of at most limit bytes.
func (c *Codec) String(v *string, limit int) {
	n := len(*v)
	Index(c, &n, 0, limit+1)
	if c.w != nil {
		for _, b := range []byte(*v) {
			if buf := c.room(1); buf != nil {
				c.buf = append(buf, b)
			}
		}
		return
	}
	var text []byte
	for len(text) < n {
		b := c.ahead(1)
		if len(b) == 0 {
			c.short()
			return
		}
		m := min(n-len(text), len(b))
		text = append(text, b[:m]...)
		c.at += m
	}
	*v = string(text)
}

type anyInt interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32
}

// Int moves an integer of any value that its type has.
func Int[T anyInt](c *Codec, v *T) {
	n := c.integer(int64(*v))
	if c.w != nil {
		return
	}
	if int64(T(n)) != n {
		c.corrupt("%d is no %T", n, *v)
		return
	}
	*v = T(n)
}

// Ints is Int for all elements of a slice whose length both sides know.
func Ints[T anyInt](c *Codec, s []T) {
	for i := range s {
		Int(c, &s[i])
	}
}

// Index moves an integer of [low, high); after an error 0 is read. Writing another one
// fails too: no reader would take it.
func Index[T anyInt](c *Codec, v *T, low, high int) {
	n := c.integer(int64(*v))
	if c.err == nil && (n < int64(low) || n >= int64(high)) {
		c.corrupt("%d out of [%d,%d)", n, low, high)
	}
	if c.w != nil {
		return
	}
	if c.err != nil {
		n = 0
	}
	*v = T(n)
}

// Check fails on reading unless ok: what was read cannot be.
func (c *Codec) Check(ok bool, format string, args ...any) {
	if c.w == nil && c.err == nil && !ok {
		c.corrupt(format, args...)
	}
}

// Const fails unless the stream holds the number that both sides know: for lengths
// and the like.
func (c *Codec) Const(what string, want int) {
	if n := c.integer(int64(want)); n != int64(want) && c.err == nil {
		c.corrupt("%s: %d, want %d", what, n, want)
	}
}

// Slice moves a slice of at most limit elements, each by move. A reader makes it as
// long as the writer's was; it grows with what has been read.
func Slice[T any](c *Codec, s *[]T, limit int, move func(*T)) {
	n := len(*s)
	Index(c, &n, 0, limit+1)
	if c.w != nil {
		for i := range *s {
			move(&(*s)[i])
		}
		return
	}
	list := (*s)[:0]
	for len(list) < n && c.err == nil {
		var zero T
		list = append(list, zero)
		move(&list[len(list)-1])
	}
	*s = list
}
