package study

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// resultsFile has, in an archive, the outcome of each row that has one, a line a row.
const resultsFile = "results.jsonl"

// archived is a line of it.
type archived struct {
	Row     int      `json:"row"` // from 0
	Outcome *Outcome `json:"outcome,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// WriteArchive writes a study whose runs are done as one file: a zip of its plan, its inputs, its
// results and its table. The same study gives the same bytes, whoever made its runs.
func (p *Plan) WriteArchive(w io.Writer, r *Results) error {
	if n := p.missing(r); n > 0 {
		return fmt.Errorf("%s: %d of %d rows have no result yet: study run makes them", p.dir, n, len(p.Runs))
	}
	z := zip.NewWriter(w)
	text, err := p.text()
	if err != nil {
		return err
	}
	if err := store(z, PlanFile, text); err != nil {
		return err
	}
	known := map[string]bool{"": true} // what is built in has no file
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if known[in.File] {
			continue
		}
		known[in.File] = true
		text, err := p.textOf(in)
		if err != nil {
			return err
		}
		if err := store(z, filepath.ToSlash(in.File), text); err != nil {
			return err
		}
	}
	if err := p.storeResults(z, r); err != nil {
		return err
	}
	return z.Close()
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

// storeResults stores what came out.
func (p *Plan) storeResults(z *zip.Writer, r *Results) error {
	var lines, table bytes.Buffer
	for i, run := range p.Runs {
		e := r.Of(run.ID)
		text, err := json.Marshal(archived{i, e.Outcome, e.Error})
		if err != nil {
			return err
		}
		lines.Write(append(text, '\n'))
	}
	if err := p.NewTable(r).WriteCSV(&table); err != nil {
		return err
	}
	return errors.Join(store(z, resultsFile, lines.Bytes()), store(z, CSVFile, table.Bytes()))
}

// store stores a file without a date.
func store(z *zip.Writer, name string, text []byte) error {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return err
}

// Archive is a study in one file.
type Archive struct {
	Plan    *Plan // as it was archived
	results []archived
	files   map[string][]byte // of the plan's inputs
}

// Limits of an archive, beyond those of its inputs.
const (
	maxPlan    = 64 << 20
	maxResults = 512 << 20
)

// inputName is the name of an input in an archive, as Plan makes it.
var inputName = regexp.MustCompile(`^inputs/[0-9a-f]{16}(\.[A-Za-z0-9._-]*)?$`)

// ReadArchive reads an archive of so many bytes.
func ReadArchive(r io.ReaderAt, size int64, name string) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: no archive of a study: %w", name, err)
	}
	a := &Archive{Plan: &Plan{}, files: map[string][]byte{}}
	plan, err := unpack(z, PlanFile, maxPlan)
	if err == nil {
		err = json.Unmarshal(plan, a.Plan)
	}
	if err == nil && a.Plan.Format != PlanFormat {
		err = fmt.Errorf("its plan has format %d, this program reads %d", a.Plan.Format, PlanFormat)
	}
	if err == nil {
		err = a.read(z)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: no archive of a study: %w", name, err)
	}
	return a, nil
}

// read reads the inputs and the results.
func (a *Archive) read(z *zip.Reader) error {
	for i := range a.Plan.Inputs {
		in := &a.Plan.Inputs[i]
		if in.File == "" {
			continue
		}
		if !inputName.MatchString(in.File) {
			return fmt.Errorf("input %q, want a file in %s", in.File, inputsDir)
		}
		text, err := unpack(z, in.File, maxInput)
		if err != nil {
			return err
		}
		a.files[in.File] = text
	}
	text, err := unpack(z, resultsFile, maxResults)
	if err != nil {
		return err
	}
	for n, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		var row archived
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Row != n {
			return fmt.Errorf("%s:%d: no result of row %d", resultsFile, n+1, n+1)
		}
		a.results = append(a.results, row)
	}
	if len(a.results) != len(a.Plan.Runs) {
		return fmt.Errorf("%s has %d rows, and the plan %d", resultsFile, len(a.results), len(a.Plan.Runs))
	}
	return nil
}

// unpack returns the content of a file of an archive.
func unpack(z *zip.Reader, name string, most int64) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: more than %d MiB", name, most>>20)
	}
	return text, err
}

// Create makes a new study's directory of an archive, for a version of Reprise: what the archive
// holds but its results, so that all runs are made again.
func (a *Archive) Create(dir, version string) (*Plan, error) {
	p := &Plan{}
	*p = *a.Plan
	p.Version, p.Inputs = version, slices.Clone(p.Inputs)
	for i := range p.Inputs {
		p.Inputs[i].text = a.files[p.Inputs[i].File]
	}
	if err := p.rename(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, PlanFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has a study already: give the archive's a directory of its own", dir)
	}
	if _, err := p.Create(dir); err != nil {
		return nil, err
	}
	return Open(dir, version)
}

// rename gives the runs the names that they have with the plan's version.
func (p *Plan) rename() error {
	p.index()
	runs := make([]Run, len(p.Runs))
	for i, run := range p.Runs {
		for f, level := range run.Levels {
			if f >= len(p.Factors) || level < 0 || level >= len(p.Factors[f].Levels) {
				return fmt.Errorf("run %d: no such levels", i+1)
			}
		}
		c, err := ConfigOf(settings(p.Fixed, p.Factors, run.Levels))
		if err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
		for _, in := range c.Machine.inputs() {
			if p.input(in.Word, in.Name) == nil {
				return fmt.Errorf("run %d: no input %s %s", i+1, in.Word, in.Name)
			}
		}
		run.ID = p.id(c, &run)
		runs[i] = run
	}
	p.Runs, p.configs = runs, nil
	return nil
}
