package hpl

import (
	"fmt"
	"strconv"
	"strings"
)

// Order is the order in which ranks fill the process grid (PMAP).
type Order int

// Orders, with HPL's digits.
const (
	RowMajor Order = iota
	ColumnMajor
)

// Fact is a variant of the panel factorization: PFACT of its leaves, RFACT of
// its recursion.
type Fact int

// Factorizations, with HPL's digits.
const (
	Left Fact = iota
	Crout
	Right
)

// Bcast is the algorithm that broadcasts a panel along the process rows.
type Bcast int

// Broadcasts, with HPL's digits.
const (
	OneRing Bcast = iota
	OneRingM
	TwoRing
	TwoRingM
	Long
	LongM
)

// IsLong reports whether the broadcast is one that spreads and rolls, without
// polls.
func (b Bcast) IsLong() bool { return b >= Long }

// Swap is the algorithm that swaps rows and broadcasts U along the process
// columns.
type Swap int

// Swaps, with HPL's digits.
const (
	BinaryExchange Swap = iota
	SpreadRoll
	Mix
)

// Form is how a matrix is stored: L1 and U come in two forms.
type Form int

// Forms, with HPL's digits.
const (
	Transposed Form = iota
	NoTransposed
)

// letter is the form in HPL's routine names.
func (f Form) letter() string {
	if f == Transposed {
		return "T"
	}
	return "N"
}

// Names of the values of each choice, by HPL's digit; the first name is the one that is
// printed.
var (
	orderNames = [][]string{{"row", "row-major", "r"}, {"column", "col", "column-major", "col-major", "c"}}
	factNames  = [][]string{{"left", "l"}, {"crout", "c"}, {"right", "r"}}
	bcastNames = [][]string{{"1ring", "1rg"}, {"1ringM", "1rM"}, {"2ring", "2rg"}, {"2ringM", "2rM"},
		{"long", "Lng", "bandwidth"}, {"longM", "LnM", "bandwidth-modified"}}
	swapNames = [][]string{{"bin", "binary-exchange", "bin-exch"}, {"long", "spread-roll"}, {"mix", "mixed"}}
	formNames = [][]string{{"transposed", "t", "yes"}, {"no-transposed", "no", "n", "notrans"}}
)

// parseChoice returns the digit of a value given by digit or by name, in any case.
func parseChoice(names [][]string, text string) (int, error) {
	for digit, list := range names {
		if text == strconv.Itoa(digit) {
			return digit, nil
		}
		for _, name := range list {
			if strings.EqualFold(text, name) {
				return digit, nil
			}
		}
	}
	var allowed []string
	for digit, list := range names {
		allowed = append(allowed, fmt.Sprintf("%d (%s)", digit, list[0]))
	}
	return 0, fmt.Errorf("%q, allowed %s", text, strings.Join(allowed, ", "))
}

// choiceName returns the printed name of a value, or its digits where it has none.
func choiceName[E ~int](names [][]string, v E) string {
	if v >= 0 && int(v) < len(names) {
		return names[v][0]
	}
	return strconv.Itoa(int(v))
}

func (o Order) String() string { return choiceName(orderNames, o) }
func (f Fact) String() string  { return choiceName(factNames, f) }
func (b Bcast) String() string { return choiceName(bcastNames, b) }
func (s Swap) String() string  { return choiceName(swapNames, s) }
func (f Form) String() string  { return choiceName(formNames, f) }
