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
	dat := &Dat{map[string][]int{}}
	n, counted := 1, noLoop
	for i := range parameters {
		par := &parameters[i]
		if par.Name == "PFACT" { // behind the grids
			d.threshold()
		}
		switch par.loop {
		case counted: // as many Qs as Ps
		case noLoop:
			n = 1
		default:
			n = d.count(par)
		}
		counted = par.loop
		dat.values[par.Name] = d.values(par, n)
	}
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

// values returns the n values of a parameter. Of the last one nobody reads the rest of the
// line.
func (d *datReader) values(par *Parameter, n int) []int {
	list := d.integers(par.Name, n, par.least, par.Name == parameters[len(parameters)-1].Name)
	for _, v := range list {
		d.checkDigit(par, v)
	}
	return list
}

// integers returns the first n integers of the next line, each at least least. It fails
// if HPL reads others.
func (d *datReader) integers(what string, n, least int, last bool) []int {
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
	list, err := parseIntegers(what, words, n, least)
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

// parseIntegers returns the first n words as integers, each at least least.
func parseIntegers(what string, words []string, n, least int) ([]int, error) {
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

// count returns how many values of a parameter come.
func (d *datReader) count(par *Parameter) int {
	what := "number of " + par.Name + "s"
	if par.loop == gridLoop {
		what = "number of process grids"
	}
	list := d.integers(what, 1, 1, false)
	if d.err == nil && list[0] > maxDatValues {
		d.err = fmt.Errorf("%s = %d, allowed 1 to %d", what, list[0], maxDatValues)
	}
	if d.err != nil {
		return 0
	}
	return list[0]
}

// checkDigit fails if a choice has no such digit, the first time.
func (d *datReader) checkDigit(par *Parameter, v int) {
	if d.err != nil || par.digits == 0 || v < par.digits {
		return
	}
	d.err = fmt.Errorf("%s = %d, allowed 0 to %d", par.Name, v, par.digits-1)
	if par.beyond != "" && v < 10 {
		d.err = fmt.Errorf("%w: %d is %s", d.err, v, par.beyond)
	}
}
