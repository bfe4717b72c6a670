package netmodel

import (
	"reflect"
	"slices"
	"testing"
)

// TestSettingsAreComplete: each exported option shows in the settings, by a name that Set
// understands.
func TestSettingsAreComplete(t *testing.T) {
	base := DefaultOptions()
	before := base.Settings()
	for i := range reflect.TypeOf(base).NumField() {
		field := reflect.TypeOf(base).Field(i)
		if !field.IsExported() {
			continue
		}
		o := DefaultOptions()
		change(t, reflect.ValueOf(&o).Elem().Field(i))
		changed := 0
		for k, s := range o.Settings() {
			if s != before[k] {
				changed++
				if !slices.Contains(OptionNames(), s.Name) && field.Name != "CollAlgorithms" {
					t.Errorf("%s: Set does not know %s", field.Name, s.Name)
				}
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
