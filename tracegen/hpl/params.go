package hpl

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/trace"
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

// Names of the values of each enumerated parameter, by digit; the first name is
// the one that is printed.
var (
	orderNames = [][]string{{"row", "row-major", "r"}, {"column", "col", "column-major", "col-major", "c"}}
	factNames  = [][]string{{"left", "l"}, {"crout", "c"}, {"right", "r"}}
	bcastNames = [][]string{{"1ring", "1rg"}, {"1ringM", "1rM"}, {"2ring", "2rg"}, {"2ringM", "2rM"},
		{"long", "Lng", "bandwidth"}, {"longM", "LnM", "bandwidth-modified"}}
	swapNames = [][]string{{"bin", "binary-exchange", "bin-exch"}, {"long", "spread-roll"}, {"mix", "mixed"}}
	formNames = [][]string{{"transposed", "t", "yes"}, {"no-transposed", "no", "n", "notrans"}}
	boolNames = [][]string{{"no", "false"}, {"yes", "true"}}
)

// parseEnum returns the digit of a value given by digit or by name, in any case.
func parseEnum[T ~int](what string, names [][]string, s string) (T, error) {
	for digit, list := range names {
		if s == strconv.Itoa(digit) {
			return T(digit), nil
		}
		for _, name := range list {
			if strings.EqualFold(s, name) {
				return T(digit), nil
			}
		}
	}
	var allowed []string
	for digit, list := range names {
		allowed = append(allowed, fmt.Sprintf("%d (%s)", digit, list[0]))
	}
	return 0, fmt.Errorf("%s: unknown value %q, allowed %s", what, s, strings.Join(allowed, ", "))
}

func enumName[T ~int](names [][]string, v T) string {
	if v >= 0 && int(v) < len(names) {
		return names[v][0]
	}
	return strconv.Itoa(int(v))
}

// ParseOrder reads a PMAP by name or digit.
func ParseOrder(s string) (Order, error) { return parseEnum[Order]("PMAP", orderNames, s) }

// ParseFact reads a PFACT or RFACT (what, for errors) by name or digit.
func ParseFact(what, s string) (Fact, error) { return parseEnum[Fact](what, factNames, s) }

// ParseBcast reads a BCAST by name or digit.
func ParseBcast(s string) (Bcast, error) { return parseEnum[Bcast]("BCAST", bcastNames, s) }

// ParseSwap reads a SWAP by name or digit.
func ParseSwap(s string) (Swap, error) { return parseEnum[Swap]("SWAP", swapNames, s) }

// ParseForm reads the form of L1 or U (what, for errors) by name or digit.
func ParseForm(what, s string) (Form, error) { return parseEnum[Form](what, formNames, s) }

// ParseEquil reads EQUIL by name or digit.
func ParseEquil(s string) (bool, error) {
	v, err := parseEnum[int]("EQUIL", boolNames, s)
	return v == 1, err
}

func (o Order) String() string { return enumName(orderNames, o) }
func (f Fact) String() string  { return enumName(factNames, f) }
func (b Bcast) String() string { return enumName(bcastNames, b) }
func (s Swap) String() string  { return enumName(swapNames, s) }
func (f Form) String() string  { return enumName(formNames, f) }

// Params is one configuration of HPL: every parameter of HPL.dat that the solver
// depends on, the build option that changes its actions, and where pivots come
// from.
type Params struct {
	N, NB         int
	PMap          Order
	P, Q          int
	PFact         Fact
	NBMin         int // recursion stops at this many columns
	NDiv          int // panels a recursion step divides into
	RFact         Fact
	Bcast         Bcast
	Depth         int // of the look-ahead
	Swap          Swap
	SwapThreshold int // columns; Mix uses spread-roll above it
	L1, U         Form
	Equil         bool
	Align         int  // of buffers, in doubles; no action depends on it
	CopyL         bool // HPL built with HPL_COPY_L
	Pivots        Pivots
}

// DefaultParams returns sensible parameters for a matrix of order n on a p x q
// grid: what HPL's tuning notes recommend, with a block size that leaves each
// process at least eight blocks of rows and of columns where n allows it.
func DefaultParams(n, p, q int) Params {
	return Params{
		N: n, NB: defaultNB(n, max(p, q)), P: p, Q: q, PMap: RowMajor,
		PFact: Right, NBMin: 4, NDiv: 2, RFact: Crout, Bcast: OneRingM, Depth: 1,
		Swap: Mix, SwapThreshold: 64, L1: Transposed, U: Transposed, Equil: true, Align: 8,
		Pivots: Pivots{Kind: RandomPivots, Seed: 1},
	}
}

func defaultNB(n, procs int) int {
	for _, nb := range []int{256, 192, 128, 96, 64, 48} {
		if n/8/nb >= procs {
			return nb
		}
	}
	return 32
}

// Bounds of the parameters beyond which sizes overflow or definitions do not fit
// in memory.
const (
	maxOrder   = math.MaxInt32 // N, NB: HPL's int
	maxDepth   = 1 << 12
	maxMessage = math.MaxInt64 / 64 // doubles
)

// Validate returns all violations of what HPL can run, joined; or, if there are
// none, that the definitions of the run would take more than 2 GiB.
func (p *Params) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	between := func(name string, v, lo, hi int) {
		check(v >= lo && v <= hi, "%s = %d, allowed %d to %d", name, v, lo, hi)
	}
	between("N", p.N, 1, maxOrder)
	between("NB", p.NB, 1, maxOrder)
	between("P", p.P, 1, trace.MaxRanks)
	between("Q", p.Q, 1, trace.MaxRanks)
	check(int64(p.P)*int64(p.Q) <= trace.MaxRanks || p.P > trace.MaxRanks || p.Q > trace.MaxRanks,
		"P = %d times Q = %d is more than %d ranks", p.P, p.Q, trace.MaxRanks)
	between("NBMIN", p.NBMin, 1, maxOrder)
	between("NDIV", p.NDiv, 2, maxOrder)
	between("DEPTH", p.Depth, 0, maxDepth)
	between("swap-threshold", p.SwapThreshold, 0, maxOrder)
	between("ALIGN", p.Align, 1, maxOrder)
	between("PMAP", int(p.PMap), 0, len(orderNames)-1)
	between("PFACT", int(p.PFact), 0, len(factNames)-1)
	between("RFACT", int(p.RFact), 0, len(factNames)-1)
	between("BCAST", int(p.Bcast), 0, len(bcastNames)-1)
	between("SWAP", int(p.Swap), 0, len(swapNames)-1)
	between("L1", int(p.L1), 0, len(formNames)-1)
	between("U", int(p.U), 0, len(formNames)-1)
	if p.N >= 1 && p.NB >= 1 && p.N <= maxOrder {
		jb := int64(min(p.N, p.NB))
		check(jb <= trace.MaxElements, "NB = %d: a panel has more than %d columns", p.NB, trace.MaxElements)
		check((int64(p.N)+jb+2) <= maxMessage/jb, "N = %d with NB = %d: a panel has more than %d elements", p.N, p.NB, int64(maxMessage))
	}
	errs = append(errs, p.Pivots.validate(p))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.checkMemory()
}

// lookAhead returns the depth that HPL uses: none with a single process column.
func (p *Params) lookAhead() int {
	if p.Q == 1 {
		return 0
	}
	return p.Depth
}

// Panels returns the number of panels, N/NB rounded up.
func (p *Params) Panels() int { return (p.N + p.NB - 1) / p.NB }

// Steps returns the number of steps of the main loop: one a panel, the empty
// panels of a look-ahead deeper than the matrix included.
func (p *Params) Steps() int { return max(p.Panels(), p.lookAhead()) }

// Flops returns the operations that HPL's own rate counts, 2/3 N^3 + 3/2 N^2.
func (p *Params) Flops() float64 {
	n := float64(p.N)
	return n * n * (float64(2.0/3.0*n) + 1.5)
}

// Variant returns HPL's encoding of the algorithm, column T/V of its results.
func (p *Params) Variant() string {
	order := 'R'
	if p.PMap == ColumnMajor {
		order = 'C'
	}
	return fmt.Sprintf("W%c%d%d%c%d%c%d", order, p.Depth, p.Bcast, "LCR"[p.RFact], p.NDiv, "LCR"[p.PFact], p.NBMin)
}

func yesNo(v bool) string {
	if v {
		return boolNames[1][0]
	}
	return boolNames[0][0]
}

// List returns all parameters by name, as they stand in the header of the trace. Pivots
// from a file are not told apart by its name: what they are shows in the actions.
func (p *Params) List() []trace.Param {
	number := strconv.Itoa
	list := []trace.Param{
		{Name: "N", Value: number(p.N)}, {Name: "NB", Value: number(p.NB)}, {Name: "PMAP", Value: p.PMap.String()},
		{Name: "P", Value: number(p.P)}, {Name: "Q", Value: number(p.Q)}, {Name: "PFACT", Value: p.PFact.String()},
		{Name: "NBMIN", Value: number(p.NBMin)}, {Name: "NDIV", Value: number(p.NDiv)}, {Name: "RFACT", Value: p.RFact.String()},
		{Name: "BCAST", Value: p.Bcast.String()}, {Name: "DEPTH", Value: number(p.Depth)}, {Name: "SWAP", Value: p.Swap.String()},
		{Name: "swap-threshold", Value: number(p.SwapThreshold)}, {Name: "L1", Value: p.L1.String()}, {Name: "U", Value: p.U.String()},
		{Name: "EQUIL", Value: yesNo(p.Equil)}, {Name: "ALIGN", Value: number(p.Align)}, {Name: "copy-l", Value: yesNo(p.CopyL)},
		{Name: "pivots", Value: strings.TrimSuffix(p.Pivots.String(), ":"+p.Pivots.Name)},
	}
	if p.Pivots.Kind == RandomPivots {
		list = append(list, trace.Param{Name: "seed", Value: strconv.FormatUint(p.Pivots.Seed, 10)})
	}
	return list
}
