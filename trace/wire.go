package trace

import (
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file reads and writes the messages of a file, which are protobuf (proto/trace.proto). Each type has a method
// that names its fields, by number and in their order, and serves both ways (codec.go); definitions, of which large
// traces consist, are read by a quicker way of their own (definitions.go).

// message is one that is being written, or read field by field.
type message struct {
	out []byte // what is written; fields of 0 and empty ones are left out, as they take no bytes

	reading bool
	fields           // that are read; before the first its tag is 0, so that a type can set what a missing field stands for
	powers  []uint32 // of a Term that is read
}

// marshal returns the bytes of a message. They only depend on its fields, since content is named by a hash and equal
// traces must be equal files.
func marshal(wire func(*message)) ([]byte, error) {
	var m message
	wire(&m)
	return m.out, m.err
}

// unmarshal reads a message. It leaves out fields that it does not know: what a reader must know has a feature. Added
// fields that change the meaning of old ones come with a new feature, by which an older reader refuses the file.
func unmarshal(b []byte, wire func(*message)) error {
	m := message{reading: true, fields: fields{rest: b}}
	for wire(&m); m.err == nil && m.next(); {
		wire(&m)
	}
	return m.err
}

// reads reports whether the field that is read is field n, in this form: a number, bytes or a float64.
func (m *message) reads(n, form uint64) bool { return m.tag == n<<tagShift|form }

// varint writes a number.
func (m *message) varint(n, v uint64) {
	if v != 0 {
		m.out = protowire.AppendVarint(protowire.AppendVarint(m.out, n<<tagShift|tagNumber), v)
	}
}

// append writes bytes.
func (m *message) append(n uint64, b []byte) {
	if len(b) > 0 {
		m.out = protowire.AppendBytes(protowire.AppendVarint(m.out, n<<tagShift|tagBytes), b)
	}
}

// signedList writes a list of numbers that may be below 0.
func (m *message) signedList(n uint64, list []int64) {
	if len(list) > 0 {
		m.append(n, appendVarints(nil, list))
	}
}

// number is a field with a number, of as many bits as its type; one of an int is at least 0, and read as fit has it.
func number[T int | int32 | int64 | uint32 | uint64](m *message, n uint64, v *T) {
	if !m.reading {
		m.varint(n, uint64(*v))
	} else if m.reads(n, tagNumber) {
		*v = fit[T](m.value)
	}
}

// fit returns a number of the file as one of a type: as many bits as it has, or, of an int, -1 if it is larger than
// 2^31-1, which the check of what was read reports.
func fit[T int | int32 | int64 | uint32 | uint64](v uint64) T {
	if _, isInt := any(T(0)).(int); isInt && v > math.MaxInt32 {
		return ^T(0)
	}
	return T(v)
}

// numbers is a field with a list of such numbers. It may come in parts.
func numbers[T int | int32 | uint32](m *message, n uint64, list *[]T) {
	switch {
	case !m.reading:
		var b []byte
		for _, v := range *list {
			b = protowire.AppendVarint(b, uint64(v))
		}
		m.append(n, b)
	case m.reads(n, tagNumber):
		*list = append(*list, fit[T](m.value))
	case m.reads(n, tagBytes):
		for b := m.bytes; len(b) > 0; {
			v, size := protowire.ConsumeVarint(b)
			if size < 0 {
				m.fail(size)
				return
			}
			*list, b = append(*list, fit[T](v)), b[size:]
		}
	}
}

// signed is a field with a number that may be below 0.
func (m *message) signed(n uint64, v *int32) {
	if !m.reading {
		m.varint(n, zigzag(int64(*v)))
	} else if m.reads(n, tagNumber) {
		*v = int32(unzigzag(m.value & math.MaxUint32))
	}
}

// axis is a field with 1 + the index of an axis; 0, which takes no bytes, stands for another value.
func (m *message) axis(n uint64, axis *int, other int) {
	switch {
	case !m.reading:
		m.varint(n, uint64(max(*axis, -1)+1))
	case m.tag == 0:
		*axis = other
	case m.reads(n, tagNumber):
		if *axis = fit[int](m.value) - 1; m.value == 0 {
			*axis = other
		}
	}
}

// blob is a field with bytes. Those that are read are a part of the message.
func (m *message) blob(n uint64, v *[]byte) {
	if !m.reading {
		m.append(n, *v)
	} else if m.reads(n, tagBytes) {
		*v = m.bytes
	}
}

// flag is a field with a truth value.
func (m *message) flag(n uint64, v *bool) {
	if !m.reading && *v {
		m.varint(n, 1)
	} else if m.reads(n, tagNumber) {
		*v = m.value != 0
	}
}

// double is a field with a float64.
func (m *message) double(n uint64, v *float64) {
	if !m.reading && math.Float64bits(*v) != 0 {
		m.out = protowire.AppendFixed64(protowire.AppendVarint(m.out, n<<tagShift|tagFloat), math.Float64bits(*v))
	} else if m.reads(n, tagFloat) {
		*v = math.Float64frombits(m.value)
	}
}

// text is a field with a text in UTF-8.
func (m *message) text(n uint64, v *string) {
	if !m.reading {
		m.append(n, m.valid(*v))
	} else if m.reads(n, tagBytes) {
		*v, m.err = text(m.bytes)
	}
}

// texts is a field with a list of texts, which may be empty.
func (m *message) texts(n uint64, list *[]string) {
	switch {
	case !m.reading:
		for _, s := range *list {
			m.out = protowire.AppendBytes(protowire.AppendVarint(m.out, n<<tagShift|tagBytes), m.valid(s))
		}
	case m.reads(n, tagBytes):
		var s string
		s, m.err = text(m.bytes)
		*list = append(*list, s)
	}
}

// valid returns a text to be written.
func (m *message) valid(s string) []byte {
	if !utf8.ValidString(s) {
		m.err = fmt.Errorf("%q is not UTF-8", s[:min(len(s), 64)])
	}
	return []byte(s)
}

// list is a field with a list of messages. Lists keep their order, as other records refer to their elements by index.
func list[T any](m *message, n uint64, items *[]T, wire func(*T, *message)) {
	switch {
	case !m.reading:
		for i := range *items {
			m.part(n, func(part *message) { wire(&(*items)[i], part) })
		}
	case m.reads(n, tagBytes):
		var item T
		m.err = unmarshal(m.bytes, func(part *message) { wire(&item, part) })
		*items = append(*items, item)
	}
}

// part writes a message in a field, and returns its bytes.
func (m *message) part(n uint64, wire func(*message)) int {
	var part message
	wire(&part)
	if part.err != nil {
		m.err = part.err
	}
	m.out = protowire.AppendBytes(protowire.AppendVarint(m.out, n<<tagShift|tagBytes), part.out)
	return len(part.out)
}

// text returns bytes as text, as protobuf's own decoder does: it refuses what is not UTF-8.
// The error quotes the beginning only, as the text may be as large as the record.
func text(b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", corruptf("%q is not UTF-8", b[:min(len(b), 64)])
	}
	return string(b), nil
}

// fields goes through the fields of a message on the wire (next). After a mistake in the message there is no next
// field, and err says what is wrong.
type fields struct {
	rest  []byte
	tag   uint64 // of the field: its number, and how it is written
	value uint64 // of a number, or the bits of a float64
	bytes []byte // of a text, a message, or numbers in a row
	err   error
}

// Tags of fields: number<<tagShift | how it is written.
const (
	tagShift  = 3
	tagNumber = uint64(protowire.VarintType)
	tagFloat  = uint64(protowire.Fixed64Type)
	tagBytes  = uint64(protowire.BytesType)
)

// next goes to the next field. It returns false at the end of the message and at the first mistake. Bytes of the
// field stay where they are: f.bytes is a part of the message.
func (f *fields) next() bool {
	if len(f.rest) == 0 || f.err != nil {
		return false
	}
	if f.short() {
		return true
	}
	number, kind, n := protowire.ConsumeTag(f.rest)
	if number > protowire.MaxValidNumber {
		f.err = corruptf("field %d, at most %d", number, protowire.MaxValidNumber)
		return false
	}
	if n < 0 {
		return f.fail(n)
	}
	f.rest, f.tag = f.rest[n:], uint64(number)<<tagShift|uint64(kind)
	switch kind {
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(f.rest)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(f.rest)
	case protowire.Fixed64Type:
		f.value, n = protowire.ConsumeFixed64(f.rest)
	default: // no field of ours: a reader passes over what it does not know
		n = protowire.ConsumeFieldValue(number, kind, f.rest)
	}
	if n < 0 {
		return f.fail(n)
	}
	f.rest = f.rest[n:]
	return true
}

// short reads a field of the common form: a field number below 16, and a number or length below
// 128, each in a byte of its own. Nearly all fields of definitions have it. For any other field it
// changes nothing that next relies on, and returns false.
func (f *fields) short() bool {
	const long = 0x80 // bit of a byte behind which there is more
	b := f.rest
	if len(b) < 2 || (b[0]|b[1])&long != 0 || b[0]>>tagShift == 0 {
		return false
	}
	size := 0
	switch f.tag = uint64(b[0]); f.tag & (1<<tagShift - 1) {
	case tagNumber:
		f.value = uint64(b[1])
	case tagBytes:
		if size = int(b[1]); size > len(b)-2 {
			return false
		}
		f.bytes = b[2 : 2+size]
	default:
		return false
	}
	f.rest = b[2+size:]
	return true
}

// fail notes why a field cannot be read; there is no next one then.
func (f *fields) fail(code int) bool {
	f.err = corruptf("%v", protowire.ParseError(code))
	return false
}

// appendSigned appends a signed number, or those of a field that has several in a row.
func (f *fields) appendSigned(to []int64) []int64 {
	if f.tag&(1<<tagShift-1) == tagNumber {
		return append(to, unzigzag(f.value))
	}
	for b := f.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			f.fail(n)
			return to
		}
		to, b = append(to, unzigzag(v)), b[n:]
	}
	return to
}

// count returns how many fields of a message have a tag.
// It counts up to the first mistake, which the pass that reads the fields finds again.
func count(message []byte, tag uint64) (n int) {
	for f := (fields{rest: message}); f.next(); {
		if f.tag == tag {
			n++
		}
	}
	return n
}
