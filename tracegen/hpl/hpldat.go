package hpl

import "fmt"

// Dat is the content of an HPL.dat: lists of values whose combinations HPL runs
// one after the other.
type Dat struct {
	Ns, NBs       []int
	PMap          Order
	Ps, Qs        []int // of equal length: the grids
	PFacts        []Fact
	NBMins, NDivs []int
	RFacts        []Fact
	Bcasts        []Bcast
	Depths        []int
	Swap          Swap
	SwapThreshold int
	L1, U         Form
	Equil         bool
	Align         int
}

// Combinations returns how many runs HPL makes of the file.
func (d *Dat) Combinations() int {
	n := 1
	for _, k := range d.radices() {
		n *= k
	}
	return n
}

// radices are the lengths of the lists in the order of HPL's loops, outermost
// first.
func (d *Dat) radices() []int {
	return []int{len(d.Ps), len(d.Ns), len(d.NBs), len(d.Depths), len(d.Bcasts), len(d.RFacts), len(d.PFacts), len(d.NBMins), len(d.NDivs)}
}

// Combination returns run k, counted from 1 in HPL's order. Build options and
// pivots, of which an HPL.dat says nothing, are those of DefaultParams.
func (d *Dat) Combination(k int) (Params, error) {
	if k < 1 || k > d.Combinations() {
		return Params{}, fmt.Errorf("combination %d, allowed 1 to %d", k, d.Combinations())
	}
	radices := d.radices()
	at := make([]int, len(radices))
	for i, rest := len(radices)-1, k-1; i >= 0; i-- {
		at[i] = rest % radices[i]
		rest /= radices[i]
	}
	p := DefaultParams(d.Ns[at[1]], d.Ps[at[0]], d.Qs[at[0]])
	p.NB, p.PMap = d.NBs[at[2]], d.PMap
	p.Depth, p.Bcast, p.RFact, p.PFact = d.Depths[at[3]], d.Bcasts[at[4]], d.RFacts[at[5]], d.PFacts[at[6]]
	p.NBMin, p.NDiv = d.NBMins[at[7]], d.NDivs[at[8]]
	p.Swap, p.SwapThreshold = d.Swap, d.SwapThreshold
	p.L1, p.U, p.Equil, p.Align = d.L1, d.U, d.Equil, d.Align
	return p, nil
}
