package study

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// archiveOf returns the archive of a study that is done.
func archiveOf(t *testing.T, p *Plan) []byte {
	t.Helper()
	r := resultsOf(t, p)
	var file bytes.Buffer
	noError(t, p.WriteArchive(&file, r))
	return file.Bytes()
}

// again makes the runs of an archive again, by a version of Reprise.
func again(t *testing.T, archive []byte, version string) (*Rerun, *Plan) {
	t.Helper()
	a, err := ReadArchive(bytes.NewReader(archive), int64(len(archive)), "study.zip")
	noError(t, err)
	p, found, err := a.Create(filepath.Join(t.TempDir(), "again"), version)
	if err != nil || found {
		t.Fatal(found, err)
	}
	work(t, p, WorkOptions{})
	r := resultsOf(t, p)
	return a.Compare(p, r), p
}

func summary(d *Rerun) string {
	var b strings.Builder
	_ = d.WriteText(&b)
	return b.String()
}

// TestArchive: an archive does not depend on who made which run, and made again its runs give
// the same bits; those of another version have other names, and are compared all the same.
func TestArchive(t *testing.T) {
	text := strings.Replace(smallStudy, "machine: dahu", "platform: ../platforms/machines/dahu/platform.xml\nkernels: dahu", 1)
	one, many := studyIn(t, text), studyIn(t, text)
	work(t, one, WorkOptions{})
	work(t, many, WorkOptions{Jobs: 3})
	archive := archiveOf(t, one)
	if !bytes.Equal(archive, archiveOf(t, many)) {
		t.Error("archives of the same study differ")
	}
	d, p := again(t, archive, "test")
	if d.Different != 0 || len(d.Causes) != 0 || summary(d) != "4 rows: the same bits\n" {
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

// TestArchiveDiffers: what is not the same is said. The archive is one of a machine that has given
// another makespan, in its results and in its table.
func TestArchiveDiffers(t *testing.T) {
	p := made(t, smallStudy)
	r := resultsOf(t, p)
	r.Of(p.Runs[0].ID).Outcome.Makespan += 10
	var file bytes.Buffer
	noError(t, p.WriteArchive(&file, r))
	archive := file.Bytes()
	d, _ := again(t, archive, "test")
	if d.Different != 1 || !strings.HasSuffix(summary(d), "\n1 of 4 rows differ\n") ||
		!strings.Contains(d.Differences[0], "run 1 (NB 32, DEPTH 0, seed 1): makespan 0.") {
		t.Errorf("%+v", d)
	}
}

// rewrite changes the files of an archive, and adds some that are empty.
func rewrite(t *testing.T, archive []byte, change func(name, text string) string, more ...string) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	noError(t, err)
	var file bytes.Buffer
	to := zip.NewWriter(&file)
	for _, f := range z.File {
		text, err := unpack(z, f.Name, 1<<20)
		noError(t, err)
		noError(t, store(to, f.Name, []byte(change(f.Name, string(text)))))
	}
	for _, name := range more {
		noError(t, store(to, name, nil))
	}
	noError(t, to.Close())
	return file.Bytes()
}

// TestBadArchives: what is no archive, an archive that would write where it likes, and archives
// that were changed.
func TestBadArchives(t *testing.T) {
	p := made(t, strings.Replace(smallStudy, "machine: dahu", "platform: ../platforms/machines/dahu/platform.xml\nkernels: dahu", 1))
	good := archiveOf(t, p)
	same := func(_, text string) string { return text }
	in := func(file, old, with string) []byte { // a change of what fits a pattern first
		pattern := regexp.MustCompile(old)
		return rewrite(t, good, func(name, text string) string {
			if at := pattern.FindStringIndex(text); name == file && at != nil {
				return text[:at[0]] + with + text[at[1]:]
			}
			return text
		})
	}
	for _, c := range []struct {
		archive []byte
		want    string
	}{
		{[]byte("no zip"), "study.zip: no archive of a study"},
		{good[:len(good)/2], "study.zip: no archive of a study"},
		{in(PlanFile, `"file":"inputs/`, `"file":"../`), "want a file in inputs"},
		{in(PlanFile, `"levels":\[0,`, `"levels":[9,`), "plan.json: run 1: NB has no level 9"},
		{in(PlanFile, `"levels":\[0,0\]`, `"levels":[]`), "plan.json: run 1: 0 levels of 2 factors"},
		{in(PlanFile, `"value":"400"`, `"value":"500"`), "the plan was changed by hand"},
		{in(p.Inputs[0].File, `$`, "<!-- -->"), "platform " + p.Inputs[0].File + " is not what it was when the study was planned"},
		{in(resultsFile, `"row":1`, `"row":7`), "results.jsonl:2: no result of row 2"},
		{in(resultsFile, `"row":0.*`, `"row":0}`), "results.jsonl:1: no result of row 1"},
		{in(resultsFile, `}\n`, `,"error":"both"}`+"\n"), "results.jsonl:1: no result of row 1"},
		{in(resultsFile, `"makespan_s":`, `"makespan_s":-`), "results.jsonl:1: no result of row 1"},
		{in(resultsFile, `"makespan_s":`, `"makespan_s":1`), "table.csv and results.jsonl have different results"},
		{in(CSVFile, `\n32,0,1,0`, "\n32,0,1,1"), "table.csv and results.jsonl have different results"},
		{rewrite(t, good, same, "readme"), `file "readme" is not of its plan`},
		{rewrite(t, good, same, resultsFile), "file results.jsonl is there twice"},
	} {
		if _, err := ReadArchive(bytes.NewReader(c.archive), int64(len(c.archive)), "study.zip"); err == nil || !strings.HasPrefix(err.Error(), "study.zip: no archive of a study: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	unfinished := studyIn(t, smallStudy)
	refused(t, unfinished.WriteArchive(&bytes.Buffer{}, NewResults(unfinished.Dir())), "4 of 4 rows have no result yet")
}

// TestSameRunTwice: two rows that are the same run have one result.
func TestSameRunTwice(t *testing.T) {
	p := made(t, "program: hpl\nparameters: {N: 100, P: 1, Q: 2}\nseed: [1, 2]\n")
	archive := rewrite(t, archiveOf(t, p), func(name, text string) string {
		if name == resultsFile {
			text = strings.Replace(text, `{"row":1,"outcome":{"makespan_s":`, `{"row":1,"outcome":{"makespan_s":1`, 1)
		}
		return text
	})
	refused(t, errOf(ReadArchive(bytes.NewReader(archive), int64(len(archive)), "study.zip")), "results.jsonl:2: a row before it is the same run, and has another result")
}

// TestInterruptedRerun: what was made again in part is gone on with; a study that is done is not
// compared with itself.
func TestInterruptedRerun(t *testing.T) {
	p := made(t, smallStudy)
	archive := archiveOf(t, p)
	a, err := ReadArchive(bytes.NewReader(archive), int64(len(archive)), "study.zip")
	noError(t, err)
	dir := filepath.Join(t.TempDir(), "again")
	for _, found := range []bool{false, true} {
		if _, got, err := a.Create(dir, "test"); got != found || err != nil {
			t.Errorf("%v, %v, want %v", got, err, found)
		}
	}
	if _, _, err := a.Create(p.Dir(), "test"); err == nil || !strings.Contains(err.Error(), "has this study already, with all its results") {
		t.Error(err)
	}
	if _, _, err := a.Create(dir, "other"); err == nil || !strings.Contains(err.Error(), "holds another study: it was planned by Reprise test") {
		t.Error(err)
	}
}

// TestInputNames: whatever a file is called, what is archived of it can be read.
func TestInputNames(t *testing.T) {
	for _, name := range []string{"hosts.txt~", "hosts. ", "hosts.(", "hosts.größe", "hosts.", "hosts", ".hosts"} {
		path := filepath.Join(t.TempDir(), name)
		noError(t, os.WriteFile(path, []byte("dahu-1\ndahu-2\n"), 0o666))
		p := made(t, "program: hpl\nparameters: {N: 100, P: 1, Q: 2}\nmachine: dahu\nhostfile: '"+path+"'\n")
		archive := archiveOf(t, p)
		if _, err := ReadArchive(bytes.NewReader(archive), int64(len(archive)), "study.zip"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
