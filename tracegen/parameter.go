package tracegen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/smpi/option"
	"reprise/trace"
)

// This file has what the tables of the programs' parameters have in common.

// Parameter is one parameter of a program, with all that flags and checks say of it.
type Parameter[T any] struct {
	option.Option[T]
	Usage   string // for help, the value's name in backquotes
	Default string // for help
	Of      string // the variant, or the phase, that alone has it; "": all have
	InDat   bool   // the program's own input file says it
	Switch  bool   // its flag has no value
}

// Parameters are those of a program, in the order of help.
type Parameters[T any] []Parameter[T]

// Set sets the given ones in their order, and returns which these are. Errors begin with the name of a parameter.
func (list Parameters[T]) Set(p *T, program string, given []trace.Param) (has map[string]bool, err error) {
	has = map[string]bool{}
	for _, g := range given {
		i := slices.IndexFunc(list, func(of Parameter[T]) bool { return of.Name == g.Name })
		if i < 0 {
			return has, fmt.Errorf("%s is no parameter of %s", g.Name, program)
		}
		if err := list[i].Set(p, g.Value); err != nil {
			return has, fmt.Errorf("%s %w", g.Name, err)
		}
		has[g.Name] = true
	}
	return has, nil
}

// Number returns a parser of whole numbers from least on that fit in 32 bits; most is what its error names.
func Number(least, most int) func(text string) (int, error) {
	return func(text string) (int, error) {
		v, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err == nil && int(v) >= least:
			return int(v), nil
		case least > 0:
			return 0, fmt.Errorf("%q, want a whole number in digits, %d to %d", text, least, most)
		}
		return 0, fmt.Errorf("%q, want a whole number in digits, at most %d", text, most)
	}
}

// Pair is two numbers, of rows and of columns.
type Pair struct{ Rows, Cols int }

// String returns the pair as flags have it.
func (p Pair) String() string { return fmt.Sprintf("%dx%d", p.Rows, p.Cols) }

// ParsePair reads what String writes, of positive numbers.
func ParsePair(text string) (p Pair, err error) {
	rows, cols, _ := strings.Cut(text, "x")
	if p.Rows, err = strconv.Atoi(rows); err == nil {
		p.Cols, err = strconv.Atoi(cols)
	}
	if err != nil || p.Rows < 1 || p.Cols < 1 || max(p.Rows, p.Cols) > math.MaxUint16+1 {
		return p, fmt.Errorf("%q, want rows and columns as in 16x4", text)
	}
	return p, nil
}
