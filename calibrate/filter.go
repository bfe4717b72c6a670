package calibrate

import "reprise/calibrate/table"

// Filter returns a function that reports whether the current row of r has what all
// the conditions ask for.
func Filter(r *table.Reader, where []Condition) (func() bool, error) {
	at, err := findWhere(r, where)
	if err != nil {
		return nil, err
	}
	return func() bool { return holds(r, at, where) }, nil
}
