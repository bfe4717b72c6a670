package hpl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"reprise/internal/linescan"
)

// maxDatValues is how many values HPL takes of each parameter.
const maxDatValues = 20

// errShort ends the reading of a file that stops too early.
var errShort = errors.New("the file ends here")

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

// ReadDat reads an HPL.dat in HPL's own syntax: four lines of title, output file
// and device, then one line per parameter, values first; what follows them is
// comment. Where HPL would quietly take a default for a value that it does not
// know, ReadDat fails. Name is for error messages, which give the line.
func ReadDat(r io.Reader, name string) (*Dat, error) {
	d := &datReader{scan: bufio.NewScanner(r)}
	dat := d.read()
	if d.err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, d.line, d.err)
	}
	return dat, nil
}

// datReader reads line by line; after the first failure it reads no more.
type datReader struct {
	scan *bufio.Scanner
	line int
	err  error
}

func (d *datReader) read() *Dat {
	for range 4 {
		d.fields()
	}
	dat := &Dat{}
	dat.Ns = d.list("N", 1)
	dat.NBs = d.list("NB", 1)
	dat.PMap = Order(d.digit("PMAP", len(orderNames)))
	grids := d.count("process grids")
	dat.Ps = d.values("P", grids, 1)
	dat.Qs = d.values("Q", grids, 1)
	d.threshold()
	dat.PFacts = digits[Fact](d, "PFACT", len(factNames))
	dat.NBMins = d.list("NBMIN", 1)
	dat.NDivs = d.list("NDIV", 2)
	dat.RFacts = digits[Fact](d, "RFACT", len(factNames))
	dat.Bcasts = digits[Bcast](d, "BCAST", len(bcastNames))
	dat.Depths = d.list("DEPTH", 0)
	dat.Swap = Swap(d.digit("SWAP", len(swapNames)))
	dat.SwapThreshold = d.single("swapping threshold", 0)
	dat.L1 = Form(d.digit("L1", len(formNames)))
	dat.U = Form(d.digit("U", len(formNames)))
	dat.Equil = d.digit("equilibration", len(boolNames)) == 1
	dat.Align = d.single("memory alignment", 1)
	return dat
}

// fields returns the words of the next line.
func (d *datReader) fields() []string {
	if d.err != nil {
		return nil
	}
	d.line++
	if !d.scan.Scan() {
		if d.err = linescan.Err(d.scan); d.err == nil {
			d.err = errShort
		}
		return nil
	}
	return strings.Fields(d.scan.Text())
}

// threshold checks the threshold of the residual, which decides nothing here.
func (d *datReader) threshold() {
	words := d.fields()
	if d.err != nil {
		return
	}
	if len(words) == 0 {
		d.err = errors.New("threshold of the residual: no value")
		return
	}
	if _, err := strconv.ParseFloat(words[0], 64); err != nil {
		d.err = fmt.Errorf("threshold of the residual: %q is not a number", clip(words[0]))
	}
}

// values returns the first n integers of the next line, each at least least.
func (d *datReader) values(what string, n, least int) []int {
	if d.err != nil {
		return nil
	}
	words := d.fields()
	if errors.Is(d.err, errShort) {
		d.err = fmt.Errorf("%w, want %s", errShort, what)
	}
	if d.err != nil {
		return nil
	}
	if len(words) < n {
		d.err = fmt.Errorf("%s: %d values, want %d", what, len(words), n)
		return nil
	}
	list := make([]int, n)
	for i := range list {
		v, err := strconv.ParseInt(words[i], 10, 32)
		switch {
		case errors.Is(err, strconv.ErrRange):
			d.err = fmt.Errorf("%s = %s, allowed %d to %d", what, clip(words[i]), least, math.MaxInt32)
			return nil
		case err != nil:
			d.err = fmt.Errorf("%s: %q is not an integer", what, clip(words[i]))
			return nil
		case int(v) < least:
			d.err = fmt.Errorf("%s = %d, allowed %d or more", what, v, least)
			return nil
		}
		list[i] = int(v)
	}
	return list
}

// single returns the first integer of the next line, or 0 after a failure.
func (d *datReader) single(what string, least int) int {
	if v := d.values(what, 1, least); v != nil {
		return v[0]
	}
	return 0
}

// count returns a number of values to come.
func (d *datReader) count(what string) int {
	n := d.single("number of "+what, 1)
	if d.err == nil && n > maxDatValues {
		d.err = fmt.Errorf("number of %s = %d, allowed 1 to %d", what, n, maxDatValues)
	}
	return n
}

// list returns the values of a parameter that has a count line before it.
func (d *datReader) list(what string, least int) []int {
	return d.values(what, d.count(what+"s"), least)
}

func (d *datReader) checkDigit(what string, v, n int) {
	if d.err == nil && v >= n {
		d.err = fmt.Errorf("%s = %d, allowed 0 to %d", what, v, n-1)
	}
}

// digit returns one value in [0, n).
func (d *datReader) digit(what string, n int) int {
	v := d.single(what, 0)
	d.checkDigit(what, v, n)
	return v
}

// digits returns the values, in [0, n), of an enumerated parameter.
func digits[T ~int](d *datReader, what string, n int) []T {
	var list []T
	for _, v := range d.list(what, 0) {
		d.checkDigit(what, v, n)
		list = append(list, T(v))
	}
	return list
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
