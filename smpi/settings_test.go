package smpi

import (
	"reflect"
	"testing"
)

// TestSettingsAreComplete: each exported option shows in the settings, by a name that Set
// understands.
func TestSettingsAreComplete(t *testing.T) {
	base := DefaultOptions()
	before := base.Settings()
	for _, field := range reflect.VisibleFields(reflect.TypeOf(base)) {
		if !field.IsExported() || field.Anonymous {
			continue
		}
		o := DefaultOptions()
		if field.Name == "CollAlgorithms" { // an option for each operation
			o.CollAlgorithms = []CollAlgorithm{{"bcast", "x"}}
		} else {
			change(t, reflect.ValueOf(&o).Elem().FieldByIndex(field.Index))
		}
		changed := 0
		for k, s := range o.Settings() {
			if s != before[k] {
				changed++
			}
		}
		if changed != 1 {
			t.Errorf("%s: %d settings change with it, want 1", field.Name, changed)
		}
	}
}

// change gives a field another value.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Uint8:
		v.SetUint(v.Uint() + 1)
	case reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.5)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	default:
		t.Fatalf("%v: extend the test", v.Type())
	}
}
