package typedarray_test

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/report/typedarray"
)

// TestThereAndBack: what is packed comes back, of each size.
func TestThereAndBack(t *testing.T) {
	text, err := json.Marshal(typedarray.Of([]float64{1.5, -2, 1e300}))
	if err != nil {
		t.Fatal(err)
	}
	var b typedarray.Bytes
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	values, err := typedarray.Values[float64](b)
	if diff := cmp.Diff([]float64{1.5, -2, 1e300}, values); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := typedarray.Values[float64](b[:7]); err == nil {
		t.Error("7 bytes taken for numbers of 8")
	}
	if _, err := typedarray.Values[float32](b[:7]); err == nil {
		t.Error("7 bytes taken for numbers of 4")
	}
	if diff := cmp.Diff(typedarray.Bytes{1, 0, 2, 1, 3, 0, 0, 0}, append(typedarray.Of([]uint16{1, 258}), typedarray.Of([]uint32{3})...)); diff != "" {
		t.Errorf("integers (-want +got):\n%s", diff)
	}
}

// TestForged: text that is no column, or one of more than MaxSize, is an error.
func TestForged(t *testing.T) {
	var b typedarray.Bytes
	for _, text := range []string{`3`, `"*"`, `"AAAA"`, `{}`} {
		if err := json.Unmarshal([]byte(text), &b); err == nil {
			t.Errorf("%s taken for a column", text)
		}
	}
	var deflated bytes.Buffer
	w, err := flate.NewWriter(&deflated, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range typedarray.MaxSize/len(zeros) + 1 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(deflated.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &b); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("got %v, want an error of the size", err)
	}
}
