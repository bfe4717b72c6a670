package mxp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/textutil"
	"reprise/smpi/option"
	"reprise/trace"
	"reprise/tracegen"
)

// Params are the parameters of a run. Words are those of the tables choices; numbers that are 0 have the defaults that
// Complete gives them.
type Params struct {
	N, NB, P, Q int
	Variant     string // riken or rocm
	Matrix      string
	High, Low   string // precisions of the matrix, and of its panels
	Residuals   int    // evaluations of the residual
	NoSolution  bool   // a solve follows the last of them, too

	// Of riken.
	Bcast, Layout, Deck string
	Buffers             int // panels that are kept, which changes no action
	Numa                int // processes of a node; 0: nodes are not told apart
	NumaMap             string
	Pack                tracegen.Pair // units of packed operands in rows and columns; zero: they are not packed
	Warmup              bool          // the first steps and one solve
	Checksum, SkipLU    bool

	// Of rocm.
	PMap       string
	NodeGrid   tracegen.Pair
	Code       int   // of the broadcast: 1ring, 1ringM, 2ring, 2ringM, long, longM
	ChunkBytes int64 // of rings
}

// Defaults that both programs have.
const (
	residualsSeen = 3 // residual evaluations of the recorded runs of riken that converged
	maxResiduals  = 50
	defaultChunk  = 2 << 20 // bytes, of rocm
)

// Programs.
const (
	riken = "riken"
	rocm  = "rocm"
)

// choices are the words that parameters may have, their defaults first.
var choices = map[string][]string{
	"variant": {riken, rocm}, "matrix": {"random-diagonal", "higham"}, "high": {"fp32", "fp64"}, "low": {"fp16", "fp32"},
	"bcast": {"ibcast", "chain"}, "layout": {"blockcyclic", "tile"}, "deck": {"lazy", "none", "back-buffer"},
	"numa-map": {"ROWCONT", "COLCONT", "ROWDIST", "COLDIST", "CONT2D"}, "PMAP": {"col", "row"},
}

// Parameters returns the parameters in the order of help.
func Parameters() tracegen.Parameters[Params] {
	number := func(name, usage, def, variant string, least int, field func(*Params) *int) tracegen.Parameter[Params] {
		return parameter(name, usage, def, variant, tracegen.Number(least, math.MaxInt32), field)
	}
	word := func(name, usage, variant string, field func(*Params) *string) tracegen.Parameter[Params] {
		words := choices[name]
		parse := func(text string) (string, error) {
			if !slices.Contains(words, text) {
				return "", fmt.Errorf("%q, allowed %s", text, strings.Join(words, ", "))
			}
			return text, nil
		}
		return parameter(name, usage+": "+strings.Join(words, ", "), words[0], variant, parse, field)
	}
	is := func(name, usage, variant string, field func(*Params) *bool) tracegen.Parameter[Params] {
		par := parameter(name, usage, "", variant, strconv.ParseBool, field)
		par.Switch = true
		return par
	}
	return tracegen.Parameters[Params]{
		word("variant", "`program`, RIKEN's HPL-AI or rocHPL-MxP", "", func(p *Params) *string { return &p.Variant }),
		number("N", "`order` of the matrix, must be given", "", "", 1, func(p *Params) *int { return &p.N }),
		number("NB", "`size` of blocks, must be given", "", "", 1, func(p *Params) *int { return &p.NB }),
		number("P", "process `rows`, must be given", "", "", 1, func(p *Params) *int { return &p.P }),
		number("Q", "process `columns`, must be given", "", "", 1, func(p *Params) *int { return &p.Q }),
		number("residuals", "`number` of evaluations of the residual, which the values of the matrix decide: "+
			"a solve follows each but the last", "3, as in recorded runs of riken, of rocm 4; with --not-converged 50", "", 1,
			func(p *Params) *int { return &p.Residuals }),
		is("not-converged", "the program does not converge: a solve follows the last residual, too", "",
			func(p *Params) *bool { return &p.NoSolution }),
		word("matrix", "`matrix`", "", func(p *Params) *string { return &p.Matrix }),
		word("high", "`precision` of the matrix", "", func(p *Params) *string { return &p.High }),
		word("low", "`precision` of panels and products", "", func(p *Params) *string { return &p.Low }),
		word("bcast", "riken: how panels are `broadcast`", riken, func(p *Params) *string { return &p.Bcast }),
		word("layout", "riken: `order` of the matrix in memory", riken, func(p *Params) *string { return &p.Layout }),
		word("deck", "riken: `when` entries are generated", riken, func(p *Params) *string { return &p.Deck }),
		number("buffers", "riken: `number` of panels that are kept", "2", riken, 2,
			func(p *Params) *int { return &p.Buffers }),
		number("numa", "riken: `processes` of a node", "nodes are not told apart", riken, 1,
			func(p *Params) *int { return &p.Numa }),
		word("numa-map", "riken: `order` of the processes of nodes in the grid", riken,
			func(p *Params) *string { return &p.NumaMap }),
		parameter("pack", "riken: `units` of packed operands, as 16x4 on x86 and 128x5 on A64FX", "not packed", riken,
			tracegen.ParsePair, func(p *Params) *tracegen.Pair { return &p.Pack }),
		is("warmup", "riken: the program's warm-up, a few steps and one solve", riken,
			func(p *Params) *bool { return &p.Warmup }),
		is("checksum", "riken: with the checksum of the factors", riken, func(p *Params) *bool { return &p.Checksum }),
		is("skip-lu", "riken: without factorization", riken, func(p *Params) *bool { return &p.SkipLU }),
		word("PMAP", "rocm: `order` of nodes in the grid", rocm, func(p *Params) *string { return &p.PMap }),
		parameter("node-grid", "rocm: the ranks of a node in the grid, as in `2x4`", "the whole grid", rocm,
			tracegen.ParsePair, func(p *Params) *tracegen.Pair { return &p.NodeGrid }),
		number("BCAST", "rocm: `code` of the broadcast: 0 1ring, 1 1ringM, 2 2ring, 3 2ringM, 4 long, 5 longM", "0", rocm, 0,
			func(p *Params) *int { return &p.Code }),
		parameter("chunk-bytes", "rocm: `bytes` of a chunk of a ring", "2097152", rocm, func(text string) (int64, error) {
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil || v < 1 || v > 1<<30 {
				return 0, fmt.Errorf("%q, allowed 1 to %d", text, 1<<30)
			}
			return v, nil
		}, func(p *Params) *int64 { return &p.ChunkBytes }),
	}
}

// parameter is one of a variant, or of both, by a parser of its text.
func parameter[V any](name, usage, def, variant string, parse func(text string) (V, error),
	field func(*Params) *V) tracegen.Parameter[Params] {
	return tracegen.Parameter[Params]{Option: option.Parsed(name, "", parse, field), Usage: usage, Default: def,
		Of: variant}
}

// WithDefaults returns the parameters that are given by name, and all else by default. It fails, with all reasons, on
// what the programs cannot do.
func WithDefaults(given []trace.Param) (Params, error) {
	p := Params{Buffers: 2, ChunkBytes: defaultChunk}
	list := Parameters()
	for _, par := range list {
		if words := choices[par.Name]; words != nil {
			if err := par.Set(&p, words[0]); err != nil {
				return p, err
			}
		}
	}
	has, err := list.Set(&p, "HPL-MxP", given)
	if err != nil {
		return p, err
	}
	for _, par := range list {
		if has[par.Name] && par.Of != "" && par.Of != p.Variant {
			return p, fmt.Errorf("%s is a parameter of the variant %s", par.Name, par.Of)
		}
	}
	for _, name := range []string{"N", "NB", "P", "Q"} {
		if !has[name] {
			return p, fmt.Errorf("%s is missing", name)
		}
	}
	switch {
	case p.Warmup && (has["residuals"] && p.Residuals != 1 || p.SkipLU):
		return p, errors.New("warmup has one residual and some steps of the factorization: leave residuals and skip-lu out")
	case p.Warmup:
		p.Residuals, p.NoSolution = 1, true
	case has["residuals"]:
	case p.NoSolution:
		p.Residuals = maxResiduals
	default:
		p.Residuals = residualsSeen
		if p.Variant == rocm {
			p.Residuals++
		}
	}
	if p.NodeGrid == (tracegen.Pair{}) {
		p.NodeGrid = tracegen.Pair{Rows: p.P, Cols: p.Q}
	}
	return p, p.check(has)
}

// check returns what the programs refuse, or do not end with.
func (p *Params) check(has map[string]bool) error {
	var faults textutil.Faults
	need := faults.Want
	need(int64(p.P)*int64(p.Q) <= trace.MaxRanks, "P = %d, Q = %d: allowed are %d ranks", p.P, p.Q, trace.MaxRanks)
	need(p.NB <= 1<<14 && p.N <= 1<<30, "N = %d, NB = %d: allowed N up to %d and NB up to %d", p.N, p.NB, 1<<30, 1<<14)
	need(p.Residuals <= maxResiduals, "residuals = %d: the programs give up after %d", p.Residuals, maxResiduals)
	precisions := p.High + "/" + p.Low
	if p.Variant == rocm {
		n := p.NodeGrid
		need(p.P%n.Rows == 0 && p.Q%n.Cols == 0,
			"node-grid = %v: its rows must divide P = %d and its columns Q = %d", n, p.P, p.Q)
		need(precisions == "fp32/fp16", "high/low = %s: rocm has fp32/fp16", precisions)
		need(p.Code <= 5, "BCAST = %d, allowed 0 to 5", p.Code)
		return faults.Err()
	}
	need(p.N%p.NB == 0, "N = %d is no multiple of NB = %d, as riken wants", p.N, p.NB)
	need(precisions == "fp32/fp16" || precisions == "fp64/fp32",
		"high/low = %s, allowed fp32/fp16 and fp64/fp32", precisions)
	packed := p.Pack != (tracegen.Pair{})
	need(!packed || p.Bcast == "chain" && p.Layout != "tile" && p.Deck != "none",
		"pack goes with bcast chain, layout blockcyclic and a deck")
	need(p.Deck != "back-buffer" || p.Bcast == "chain", "deck back-buffer goes with bcast chain")
	need(!has["numa-map"] || p.Numa > 0 || p.NumaMap == "ROWCONT", "numa-map %s goes with numa", p.NumaMap)
	if g := p.Numa; g > 0 {
		need(p.P*p.Q%g == 0, "numa = %d: nodes of that many processes do not fill P x Q = %d x %d", g, p.P, p.Q)
		switch p.NumaMap {
		case "COLCONT":
			need(p.Q%g == 0, "numa = %d with %s: want a divisor of Q = %d", g, p.NumaMap, p.Q)
		case "ROWDIST":
			need(p.P%g == 0, "numa = %d with ROWDIST: want a divisor of P = %d", g, p.P)
		case "CONT2D":
			need(g%2 == 0 && p.P%2 == 0 && p.Q%max(1, g/2) == 0,
				"numa = %d with CONT2D: want nodes of 2 rows and %d columns, which divide P = %d and Q = %d", g, g/2, p.P, p.Q)
		}
	}
	return faults.Err()
}

// Hazard says why a run may hang; "" if it does not.
func (p *Params) Hazard() string {
	for _, s := range []int{p.P, p.Q} {
		largest := max(4*int64(p.NB), 2*leading(int64(p.NB)*((p.Blocks()+1)*int64(s)/int64(p.P*p.Q)))) * int64(p.NB)
		if p.Variant == rocm && (p.Code == 2 || p.Code == 3) && s-p.Code%2 == 2 && largest > 2*p.ChunkBytes {
			return fmt.Sprintf("BCAST %d with two ranks in a ring and several chunks each way: both directions have the "+
				"same tag, and which message a receive gets depends on time; rocHPL-MxP may hang", p.Code)
		}
	}
	return ""
}

// leading returns rocm's leading dimension of a panel of x rows.
func leading(x int64) int64 { return ((2*x+767)/1024*1024 + 256) / 2 }

// packed reports whether operands are packed.
func (p *Params) packed() bool { return p.Pack != (tracegen.Pair{}) }

// Blocks returns the blocks of the matrix in a direction: rocm rounds N up, so that all ranks have as many.
func (p *Params) Blocks() int64 {
	n, nb := int64(p.N), int64(p.NB)
	if p.Variant == rocm {
		a, b := int64(p.P), int64(p.Q)
		for b != 0 {
			a, b = b, a%b
		}
		unit := nb * (int64(p.P) / a) * int64(p.Q)
		n = (n + unit - 1) / unit * unit
	}
	return n / nb
}

// LUSteps returns the steps of the factorization that are traced.
func (p *Params) LUSteps() int64 {
	n := p.Blocks()
	switch {
	case p.SkipLU:
		return 0
	case p.Warmup && p.Bcast == "ibcast":
		return min(n, 20)
	case p.Warmup:
		return min(n, int64(p.P)+2)
	}
	return n
}

// Flops returns the operations that the programs' speed counts.
func (p *Params) Flops() float64 {
	n := float64(p.N)
	return float64(2.0/3*n*n*n) + float64(1.5*n*n)
}

// List returns the parameters by name, those of the variant.
func (p *Params) List() []trace.Param {
	var list []trace.Param
	for _, par := range Parameters() {
		unset := par.Name == "pack" && !p.packed() || p.Numa == 0 && strings.HasPrefix(par.Name, "numa")
		if (par.Of == "" || par.Of == p.Variant) && !unset {
			list = append(list, trace.Param{Name: par.Name, Value: par.Get(p)})
		}
	}
	return list
}

// Place returns the process row and column of a rank. Source: RIKEN's HPL-AI and rocHPL-MxP control flow.
func (p *Params) Place(w int) (r, q int) {
	P, Q := p.P, p.Q
	if p.Variant == rocm {
		if p.PMap == "row" {
			return w / Q, w % Q
		}
		n := p.NodeGrid
		node, u := w/(n.Rows*n.Cols), w%(n.Rows*n.Cols)
		return node%(P/n.Rows)*n.Rows + u/n.Cols, node/(P/n.Rows)*n.Cols + u%n.Cols
	}
	g := p.Numa
	if g == 0 {
		return w % P, w / P
	}
	u, t := w%g, w/g
	switch p.NumaMap {
	case "COLCONT":
		return t % P, t/P*g + u
	case "ROWDIST":
		return t%(P/g) + u*(P/g), w / P
	case "COLDIST":
		t += P * Q / g * u
		return t % P, t / P
	case "CONT2D":
		return 2*(t%(P/2)) + u%2, t/(P/2)*(g/2) + u/2
	}
	return w % P, w / P
}
