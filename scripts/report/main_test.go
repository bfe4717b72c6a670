package main

import (
	"strings"
	"testing"

	"reprise/platforms"
)

// TestChoose: parts are chosen by name, long runs with -long only, and the platforms are read.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		parts string
		long  bool
		want  int
	}{{"", false, 51}, {"", true, 68}, {"published", false, 2}, {"size,broadcasts", true, 10}, {"dense", true, 37}} {
		list, err := choose(t.TempDir(), c.parts, c.long)
		if err != nil || len(list) != c.want {
			t.Errorf("%q, %t: %d runs, %v; want %d", c.parts, c.long, len(list), err, c.want)
		}
	}
	if _, err := choose(t.TempDir(), "luck", false); err == nil {
		t.Error("no error")
	}
	list, err := choose(t.TempDir(), "broadcasts", false)
	if err != nil {
		t.Fatal(err)
	}
	p, err := platforms.Load(strings.TrimPrefix(list[0].replay, "--platform "))
	if err != nil || p.NumHosts() != 256 {
		t.Errorf("%v", err)
	}
}
