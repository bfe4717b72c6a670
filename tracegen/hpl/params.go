package hpl

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/tracegen"
)

// Params is one configuration of HPL: every parameter of HPL.dat that the solver depends on, the build option that
// changes its actions, where pivots come from, and how much of the run is written.
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
	FirstSteps    int // so many steps of the main loop are written only; 0: all, and the back substitution
	// The program, and what rocHPL has besides HPL.dat.
	Program Variant
	Frac    float64       // of the columns: the section whose swap comes last
	Node    tracegen.Pair // how the ranks of a node lie in the process grid, with column-major order; zero: as HPL has it
}

// DefaultParams returns the parameters that HPL's tuning notes recommend for a matrix of order n on a p x q grid. The
// block size leaves each process at least eight blocks of rows and of columns if n allows it.
func DefaultParams(n, p, q int) Params {
	nb := 32
	for _, larger := range []int{48, 64, 96, 128, 192, 256} {
		if n/8/larger >= max(p, q) {
			nb = larger
		}
	}
	return Params{
		N: n, NB: nb, P: p, Q: q, PMap: RowMajor,
		PFact: Right, NBMin: 4, NDiv: 2, RFact: Crout, Bcast: OneRingM, Depth: 1,
		Swap: Mix, SwapThreshold: 64, L1: Transposed, U: Transposed, Equil: true, Align: 8,
		Pivots: Pivots{Kind: RandomPivots, Seed: 1},
	}
}

// maxMessage is how many doubles a message can have.
const maxMessage = math.MaxInt64 / 64

// WithDefaults returns what set sets, and all else as DefaultParams has it for the N, P and Q that it sets.
func WithDefaults(set func(*Params) error) (Params, error) {
	var given Params
	if err := set(&given); err != nil {
		return given, err
	}
	p := DefaultParams(given.N, given.P, given.Q)
	p.UseVariant(given.Program)
	return p, set(&p)
}

// Set sets a parameter of HPL.dat by its name and the text of its value: a number, or a
// name or HPL's digit, in any case. [Params.Validate] says whether HPL can run with it.
func (p *Params) Set(name, text string) error {
	i := slices.IndexFunc(parameters, func(par parameter) bool { return par.Name == name })
	if i < 0 {
		return fmt.Errorf("no parameter %q", name)
	}
	if err := parameters[i].Set(p, text); err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	return nil
}

// Validate returns all violations of what HPL can run, joined; or, if there are
// none, that the definitions of the run would take more than 2 GiB.
func (p *Params) Validate() error {
	var faults textutil.Faults
	check := faults.Want
	for i := range parameters {
		if par := &parameters[i]; par.Check != nil {
			err := par.Check(p)
			check(err == nil, "%s = %w", par.Name, err)
		}
	}
	check(p.FirstSteps >= 0, "first steps = %d, allowed 0 (all) or more", p.FirstSteps)
	p.checkVariant(check)
	check(int64(p.P)*int64(p.Q) <= trace.MaxRanks || p.P > trace.MaxRanks || p.Q > trace.MaxRanks,
		"P = %d times Q = %d is more than %d ranks", p.P, p.Q, trace.MaxRanks)
	if p.N >= 1 && p.NB >= 1 && p.N <= maxOrder {
		// These products are sizes of messages, so they must fit whatever the grid is. Values that are out of
		// bounds by themselves have been reported above.
		jb := int64(min(p.N, p.NB))
		check(jb <= trace.MaxElements, "NB = %d: a panel has more than %d columns", p.NB, trace.MaxElements)
		check((int64(p.N)+jb+2) <= maxMessage/jb, "N = %d with NB = %d: a panel has more than %d elements", p.N, p.NB,
			int64(maxMessage))
	}
	switch v := &p.Pivots; v.Kind {
	case RandomPivots, NoPivots:
	case LUPivots:
		check(p.N <= MaxLU, "pivots lu: N = %d, at most %d: the matrix is factored here", p.N, MaxLU)
	case GivenPivots:
		check(len(v.Rows) == p.N, "pivots: %d rows given, want N = %d", len(v.Rows), p.N)
		for c, r := range v.Rows {
			if len(v.Rows) == p.N && (int(r) < c || int(r) >= p.N) {
				check(false, "pivots: column %d: row %d, allowed %d to %d", c, r, c, p.N-1)
				break
			}
		}
	default:
		check(false, "pivots: unknown source %d", v.Kind)
	}
	if err := faults.Err(); err != nil {
		return err
	}
	need := p.memory()
	if need <= maxMemory {
		return nil
	}
	return fmt.Errorf("definitions of about %.2f GiB, allowed %d, for P = %d, Q = %d, SWAP %v, EQUIL %s, BCAST %v, NBMIN %d, "+
		"NDIV %d: take fewer process rows or columns, SWAP bin or EQUIL no, an NB that divides N, or a smaller NBMIN or NDIV",
		float64(need)/(1<<30), maxMemory>>30, p.P, p.Q, p.Swap, yesNo(p.Equil), p.Bcast, p.NBMin, p.NDiv)
}

// maxMemory bounds what the definitions of a run may take, in bytes.
const maxMemory = 2 << 30

// Memory of blocks while they are made and written, in bytes: about twice their size, as they are garbage collected.
// Fitted from above to the peak memory of runs of 1,000 to 30,000 process rows or columns.
const (
	callMemory      = 550     // a call of a block of ten operands
	rowMemory       = 8 << 10 // of a process row once: its part in the solve
	widthMemory     = 8 << 10 // of a process row for each width of panels, besides the levels of a swap
	binaryMemory    = 4 << 10 // a level of a binary exchange
	spreadMemory    = 3 << 10 // a level of a spread
	ringMemory      = 5 << 10 // a broadcast by ring, for each width
	longMemory      = 2 << 10 // a level of a long broadcast
	recursionMemory = 1500    // a part of a recursion
)

// memory estimates the bytes that the definitions of a run take. They grow with
// P log(P) and Q log(Q), with equilibrated spread-roll by P sqrt(P).
func (p *Params) memory() int64 {
	rows, cols := int64(p.P), int64(p.Q)
	levels := int64(bits.Len(uint(p.P)))
	// The last panel may be narrower than the others, and has blocks of its own then.
	widths := int64(1) // of panels that are not empty
	if p.N > p.NB && p.N%p.NB != 0 {
		widths = 2
	}
	perRow, perCol := rowMemory+widths*widthMemory, widths*ringMemory
	if p.Swap != SpreadRoll {
		perRow += widths * levels * binaryMemory
	}
	if p.Swap != BinaryExchange {
		perRow += levels * spreadMemory
	}
	// A long broadcast has a tree and a roll in place of one message in and one out.
	if p.Bcast.IsLong() {
		perCol = perCol/2 + longMemory*int64(bits.Len(uint(p.Q)))
	}

	// The recursion and its leaves are made for each width and list of hops (see pivotHops), and
	// for up to two sizes on each level.
	width := int64(min(p.N, p.NB))
	leaf := min(int64(p.NBMin), width)
	parts := min(int64(p.NDiv), width/leaf+1)
	factor := widths * 4 * levels * 2 * (leaf*callMemory + parts*recursionMemory)

	sum := rows*perRow + cols*perCol + factor
	if p.Swap != BinaryExchange && p.Equil {
		size := int64(p.sourcesInRange())
		sum += callMemory * (rows*(rows/size) + rows*size)
	}
	return sum
}

// lookAhead returns the depth that HPL uses: none with a single process column.
func (p *Params) lookAhead() int {
	if p.Q == 1 && !p.Program.roc() {
		return 0
	}
	return p.Depth
}

// Steps returns the number of steps of the main loop: one a panel, N/NB rounded up, and the empty
// panels of a look-ahead deeper than the matrix included.
func (p *Params) Steps() int { return max((p.N+p.NB-1)/p.NB, p.lookAhead()) }

// Flops returns the operations that HPL's own rate counts, 2/3 N^3 + 3/2 N^2.
func (p *Params) Flops() float64 {
	n := float64(p.N)
	return float64(n * n * (float64(2.0/3.0*n) + 1.5))
}

// FirstFlops returns the part of Flops that the first steps of the main loop do. With look-ahead of depth d, the
// last d panels are factored, w columns of m rows in w^2 (m - w/3) flop each. But only the columns of these
// panels, not those behind, have been updated with them.
func (p *Params) FirstFlops(steps int) float64 {
	if steps >= p.Steps() {
		return p.Flops()
	}
	// The operations done are all but those of the matrix that is left, and the part of these
	// that the panels factored ahead have taken already.
	left, updates := *p, max(0, steps-p.lookAhead())
	left.N = max(0, p.N-updates*p.NB)
	factor := func(rows, columns int) float64 {
		m, w := float64(rows), float64(columns)
		return float64(w * w * (m - w/3))
	}
	ahead, done := min(left.N, p.lookAhead()*p.NB), min(left.N, (steps-updates)*p.NB)
	return p.Flops() - left.Flops() + factor(left.N, ahead) - factor(left.N-done, ahead-done)
}

// Variant returns HPL's encoding of the algorithm, column T/V of its results.
func (p *Params) Variant() string {
	// T/V begins with W (wall-clock time) and the order of ranks, then the depth, the broadcast, and the
	// factorizations.
	order := 'R'
	if p.PMap == ColumnMajor {
		order = 'C'
	}
	return fmt.Sprintf("W%c%d%d%c%d%c%d", order, p.Depth, p.Bcast, "LCR"[p.RFact], p.NDiv, "LCR"[p.PFact], p.NBMin)
}

// yesNo writes a switch as headers and flags do.
func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// List returns all parameters by name, as they stand in the header of the trace. The name of a file of pivots is
// not among them: its pivots show in the actions.
func (p *Params) List() []trace.Param {
	var list []trace.Param
	for i := range parameters {
		list = append(list, trace.Param{Name: parameters[i].Name, Value: parameters[i].Get(p)})
	}
	if p.Program.roc() {
		list = append(list, trace.Param{Name: "variant", Value: p.Program.String()},
			trace.Param{Name: "frac", Value: strconv.FormatFloat(p.Frac, 'g', -1, 64)},
			trace.Param{Name: "node-grid", Value: p.Node.String()})
	} else {
		list = append(list, trace.Param{Name: "copy-l", Value: yesNo(p.CopyL)})
	}
	list = append(list, trace.Param{Name: "pivots", Value: strings.TrimSuffix(p.Pivots.String(), ":"+p.Pivots.Name)})
	if p.Pivots.Kind == RandomPivots {
		list = append(list, trace.Param{Name: "seed", Value: strconv.FormatUint(p.Pivots.Seed, 10)})
	}
	return list
}
