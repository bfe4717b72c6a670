package table

import (
	"fmt"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// parquetWriter writes rows in groups of so many that one fits into memory.
type parquetWriter struct {
	w        *parquet.GenericWriter[any]
	row      parquet.Row
	rows     int // in the group
	perGroup int
	err      error
}

// groupCells is how many values a group of rows has, about: 8 MB.
const groupCells = 1 << 20

// NewParquet returns a writer of a Parquet file, compressed by zstd, to w.
func NewParquet(w io.Writer, c *Columns) Writer {
	columns := len(c.Fixed) + len(c.Seconds)
	return &parquetWriter{
		w: parquet.NewGenericWriter[any](w, schemaOf(c), parquet.Compression(&parquet.Zstd)), perGroup: max(1,
			groupCells/columns),
	}
}

// schemaOf returns the schema of rows, whose columns keep their order as the fields of a
// struct do.
func schemaOf(c *Columns) *parquet.Schema {
	types := []reflect.Type{
		reflect.TypeFor[int32](), reflect.TypeFor[string](), reflect.TypeFor[*int64](), reflect.TypeFor[bool](), reflect.TypeFor[float64](), reflect.TypeFor[float64](),
		reflect.TypeFor[int64](), reflect.TypeFor[int64](),
	}
	var fields []reflect.StructField
	for i, name := range append(c.Fixed[:len(c.Fixed):len(c.Fixed)], c.Seconds...) {
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
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}

// Write implements Writer.
func (to *parquetWriter) Write(r *Row) {
	if to.err != nil {
		return
	}
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
func (to *parquetWriter) value(v parquet.Value) {
	to.row = append(to.row, v.Level(0, 0, len(to.row)))
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
