package hpl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"reprise/internal/recognise"
)

// maxDatValues is how many values HPL takes of each parameter.
const maxDatValues = 20

// errShort ends the reading of a file that stops too early.
var errShort = errors.New("the file ends here")

// ReadDat reads an HPL.dat in HPL's own syntax: four lines of title, output file
// and device, then one line per parameter, values first; what follows them is
// comment. It fails where HPL 2.3 would run something else than stands there: where its
// parser goes astray between values (see hplLine), and where it quietly takes a default
// for a value that it does not know. Name is for error messages, which give the line and
// what HPL would read.
func ReadDat(r io.Reader, name string) (*Dat, error) {
	head := recognise.Remember(r)
	d := &datReader{in: bufio.NewReaderSize(head, 4096)}
	dat := d.read()
	if d.err != nil {
		return nil, head.Instead(fmt.Errorf("%s:%d: %w", name, d.number, d.err), name, recognise.Dat)
	}
	return dat, nil
}

// datReader reads line by line; after the first failure it reads no more. It reads each
// value twice: as a person does, and as HPL does.
type datReader struct {
	in     *bufio.Reader
	number int // of the line, from 1
	hpl    hplLine
	err    error
}

func (d *datReader) read() *Dat {
	for n := range 4 {
		line := d.line(false)
		if n != authorLine {
			d.hpl.set(line)
		}
	}
	d.hpl.values(1) // the device
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
	dat.Bcasts = d.bcasts()
	dat.Depths = d.list("DEPTH", 0)
	dat.Swap = Swap(d.digit("SWAP", len(swapNames)))
	dat.SwapThreshold = d.single("swapping threshold", 0)
	dat.L1 = Form(d.digit("L1", len(formNames)))
	dat.U = Form(d.digit("U", len(formNames)))
	dat.Equil = d.digit("equilibration", len(boolNames)) == 1
	dat.Align = d.alignment()
	return dat
}

// authorLine is the number, from 0, of the line that HPL reads into a buffer of its own.
const authorLine = 1

// line returns the next line without its end. Only the last one that HPL reads may be
// longer than HPL's lines: of any other the rest would be its next line.
func (d *datReader) line(last bool) string {
	if d.err != nil {
		return ""
	}
	d.number++
	text, err := d.in.ReadSlice('\n')
	switch {
	case err == io.EOF && len(text) == 0:
		d.err = errShort
	case err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull):
		d.err = err
	case len(text) > hplLineLength && !last:
		d.err = fmt.Errorf("line of more than %d characters: HPL takes the first %d for this line and the rest for the next one: shorten it", hplLineLength-1, hplLineLength)
	}
	if d.err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text[:min(len(text), hplLineLength)]), "\n")
}

// fields returns the words of the next line, for a person; d.hpl has it for HPL.
func (d *datReader) fields(last bool) []string {
	line := d.line(last)
	if d.err != nil {
		return nil
	}
	d.hpl.set(line)
	return strings.FieldsFunc(line, isBlank)
}

// numberStart is how a number begins that atof takes, whatever comes behind it.
var numberStart = regexp.MustCompile(`^[+-]?([0-9]|\.[0-9]|(?i:inf|nan))`)

// threshold checks the threshold of the residual, which decides nothing here: HPL takes
// what number the word begins with, as in 16.0d0.
func (d *datReader) threshold() {
	words := d.fields(false)
	d.hpl.values(1)
	switch {
	case d.err != nil:
	case len(words) == 0:
		d.err = errors.New("threshold of the residual: no value")
	case !numberStart.MatchString(words[0]):
		d.err = fmt.Errorf("threshold of the residual: %q is not a number", clip(words[0]))
	}
}

// values returns the first n integers of the next line, each at least least. It fails
// if HPL reads others.
func (d *datReader) values(what string, n, least int) []int {
	return d.valuesOf(what, n, least, false)
}

func (d *datReader) valuesOf(what string, n, least int, last bool) []int {
	if d.err != nil {
		return nil
	}
	words := d.fields(last)
	if errors.Is(d.err, errShort) {
		d.err = fmt.Errorf("%w, want %s", errShort, what)
	}
	if d.err != nil {
		return nil
	}
	list, err := integers(what, words, n, least)
	switch read := d.hpl.values(n); {
	case err != nil && len(read) == n && joined(read) != strings.Join(words[:min(n, len(words))], " "):
		d.err = fmt.Errorf("%w (HPL reads %s)", err, joined(read))
	case err != nil:
		d.err = err
	case !slices.Equal(read, list):
		d.err = fmt.Errorf("%s: HPL reads %s, not %s: from one value to the next it moves on by the value's length and one blank; write %s at the beginning of the line, with one blank between values",
			what, behind(read, n), joined(list), joined(list))
	}
	if d.err != nil {
		return nil
	}
	return list
}

// behind writes the values that HPL reads where n are asked for.
func behind(read []int, n int) string {
	switch {
	case len(read) == n:
		return joined(read)
	case len(read) == 0:
		return "what lies in memory behind the line"
	}
	return joined(read) + " and what lies in memory behind the line"
}

func joined(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }

// integers returns the first n words as integers, each at least least.
func integers(what string, words []string, n, least int) ([]int, error) {
	if len(words) < n {
		return nil, fmt.Errorf("%s: %d values, want %d", what, len(words), n)
	}
	list := make([]int, n)
	for i := range list {
		v, err := strconv.ParseInt(words[i], 10, 32)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return nil, fmt.Errorf("%s = %s, allowed %d to %d", what, clip(words[i]), least, math.MaxInt32)
		case err != nil:
			return nil, fmt.Errorf("%s: %q is not an integer%s", what, clip(words[i]), strangeBlank(words[i]))
		case int(v) < least:
			return nil, fmt.Errorf("%s = %d, allowed %d or more", what, v, least)
		}
		list[i] = int(v)
	}
	return list, nil
}

// strangeBlank says that a word has a character in it which looks like a blank and is
// none for HPL.
func strangeBlank(word string) string {
	for _, c := range word {
		if unicode.IsSpace(c) || c == '\ufeff' || c == '\u200b' {
			return fmt.Sprintf(": the character %U in it is no blank for HPL", c)
		}
	}
	return ""
}

// single returns the first integer of the next line, or 0 after a failure.
func (d *datReader) single(what string, least int) int { return first(d.values(what, 1, least)) }

// alignment returns the last value, of the one line whose rest nobody reads.
func (d *datReader) alignment() int { return first(d.valuesOf("memory alignment", 1, 1, true)) }

func first(list []int) int {
	if list == nil {
		return 0
	}
	return list[0]
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

// bcasts returns the broadcasts. Vendors' builds have more of them than HPL, under numbers
// that differ.
func (d *datReader) bcasts() []Bcast {
	list := digits[Bcast](d, "BCAST", len(bcastNames))
	if d.err == nil {
		return list
	}
	for _, b := range list {
		if int(b) >= len(bcastNames) && int(b) < 10 {
			d.err = fmt.Errorf("%w: %d is a broadcast of a vendor's build, such as Intel's Psh or the MPI_Ibcast of builds for GPUs, and not known here; HPL 2.3 would take 1ringM (1)", d.err, b)
			break
		}
	}
	return nil
}
