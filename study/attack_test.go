package study

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"reprise/internal/regular/regulartest"
)

// TestSpecialInDirectory: special files where a study's directory has its plan and its inputs are
// an error that names them; those in place of leases, of files of workers and of checkpoints end
// no worker.
func TestSpecialInDirectory(t *testing.T) {
	text := strings.Replace(smallStudy, "machine: dahu", "platform: ../platforms/machines/dahu/platform.xml\nkernels: dahu", 1)
	regulartest.Special(t, func(t *testing.T, what string, put func(string)) {
		p := studyIn(t, text)
		path := filepath.Join(p.Dir(), PlanFile)
		plan := readFile(t, path)
		noError(t, os.Remove(path))
		put(path)
		want := path + ": want a regular file, this is " + what
		exactly(t, errOf(Open(p.Dir(), "test")), want)
		exactly(t, errOf(p.Create(p.Dir())), want)
		noError(t, os.Remove(path))
		noError(t, os.WriteFile(path, plan, 0o666))
		id := p.Runs[0].ID
		for _, dir := range []string{"workers", "leases", checkpointsDir, journalsDir} {
			noError(t, os.MkdirAll(filepath.Join(p.Dir(), dir), 0o777))
		}
		checkpoint := filepath.Join(p.Dir(), checkpointsDir, id)
		put(checkpoint)
		put(filepath.Join(p.Dir(), "workers", "somebody"))
		lease := filepath.Join(p.Dir(), "leases", id+".1")
		put(lease)
		if what == "a directory" { // which cannot be removed
			for _, dir := range []string{checkpoint, lease} {
				noError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
			}
		}
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(lease, long, long); err != nil && what != "a device" {
			t.Fatal(err)
		}
		p, err := Open(p.Dir(), "test")
		noError(t, err)
		w := work(t, p, WorkOptions{})
		if w.Held == 0 && (w.Failed != 1 || !strings.Contains(w.Errors[0], checkpoint+": want a regular file, this is "+what)) || w.Made+w.Held != 4 {
			t.Errorf("%+v", w)
		}
		table := filepath.Join(p.Dir(), CSVFile)
		noError(t, os.RemoveAll(table))
		put(table)
		exactly(t, p.WriteTables(p.NewResults()), table+": want a regular file, this is "+what)
		input := filepath.Join(p.Dir(), p.Inputs[0].File)
		noError(t, os.Remove(input))
		put(input)
		exactly(t, errOf(p.textOf(&p.Inputs[0])), input+": want a regular file, this is "+what)
	})
}

// TestForgedPlan: a plan is bounded before it is read, and names no file outside of its directory.
func TestForgedPlan(t *testing.T) {
	p := studyIn(t, smallStudy)
	path := filepath.Join(p.Dir(), PlanFile)
	begin := `{"format":2,"version":"test","factors":[],"runs":[`
	for text, want := range map[string]string{
		begin + strings.Repeat("{},", 3<<20) + "{}]}":                                       "no plan is so large: more than 2097152 objects",
		begin + `{"levels":[` + strings.Repeat("0,", 20<<20) + "0]}]}":                      "no plan is so large: more than 16777216 values",
		`{"study":"` + strings.Repeat("x", 2<<20) + `"}`:                                    "no plan is so large: byte 10: a string",
		strings.Repeat("[", 1<<20):                                                          "exceeded max depth",
		`{"format":2,"version":"test","inputs":[{"file":"inputs/../../secret"}]}`:           `input "inputs/../../secret", want a file in inputs`,
		`{"format":2,"version":"test","inputs":[{"file":"/etc/passwd"}]}`:                   `input "/etc/passwd", want a file in inputs`,
		`{"format":2,"version":"test","inputs":[{"file":"inputs/0123456789abcdef\u0000"}]}`: "want a file in inputs",
	} {
		noError(t, os.WriteFile(path, []byte(text), 0o666))
		if _, err := Open(p.Dir(), "test"); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200v, want %s", err, want)
		}
	}
	regulartest.Sparse(t, path, 1<<40)
	exactly(t, errOf(Open(p.Dir(), "test")), path+": more than 64 MiB")
}

// packed writes so many times a text to a file of an archive.
func packed(t *testing.T, z *zip.Writer, name, text string, times int) {
	t.Helper()
	f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	for i := 0; i < times && err == nil; i++ {
		_, err = io.WriteString(f, text)
	}
	noError(t, err)
}

// TestPackedArchives: archives of a few kB that say much are refused early, in little memory.
func TestPackedArchives(t *testing.T) {
	p := studyIn(t, smallStudy)
	plan, err := p.text()
	noError(t, err)
	line := strings.Repeat("\n", 1<<20)
	for name, c := range map[string]struct {
		fill func(z *zip.Writer)
		want string
	}{
		"empty runs": {func(z *zip.Writer) {
			packed(t, z, PlanFile, strings.Repeat("{},", 1<<20), 20)
		}, "no plan is so large: more than 2097152 objects"},
		"lines": {func(z *zip.Writer) {
			packed(t, z, PlanFile, string(plan), 1)
			packed(t, z, resultsFile, line, 500)
		}, "results.jsonl:1: no result of row 1"},
		"one line": {func(z *zip.Writer) {
			packed(t, z, PlanFile, string(plan), 1)
			packed(t, z, resultsFile, strings.Repeat(" ", 1<<20), 500)
		}, "results.jsonl:1: line longer"},
		"more": {func(z *zip.Writer) {
			packed(t, z, PlanFile, string(plan), 1)
			packed(t, z, resultsFile, line, 513)
		}, "results.jsonl: more than 512 MiB"},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
		c.fill(z)
		noError(t, z.Close())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadArchive(bytes.NewReader(b.Bytes()), int64(b.Len()), "study.zip")
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), "study.zip: no archive of a study: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 512<<20 {
			t.Errorf("%s: %d MiB allocated", name, n>>20)
		}
	}
}

// TestArchivedPlatform: a platform in an archive reads no file of this machine.
func TestArchivedPlatform(t *testing.T) {
	text := strings.Replace(smallStudy, "machine: dahu", "platform: ../platforms/machines/dahu/platform.xml\nkernels: dahu", 1)
	p := studyIn(t, text)
	in := &p.Inputs[0]
	in.text = []byte(`<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><trace id="t" file="/etc/passwd" periodicity="1"/></zone></platform>`)
	in.copied(".xml")
	p.rename()
	dir := t.TempDir()
	noError(t, errOf(p.Create(dir)))
	p, err := Open(dir, "test")
	noError(t, err)
	w := work(t, p, WorkOptions{})
	if w.Failed != 4 || !strings.Contains(w.Errors[0], `the file "/etc/passwd" is not read`) || strings.Contains(fmt.Sprint(w.Errors), "root:") {
		t.Errorf("%+v", w)
	}
}

// TestManyFactors: a design is bounded by its levels in all rows, before they are made.
func TestManyFactors(t *testing.T) {
	var b strings.Builder
	b.WriteString("program: hpl\nparameters: {N: 100, P: 2, Q: 2}\nmachine: dahu\ndesign: one at a time\nfactors:\n")
	for i := range 16000 {
		fmt.Fprintf(&b, "  f%d: {a: {}, b: {}}\n", i)
	}
	_, err := Parse(strings.NewReader(b.String()), "many.yaml")
	if want := "design: 16001 rows of 16000 factors, at most 16777216 levels in all"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
