package jsonsize

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	l := Limits{Objects: 2, Values: 3, String: 5}
	for text, want := range map[string]string{
		`{"a":{"b":[1,2,3]},"c":4}`: "", `{"{,{{":",,,,,"}`: "", `["\"{{{"]`: "", `["\\",{},{}]`: "",
		`[{},{},{}]`: "more than 2 objects", `[1,2,3,4,5]`: "more than 3 values",
		`{"a":"123456"}`: "byte 6: a string of 6 bytes, want at most 5", `["12345`: "", `["1234567`: "byte 2: a string of 7 bytes, want at most 5", `["\`: "",
	} {
		if got := fmt.Sprint(l.Check([]byte(text))); got != want && !(want == "" && got == "<nil>") {
			t.Errorf("%s: %s, want %q", text, got, want)
		}
	}
	if err := l.Check([]byte(strings.Repeat("\x00", 1<<20))); err != nil {
		t.Error(err)
	}
}
