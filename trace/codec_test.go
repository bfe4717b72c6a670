package trace

import (
	"crypto/sha256"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// populate sets every field of v, and one element of every slice, to a value that
// is not zero; small enough for the narrowest fields.
func populate(v reflect.Value, next *int64) {
	*next = *next%100 + 1
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("x", int(*next)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*next) / 4)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(*next)
	case reflect.Uint8:
		v.SetUint(uint64(*next))
	case reflect.Array:
		for i := range v.Len() {
			populate(v.Index(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			populate(v.Index(i), next)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			populate(v.Field(i), next)
		}
	default:
		panic("trace: a field of kind " + v.Kind().String())
	}
}

// TestCodecForgetsNothing fails when a field is added to the header that the
// file does not hold.
func TestCodecForgetsNothing(t *testing.T) {
	var h Header
	populate(reflect.ValueOf(&h).Elem(), new(int64))
	for i := range h.CommFamilies {
		for j := range h.CommFamilies[i].Groups { // a group is a list or a range
			g := &h.CommFamilies[i].Groups[j]
			if j == 0 {
				*g = Group{Start: g.Start, Stride: g.Stride, Count: g.Count}
			} else {
				*g = Group{Ranks: g.Ranks}
			}
		}
	}
	plain := must(encodeHeader(&h, nil))
	got, _, err := decodeHeader(plain)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&h, got); diff != "" {
		t.Error(diff)
	}
}

func TestBlockCodecForgetsNothing(t *testing.T) {
	operands := []Operand{{3, -4}, {5, 1 << 40}}
	item := Item{Op: 200, Dst: 201, Slot: 202, Req: -7, Sym: 300, GuardSym: 301, Comm: 302, Args: operands, Coefs: []int64{-1, 1}, Guard: operands[1:]}
	for v, i := reflect.ValueOf(item), 0; i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Body" {
			t.Errorf("the test leaves out %s", name)
		}
	}
	nested := item
	nested.Body = []Item{item, {Op: 1}}
	blocks := []Block{{Name: "a", Params: 3, Items: []Item{nested}}, {Name: "b"}}
	plain := must(encodeDefinitions(blocks, nil))
	got, _, err := decodeDefinitions(plain)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(blocks, got); diff != "" {
		t.Error(diff)
	}
}

// withFeatures returns the example with other features in its header.
func withFeatures(t *testing.T, features ...string) []byte {
	frames, plains := records(t, exampleTrace(t))
	h, _, err := decodeHeader(plains[0])
	check(t, err)
	h.Tool = "tracegen 9.1"
	plain := must(encodeHeader(h, features))
	plains[0], frames[0].hash = plain, sha256.Sum256(plain)
	return assemble(t, frames, plains)
}

func TestUnknownFeaturesAreRefusedByName(t *testing.T) {
	data := withFeatures(t, "tea", "vectors", "vectors:pivot-owners/2")
	for way, read := range ways {
		want := `x: offset 24: header: unknown feature "tea", "vectors:pivot-owners/2": made by a newer tracegen ("tracegen 9.1") than this program: use one as new`
		if err := read(data); !errors.Is(err, ErrFeature) || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", way, err, want)
		}
	}
}

func TestFeaturesThatAreWrong(t *testing.T) {
	for want, features := range map[string][]string{
		"uses vectors, which the features do not list":        {"polls"},
		`feature "polls" is listed again, or out of order`:    {"polls", "polls", "vectors"},
		`feature "vectors" is listed again, or out of order`:  {"vectors", "vectors"},
		`feature "requests" is listed again, or out of order`: {"vectors", "requests"},
	} {
		for way, read := range ways {
			if err := read(withFeatures(t, features...)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want …%s…", way, err, want)
			}
		}
	}
}
