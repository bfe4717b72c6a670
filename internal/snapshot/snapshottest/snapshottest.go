// Package snapshottest finds the fields that a type forgets to save.
//
// A field that is added to a type and not to its state method would come back empty from a checkpoint: a replay that
// goes on from it would differ from one in a single piece only in some runs, and late. [Fields] finds it at once.
package snapshottest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/internal/snapshot"
)

// Fields changes each field of base, a struct, in turn, and looks whether what move writes changes with it. It must,
// save for the derived fields (names between blanks), with which it must not. Pointers, functions, interfaces and maps
// can only be derived. Of a field that is a struct, move must write some part. At the end base is as it was.
func Fields[T any](t *testing.T, base *T, move func(*snapshot.State, *T), derived string) {
	t.Helper()
	names := strings.Fields(derived)
	v := reflect.ValueOf(base).Elem()
	before, err := written(base, move)
	if err != nil {
		t.Fatal(err)
	}
	differs := func() bool {
		now, err := written(base, move)
		return err != nil || !bytes.Equal(now, before)
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		saved := changes(v.Field(i), differs)
		if differs() {
			t.Fatalf("%T: %s has not been restored", *base, name)
		}
		switch at := slices.Index(names, name); {
		case at >= 0 && saved:
			t.Errorf("%T: %s is listed as derived, but saved", *base, name)
		case at < 0 && !saved && name != "_":
			t.Errorf("%T: %s is neither saved nor listed as derived", *base, name)
		case at >= 0:
			names = slices.Delete(names, at, at+1)
		}
	}
	for _, name := range names {
		t.Errorf("%T: there is no field %s", *base, name)
	}
}

// written returns what move writes. A value that cannot be may end in an error or a panic.
func written[T any](base *T, move func(*snapshot.State, *T)) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	var buf bytes.Buffer
	err = snapshot.Save(&buf, func(s *snapshot.State) { move(s, base) })
	return buf.Bytes(), err
}

// changes gives v another value and back, and reports what differs says in between.
// Of a slice and of an array an element is changed, of a slice also the length; of a struct one field after the other
// until something differs. Pointers and what cannot be written report no difference.
func changes(v reflect.Value, differs func() bool) bool {
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // now it can be set, exported or not
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	defer v.Set(old)
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		if v.Len() > 0 && changes(v.Index(0), differs) {
			return true
		}
		longer := reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1)
		reflect.Copy(longer, v)
		v.Set(longer)
	case reflect.Array:
		return v.Len() > 0 && changes(v.Index(0), differs)
	case reflect.Struct:
		for i := range v.NumField() {
			if changes(v.Field(i), differs) {
				return true
			}
		}
		return false
	default:
		return false
	}
	return differs()
}
