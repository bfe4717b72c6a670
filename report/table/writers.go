package table

import (
	"bufio"
	"encoding/csv"
	"io"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"reprise/internal/textutil"
)

// This file has the two writers of tables: NewCSV and NewParquet.

// Column is a column of a table: its name and the type of its values in a Parquet file.
type Column struct {
	Name string
	Type parquet.Node
}

// Types of columns.
var (
	Text     = parquet.String()
	Unsigned = parquet.Uint(64) // an Int64Value has the bits
	Number   = parquet.Leaf(parquet.DoubleType)
)

// Writer writes rows: the values of the columns, of which a writer sets the levels. A row may not be kept.
type Writer interface {
	Write(parquet.Row)
	// Label names the contents of a table that is not of a whole run, where the format has a place for it.
	Label(text string)
	// Close ends the table. It returns the first error.
	Close() error
}

// NewCSV returns a writer of comma-separated values to w: a line of names, then a line for each row. Unknown values are
// empty, and texts that a spreadsheet would take for formulas have an apostrophe. Every row has the label, which names
// the contents of a table that is not of a whole run as the files have it; "": there is no such column.
func NewCSV(w io.Writer, columns []Column, label string) Writer {
	to := &csvWriter{w: csv.NewWriter(bufio.NewWriterSize(w, 64<<10)), columns: columns}
	var names []string
	for _, c := range columns {
		names = append(names, textutil.Cell(c.Name))
	}
	if label != "" {
		names, to.label = append(names, "label"), []string{textutil.Cell(label)}
	}
	to.w.Write(names)
	return to
}

type csvWriter struct {
	w       *csv.Writer
	columns []Column
	label   []string // in every row; nil: there is no such column
	fields  []string
}

// Write implements Writer. Numbers have all of their digits: reading one gives the same bits.
func (to *csvWriter) Write(row parquet.Row) {
	to.fields = to.fields[:0]
	for i, v := range row {
		text := ""
		switch v.Kind() {
		case parquet.Boolean:
			text = strconv.FormatBool(v.Boolean())
		case parquet.Int32:
			text = strconv.Itoa(int(v.Int32()))
		case parquet.Int64:
			if text = strconv.FormatInt(v.Int64(), 10); to.columns[i].Type == Unsigned {
				text = strconv.FormatUint(v.Uint64(), 10)
			}
		case parquet.Double:
			text = strconv.FormatFloat(v.Double(), 'g', -1, 64)
		case parquet.ByteArray:
			text = textutil.Cell(string(v.ByteArray()))
		}
		to.fields = append(to.fields, text)
	}
	to.w.Write(append(to.fields, to.label...)) // Close has the error
}

// Label implements Writer: a label that is known at the end only has no place in rows that are written.
func (to *csvWriter) Label(string) {}

// Close implements Writer.
func (to *csvWriter) Close() error {
	to.w.Flush()
	return to.w.Error()
}

// NewParquet returns a writer of a Parquet file, compressed by zstd, to w.
func NewParquet(w io.Writer, columns []Column) Writer {
	var all root
	for _, c := range columns {
		all.fields = append(all.fields, leaf{c.Type, c.Name})
	}
	schema := parquet.NewSchema("", all)
	return &parquetWriter{w: parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd)),
		columns: columns, perGroup: max(1, groupCells/len(columns))}
}

// root is the root of a schema, with the columns in the order of the table. A group of the library would sort its
// columns by name, and tags of a struct would read options behind the commas of a name.
type root struct {
	parquet.Group // without entries
	fields        []parquet.Field
}

// Fields implements parquet.Node.
func (r root) Fields() []parquet.Field { return r.fields }

// leaf is a column with a name.
type leaf struct {
	parquet.Node
	name string
}

// Name implements parquet.Field.
func (l leaf) Name() string { return l.name }

// Value implements parquet.Field. The library calls it for values of Go types, and here are rows.
func (l leaf) Value(reflect.Value) reflect.Value { panic("table: a column has no Go type") }

// parquetWriter writes rows in groups of so many that one fits into memory: the format stores a group column by column,
// and so keeps it until it is complete.
type parquetWriter struct {
	w        *parquet.GenericWriter[any]
	columns  []Column
	rows     int // in the group
	perGroup int
	err      error // the first
}

// groupCells is how many values a group of rows has, about: 8 MB.
const groupCells = 1 << 20

// Write implements Writer.
func (to *parquetWriter) Write(row parquet.Row) {
	if to.err != nil {
		return
	}
	// Values have the index of their column, and a definition level: 1 where an optional one is there.
	for i, v := range row {
		level := 0
		if to.columns[i].Type.Optional() && !v.IsNull() {
			level = 1
		}
		row[i] = v.Level(0, level, i)
	}
	if _, to.err = to.w.WriteRows([]parquet.Row{row}); to.err != nil {
		return
	}
	if to.rows++; to.rows == to.perGroup {
		to.err = to.w.Flush()
		to.rows = 0
	}
}

// Label implements Writer: it is metadata of the file.
func (to *parquetWriter) Label(text string) { to.w.SetKeyValueMetadata("label", text) }

// Close implements Writer.
func (to *parquetWriter) Close() error {
	if to.err != nil {
		return to.err
	}
	return to.w.Close()
}
