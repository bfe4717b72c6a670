package foreign_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/trace/text"
	"reprise/trace/verify"
	"reprise/trace/warning"
	"reprise/tracegen/foreign"
)

// inDir writes files to a directory of the test and returns the path of the first.
func inDir(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(files[i+1]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, files[0])
}

// convert converts a file, and reads the trace.
func convert(format, name string) (*trace.Trace, []warning.Warning, error) {
	var out bytes.Buffer
	warnings, err := foreign.Convert(&out, format, name, foreign.Options{})
	if err != nil {
		return nil, warnings, err
	}
	t, err := trace.NewReaderAt(bytes.NewReader(out.Bytes()), int64(out.Len()), name)
	return t, warnings, err
}

// listings returns the listing of each rank, without the line of its name.
func listings(t testing.TB, tr *trace.Trace) []string {
	t.Helper()
	var list []string
	for r := range tr.Header().Ranks {
		var b bytes.Buffer
		if err := text.WriteListings(&b, tr, []int32{int32(r)}, trace.CursorOptions{Markers: true}, trace.Hit{}, text.Words{}); err != nil {
			t.Fatal(err)
		}
		_, lines, _ := strings.Cut(b.String(), "\n")
		list = append(list, lines)
	}
	return list
}

// wantListings compares what a file becomes with the listings of its ranks, whose lines begin with blanks.
func wantListings(t *testing.T, format, name string, want ...string) []warning.Warning {
	t.Helper()
	tr, warnings, err := convert(format, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verify.Trace(tr, nil); err != nil {
		t.Error(err)
	}
	got := listings(t, tr)
	for r := range want {
		lines := regexp.MustCompile(`(?m)^\s+`).ReplaceAllString(want[r], "")
		if diff := cmp.Diff(lines, strings.TrimRight(got[r], "\n")+"\n"); diff != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, diff)
		}
	}
	return warnings
}

// wantError wants an error with words, in which NAME is the path of the file.
func wantError(t *testing.T, format, name, want string) {
	t.Helper()
	_, _, err := convert(format, name)
	want = strings.ReplaceAll(want, "DIR", filepath.Dir(name))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
