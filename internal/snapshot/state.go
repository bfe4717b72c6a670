// Package snapshot writes the state of a program to a file and reads it back.
//
// A type with state has one method that serves both directions:
//
//	func (q *queue) state(s *snapshot.State) {
//		s.Section("queue")
//		s.Vars(&q.length, &q.name)
//		snapshot.Slice(s, &q.events, func(e *event) { s.Vars(&e.time, &e.rank) })
//	}
//
// A [State] that writes stores the variables that the method names; one that reads sets them. The method lists each
// variable once, so that both directions agree. The first error sticks, and later calls do nothing.
//
// A file is trusted once its checksum has been verified (see [Read]): values are not checked
// again. The caller must see to it that the program that reads has the same types ([Layout]).
//
// Exported types do not show the State in their interface: their SaveState(io.Writer) and
// RestoreState(io.Reader) call [Save] and [Restore] with such a method.
package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"reflect"
	"strings"
)

// ErrCorrupt marks the error of a file that is damaged, or is not one that Write has written.
var ErrCorrupt = errors.New("corrupt checkpoint")

// State moves variables to a stream, or from one. Integers are zigzag varints, floats their 8 bytes,
// little endian; nothing is aligned.
type State struct {
	w       io.Writer // nil: the State reads
	buf     []byte    // not yet written
	r       *bufio.Reader
	section string // for errors
	err     error
}

const (
	bufferSize = 32 << 10      // bytes
	maxLength  = math.MaxInt32 // of a slice
)

// Save writes the state that move stores. If w is a State, the state becomes a part of that one's.
func Save(w io.Writer, move func(*State)) error {
	s, part := w.(*State)
	if !part {
		s = &State{w: w, buf: make([]byte, 0, 2*bufferSize)}
	}
	if move(s); !part {
		s.flush()
	}
	return s.err
}

// flush writes the buffer.
// The first error stays; what comes after it is dropped.
func (s *State) flush() {
	if s.err == nil {
		_, s.err = s.w.Write(s.buf)
	}
	s.buf = s.buf[:0]
}

// stored takes the buffer after a value was appended.
// Its capacity is twice the size at which it is written, so that appending seldom moves it.
func (s *State) stored(buf []byte) {
	if s.buf = buf; len(buf) >= bufferSize {
		s.flush()
	}
}

// Restore sets the state that Save has written. If r is a State, no more is taken from it than Save
// has written; more may be taken from another reader.
func Restore(r io.Reader, move func(*State)) error {
	s, part := r.(*State)
	if !part {
		s = &State{r: bufio.NewReaderSize(r, bufferSize)}
	}
	move(s)
	return s.err
}

// Part moves the state of a part that has an interface of its own.
func (s *State) Part(part interface {
	SaveState(w io.Writer) error
	RestoreState(r io.Reader) error
}) {
	switch {
	case s.err != nil:
	case s.w != nil:
		s.Fail(part.SaveState(s))
	default:
		s.Fail(part.RestoreState(s))
	}
}

// Write implements io.Writer, for parts that do not use this package.
func (s *State) Write(p []byte) (int, error) {
	if s.stored(append(s.buf, p...)); s.err != nil {
		return 0, s.err
	}
	return len(p), nil
}

// Read implements io.Reader, for parts that do not use this package.
func (s *State) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	return s.r.Read(p)
}

// Reading reports whether variables are set.
func (s *State) Reading() bool { return s.w == nil }

// Err returns the first error.
func (s *State) Err() error { return s.err }

// Fail makes err the error of the State, unless it has one.
func (s *State) Fail(err error) {
	if s.err == nil && err != nil {
		s.err = err
		if s.section != "" {
			s.err = fmt.Errorf("%s: %w", s.section, err)
		}
	}
}

// Section begins the part of the stream that is called name. The name is stored, so that a reader
// that has lost its place stops soon; errors begin with it.
func (s *State) Section(name string) {
	found := name
	s.Vars(&found)
	if found != name {
		s.Fail(fmt.Errorf("%w: it has %q in place of the part %q", ErrCorrupt, found, name))
	}
	s.section = name
}

// Vars moves the variables that pointers lead to, of any type whose kind is a boolean, a number or a string, and
// slices, arrays and exported fields of these. A slice of the length that was stored is set in place.
func (s *State) Vars(pointers ...any) {
	for _, p := range pointers {
		switch v := p.(type) { // what is frequent does without reflection
		case *float64:
			s.float(v)
		case *int64:
			s.integer(v)
		case *int32:
			moveInt(s, v)
		case *uint32: // ^0 often stands for none, and is short as -1
			n := int32(*v)
			moveInt(s, &n)
			*v = uint32(n)
		case *uint8:
			moveInt(s, v)
		case *int:
			moveInt(s, v)
		case *bool:
			n := uint8(0)
			if *v {
				n = 1
			}
			moveInt(s, &n)
			*v = n != 0
		case *[]float64:
			Slice(s, v, s.float)
		case *[]int64:
			Slice(s, v, s.integer)
		case *[]int32:
			Slice(s, v, func(n *int32) { moveInt(s, n) })
		default:
			s.value(reflect.ValueOf(p).Elem())
		}
	}
}

// value moves a variable of any type.
// Reflection sets exported fields only: a type with others has a state method, which names them. Maps, pointers and
// functions are a mistake of the program, not of a file, and so a panic.
func (s *State) value(v reflect.Value) {
	n := int64(0)
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			n = 1
		}
		if s.integer(&n); s.w == nil {
			v.SetBool(n != 0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n = v.Int()
		if s.integer(&n); s.w == nil {
			v.SetInt(n)
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n = int64(v.Uint())
		if s.integer(&n); s.w == nil {
			v.SetUint(uint64(n))
		}
	case reflect.Float32, reflect.Float64:
		x := v.Float()
		if s.float(&x); s.w == nil {
			v.SetFloat(x)
		}
	case reflect.String:
		text := []byte(v.String())
		if Slice(s, &text, func(b *byte) { moveInt(s, b) }); s.w == nil {
			v.SetString(string(text))
		}
	case reflect.Slice:
		if n := s.length(v.Len()); n != v.Len() {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			s.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.value(v.Field(i))
		}
	default:
		panic(fmt.Sprintf("snapshot: a %v cannot be saved", v.Type()))
	}
}

// Slice moves a slice, each element by move. A slice of the length that was stored is set in place: fields
// that move leaves out keep their values. Elements of another one are new.
func Slice[T any](s *State, list *[]T, move func(*T)) {
	if n := s.length(len(*list)); n != len(*list) {
		*list = make([]T, n)
	}
	for i := range *list {
		if s.err != nil {
			return
		}
		move(&(*list)[i])
	}
}

// length moves the length of a slice. After an error it is n.
// So a slice stays as it is where nothing could be read.
func (s *State) length(n int) int {
	stored := int64(n)
	s.integer(&stored)
	if stored < 0 || stored > maxLength {
		s.Fail(fmt.Errorf("%w: a list of %d elements", ErrCorrupt, stored))
	}
	if s.err != nil {
		return n
	}
	return int(stored)
}

// float moves the bits of a float, so that NaN and -0 stay as they are.
func (s *State) float(v *float64) {
	switch {
	case s.err != nil:
	case s.w != nil:
		s.stored(binary.LittleEndian.AppendUint64(s.buf, math.Float64bits(*v)))
	default:
		b, err := s.r.Peek(8)
		if len(b) < 8 {
			s.ends(err)
			return
		}
		*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
		s.r.Discard(8)
	}
}

// moveInt moves an integer of any size as an int64.
func moveInt[T ~int | ~int32 | ~uint8](s *State, v *T) {
	n := int64(*v)
	if s.integer(&n); s.w == nil {
		*v = T(n)
	}
}

// integer moves an integer as a zigzag varint: small ones of either sign take one byte.
func (s *State) integer(v *int64) {
	switch {
	case s.err != nil:
	case s.w != nil:
		s.stored(binary.AppendVarint(s.buf, *v))
	default:
		b, err := s.r.Peek(binary.MaxVarintLen64) // the end of the stream may be nearer
		n, size := binary.Varint(b)
		if size <= 0 {
			s.ends(err)
			return
		}
		*v = n
		s.r.Discard(size)
	}
}

// ends fails because the stream has ended, or err.
func (s *State) ends(err error) {
	if err == nil || err == io.EOF {
		err = fmt.Errorf("%w: it ends too early", ErrCorrupt)
	}
	s.Fail(err)
}

// Layout names the types of values by a hash of all fields of this module's types, and of what its named types
// are, that can be reached from them, but not of what is behind an interface: programs with the same layout read each
// other's files.
func Layout(values ...any) string {
	var text strings.Builder
	seen := map[reflect.Type]bool{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		if t.Kind() != reflect.Struct { // a name does not say what it stands for
			fmt.Fprintf(&text, "%v %v;", t, t.Kind())
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			if t.Kind() == reflect.Array {
				fmt.Fprintf(&text, "%d ", t.Len())
			}
			fmt.Fprintf(&text, "of %v;", t.Elem())
			add(t.Elem())
		case reflect.Struct:
			if !strings.HasPrefix(t.PkgPath(), "reprise/") {
				return
			}
			fmt.Fprintf(&text, "%v{", t)
			for i := range t.NumField() {
				fmt.Fprintf(&text, "%s %v;", t.Field(i).Name, t.Field(i).Type)
			}
			text.WriteString("}")
			for i := range t.NumField() {
				add(t.Field(i).Type)
			}
		}
	}
	for _, v := range values {
		if v != nil {
			add(reflect.TypeOf(v))
		}
	}
	h := fnv.New64a()
	io.WriteString(h, text.String())
	return fmt.Sprintf("%016x", h.Sum64())
}
