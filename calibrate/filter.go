package calibrate

import "reprise/calibrate/table"

// Condition asks for a text in a column.
type Condition struct{ Column, Value string }

// Filter returns a function that reports whether the current row of r has what all
// the conditions ask for.
func Filter(r *table.Reader, where []Condition) (func() bool, error) {
	at, err := findWhere(r, where)
	if err != nil {
		return nil, err
	}
	return func() bool {
		for i, w := range where {
			if r.Text(at[i]) != w.Value {
				return false
			}
		}
		return true
	}, nil
}

func findWhere(r *table.Reader, where []Condition) ([]int, error) {
	var list []int
	for _, w := range where {
		i, err := r.Column(w.Column)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			return nil, r.Errorf("no column %q, of which %q is asked", w.Column, w.Value)
		}
		list = append(list, i)
	}
	return list, nil
}
