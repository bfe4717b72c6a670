package trace

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// fields goes through the fields of a message on the wire. Of a wrong message there is no
// next field, and err says why.
type fields struct {
	rest  []byte
	tag   uint64 // of the field: its number, and how it is written
	value uint64 // of a number
	bytes []byte // of a text, a message, or numbers in a row
	err   error
}

// Tags of fields: number<<tagShift | how it is written.
const (
	tagShift  = 3
	tagNumber = uint64(protowire.VarintType)
	tagBytes  = uint64(protowire.BytesType)
)

// next goes to the next field.
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
	default: // no field of ours: a reader passes over what it does not know
		n = protowire.ConsumeFieldValue(number, kind, f.rest)
	}
	if n < 0 {
		return f.fail(n)
	}
	f.rest = f.rest[n:]
	return true
}

// short is next for nearly all fields of definitions: a number below 16 and a value, or a
// length, below 128 are a byte each. It is false for all others.
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
func count(message []byte, tag uint64) (n int) {
	for f := (fields{rest: message}); f.next(); {
		if f.tag == tag {
			n++
		}
	}
	return n
}
