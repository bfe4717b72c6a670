package main

import (
	"strings"
	"testing"

	"reprise/trace"
)

// TestPageWithoutPath: a page of so many kernels in so many phases that there can be no critical path
// goes without, and says so.
func TestPageWithoutPath(t *testing.T) {
	var told strings.Builder
	p := &pageFile{path: "run.html", settings: &settings{}, stderr: &told}
	if p.findsPath(&input{header: &trace.Header{Ranks: 1, Kernels: make([]trace.Kernel, 1<<12), Phases: make([]string, 1<<11)}}) {
		t.Error("has one")
	}
	if !strings.Contains(told.String(), "run.html has no critical path: ") {
		t.Errorf("told %q", told.String())
	}
	if told.Reset(); !p.findsPath(&input{header: &trace.Header{Ranks: 1}}) || told.Len() > 0 {
		t.Errorf("told %q", told.String())
	}
}
