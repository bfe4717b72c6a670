package hpl

import (
	"fmt"
	"strconv"
)

// Dat is the content of an HPL.dat: lists of values whose combinations HPL runs
// one after the other.
type Dat struct {
	values map[string][]int // by parameter; of choices, HPL's digits
}

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
