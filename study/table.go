package study

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"reprise/internal/atomicfile"
	"reprise/report/table"
)

// This file makes the table of a study (Plan.NewTable), and writes it as CSV and Parquet.

// Names of the tables in a study's directory.
const (
	CSVFile     = "table.csv"
	ParquetFile = "table.parquet"
)

// popPrefix begins the names of columns with POP's efficiencies.
const popPrefix = "pop_"

// Table is the results of a study, a row a run, in the order of the design.
//
// The first columns are the factors, with the labels of the levels as texts; then the seed; then the
// numbers, of which each column has the unit in its name; and last the error of a run that failed.
// Factors and columns have different names (parser.checkFactors).
type Table struct {
	Factors []string   // names of the first columns
	Labels  [][]string // of each row: the levels
	Seeds   []uint64
	Columns []string // of numbers
	Rows    [][]float64
	Known   [][]bool // which numbers are
	Errors  []string // of runs that failed
}

// resultColumn is a column of the table that each study has.
type resultColumn struct {
	name  string
	value func(o *Outcome) (v float64, known bool)
}

func (c resultColumn) title() string { return c.name }

// resultColumns stand behind the factors and the seed.
var resultColumns = []resultColumn{
	{"makespan_s", func(o *Outcome) (float64, bool) { return o.Makespan, true }},
	{"gflops", func(o *Outcome) (float64, bool) { return o.Gflops, o.Gflops > 0 }},
	{"efficiency", func(o *Outcome) (float64, bool) { return o.Efficiency, o.Efficiency > 0 }},
	{"makespan_interval_s", func(o *Outcome) (float64, bool) { return o.Interval, true }},
	{"messages", func(o *Outcome) (float64, bool) { return float64(o.Messages), true }},
}

// partColumns are the columns of which a study has as many as there are parts in its outcomes.
var partColumns = []struct {
	prefix, suffix string
	parts          func(o *Outcome) []Part
}{
	{"", "", func(o *Outcome) []Part { return o.Energy }},
	{"", "_s", func(o *Outcome) []Part { return o.Kinds }},
	{"phase_", "_s", func(o *Outcome) []Part { return o.Phases }},
	{"path_", "_s", func(o *Outcome) []Part { return o.Path }},
	{popPrefix, "", func(o *Outcome) []Part { return o.POP.Parts() }},
}

// NewTable makes the table of a plan from results. Numbers of runs without a result are not known.
func (p *Plan) NewTable(r *Results) *Table {
	// Columns that every study has come first, so that scripts find them at the same place.
	t := &Table{Factors: factorNames(p.Factors), Columns: mapped(resultColumns, resultColumn.title)}
	// A column for each part that any run has: kinds of time and phases depend on program and machine.
	// A first pass over all runs finds the columns, a second one fills the rows.
	names := make([][]string, len(partColumns)) // of parts of all rows, in the order in which they come
	for i, of := range partColumns {
		known := map[string]bool{}
		for _, run := range p.Runs {
			e := r.Of(run.ID)
			if e == nil || e.Outcome == nil {
				continue
			}
			for _, part := range of.parts(e.Outcome) {
				if !known[part.Name] {
					known[part.Name] = true
					names[i] = append(names[i], part.Name)
					t.Columns = append(t.Columns, of.prefix+strings.ReplaceAll(part.Name, " ", "_")+of.suffix)
				}
			}
		}
	}
	for _, run := range p.Runs {
		var labels []string
		for f, level := range run.Levels {
			labels = append(labels, p.Factors[f].Levels[level].Label)
		}
		// A row for each run of the plan, with or without a result: the table has the same number
		// of rows from the begin.
		row, known, failure := make([]float64, len(t.Columns)), make([]bool, len(t.Columns)), ""
		switch e := r.Of(run.ID); {
		case e == nil:
		case e.Outcome == nil:
			failure = e.Error
		default:
			for i, c := range resultColumns {
				row[i], known[i] = c.value(e.Outcome)
			}
			at := len(resultColumns)
			for i, of := range partColumns {
				parts := of.parts(e.Outcome)
				for _, name := range names[i] {
					for _, part := range parts {
						if part.Name == name {
							row[at] = part.Seconds
						}
					}
					known[at] = true // a part that a run does not have takes no time
					at++
				}
			}
		}
		t.Labels, t.Seeds, t.Errors = append(t.Labels, labels), append(t.Seeds, run.Seed), append(t.Errors, failure)
		t.Rows, t.Known = append(t.Rows, row), append(t.Known, known)
	}
	return t
}

// WriteCSV writes the table as comma-separated values; unknown numbers are empty, and texts that
// a spreadsheet would take for formulas have an apostrophe.
func (t *Table) WriteCSV(w io.Writer) error { return t.write(table.NewCSV(w, t.columns(), "")) }

// WriteParquet writes the table as a Parquet file, compressed by zstd, with the columns of WriteCSV: levels are texts.
func (t *Table) WriteParquet(w io.Writer) error { return t.write(table.NewParquet(w, t.columns())) }

func (t *Table) columns() (all []table.Column) {
	for _, name := range t.Factors {
		all = append(all, table.Column{Name: name, Type: table.Text})
	}
	all = append(all, table.Column{Name: "seed", Type: table.Unsigned})
	for _, name := range t.Columns {
		all = append(all, table.Column{Name: name, Type: parquet.Optional(table.Number)})
	}
	return append(all, table.Column{Name: "error", Type: table.Text})
}

func (t *Table) write(to table.Writer) error {
	for i := range t.Rows {
		var row parquet.Row
		for _, label := range t.Labels[i] {
			row = append(row, parquet.ByteArrayValue([]byte(label)))
		}
		row = append(row, parquet.Int64Value(int64(t.Seeds[i])))
		for j, v := range t.Rows[i] {
			value := parquet.NullValue()
			if t.Known[i][j] {
				value = parquet.DoubleValue(v)
			}
			row = append(row, value)
		}
		to.Write(append(row, parquet.ByteArrayValue([]byte(t.Errors[i]))))
	}
	return to.Close()
}

// WriteTables writes the tables of a study into its directory.
func (p *Plan) WriteTables(r *Results) error {
	t := p.NewTable(r)
	if err := atomicfile.Replace(filepath.Join(p.dir, CSVFile), t.WriteCSV); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(p.dir, ParquetFile), t.WriteParquet)
}
