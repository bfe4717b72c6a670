package table

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"reprise/internal/textutil"
)

// This file has the two writers of tables: NewCSV and NewParquet.

// NewCSV returns a writer of comma-separated values to w. Every row has the label, which names the contents of a
// table that is not of a whole run as the files have it; "": there is no such column.
func NewCSV(w io.Writer, c *Columns, label string) Writer {
	to := &csvWriter{w: csv.NewWriter(bufio.NewWriterSize(w, 64<<10))}
	names := slices.Concat(c.Fixed, c.Seconds)
	if label != "" {
		names, to.label = append(names, "label"), []string{textutil.Cell(label)}
	}
	to.w.Write(names)
	return to
}

// csvWriter writes a line of names, then a line for each row. Unknown values are empty, and texts that a spreadsheet
// would take for formulas have an apostrophe.
type csvWriter struct {
	w      *csv.Writer
	label  []string // in every row; nil: there is no such column
	fields []string
}

// Write implements Writer.
func (to *csvWriter) Write(r *Row) {
	step := ""
	if r.Step != NoStep {
		step = strconv.FormatInt(r.Step, 10)
	}
	to.fields = append(to.fields[:0], strconv.Itoa(int(r.Rank)), textutil.Cell(r.Host), step,
		strconv.FormatBool(r.Complete), number(r.Begin), number(r.End),
		strconv.FormatInt(r.Messages, 10), strconv.FormatInt(r.Bytes, 10))
	for _, v := range r.Seconds {
		to.fields = append(to.fields, number(v))
	}
	to.w.Write(append(to.fields, to.label...)) // Close has the error
}

// number writes a number with all of its digits: reading it gives the same bits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Label implements Writer: a label that is known at the end only has no place in rows that are written.
func (to *csvWriter) Label(string) {}

// Close implements Writer.
func (to *csvWriter) Close() error {
	to.w.Flush()
	return to.w.Error()
}

// NewParquet returns a writer of a Parquet file, compressed by zstd, to w. Columns keep their order as the fields
// of a struct do, which is made for them.
func NewParquet(w io.Writer, c *Columns) Writer {
	// The schema is made from a struct: the optional step is a pointer there.
	types := []reflect.Type{ // of the fixed columns; all others are float64
		reflect.TypeFor[int32](), reflect.TypeFor[string](), reflect.TypeFor[*int64](), reflect.TypeFor[bool](),
		reflect.TypeFor[float64](), reflect.TypeFor[float64](), reflect.TypeFor[int64](), reflect.TypeFor[int64](),
	}
	var fields []reflect.StructField
	for i, name := range slices.Concat(c.Fixed, c.Seconds) {
		of := reflect.TypeFor[float64]()
		if i < len(types) {
			of = types[i]
		}
		tag := name
		if name == "host" {
			tag += ",dict"
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: of,
			Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag))})
	}
	schema := parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
	return &parquetWriter{
		w:        parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd)),
		perGroup: max(1, groupCells/len(fields)),
	}
}

// parquetWriter writes rows in groups of so many that one fits into memory: the format stores a group column by column,
// and so keeps it until it is complete.
type parquetWriter struct {
	w        *parquet.GenericWriter[any]
	row      parquet.Row
	rows     int // in the group
	perGroup int
	err      error // the first
}

// groupCells is how many values a group of rows has, about: 8 MB.
const groupCells = 1 << 20

// Write implements Writer.
func (to *parquetWriter) Write(r *Row) {
	if to.err != nil {
		return
	}
	// Values have the index of their column, and a definition level: 1 where an optional one, the step, is there.
	to.row = to.row[:0]
	to.value(parquet.Int32Value(r.Rank))
	to.value(parquet.ByteArrayValue([]byte(r.Host)))
	if r.Step == NoStep {
		to.row = append(to.row, parquet.NullValue().Level(0, 0, len(to.row)))
	} else {
		to.row = append(to.row, parquet.Int64Value(r.Step).Level(0, 1, len(to.row)))
	}
	to.value(parquet.BooleanValue(r.Complete))
	to.value(parquet.DoubleValue(r.Begin))
	to.value(parquet.DoubleValue(r.End))
	to.value(parquet.Int64Value(r.Messages))
	to.value(parquet.Int64Value(r.Bytes))
	for _, v := range r.Seconds {
		to.value(parquet.DoubleValue(v))
	}
	if _, to.err = to.w.WriteRows([]parquet.Row{to.row}); to.err != nil {
		return
	}
	if to.rows++; to.rows == to.perGroup {
		to.err = to.w.Flush()
		to.rows = 0
	}
}

// value appends a value of a column that always has one.
func (to *parquetWriter) value(v parquet.Value) { to.row = append(to.row, v.Level(0, 0, len(to.row))) }

// Label implements Writer: it is metadata of the file.
func (to *parquetWriter) Label(text string) { to.w.SetKeyValueMetadata("label", text) }

// Close implements Writer.
func (to *parquetWriter) Close() error {
	if to.err != nil {
		return to.err
	}
	return to.w.Close()
}
