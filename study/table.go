package study

import (
	"encoding/csv"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"reprise/internal/atomicfile"
	"reprise/internal/textutil"
)

// Names of the tables in a study's directory.
const (
	CSVFile     = "table.csv"
	ParquetFile = "table.parquet"
)

// Table is what a study found out, a row a run, in the order of the design.
type Table struct {
	Factors []string   // names of the first columns
	Labels  [][]string // of each row: the levels
	Seeds   []uint64
	Columns []string // of numbers
	Rows    [][]float64
	Known   [][]bool // which numbers are
	Errors  []string // of runs that failed
}

// resultColumns are the columns behind the factors and the seed that each study has.
var resultColumns = []struct {
	name  string
	value func(o *Outcome) (v float64, known bool)
}{
	{"makespan_s", func(o *Outcome) (float64, bool) { return o.Makespan, true }},
	{"gflops", func(o *Outcome) (float64, bool) { return o.Gflops, o.Gflops > 0 }},
	{"efficiency", func(o *Outcome) (float64, bool) { return o.Efficiency, o.Efficiency > 0 }},
	{"makespan_interval_s", func(o *Outcome) (float64, bool) { return o.Interval, true }},
	{"messages", func(o *Outcome) (float64, bool) { return float64(o.Messages), true }},
}

// NewTable makes the table of a plan from results. What is not there is not known.
func (p *Plan) NewTable(r *Results) *Table {
	t := &Table{}
	for _, f := range p.Factors {
		t.Factors = append(t.Factors, f.Name)
	}
	for _, c := range resultColumns {
		t.Columns = append(t.Columns, c.name)
	}
	names := make([][]string, len(partColumns))
	for i, of := range partColumns {
		names[i] = p.partNames(r, of.parts)
		for _, name := range names[i] {
			t.Columns = append(t.Columns, of.prefix+strings.ReplaceAll(name, " ", "_")+of.suffix)
		}
	}
	for _, run := range p.Runs {
		t.add(p, &run, r.Of(run.ID), names)
	}
	return t
}

// partColumns are the columns of which a study has as many as there are parts.
var partColumns = []struct {
	prefix, suffix string
	parts          func(o *Outcome) []Part
}{
	{"", "_s", func(o *Outcome) []Part { return o.Kinds }},
	{"phase_", "_s", func(o *Outcome) []Part { return o.Phases }},
	{"path_", "_s", func(o *Outcome) []Part { return o.Path }},
	{popPrefix, "", func(o *Outcome) []Part { return o.POP.Parts() }},
}

// popPrefix begins the names of columns with POP's efficiencies.
const popPrefix = "pop_"

// partNames returns the names of parts of all rows, in the order in which they come.
func (p *Plan) partNames(r *Results, parts func(*Outcome) []Part) (names []string) {
	known := map[string]bool{}
	for _, run := range p.Runs {
		e := r.Of(run.ID)
		if e == nil || e.Outcome == nil {
			continue
		}
		for _, part := range parts(e.Outcome) {
			if !known[part.Name] {
				known[part.Name] = true
				names = append(names, part.Name)
			}
		}
	}
	return names
}

// add adds the row of a run.
func (t *Table) add(p *Plan, run *Run, e *Entry, names [][]string) {
	var labels []string
	for f, level := range run.Levels {
		labels = append(labels, p.Factors[f].Levels[level].Label)
	}
	row, known, failure := make([]float64, len(t.Columns)), make([]bool, len(t.Columns)), ""
	if e != nil && e.Outcome != nil {
		fill(row, known, e.Outcome, names)
	} else if e != nil {
		failure = e.Error
	}
	t.Labels, t.Seeds, t.Errors = append(t.Labels, labels), append(t.Seeds, run.Seed), append(t.Errors, failure)
	t.Rows, t.Known = append(t.Rows, row), append(t.Known, known)
}

// fill sets the numbers of a row.
func fill(row []float64, known []bool, o *Outcome, names [][]string) {
	for i, c := range resultColumns {
		row[i], known[i] = c.value(o)
	}
	at := len(resultColumns)
	for i, of := range partColumns {
		parts := of.parts(o)
		for _, name := range names[i] {
			for _, part := range parts {
				if part.Name == name {
					row[at] = part.Seconds
				}
			}
			known[at] = true // what a run does not have takes no time
			at++
		}
	}
}

// WriteCSV writes the table as comma-separated values; what is not known is empty, and texts that a spreadsheet
// would take for formulas have an apostrophe.
func (t *Table) WriteCSV(w io.Writer) error {
	to := csv.NewWriter(w)
	head := append(append([]string{}, t.Factors...), "seed")
	head = append(append(head, t.Columns...), "error")
	for i, name := range head {
		head[i] = textutil.Cell(name)
	}
	if err := to.Write(head); err != nil {
		return err
	}
	for i := range t.Rows {
		var line []string
		for _, label := range t.Labels[i] {
			line = append(line, textutil.Cell(label))
		}
		line = append(line, strconv.FormatUint(t.Seeds[i], 10))
		for j, v := range t.Rows[i] {
			text := ""
			if t.Known[i][j] {
				text = strconv.FormatFloat(v, 'g', -1, 64)
			}
			line = append(line, text)
		}
		if err := to.Write(append(line, textutil.Cell(t.Errors[i]))); err != nil {
			return err
		}
	}
	to.Flush()
	return to.Error()
}

// WriteTables writes the tables of a study into its directory.
func (p *Plan) WriteTables(r *Results) error {
	t := p.NewTable(r)
	if err := atomicfile.Replace(filepath.Join(p.dir, CSVFile), t.WriteCSV); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(p.dir, ParquetFile), t.WriteParquet)
}
