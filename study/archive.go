package study

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
)

// This file writes a study as one file (Plan.WriteArchive), reads it (OpenArchive), and compares a repetition with it.

// resultsFile has, in an archive, the outcome of each row, a line a row.
// The file is apart from the journals, which say who made a run, and when: an archive has neither.
const resultsFile = "results.jsonl"

// Limits of an archive, in bytes. The ratio to which it is compressed has no limit: rows of one
// run are alike, and compress to next to nothing.
const (
	maxArchive = 256 << 20
	maxPlan    = 64 << 20
	maxInputs  = 512 << 20 // all together
	maxResults = 512 << 20
)

// inputName is the name of an input in an archive, as Input.copied makes it.
var inputName = regexp.MustCompile(`^inputs/[0-9a-f]{16}(\.[A-Za-z0-9._-]*)?$`)

// archived is a line of resultsFile.
type archived struct {
	Row     int      `json:"row"` // from 0
	Outcome *Outcome `json:"outcome,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// missing returns how many rows have no result.
func (p *Plan) missing(r *Results) int {
	n := 0
	for _, run := range p.Runs {
		if r.Of(run.ID) == nil {
			n++
		}
	}
	return n
}

// WriteArchive writes a study whose runs are done as one file: a zip of its plan, its inputs, its
// results and its table. The same study gives the same bytes, whichever workers made its runs:
// there are no dates, and results have no times of workers.
func (p *Plan) WriteArchive(w io.Writer, r *Results) (err error) {
	defer textutil.Stopped(&err)
	if n := p.missing(r); n > 0 {
		return fmt.Errorf("%s: %d of %d rows have no result yet: study run makes them", p.dir, n, len(p.Runs))
	}
	// The order of the files is fixed, and their content depends on the study alone.
	z := zip.NewWriter(w)
	text := textutil.Must(p.text())
	textutil.Check(store(z, PlanFile, text))
	// Inputs: two with the same content have one copy.
	known := map[string]bool{"": true} // inputs that are built in have no file
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if known[in.File] {
			continue
		}
		known[in.File] = true
		text := textutil.Must(p.textOf(in))
		textutil.Check(store(z, filepath.ToSlash(in.File), text))
	}
	// Results by rows, not by runs: rows that are the same run have equal lines.
	var lines, table bytes.Buffer
	for i, run := range p.Runs {
		e := r.Of(run.ID)
		text := textutil.Must(json.Marshal(archived{i, e.Outcome, e.Error}))
		lines.Write(append(text, '\n'))
	}
	textutil.Check(p.NewTable(r).WriteCSV(&table))
	return errors.Join(store(z, resultsFile, lines.Bytes()), store(z, CSVFile, table.Bytes()), z.Close())
}

// store stores a file without a date.
// With a date, archives of the same study would differ.
func store(z *zip.Writer, name string, text []byte) error {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return err
}

// Archive is a study in one file.
//
// It was checked: its runs have the names that follow from its plan, its inputs the hashes, and its table the results.
type Archive struct {
	Plan    *Plan             // as it was archived
	results []*Entry          // of each row
	files   map[string][]byte // of the plan's inputs
}

// OpenArchive reads the archive in a file.
func OpenArchive(path string) (_ *Archive, err error) {
	defer textutil.Stopped(&err)
	f := textutil.Must(regular.Open(path))
	defer f.Close()
	info := textutil.Must(f.Stat())
	return ReadArchive(f, info.Size(), path)
}

// ReadArchive reads an archive of so many bytes, and refuses files that WriteArchive has not written.
func ReadArchive(r io.ReaderAt, size int64, name string) (*Archive, error) {
	if size > maxArchive {
		return nil, regular.TooLong(name, maxArchive)
	}
	z, err := zip.NewReader(r, size)
	a := &Archive{Plan: &Plan{}, files: map[string][]byte{}}
	if err == nil {
		err = a.read(z)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: no archive of a study: %w", name, err)
	}
	return a, nil
}

// read reads the plan, then its inputs, one of which may be its program, then the results.
func (a *Archive) read(z *zip.Reader) (err error) {
	defer textutil.Stopped(&err)
	p := a.Plan
	// The plan goes first: it says which other files there may be, and how many rows.
	if err := p.decode(textutil.Must(unpack(z, PlanFile, maxPlan))); err != nil {
		return fmt.Errorf("%s: %w", PlanFile, err)
	}
	if p.Format != PlanFormat {
		return fmt.Errorf("its plan has format %d, this program reads %d", p.Format, PlanFormat)
	}
	// Inputs: each within its own limit, and all within maxInputs, whatever a forged plan lists. The
	// hash in the plan, from which names of runs follow, is that of the content.
	left := uint64(maxInputs)
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if in.File == "" || a.files[in.File] != nil && in.unchanged(a.files[in.File], in.File) == nil {
			continue
		}
		text := textutil.Must(unpack(z, in.File, min(uint64(in.limit()), left)))
		textutil.Check(in.unchanged(text, in.File))
		left -= uint64(len(text))
		a.files[in.File] = text
		if in.Word == "trace" {
			in.text = text // for check: the plan has no directory to read it from
		}
	}
	// Names of runs are hashes of everything that they depend on: a changed plan fails here.
	if err := p.check(); err != nil {
		return fmt.Errorf("%s: %w", PlanFile, err)
	}
	// A file that WriteArchive does not write, or a second one of a name, of which unzip would extract
	// another than this program reads, is refused.
	// archive/zip finds the first file of a name, and other programs may find the last.
	seen := map[string]bool{}
	for _, f := range z.File {
		_, input := a.files[f.Name]
		switch {
		case !input && f.Name != PlanFile && f.Name != resultsFile && f.Name != CSVFile:
			return fmt.Errorf("file %q is not of its plan", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("file %s is there twice", f.Name)
		}
		seen[f.Name] = true
	}

	// The outcome of each row, line by line: a forged archive of a few kB may hold lines of gigabytes,
	// so they are bounded like those of a journal.
	f := textutil.Must(open(z, resultsFile, maxResults))
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for n := 0; lines.Scan(); n++ {
		var row archived
		err := json.Unmarshal(lines.Bytes(), &row)
		e := &Entry{Outcome: row.Outcome, Error: row.Error}
		switch {
		case n == len(p.Runs):
			return fmt.Errorf("%s:%d: a row more than the plan has", resultsFile, n+1)
		case err != nil || row.Row != n || !e.tells():
			return fmt.Errorf("%s:%d: no result of row %d", resultsFile, n+1, n+1)
		}
		a.results = append(a.results, e)
	}
	if err := textutil.LineError(lines); err != nil {
		return fmt.Errorf("%s:%d: %w", resultsFile, len(a.results)+1, err)
	}
	if len(a.results) != len(p.Runs) {
		return fmt.Errorf("%s has %d rows, and the plan %d", resultsFile, len(a.results), len(p.Runs))
	}

	// The table must be that of the results: otherwise one of them was changed.
	r := NewResults("")
	for i, run := range p.Runs {
		r.entries[run.ID] = cmp.Or(r.entries[run.ID], a.results[i])
		if differenceOf(a.results[i], r.entries[run.ID]) != "" {
			return fmt.Errorf("%s:%d: a row before it is the same run, and has another result", resultsFile, i+1)
		}
	}
	table := textutil.Must(open(z, CSVFile, maxResults))
	defer table.Close()
	var want bytes.Buffer
	textutil.Check(p.NewTable(r).WriteCSV(&want))
	// The table follows from the results, so it is compared and not read.
	have := textutil.Must(io.ReadAll(io.LimitReader(table, int64(want.Len())+1))) // a forged table may be much longer
	if !bytes.Equal(have, want.Bytes()) {
		return fmt.Errorf("%s and %s have different results: one of them was changed", CSVFile, resultsFile)
	}
	return nil
}

// open opens a file of an archive, of at most so many bytes. The size in the directory of the zip
// is safe: reading ends with an error where a file has more.
func open(z *zip.Reader, name string, most uint64) (io.ReadCloser, error) {
	for _, f := range z.File {
		if f.Name != name {
			continue
		}
		if f.UncompressedSize64 > most {
			return nil, regular.TooLong(name, int64(most))
		}
		return f.Open()
	}
	return nil, fmt.Errorf("it has no %s", name)
}

// unpack returns the content of a file of an archive, of at most so many bytes.
func unpack(z *zip.Reader, name string, most uint64) ([]byte, error) {
	f, err := open(z, name, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Create makes a study's directory of an archive, for a version of Reprise, with everything but the results, so that
// all runs are made again. If it is there already, and has runs that are to be made, found is true, and work can go on.
func (a *Archive) Create(dir, version string) (p *Plan, found bool, err error) {
	// The plan is the archived one in the name of this version. The texts of its inputs come from the
	// archive, so that nothing of the machine on which it was planned is needed.
	again := *a.Plan
	again.Version, again.Inputs, again.Checksums = version, slices.Clone(again.Inputs), true
	for i := range again.Inputs {
		again.Inputs[i].text = a.files[again.Inputs[i].File]
	}
	// Names of runs have the version in them, so those of the new plan differ from the archived
	// ones unless the versions are the same; rows are compared by their numbers.
	again.rename()
	if found, err = again.Create(dir); err != nil {
		return nil, false, err
	}
	if p, err = Open(dir, version); err != nil || !found {
		return p, found, err
	}
	// A directory without anything to do is more likely that of the archived study itself.
	r := p.NewResults()
	if err = r.Update(); err == nil && p.missing(r) == 0 {
		err = fmt.Errorf("%s has this study already, with all its results: give the archive's a directory of its own", dir)
	}
	return p, true, err
}

// rename gives the runs of a plan that was checked the names that they have with its version.
func (p *Plan) rename() {
	p.index()
	p.Runs = slices.Clone(p.Runs)
	for i := range p.Runs {
		p.Runs[i].ID = p.id(p.configs[i], &p.Runs[i])
	}
}

// Rerun is the comparison of a study that was made again with the archived results.
type Rerun struct {
	Rows        int      `json:"rows"`
	Different   int      `json:"different"`   // rows that are not the same bits
	Differences []string `json:"differences"` // of the first rows
	Causes      []string `json:"causes"`      // differences of what the runs depend on
}

// Compare compares results of the archive's runs, made again by a plan that Create has returned,
// with the archived ones.
func (a *Archive) Compare(p *Plan, r *Results) *Rerun {
	// Differences of the inputs and of the version come first: they explain the differences of the rows.
	c := &Rerun{Rows: len(a.results), Differences: []string{}, Causes: []string{}}
	if a.Plan.Version != p.Version {
		c.Causes = append(c.Causes, fmt.Sprintf("archived by Reprise %s, made again by %s", a.Plan.Version, p.Version))
	}
	// Built-in platforms and kernel models of this version may differ from the archived ones.
	for i := range p.Inputs {
		if _, err := p.textOf(&p.Inputs[i]); err != nil {
			c.Causes = append(c.Causes, err.Error())
		}
	}
	for i, run := range p.Runs {
		text := differenceOf(a.results[i], r.Of(run.ID))
		if text == "" {
			continue
		}
		c.Different++
		if len(c.Differences) < maxTold {
			c.Differences = append(c.Differences, p.Describe(i)+": "+text)
		}
	}
	return c
}

// differenceOf describes the difference of a result from the archived one; "" if there is none.
func differenceOf(old, now *Entry) string {
	switch {
	case now == nil:
		return "has no result"
	case now.Error != old.Error && now.Error != "":
		return "failed: " + now.Error
	case now.Error != old.Error:
		return "failed then, and not now: " + old.Error
	case old.Outcome == nil:
		return ""
	}
	if a, b := old.Outcome, now.Outcome; a.Makespan != b.Makespan {
		return fmt.Sprintf("makespan %v s, was %v s", b.Makespan, a.Makespan)
	}
	// JSON writes every digit of a float64, so equal texts are equal bits.
	a, err1 := json.Marshal(old.Outcome)
	b, err2 := json.Marshal(now.Outcome)
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		return "the makespan is the same, and other numbers are not"
	}
	return ""
}

// WriteText writes the comparison for people: causes, differences, and a summary in a line.
func (c *Rerun) WriteText(w io.Writer) error {
	summary := textutil.Count(c.Rows, "row") + ": the same bits"
	if c.Different > 0 {
		summary = fmt.Sprintf("%d of %s differ", c.Different, textutil.Count(c.Rows, "row"))
	}
	_, err := fmt.Fprintln(w, strings.Join(slices.Concat(c.Causes, c.Differences, []string{summary}), "\n"))
	return err
}
