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

// This file has the programs that solve HPL's system (Variant), and the parameters that rocHPL has besides those of
// HPL.dat.

// Variant is a program that reads an HPL.dat and solves its system.
type Variant int

// Variants. RocHPL6 is the version of Frontier's first runs, which factors panels on the host.
const (
	HPL23   Variant = iota // HPL 2.3
	RocHPL                 // rocHPL 7.0.1
	RocHPL6                // rocHPL 6.0.0
)

// variantNames are the names of variants for flags, and of their programs in headers.
var variantNames = []string{"hpl", "rochpl", "rochpl6"}

// String returns the name of the variant.
func (v Variant) String() string { return variantNames[v] }

// Set takes a variant by its name.
func (v *Variant) Set(name string) error {
	i := slices.Index(variantNames, name)
	if i < 0 {
		return fmt.Errorf("%q, allowed %s", name, strings.Join(variantNames, ", "))
	}
	*v = Variant(i)
	return nil
}

// Kernels returns the kernels that traces of the run declare.
func (p *Params) Kernels() []trace.Kernel {
	if p.Program.roc() {
		return rocKernels(p)
	}
	return Kernels()
}

// roc reports whether the variant is rocHPL, of any version.
func (v Variant) roc() bool { return v != HPL23 }

// VariantParameters returns the parameters that the variants have besides those of HPL.dat, with their help.
func VariantParameters() tracegen.Parameters[Params] {
	frac := option.Parsed("frac", "", func(text string) (float64, error) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return 0, fmt.Errorf("%q, allowed 0 to 1", text)
		}
		return f, nil
	}, func(p *Params) *float64 { return &p.Frac })
	node := option.Parsed("node-grid", "", tracegen.ParsePair, func(p *Params) *tracegen.Pair { return &p.Node })
	return tracegen.Parameters[Params]{
		{Option: frac, Usage: "rocHPL: `part` of the columns whose swap waits for the update of the others", Default: "0.3; rochpl6: 0.6"},
		{Option: node, Usage: "rocHPL: ranks of a node in the grid, as `2x4`", Default: "the whole grid"},
	}
}

// UseVariant makes p a run of a variant, with what that has by default where it differs from HPL's recommendations.
func (p *Params) UseVariant(v Variant) {
	p.Program = v
	if !v.roc() {
		return
	}
	p.PMap, p.PFact, p.RFact, p.NBMin, p.NDiv = ColumnMajor, Right, Right, 32, 2
	p.Bcast, p.L1, p.Frac = OneRing, Transposed, 0.3
	if v == RocHPL6 {
		p.Frac = 0.6
	}
	p.Depth, p.Swap, p.U, p.Equil, p.SwapThreshold = 1, SpreadRoll, Transposed, false, 0
	p.Node = tracegen.Pair{Rows: p.P, Cols: p.Q}
}

// fixed has, by parameter, the value that rocHPL wants, as a digit of HPL.dat; it stops at others.
var fixed = map[string]int{"DEPTH": 1, "SWAP": int(SpreadRoll), "U": int(Transposed), "EQUIL": 0}

// Known returns what the variant takes for a value of a parameter, which is another one where it takes any number.
func (v Variant) Known(name, text string) string {
	for i := range parameters {
		n, err := strconv.Atoi(text)
		par := &parameters[i]
		of := par.Name == "BCAST" || par.Name == "PFACT" || par.Name == "RFACT"
		if par.Name == name && of && err == nil && v.roc() && (n < 0 || n >= par.digits) {
			return strconv.Itoa(v.otherwise(par))
		}
	}
	return text
}

// otherwise returns what the variant takes for numbers of a parameter that it does not know.
func (v Variant) otherwise(par *parameter) int {
	if v.roc() && par.Name == "BCAST" {
		return int(LongM)
	}
	return par.otherwise
}

// checkVariant checks what rocHPL refuses of the parameters.
func (p *Params) checkVariant(check func(ok bool, format string, args ...any)) {
	if !p.Program.roc() {
		check(p.Frac == 0 && p.Node == (tracegen.Pair{}),
			"frac and node-grid are rocHPL's: want the variant rochpl or rochpl6")
		return
	}
	equil := map[bool]int{true: 1}[p.Equil]
	for _, of := range []struct {
		name  string
		value int
	}{{"DEPTH", p.Depth}, {"SWAP", int(p.Swap)}, {"U", int(p.U)}, {"EQUIL", equil}} {
		check(of.value == fixed[of.name], "%s = %d: rocHPL stops unless it is %d", of.name, of.value, fixed[of.name])
	}
	check(p.Frac >= 0 && p.Frac <= 1, "frac = %v, allowed 0 to 1", p.Frac)
	n := p.Node
	check(n.Rows >= 1 && n.Cols >= 1 && p.P%max(1, n.Rows) == 0 && p.Q%max(1, n.Cols) == 0,
		"node-grid = %v: rocHPL stops unless its rows divide P = %d and its columns Q = %d", n, p.P, p.Q)
	check(!p.CopyL, "copy-l is a build option of HPL 2.3")
	// Sizes of messages hold the padding of the panel, and a swap's leading dimension.
	check(int64(p.N)+256 <= maxMessage/max(1, int64(p.NB)), "N = %d with NB = %d is too large", p.N, p.NB)
}

// Wrong says why rocHPL solves the system of a run wrongly; "" if it does not.
func (p *Params) Wrong() string {
	if p.Program == RocHPL && p.Frac == 0 && p.P > 1 && p.Q > 1 && p.N%p.NB == p.NB-1 {
		return "rocHPL 7.0.1 with frac 0, P and Q above 1 and N mod NB = NB-1 leaves the right-hand side of the last panel out: " +
			"its solution is wrong, and it prints PASSED"
	}
	return ""
}

// pad returns rocHPL's leading dimension of x rows: a multiple of 128 and 32.
func pad(x int64) int64 { return (x+95)/128*128 + 32 }

// sections returns the columns of each section of a panel's update, with the right-hand side, on process column q:
// look-ahead, and the two parts of the rest. Source: rocHPL 7.0.1 and 6.0.0 control flow.
func (p *Params) sections(g *grid, j, jb, pcol, q int64) (n [3]int64) {
	left := g.cols(j, g.n+1-j, q)
	if q == pcol {
		left -= jb
	}
	if q == (pcol+1)%g.q {
		n[sectionLA] = min(jb, left)
	}
	left -= n[sectionLA]
	n[sectionUPD2] = left
	if g.p > 1 {
		// The second part keeps its width until the first one is used up. Its width is computed in floating point.
		second := int64(0)
		if p.Program == RocHPL6 {
			all := g.cols(0, g.n, q) + 1
			second = int64(math.Trunc(float64(float64(all)*p.Frac))) / g.nb * g.nb
		} else {
			all := g.cols(0, g.n+1, q)
			second = all - int64(math.Trunc(float64(float64(all)*(1.0-p.Frac))))/g.nb*g.nb
		}
		n[sectionUPD2] = min(left, second)
	}
	n[sectionUPD1] = left - n[sectionUPD2]
	return n
}

// Sections of an update.
const (
	sectionLA = iota // the columns of the next panel
	sectionUPD1
	sectionUPD2
)

// sectionNames are the names of sections in listings.
var sectionNames = []string{"LA", "UPD1", "UPD2"}

// panelLength returns the doubles of a panel's broadcast on a process row with mp rows, current tells whether it is
// the panel's.
func (p *Params) panelLength(jb, mp int64, current bool) int64 {
	if p.Program == RocHPL {
		return pad(mp)*jb + jb*jb + (4*(4*int64(p.NB)+int64(p.P)+2)+7)/8
	}
	below := int64(0)
	if p.Q > 1 {
		if current {
			mp -= jb
		}
		below = pad(max(0, mp)) * jb
	}
	return below + jb*jb + (20*jb+7)/8
}
