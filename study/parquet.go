package study

import (
	"fmt"
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

// schema returns the types of the columns, which keep their order as the fields of a struct.
func (t *Table) schema() *parquet.Schema {
	var fields []reflect.StructField
	add := func(name string, of reflect.Type) {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: of, Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", name))})
	}
	for _, name := range t.Factors {
		add(name, reflect.TypeFor[string]())
	}
	add("seed", reflect.TypeFor[uint64]())
	for _, name := range t.Columns {
		add(name, reflect.TypeFor[*float64]())
	}
	add("error", reflect.TypeFor[string]())
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}

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
