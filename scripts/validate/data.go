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

// data is the published data. The first error stays in err, so that tables of runs are
// straight code; what is read after an error is empty.
type data struct {
	dir string
	all bool // complete runs
	err error
}

func (d *data) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// within returns the flags of replay for a long run, which is an estimate unless all is set.
func (d *data) within(percent float64) string {
	if d.all {
		return ""
	}
	return tolerance(percent)
}

// row is a line of a CSV file: fields by the names of their columns.
type row struct {
	data   *data
	where  string // "file:line: "
	fields map[string]string
}

// rows reads a CSV file that has some columns.
func (d *data) rows(name string, columns ...string) []row {
	path := filepath.Join(d.dir, name)
	r, err := table.Open(path)
	if err != nil {
		d.fail(err)
		return nil
	}
	defer r.Close()
	for _, c := range columns {
		if i, err := r.Column(c); err != nil || i < 0 {
			d.fail(errors.Join(fmt.Errorf("%s: want a column %s", path, c), err))
			return nil
		}
	}
	var rows []row
	for err = r.Next(); err == nil; err = r.Next() {
		x := row{d, fmt.Sprint(r.Errorf("")), map[string]string{}}
		for i, c := range r.Header() {
			x.fields[c] = r.Text(i)
		}
		rows = append(rows, x)
	}
	if !errors.Is(err, io.EOF) {
		d.fail(err)
		return nil
	}
	return rows
}

func (r row) text(column string) string { return r.fields[column] }

// number returns a field as a number, an empty one as 0.
func (r row) number(column string) float64 {
	var x float64
	if field := r.fields[column]; field != "" {
		if err := json.Unmarshal([]byte(field), &x); err != nil {
			r.data.fail(fmt.Errorf("%scolumn %s: %q is not a number", r.where, column, field))
		}
	}
	return x
}

// whole returns a field as a whole number.
func (r row) whole(column string) int {
	x := r.number(column)
	if x != float64(int(x)) {
		r.data.fail(fmt.Errorf("%scolumn %s: %g is not a whole number", r.where, column, x))
	}
	return int(x)
}

// document reads a JSON file into v.
func (d *data) document(name string, v any) {
	path := filepath.Join(d.dir, name)
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		d.fail(fmt.Errorf("%s: %w", path, err))
	}
}
