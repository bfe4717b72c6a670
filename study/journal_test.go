package study

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"reprise/internal/regular/regulartest"
)

// journalOf returns the only journal of a study, and what it holds.
func journalOf(t *testing.T, p *Plan) (path string, text []byte) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(p.Dir(), journalsDir, "*"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	text, err = os.ReadFile(list[0])
	noError(t, err)
	return list[0], text
}

// TestChangedJournal: a line whose figures were changed, or were never all there, is told by file
// and line, and its run is made again, to the same table.
func TestChangedJournal(t *testing.T) {
	p := made(t, smallStudy)
	table := readFile(t, p.Dir(), CSVFile)
	path, text := journalOf(t, p)
	lines := bytes.SplitAfter(text, []byte("\n"))
	id := regexp.MustCompile(`"run":"([0-9a-f]+)"`).FindSubmatch(lines[1])[1]
	noSum := regexp.MustCompile(`,"sum":"[0-9a-f]{16}"`)
	for name, c := range map[string]struct{ line, want string }{
		"digit":    {string(regexp.MustCompile(`"makespan_s":0\.`).ReplaceAll(lines[1], []byte(`"makespan_s":1.`))), ":2: the line has another checksum than it says"},
		"one":      {`{"run":"` + string(id) + `","outcome":{"makespan_s":1}}` + "\n", ":2: a result without checksum does not count"},
		"sum of 1": {string(withSum([]byte(`{"run":"`+string(id)+`","outcome":{"makespan_s":1}}`))) + "\n", ":2: a result without all of its figures does not count"},
		"without":  {string(noSum.ReplaceAll(lines[1], nil)), ":2: a result without checksum does not count"},
		"failed":   {`{"run":"` + string(id) + `","error":"none"}` + "\n", ":2: a result without checksum does not count"},
	} {
		changed := bytes.Join([][]byte{lines[0], []byte(c.line), lines[2], lines[3]}, nil)
		if bytes.Equal(changed, text) {
			t.Fatalf("%s: nothing was changed", name)
		}
		noError(t, os.RemoveAll(filepath.Join(p.Dir(), journalsDir)))
		noError(t, os.Mkdir(filepath.Dir(path), 0o777))
		noError(t, os.WriteFile(path, changed, 0o666))
		w := work(t, p, WorkOptions{})
		if w.Made != 1 || !w.Done || len(w.Torn) != 1 || !strings.Contains(w.Torn[0], path+c.want) {
			t.Errorf("%s: %+v, want a run made again and %s", name, w, c.want)
		}
		if again, err := os.ReadFile(filepath.Join(p.Dir(), CSVFile)); err != nil || !bytes.Equal(again, table) {
			t.Errorf("%s: the table is another one: %v", name, err)
		}
	}
	// The torn last line of a worker that was killed does not count either, and is not told.
	noError(t, os.RemoveAll(filepath.Dir(path)))
	noError(t, os.Mkdir(filepath.Dir(path), 0o777))
	noError(t, os.WriteFile(path, text[:len(text)-1], 0o666))
	if w := work(t, p, WorkOptions{}); w.Made != 1 || !w.Done || len(w.Torn) != 0 {
		t.Errorf("torn: %+v, want the one run made again", w)
	}
}

// TestJournalBefore: a study that was planned by a version whose journals have no checksums is
// read, as far as its lines are complete.
func TestJournalBefore(t *testing.T) {
	p := made(t, smallStudy)
	planPath := filepath.Join(p.Dir(), PlanFile)
	plan := readFile(t, planPath)
	path, text := journalOf(t, p)
	text = regexp.MustCompile(`,"sum":"[0-9a-f]{16}"`).ReplaceAll(text, nil)
	text = bytes.Replace(text, []byte(`"messages"`), []byte(`"massages"`), 1)
	for file, text := range map[string][]byte{planPath: bytes.Replace(plan, []byte(`,"checksums":true`), nil, 1), path: text} {
		noError(t, os.WriteFile(file, text, 0o666))
	}
	p, err := Open(p.Dir(), "test")
	noError(t, err)
	if w := work(t, p, WorkOptions{}); w.Made != 1 || len(w.Torn) != 1 || !strings.Contains(w.Torn[0], ":1: a result without all of its figures") {
		t.Errorf("%+v", w)
	}
}

// TestHugeJournals: journals of zeros, and of empty lines, are given up early, told, and not read
// again.
func TestHugeJournals(t *testing.T) {
	p := made(t, smallStudy)
	dir := filepath.Join(p.Dir(), journalsDir)
	regulartest.Sparse(t, filepath.Join(dir, "zeros.jsonl"), 1<<40)
	noError(t, os.WriteFile(filepath.Join(dir, "lines.jsonl"), bytes.Repeat([]byte("\n"), 1<<20), 0o666))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := p.NewResults()
	for range 100 {
		noError(t, r.Update())
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d MiB allocated", n>>20)
	}
	told := strings.Join(r.Torn(), "\n")
	for _, want := range []string{"lines.jsonl:1000: 1000 lines up to here do not count", "zeros.jsonl:1: a line of more than 4 MiB"} {
		if !strings.Contains(told, want) {
			t.Errorf("told without %s", want)
		}
	}
	if w := work(t, p, WorkOptions{}); w.Made != 0 || !w.Done {
		t.Errorf("%+v", w)
	}
}
