package hpl

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"reprise/internal/sniff"
	"reprise/trace/warning"
	"reprise/tracegen"
)

// This file reads an HPL.dat as HPL does (ReadDat), and writes one (Params.WriteDat).

// Dat is the content of an HPL.dat: lists of values whose combinations HPL runs one after the other.
type Dat struct {
	variant  Variant
	values   map[string][]int // by parameter; of choices, HPL's digits
	warnings []warning.Warning
}

// Warnings returns the places where HPL reads other values than a person does.
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
	p.UseVariant(d.variant)
	for i := range parameters {
		par := &parameters[i]
		if err := par.Set(&p, strconv.Itoa(d.values[par.Name][at[par.loop]])); err != nil {
			return p, fmt.Errorf("%s %w", par.Name, err)
		}
	}
	if d.variant.roc() {
		p.Node = tracegen.Pair{Rows: p.P, Cols: p.Q}
	}
	return p, nil
}

// List is what one of HPL's loops over an HPL.dat goes through.
type List struct {
	Names  []string   // of the parameters that change together: P and Q, or one
	Values [][]string // of these, each time
}

// Lists returns the lists that HPL's loops go through, the outermost first, after a list for each parameter that has
// one value for all runs. The combinations of all lists, the last one varying fastest, are those of Combination.
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
func (par *parameter) text(value int) string {
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
	// rocHPL wants the grid twice, and takes some of its parameters from the command line only.
	options := ""
	if p.Program.roc() {
		options = fmt.Sprintf(" for rocHPL with the options -P %d -Q %d -p %d -q %d -f %v", p.P, p.Q, p.Node.Rows, p.Node.Cols, p.Frac)
	}
	// HPL reads the value in front and takes the rest of the line for a comment.
	_, err := fmt.Fprintf(w, `HPLinpack benchmark input file
written by Reprise%s
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
`, options, p.N, p.NB, p.PMap, p.P, p.Q, p.PFact, p.NBMin, p.NDiv, p.RFact, p.Bcast, p.Depth, p.Swap, p.SwapThreshold, p.L1, p.U,
		equil, p.Align)
	return err
}

// maxDatValues is how many values HPL takes of each parameter.
const maxDatValues = 20

// ReadDat reads an HPL.dat exactly as HPL 2.3 does (testing/ptest/HPL_pdinfo.c): four lines of title, output file and
// device, then one line per parameter, with values first and a comment behind them. It fails where HPL fails, where HPL
// reads memory that was never written, where the file ends before the depths, and for values that this package cannot
// take, such as N = 0. If HPL reads other values than a person does (see hplLine), or takes a default for a value that
// it does not know, the Dat has a warning. Name is for errors and warnings, which give the line.
func ReadDat(r io.Reader, name string) (*Dat, error) { return HPL23.ReadDat(r, name) }

// ReadDat reads an HPL.dat as the variant does. rocHPL, which reads its lines as HPL does, takes other numbers for
// those that it does not know, and stops at values of some parameters.
func (v Variant) ReadDat(r io.Reader, name string) (*Dat, error) {
	head := sniff.Remember(r)
	d := &datReader{variant: v, in: bufio.NewReaderSize(head, hplLineLength), name: name, ends: true}

	// HPL asks for the number of values of a parameter first, on a line of its own, and then for the values on the
	// next; the number of grids counts for P and Q. Parameters with one value for all runs have no such number.
	d.next(true)  // the title
	d.next(false) // the author has a buffer of its own
	d.next(true)  // the output file
	d.next(true)
	d.hpl.values(1) // the device
	dat := &Dat{variant: v, values: map[string][]int{}}
	n, counted := 1, noLoop
	for i := range parameters {
		par := &parameters[i]
		if par.Name == "PFACT" { // behind the grids comes the threshold of the residual, which decides nothing here
			d.next(true)
			d.hpl.values(1)
		}
		switch par.loop {
		case counted: // as many Qs as Ps
		case noLoop:
			n = 1
		default:
			what := "number of " + par.Name + "s"
			if par.loop == gridLoop {
				what = "number of process grids"
			}
			n = 0
			if list := d.integers(what, 1, 1); d.err == nil {
				if n = list[0]; n > maxDatValues {
					d.err = fmt.Errorf("%s = %d, allowed 1 to %d", what, n, maxDatValues)
				}
			}
		}
		counted = par.loop
		d.tail = d.tail || par.Name == "SWAP"
		dat.values[par.Name] = d.values(par, n)
	}
	if d.err != nil {
		err := head.Instead(fmt.Errorf("%s:%d: %w", name, max(1, d.number), d.err), name, sniff.Dat)
		return nil, warning.With(err, d.warnings)
	}
	dat.warnings = d.warnings
	return dat, nil
}

// datReader reads line by line; after the first failure it reads no more. It reads each
// value twice: as a person does, and as HPL does.
type datReader struct {
	variant  Variant
	in       *bufio.Reader // of as many characters as HPL reads at once
	name     string
	number   int    // of the line, from 1
	line     string // what a person reads
	ends     bool   // the line ends where HPL ends it
	over     bool   // the file ended before the line: HPL has the one before again
	tail     bool   // only parameters that have one value follow
	hpl      hplLine
	warnings []warning.Warning
	err      error
}

// next goes to the next line as C's fgets does, into HPL's buffer or another one: at most hplLineLength characters, the
// rest of a longer line being the next one. At the end of the file the buffer keeps the line before.
func (d *datReader) next(buffered bool) {
	if d.err != nil {
		return
	}
	// The reader's buffer has as many bytes as HPL's, so that a full buffer is a line for HPL as well.
	text, err := d.in.ReadSlice('\n')
	d.over = err == io.EOF && len(text) == 0
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		d.err = err
	}
	if d.over || d.err != nil {
		d.line = ""
		return
	}
	// Lines are counted as an editor counts them. The rest of a long line has its number, and the first such
	// line a warning.
	if d.ends {
		d.number++
	} else if len(d.warnings) == 0 {
		d.warnings = append(d.warnings, warning.At(d.name, d.number,
			"line of more than %d characters: HPL takes the rest of it for the next one", hplLineLength-1))
	}
	d.ends = text[len(text)-1] == '\n'
	d.line = string(text)
	if buffered {
		d.hpl.set(d.line)
	}
}

// integerStart is how an integer begins that atoi takes, whatever comes behind it.
var integerStart = regexp.MustCompile(`^[+-]?[0-9]+`)

// integers returns the n integers that HPL takes from the next line, each at least least, and warns
// if others stand there.
func (d *datReader) integers(what string, n, least int) []int {
	d.next(true)
	if d.err != nil {
		return nil
	}
	if d.over && !d.tail {
		d.err = fmt.Errorf("the file ends here, want %s", what)
		return nil
	}
	// HPL's values count; those that a person reads explain a failure, or are in a warning.
	read := d.hpl.values(n)
	wrong := d.misread(read, n)
	low := slices.IndexFunc(read, func(v int) bool { return v < least })
	switch {
	case len(read) < n:
		reads := "what lies in memory behind the line"
		if len(read) > 0 {
			reads = joined(read) + " and " + reads
		}
		d.err = fmt.Errorf("%s: %s (HPL reads %s)", what, cmp.Or(wrong, "no value"), reads)
		return nil
	case low >= 0:
		if d.err = fmt.Errorf("%s = %d, allowed %d or more", what, read[low], least); wrong != "" {
			d.err = fmt.Errorf("%s: %s (HPL reads %s)", what, wrong, joined(read))
		}
		return nil
	case d.over && what == parameters[len(parameters)-1].Name: // the alignment, on which nothing depends
	case wrong != "":
		d.warnings = append(d.warnings, warning.At(d.name, d.number, "%s: %s: HPL reads %s", what, wrong, joined(read)))
	}
	return read
}

// misread says why HPL reads other values than the n that the line has for a person; "" if it does not.
func (d *datReader) misread(read []int, n int) string {
	if d.over {
		return "the file ends before it, and the line before counts again"
	}
	// A person may take characters for blanks that C does not; the message names these.
	words := strings.FieldsFunc(d.line, isBlank)
	for _, word := range words[:min(n, len(words))] {
		for _, c := range word {
			if unicode.IsSpace(c) || c == '\ufeff' || c == '\u200b' { // it looks like a blank
				return fmt.Sprintf("%q is not an integer: the character %U in it is no blank for HPL", clip(word), c)
			}
		}
	}
	if len(words) < n {
		return fmt.Sprintf("%d values, want %d", len(words), n)
	}
	for i, word := range words[:n] {
		// HPL reads the digits in front of a word and ignores what follows them, as in 4,8.
		digits := integerStart.FindString(word)
		v, err := strconv.Atoi(digits)
		switch {
		case digits == "":
			return fmt.Sprintf("%q is not an integer", clip(word))
		case err != nil || int(int32(v)) != v:
			return fmt.Sprintf("%s does not fit into the 32 bits of HPL's integers", clip(digits))
		case i < len(read) && read[i] != v:
			return fmt.Sprintf("%s stands there, but HPL moves on from one value to the next by the value's length and one blank", joined(words[:n]))
		}
	}
	return ""
}

// joined writes values with blanks between.
func joined[E any](list []E) string { return strings.Trim(fmt.Sprint(list), "[]") }

// values returns the n values of a parameter, with what HPL takes for those that it does not know.
func (d *datReader) values(par *parameter, n int) []int {
	// HPL refuses values below the least of lists of numbers. For single values, and for
	// choices, it takes a default instead.
	least := par.least
	if par.loop == noLoop || par.digits > 0 {
		least = math.MinInt32 // HPL takes a default for what is less
	}
	// Each value that HPL does not know becomes the one that it takes; one warning a parameter is enough.
	list := d.integers(par.Name, n, least)
	warned := false
	for i, v := range list {
		if want, ok := fixed[par.Name]; ok && d.variant.roc() && v != want && d.err == nil {
			d.err = fmt.Errorf("%s = %d: rocHPL stops unless it is %d", par.Name, v, want)
		}
		if v < par.least || par.digits > 0 && v >= par.digits {
			list[i] = d.variant.otherwise(par)
			program, beyond := "HPL", ""
			if d.variant.roc() {
				program = "rocHPL"
			} else if par.beyond != "" && v >= par.digits && v < 10 {
				beyond = fmt.Sprintf(": %d is %s", v, par.beyond)
			}
			if !warned {
				warned = true
				d.warnings = append(d.warnings, warning.At(d.name, d.number, "%s = %d, which %s does not know: it takes %s%s",
					par.Name, v, program, par.text(list[i]), beyond))
			}
		}
		var p Params
		// HPL may know a value that this package cannot take, such as a matrix of order 0.
		err := par.Set(&p, strconv.Itoa(list[i]))
		if err == nil && par.Check != nil {
			err = par.Check(&p)
		}
		if err != nil && d.err == nil {
			d.err = fmt.Errorf("%s = %w", par.Name, err)
		}
	}
	return list
}

// hplLineLength is how many characters HPL reads of a line, its end included: fgets with
// HPL_LINE_MAX - 2 leaves one for the zero behind them.
const hplLineLength = 253

// hplLine reads values as HPL 2.3 does (testing/ptest/HPL_pdinfo.c). For each value sscanf takes the next word, and
// then HPL moves on by the length of that word and one character more, wherever the word began. Blanks before a value,
// and more than one between values, thus add up until it reads inside the previous value again. Behind the end of a
// line lies what is left of longer ones before it, and where there is no word, the last one counts again.
type hplLine struct {
	buffer [hplLineLength + 1]byte
	known  int    // characters of the buffer that some line has filled
	word   string // the last one
	read   bool   // whether there was one
}

// set makes the buffer hold a line, of at most hplLineLength characters with its end.
func (h *hplLine) set(line string) {
	n := copy(h.buffer[:hplLineLength], line)
	h.buffer[n] = 0
	h.known = max(h.known, n+1)
}

// values returns the n integers that HPL takes from the line, fewer if they come to
// depend on memory that was never filled.
func (h *hplLine) values(n int) []int {
	var list []int
	// HPL moves on by the word's length and one blank from where it began to look, not from where the word began.
	for at := 0; len(list) < n; at += len(h.word) + 1 {
		if !h.next(at) {
			break
		}
		// As C's atoi: the integer that the word begins with, 0 if there is none, cut to 32 bits. Like C's strtol,
		// ParseInt gives the nearest integer of 64 bits for one that has more.
		v, _ := strconv.ParseInt(integerStart.FindString(h.word), 10, 64)
		list = append(list, int(int32(v)))
	}
	return list
}

// next finds the word that begins at or behind a place and makes it h.word; without one h.word stays. It returns
// false if what HPL reads there is not known.
func (h *hplLine) next(at int) bool {
	for at < h.known && isBlank(rune(h.buffer[at])) {
		at++
	}
	end := at
	for end < h.known && h.buffer[end] != 0 && !isBlank(rune(h.buffer[end])) {
		end++
	}
	// Neither a blank nor a zero ended the word: what follows in memory is not known.
	if end >= h.known {
		return false
	}
	if end > at {
		h.word, h.read = string(h.buffer[at:end]), true
	}
	return h.read
}

// isBlank is C's isspace.
func isBlank(c rune) bool { return strings.ContainsRune(" \t\n\v\f\r", c) }
