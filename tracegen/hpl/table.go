package hpl

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/smpi/option"
	"reprise/trace"
	"reprise/tracegen"
)

// This file has the table of HPL's parameters (Parameters), and the types of their values.

// parameter is one parameter of an HPL.dat, with all that flags, HPL.dat, checks, the trace's header and docs/hpl.md
// say of it. Its Doc is for the page.
type parameter struct {
	tracegen.Parameter[Params]

	loop   loop   // HPL's loop over its values
	least  int    // number that HPL takes
	digits int    // of a choice: how many there are
	beyond string // of a choice: what digits behind them may be

	otherwise int // what HPL takes for one that it does not know, where it takes any
}

// loop is a place among HPL's nested loops over the values of an HPL.dat.
type loop int

// HPL's loops, the outermost first.
const (
	noLoop loop = iota // one value for all runs
	gridLoop
	orderLoop
	blockLoop
	depthLoop
	bcastLoop
	rfactLoop
	pfactLoop
	nbminLoop
	ndivLoop
	loops // how many
)

// Bounds of the parameters beyond which sizes overflow or definitions do not fit in memory.
const (
	maxOrder = math.MaxInt32 // HPL's int
	maxDepth = 1 << 12
)

// parameters are those of HPL.dat, in the order of its lines.
var parameters = withDefaults(map[string]int{"PFACT": int(Right), "RFACT": int(Right), "BCAST": int(OneRingM),
	"SWAP": int(SpreadRoll), "EQUIL": 1, "ALIGN": 4},
	number("N", "`order` of the matrix", "", orderLoop, 1, maxOrder, func(p *Params) *int { return &p.N }),
	number("NB", "block `size`", "may exceed N; by default the largest of 256, 192, 128, 96, 64, 48 that leaves each process 8 blocks of rows and of columns, else 32", blockLoop, 1, maxOrder, func(p *Params) *int { return &p.NB }),
	choice("PMAP", "`order` of ranks in the grid", noLoop, orderNames, func(p *Params) *Order { return &p.PMap }),
	number("P", "process `rows`", "", gridLoop, 1, trace.MaxRanks, func(p *Params) *int { return &p.P }),
	number("Q", "process `columns`", "", gridLoop, 1, trace.MaxRanks, func(p *Params) *int { return &p.Q }),
	choice("PFACT", "panel factorization `variant`", pfactLoop, factNames, func(p *Params) *Fact { return &p.PFact }),
	number("NBMIN", "`columns` at which the recursion stops", "", nbminLoop, 1, maxOrder,
		func(p *Params) *int { return &p.NBMin }),
	number("NDIV", "`panels` in a recursion step", "", ndivLoop, 2, maxOrder, func(p *Params) *int { return &p.NDiv }),
	choice("RFACT", "recursive factorization `variant`", rfactLoop, factNames, func(p *Params) *Fact { return &p.RFact }),
	choice("BCAST", "panel broadcast `algorithm`", bcastLoop, bcastNames, func(p *Params) *Bcast { return &p.Bcast }),
	number("DEPTH", "look-ahead `depth`", "", depthLoop, 0, maxDepth, func(p *Params) *int { return &p.Depth }),
	choice("SWAP", "row swap `algorithm`", noLoop, swapNames, func(p *Params) *Swap { return &p.Swap }),
	number("swap-threshold", "with --SWAP mix, the `columns` above which a swap is long",
		"with `bin` and `long` HPL ignores it, with a note", noLoop, 0, maxOrder, func(p *Params) *int { return &p.SwapThreshold }),
	choice("L1", "`form` of L1", noLoop, formNames, func(p *Params) *Form { return &p.L1 }),
	choice("U", "`form` of U", noLoop, formNames, func(p *Params) *Form { return &p.U }),
	parameter{Parameter: tracegen.Parameter[Params]{Usage: "equilibration in long swaps: no (0), yes (1)",
		Option: option.YesNo("EQUIL", "equilibration in long swaps: `no` 0, `yes` 1", func(p *Params) *bool { return &p.Equil })},
		digits: 2},
	number("ALIGN", "alignment of buffers in `doubles`; nothing in the trace depends on it", "", noLoop, 1, maxOrder,
		func(p *Params) *int { return &p.Align }),
)

// Parameters returns the parameters that an HPL.dat gives, in its order.
func Parameters() (list tracegen.Parameters[Params]) {
	for _, par := range parameters {
		list = append(list, par.Parameter)
	}
	return list
}

// number is a parameter that is a whole number.
func number(name, usage, note string, l loop, least, most int, field func(*Params) *int) parameter {
	// A number out of bounds parses; Check reports it, with all other faults of the parameters.
	opt := option.Parsed(name, plain(usage), tracegen.Number(math.MinInt32, most), field)
	// Where only the size of HPL's integers bounds a number, the page does not name the bound.
	allowed := fmt.Sprintf("%d to %d", least, most)
	if most == maxOrder {
		allowed = fmt.Sprintf("from %d", least)
	}
	opt.Doc += " (" + allowed + ")"
	if note != "" {
		opt.Doc += "; " + note
	}
	opt.Check = func(p *Params) error { return between(*field(p), least, most) }
	return parameter{Parameter: tracegen.Parameter[Params]{Option: opt, Usage: usage}, loop: l, least: least}
}

// choice is a parameter that is one of several, by any of its names or by HPL's digit.
func choice[E ~int](name, usage string, l loop, names [][]string, field func(*Params) *E) parameter {
	var first, every []string // the printed name of each digit, for help, and all its names, for the page
	for digit, of := range names {
		first = append(first, fmt.Sprintf("%s (%d)", of[0], digit))
		every = append(every, fmt.Sprintf("`%s` %d", strings.Join(of, "` `"), digit))
	}
	opt := option.Parsed(name, plain(usage)+": "+strings.Join(every, ", "), func(text string) (E, error) {
		// A value is given by digit or by name, in any case.
		var allowed []string
		for digit, list := range names {
			named := slices.ContainsFunc(list, func(name string) bool { return strings.EqualFold(text, name) })
			if named || text == strconv.Itoa(digit) {
				return E(digit), nil
			}
			allowed = append(allowed, fmt.Sprintf("%d (%s)", digit, list[0]))
		}
		return 0, fmt.Errorf("%q, allowed %s", text, strings.Join(allowed, ", "))
	}, field)
	opt.Check = func(p *Params) error { return between(int(*field(p)), 0, len(names)-1) }
	usage += ": " + strings.Join(first, ", ")
	return parameter{Parameter: tracegen.Parameter[Params]{Option: opt, Usage: usage}, loop: l, digits: len(names)}
}

// withDefaults adds what the parameters are by default, and what HPL takes of each for what it does not know,
// where that is not 0.
func withDefaults(otherwise map[string]int, list ...parameter) []parameter {
	// The defaults of help must not depend on the size of a run, so those that do are given in words.
	p := DefaultParams(1, 1, 1)
	for i := range list {
		list[i].otherwise = otherwise[list[i].Name]
		if list[i].Name == "BCAST" {
			list[i].beyond = "a broadcast of a vendor's build, such as Intel's Psh or the MPI_Ibcast of builds for GPUs, and not known here"
		}
		switch list[i].Name {
		case "N", "P", "Q":
			list[i].Usage += ", must be given"
		case "NB":
			list[i].Default = "32 to 256, by N, P and Q"
		default:
			list[i].Default = list[i].Get(&p)
		}
	}
	return list
}

// plain is a usage without its marks.
func plain(usage string) string { return strings.ReplaceAll(usage, "`", "") }

// between reports a number out of its bounds.
func between(v, least, most int) error {
	if v < least || v > most {
		return fmt.Errorf("%d, allowed %d to %d", v, least, most)
	}
	return nil
}

// Order is the order in which ranks fill the process grid (PMAP).
type Order int

// Orders, with HPL's digits.
const (
	RowMajor Order = iota
	ColumnMajor
)

// Fact is a variant of the panel factorization: PFACT of its leaves, RFACT of its recursion.
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

// IsLong reports whether the broadcast is one that spreads and rolls, without polls.
func (b Bcast) IsLong() bool { return b >= Long }

// Swap is the algorithm that swaps rows and broadcasts U along the process columns.
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

// Names of the values of each choice, by HPL's digit; the first name is the one that is printed.
var (
	orderNames = [][]string{{"row", "row-major", "r"}, {"column", "col", "column-major", "col-major", "c"}}
	factNames  = [][]string{{"left", "l"}, {"crout", "c"}, {"right", "r"}}
	bcastNames = [][]string{{"1ring", "1rg"}, {"1ringM", "1rM"}, {"2ring", "2rg"}, {"2ringM", "2rM"},
		{"long", "Lng", "bandwidth"}, {"longM", "LnM", "bandwidth-modified"}}
	swapNames = [][]string{{"bin", "binary-exchange", "bin-exch"}, {"long", "spread-roll"}, {"mix", "mixed"}}
	formNames = [][]string{{"transposed", "t", "yes"}, {"no-transposed", "no", "n", "notrans"}}
)

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
