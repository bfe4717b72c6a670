package hpl

import (
	"fmt"
	"io"
	"strconv"

	"reprise/trace/warning"
)

// Dat is the content of an HPL.dat: lists of values whose combinations HPL runs
// one after the other.
type Dat struct {
	values   map[string][]int // by parameter; of choices, HPL's digits
	warnings []warning.Warning
}

// Warnings returns where HPL reads something else than stands there.
func (d *Dat) Warnings() []warning.Warning { return d.warnings }

// Combinations returns how many runs HPL makes of the file.
func (d *Dat) Combinations() int {
	n := 1
	for _, k := range d.lengths() {
		n *= k
	}
	return n
}

// lengths returns how often each of HPL's loops runs.
func (d *Dat) lengths() (n [loops]int) {
	for i := range parameters {
		n[parameters[i].loop] = len(d.values[parameters[i].Name])
	}
	return n
}

// Combination returns run k, counted from 1 in HPL's order. Build options and
// pivots, of which an HPL.dat says nothing, are those of DefaultParams.
func (d *Dat) Combination(k int) (Params, error) {
	if k < 1 || k > d.Combinations() {
		return Params{}, fmt.Errorf("combination %d, allowed 1 to %d", k, d.Combinations())
	}
	// The last loop is the fastest: k is a number whose digits are the places in the lists.
	var at [loops]int
	rest := k - 1
	for l, n := loops-1, d.lengths(); l > noLoop; l-- {
		at[l] = rest % n[l]
		rest /= n[l]
	}
	// All parameters of an HPL.dat are set below, so the sizes of the defaults have no effect.
	p := DefaultParams(1, 1, 1)
	for i := range parameters {
		par := &parameters[i]
		if err := par.Set(&p, strconv.Itoa(d.values[par.Name][at[par.loop]])); err != nil {
			return p, fmt.Errorf("%s %w", par.Name, err)
		}
	}
	return p, nil
}

// List is what one of HPL's loops over an HPL.dat goes through.
type List struct {
	Names  []string   // of the parameters that change together: P and Q, or one
	Values [][]string // of these, each time
}

// Lists returns what HPL's loops go through, the outermost first, and before them what all runs
// have, as lists of one value. All combinations, the last list fastest, are those of Combination.
func (d *Dat) Lists() []List {
	var fixed []List
	var looped [loops]List
	for _, par := range parameters {
		// Parameters of one loop change together: P and Q are in one list.
		of := &looped[par.loop]
		if par.loop == noLoop {
			fixed = append(fixed, List{})
			of = &fixed[len(fixed)-1]
		}
		of.Names = append(of.Names, par.Name)
		for i, v := range d.values[par.Name] {
			if i == len(of.Values) {
				of.Values = append(of.Values, nil)
			}
			of.Values[i] = append(of.Values[i], par.text(v))
		}
	}
	return append(fixed, looped[noLoop+1:]...)
}

// text returns the text of a value of an HPL.dat, by its name if it has one.
func (par *Parameter) text(value int) string {
	text := strconv.Itoa(value)
	var p Params
	if par.Set(&p, text) != nil {
		return text
	}
	return par.Get(&p)
}

// WriteDat writes an HPL.dat of one run. What no HPL.dat says is left out: the build option, and where
// pivots come from.
func (p *Params) WriteDat(w io.Writer) error {
	equil := map[bool]int{true: 1}[p.Equil] // the format has digits for switches as well
	// HPL reads the value in front and takes the rest of the line for a comment.
	_, err := fmt.Fprintf(w, `HPLinpack benchmark input file
written by Reprise
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
%-12d Ns
1            # of NBs
%-12d NBs
%-12d PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
%-12d Ps
%-12d Qs
16.0         threshold
1            # of panel fact
%-12d PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
%-12d NBMINs (>= 1)
1            # of panels in recursion
%-12d NDIVs
1            # of recursive panel fact.
%-12d RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
%-12d BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
%-12d DEPTHs (>=0)
%-12d SWAP (0=bin-exch,1=long,2=mix)
%-12d swapping threshold
%-12d L1 in (0=transposed,1=no-transposed) form
%-12d U  in (0=transposed,1=no-transposed) form
%-12d Equilibration (0=no,1=yes)
%-12d memory alignment in double (> 0)
`, p.N, p.NB, p.PMap, p.P, p.Q, p.PFact, p.NBMin, p.NDiv, p.RFact, p.Bcast, p.Depth, p.Swap, p.SwapThreshold, p.L1, p.U,
		equil, p.Align)
	return err
}
