package warning

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSONIsText(t *testing.T) {
	got, err := json.Marshal([]Warning{New("odd"), At("a.xml", 0, "odd"), At("a.xml", 3, "odd %d", 1)})
	if err != nil {
		t.Fatal(err)
	}
	if want := `["odd","a.xml: odd","a.xml:3: odd 1"]`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestListKeepsEachOnceAndNotTooMany(t *testing.T) {
	var l List
	for i := range MaxKept + 5 {
		l.Add(New("w%d", i), New("w%d", i))
	}
	all := l.All()
	if len(all) != MaxKept+1 {
		t.Fatalf("%d warnings, want %d", len(all), MaxKept+1)
	}
	// The last five are no longer known when they come again.
	if got, want := all[MaxKept].Text, "10 more warnings are not shown"; got != want {
		t.Errorf("last is %q, want %q", got, want)
	}
	if none := new(List).All(); none == nil || len(none) != 0 {
		t.Errorf("an empty list is %#v, want an empty slice", none)
	}
}

func TestOfFindsAllInOrder(t *testing.T) {
	a, b, c := New("a"), New("b"), New("c")
	inner := With(errors.New("inner"), []Warning{a})
	err := errors.Join(With(fmt.Errorf("outer: %w", inner), []Warning{b, a}), With(errors.New("other"), []Warning{c}))
	if diff := cmp.Diff([]Warning{a, b, c}, Of(err)); diff != "" {
		t.Error(diff)
	}
	if Of(errors.New("plain")) != nil || Of(nil) != nil || With(nil, []Warning{a}) != nil {
		t.Error("warnings or an error from nothing")
	}
}
