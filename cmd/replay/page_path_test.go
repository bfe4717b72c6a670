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
	h := &trace.Header{Ranks: 1, Kernels: make([]trace.Kernel, 1<<12), Phases: make([]string, 1<<11)}
	j := &job{in: &input{header: h}, stderr: &told}
	if j.pageFindsPath("run.html") {
		t.Error("has one")
	}
	if !strings.Contains(told.String(), "run.html has no critical path: ") {
		t.Errorf("told %q", told.String())
	}
	told.Reset()
	if j.in.header = (&trace.Header{Ranks: 1}); !j.pageFindsPath("run.html") || told.Len() > 0 {
		t.Errorf("told %q", told.String())
	}
}
