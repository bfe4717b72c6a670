package study

import (
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// WriteParquet writes the table as a Parquet file, compressed by zstd, with the columns of
// WriteCSV: levels are texts.
func (t *Table) WriteParquet(w io.Writer) error {
	to := parquet.NewGenericWriter[any](w, t.schema(), parquet.Compression(&parquet.Zstd))
	for i := range t.Rows {
		if _, err := to.WriteRows([]parquet.Row{t.parquetRow(i)}); err != nil {
			return err
		}
	}
	return to.Close()
}

// schema returns the names and the types of the columns.
func (t *Table) schema() *parquet.Schema {
	var all columns
	add := func(name string, of parquet.Node) { all.fields = append(all.fields, column{of, name}) }
	for _, name := range t.Factors {
		add(name, parquet.String())
	}
	add("seed", parquet.Uint(64))
	for _, name := range t.Columns {
		add(name, parquet.Optional(parquet.Leaf(parquet.DoubleType)))
	}
	add("error", parquet.String())
	return parquet.NewSchema("", all)
}

// columns is the root of a schema. A group would sort its columns by name, and tags of a struct
// would read options behind the commas of a name.
type columns struct {
	parquet.Group // without entries
	fields        []parquet.Field
}

// Fields implements parquet.Node.
func (c columns) Fields() []parquet.Field { return c.fields }

// column is a leaf with a name.
type column struct {
	parquet.Node
	name string
}

// Name implements parquet.Field.
func (c column) Name() string { return c.name }

// Value implements parquet.Field: it is asked for values of Go types, and rows are written.
func (c column) Value(reflect.Value) reflect.Value { panic("study: a column has no Go type") }

func (t *Table) parquetRow(i int) parquet.Row {
	var row parquet.Row
	add := func(v parquet.Value, definition int) { row = append(row, v.Level(0, definition, len(row))) }
	for _, label := range t.Labels[i] {
		add(parquet.ByteArrayValue([]byte(label)), 0)
	}
	add(parquet.Int64Value(int64(t.Seeds[i])), 0)
	for j, v := range t.Rows[i] {
		if t.Known[i][j] {
			add(parquet.DoubleValue(v), 1)
		} else {
			add(parquet.NullValue(), 0)
		}
	}
	add(parquet.ByteArrayValue([]byte(t.Errors[i])), 0)
	return row
}
