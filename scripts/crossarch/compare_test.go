package main

import (
	"strings"
	"testing"
)

func TestCompareJSON(t *testing.T) {
	const amd64 = `{"ranks": [{"end_s": 0.1}, {"end_s": 0.30000000000000004}], "wall_s": 1}`
	for _, c := range []struct{ arm64, want string }{
		{`{"wall_s": 2, "ranks": [{"end_s": 0.1}, {"end_s": 0.30000000000000004}]}`, ""},
		{`{"wall_s": 2, "ranks": [{"end_s": 0.1}, {"end_s": 0.3}]}`, ".ranks[1].end_s: amd64 0.30000000000000004, arm64 0.3"},
		{`{"wall_s": 2, "ranks": [{"end_s": 0.1}]}`, ".ranks: amd64 "},
		{`{"wall_s": 2, "rank": 0}`, ".ranks: amd64 "},
		{`{"wall_s": 2}`, ": amd64 "},
		{`[`, "arm64: "},
	} {
		err := compareJSON([]byte(amd64), []byte(c.arm64))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.arm64, err, c.want)
		}
	}
}

func TestCompareBytes(t *testing.T) {
	if err := compareBytes([]byte("trace"), []byte("trace")); err != nil {
		t.Error(err)
	}
	for arm64, want := range map[string]string{"trice": `byte 2 of 5 and 5: amd64 "ace", arm64 "ice"`, "tra": `byte 3 of 5 and 3: amd64 "ce", arm64 ""`} {
		if err := compareBytes([]byte("trace"), []byte(arm64)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", arm64, err, want)
		}
	}
}
