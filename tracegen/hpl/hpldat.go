package hpl

import (
	"fmt"
	"io"
	"strconv"
	"strings"

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
	var lists []List
	for l := range loops {
		var of List
		for i := range parameters {
			par := &parameters[i]
			switch {
			case par.loop != l:
			case l == noLoop:
				lists = append(lists, List{[]string{par.Name}, [][]string{{par.text(d.values[par.Name][0])}}})
			default:
				of.Names = append(of.Names, par.Name)
				for i, v := range d.values[par.Name] {
					if i == len(of.Values) {
						of.Values = append(of.Values, nil)
					}
					of.Values[i] = append(of.Values[i], par.text(v))
				}
			}
		}
		if l != noLoop {
			lists = append(lists, of)
		}
	}
	return lists
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
	var b strings.Builder
	// HPL reads the value in front and takes the rest of the line for a comment.
	line := func(value any, comment string) { fmt.Fprintf(&b, "%-12v %s\n", value, comment) }
	digit := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	b.WriteString("HPLinpack benchmark input file\nwritten by Reprise\n")
	line("HPL.out", "output file name (if any)")
	line(6, "device out (6=stdout,7=stderr,file)")
	list := func(value int, count, values string) {
		line(1, count)
		line(value, values)
	}
	list(p.N, "# of problems sizes (N)", "Ns")
	list(p.NB, "# of NBs", "NBs")
	line(int(p.PMap), "PMAP process mapping (0=Row-,1=Column-major)")
	line(1, "# of process grids (P x Q)")
	line(p.P, "Ps")
	line(p.Q, "Qs")
	line("16.0", "threshold")
	list(int(p.PFact), "# of panel fact", "PFACTs (0=left, 1=Crout, 2=Right)")
	list(p.NBMin, "# of recursive stopping criterium", "NBMINs (>= 1)")
	list(p.NDiv, "# of panels in recursion", "NDIVs")
	list(int(p.RFact), "# of recursive panel fact.", "RFACTs (0=left, 1=Crout, 2=Right)")
	list(int(p.Bcast), "# of broadcast", "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)")
	list(p.Depth, "# of lookahead depth", "DEPTHs (>=0)")
	line(int(p.Swap), "SWAP (0=bin-exch,1=long,2=mix)")
	line(p.SwapThreshold, "swapping threshold")
	line(int(p.L1), "L1 in (0=transposed,1=no-transposed) form")
	line(int(p.U), "U  in (0=transposed,1=no-transposed) form")
	line(digit(p.Equil), "Equilibration (0=no,1=yes)")
	line(p.Align, "memory alignment in double (> 0)")
	_, err := io.WriteString(w, b.String())
	return err
}
