package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reprise/report"
	"reprise/trace"
)

// TestReportOfInterrupted: a replay that a signal ends writes its report, labelled, and so does
// what goes on from its checkpoint.
func TestReportOfInterrupted(t *testing.T) {
	t.Parallel()
	path, dir := keptTrace(t), t.TempDir()
	state, page := filepath.Join(dir, "state"), filepath.Join(dir, "run.html")
	table := filepath.Join(dir, "run.csv")
	p := start(t, "--quiet", "--json", "--checkpoint", state, "--report", page, "--table", table, path)
	await(t, state)
	noError(t, p.Process.Signal(syscall.SIGTERM))
	if err := p.Wait(); err == nil {
		t.Fatal("the replay ended before the signal")
	}
	d := readPage(t, page)
	if at, ok := p.result(t)["makespan_s"].(float64); !ok || d.Answer.Makespan != at {
		t.Errorf("%v s in the report, want %v s", d.Answer.Makespan, at)
	}
	if !slices.ContainsFunc(d.Labels, func(l string) bool { return strings.HasPrefix(l, "interrupted at ") }) || d.Record == nil {
		t.Errorf("labels %q, record %v", d.Labels, d.Record)
	}

	rows, err := os.ReadFile(table)
	noError(t, err)
	if cut := strings.Count(string(rows), ",false,"); cut != 48 {
		t.Errorf("%d rows that are not complete, want one of each of 48 ranks", cut)
	}

	resumed := start(t, "--quiet", "--json", "--resume", state, "--report", page, path)
	if err := resumed.Wait(); err != nil {
		t.Fatal(err, resumed.stderr.String())
	}
	d = readPage(t, page)
	if len(d.Labels) != 1 || !strings.HasPrefix(d.Labels[0], "resumed from a checkpoint") || d.Path != nil {
		t.Errorf("labels %q, path %v", d.Labels, d.Path)
	}
}

// readPage returns the data of a page of one run.
func readPage(t *testing.T, path string) *report.Data {
	t.Helper()
	f, err := os.Open(path)
	noError(t, err)
	defer f.Close()
	runs, err := report.Read(f)
	if err != nil || len(runs) != 1 {
		t.Fatal(len(runs), err)
	}
	return runs[0]
}

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
