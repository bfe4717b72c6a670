package study

import (
	"archive/zip"
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// archiveOf returns the archive of a study that is done.
func archiveOf(t *testing.T, p *Plan) []byte {
	t.Helper()
	r := NewResults(p.Dir())
	if err := r.Update(); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := p.WriteArchive(&file, r); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// again makes the runs of an archive again, by a version of Reprise.
func again(t *testing.T, archive []byte, version string) (*Rerun, *Plan) {
	t.Helper()
	a, err := ReadArchive(bytes.NewReader(archive), int64(len(archive)), "study.zip")
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Create(filepath.Join(t.TempDir(), "again"), version)
	if err != nil {
		t.Fatal(err)
	}
	work(t, p, WorkOptions{})
	r := NewResults(p.Dir())
	if err := r.Update(); err != nil {
		t.Fatal(err)
	}
	return a.Compare(p, r), p
}

// TestArchive: an archive does not depend on who made which run, and made again its runs give
// the same bits; those of another version have other names, and are compared all the same.
func TestArchive(t *testing.T) {
	text := strings.Replace(smallStudy, "machine: dahu", "platform: ../machines/dahu/platform.xml\nkernels: dahu", 1)
	one, many := studyIn(t, text), studyIn(t, text)
	work(t, one, WorkOptions{})
	work(t, many, WorkOptions{Jobs: 3})
	archive := archiveOf(t, one)
	if !bytes.Equal(archive, archiveOf(t, many)) {
		t.Error("archives of the same study differ")
	}
	d, p := again(t, archive, "test")
	if d.Different != 0 || len(d.Causes) != 0 || d.Summary() != "4 rows: the same bits" {
		t.Errorf("%+v", d)
	}
	if !bytes.Equal(archive, archiveOf(t, p)) {
		t.Error("the archive of what was made again differs")
	}
	d, p = again(t, archive, "other")
	if d.Different != 0 || len(d.Causes) != 1 || d.Causes[0] != "archived by Reprise test, made again by other" {
		t.Errorf("%+v", d)
	}
	if p.Runs[0].ID == one.Runs[0].ID {
		t.Error("runs of two versions have the same name")
	}
}

// TestArchiveDiffers: what is not the same is said.
func TestArchiveDiffers(t *testing.T) {
	p := studyIn(t, smallStudy)
	work(t, p, WorkOptions{})
	archive := rewrite(t, archiveOf(t, p), func(name, text string) string {
		if name != resultsFile {
			return text
		}
		return strings.Replace(text, `"makespan_s":`, `"makespan_s":1`, 1)
	})
	d, _ := again(t, archive, "test")
	if d.Different != 1 || !strings.Contains(d.Differences[0], "run 1 (NB 32, DEPTH 0, seed 1): makespan 0.") || d.Summary() != "1 of 4 rows differ" {
		t.Errorf("%+v", d)
	}
}

// rewrite changes the files of an archive.
func rewrite(t *testing.T, archive []byte, change func(name, text string) string) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	to := zip.NewWriter(&file)
	for _, f := range z.File {
		text, err := unpack(z, f.Name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := store(to, f.Name, []byte(change(f.Name, string(text)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestBadArchives: what is no archive, and an archive that would write where it likes.
func TestBadArchives(t *testing.T) {
	p := studyIn(t, strings.Replace(smallStudy, "machine: dahu", "platform: ../machines/dahu/platform.xml\nkernels: dahu", 1))
	work(t, p, WorkOptions{})
	good := archiveOf(t, p)
	for _, c := range []struct {
		archive []byte
		want    string
	}{
		{[]byte("no zip"), "study.zip: no archive of a study"},
		{good[:len(good)/2], "study.zip: no archive of a study"},
		{rewrite(t, good, func(name, text string) string { return strings.Replace(text, `"file":"inputs/`, `"file":"../`, 1) }), "want a file in inputs"},
		{rewrite(t, good, func(name, text string) string { return strings.Replace(text, `"row":1`, `"row":7`, 1) }), "results.jsonl:2: no result of row 2"},
		{rewrite(t, good, func(name, text string) string { return strings.Replace(text, `"levels":[0`, `"levels":[9`, 1) }), "no such levels"},
	} {
		a, err := ReadArchive(bytes.NewReader(c.archive), int64(len(c.archive)), "study.zip")
		if err == nil {
			_, err = a.Create(filepath.Join(t.TempDir(), "again"), "test")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	unfinished := studyIn(t, smallStudy)
	if err := unfinished.WriteArchive(&bytes.Buffer{}, NewResults(unfinished.Dir())); err == nil || !strings.Contains(err.Error(), "4 of 4 rows have no result yet") {
		t.Error(err)
	}
}
