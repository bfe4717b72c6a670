package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"reprise/calibrate/table"
)

// csvTable is one of the published tables.
type csvTable struct {
	rows []row
	err  error // the first wrong field that was asked for
}

// row is a line of a table: fields by the names of their columns.
type row struct {
	table  *csvTable
	where  string // file:line
	fields map[string]string
}

// csvTable reads a table of the published data that has the given columns.
func (l *runner) csvTable(name string, columns ...string) (*csvTable, error) {
	return readSheet(filepath.Join(l.data, name), columns...)
}

func readSheet(path string, columns ...string) (*csvTable, error) {
	r, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for _, name := range columns {
		if i, err := r.Column(name); err != nil || i < 0 {
			return nil, errors.Join(fmt.Errorf("%s: want a column %s", path, name), err)
		}
	}
	s := &csvTable{}
	for {
		err := r.Next()
		if errors.Is(err, io.EOF) && len(s.rows) == 0 {
			return nil, fmt.Errorf("%s: no rows", path)
		}
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		x := row{s, fmt.Sprint(r.Errorf("")), map[string]string{}}
		for i, name := range r.Header() {
			x.fields[name] = r.Text(i)
		}
		s.rows = append(s.rows, x)
	}
}

// text returns a field.
func (r row) text(column string) string { return r.fields[column] }

// number returns a field as a number. A wrong one is kept in the table's err, an
// empty one is 0.
func (r row) number(column string) float64 {
	field := r.fields[column]
	if field == "" {
		return 0
	}
	var x float64
	if err := json.Unmarshal([]byte(field), &x); err != nil && r.table.err == nil {
		r.table.err = fmt.Errorf("%scolumn %s: %q is not a number", r.where, column, field)
	}
	return x
}

// whole returns a field as a whole number.
func (r row) whole(column string) int {
	x := r.number(column)
	if x != float64(int(x)) && r.table.err == nil {
		r.table.err = fmt.Errorf("%scolumn %s: %g is not a whole number", r.where, column, x)
	}
	return int(x)
}

// document reads a JSON file of the published data into v.
func (l *runner) document(name string, v any) error {
	path := filepath.Join(l.data, name)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
