package textutil

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/internal/bounds"
)

// This file helps readers of text: percentages, ends of parsing by panic (Stop, Check, Must, Stopped), all faults of
// what was read (Faults), lines and limits of JSON.

// mostFraction is the largest share without a percent sign: 0.5 is more likely half a percent than half of the whole.
const mostFraction = 0.1

// ParsePercent reads a percentage of less than 100 %, or a fraction of the whole. It is more than 0,
// unless that makes sense.
func ParsePercent(text, whole string, zero bool) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1 || v == 0 && zero) {
		least := "more than 0"
		if zero {
			least = "at least 0"
		}
		return 0, fmt.Errorf("%q, want %s and less than 100%%, such as 0.5%%", text, least)
	}
	if !percent && v > mostFraction {
		return 0, fmt.Errorf("%s would be %.6g%% of %s: write %.6g%%, or %s%%", text, 100*v, whole, 100*v,
			strings.TrimSpace(number))
	}
	return v, nil
}

// ParseRange reads a number, or two with a text between, the second not below the first; ok: it is that.
func ParseRange(text, between string) (first, last uint64, ok bool) {
	low, high, both := strings.Cut(text, between)
	if !both {
		high = low
	}
	first, err1 := strconv.ParseUint(low, 10, 64)
	last, err2 := strconv.ParseUint(high, 10, 64)
	return first, last, err1 == nil && err2 == nil && first <= last
}

// A stop is the error at which work ends.
type stop struct{ error }

// Stop ends work, such as that of a parser, at an error, by a panic up to the function that has deferred [Stopped]. So
// the functions in between need not hand the error on. All of them run in the goroutine of that function.
func Stop(err error) { panic(stop{err}) }

// Check ends work at an error; nil is none.
func Check(err error) {
	if err != nil {
		Stop(err)
	}
}

// Must returns v, or ends work at an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Stopped, deferred by a function, gives it the error of [Stop], if that has ended it. Other panics go on.
func Stopped(err *error) {
	switch wrong := recover().(type) {
	case nil:
	case stop:
		*err = wrong.error
	default:
		panic(wrong)
	}
}

// Faults are all that is wrong with options or parameters.
type Faults []error

// Want notes a fault, unless ok.
func (f *Faults) Want(ok bool, format string, args ...any) {
	if !ok {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// WantRange notes a fault, unless a number is from low to high.
func (f *Faults) WantRange(what string, n, low, high int64) {
	f.Want(n >= low && n <= high, "%s: %d, want %d to %d", what, n, low, high)
}

// Err returns the faults, joined; nil if there are none.
func (f Faults) Err() error { return errors.Join(f...) }

// MaxIdle bounds what a text has in a row of lines without data, in bytes: empty ones and
// comments. Compressed, gigabytes of them take no room.
const MaxIdle = 4 << 20

// ErrIdle is the error of a text with more.
var ErrIdle = fmt.Errorf("more than %d bytes of empty lines and comments in a row", MaxIdle)

// NewLineScanner returns a scanner of the lines of r that ends with ErrIdle.
func NewLineScanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	idle := 0
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, line, err := bufio.ScanLines(data, atEOF)
		if advance == 0 {
			return advance, line, err
		}
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			idle = 0
		} else if idle += advance; idle > MaxIdle {
			return 0, nil, ErrIdle
		}
		return advance, line, err
	})
	return s
}

// LineError is the error of a scanner of lines, nil at the end of the text. If a line is too long it says so in words
// of its own.
func LineError(s *bufio.Scanner) error {
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line longer than %d bytes", bufio.MaxScanTokenSize)
	}
	return err
}

// JSONLimits bound the numbers of things in a text, and so the memory that a decoder of JSON allocates for a hostile
// one: a map or a list takes many times the bytes of a short member.
type JSONLimits struct {
	Objects int
	Values  int // members of objects and elements of lists, but for the first of each
	String  int // bytes of a string or of a key, with its escapes
}

// Check returns an error if a text has more than the limits. It need not be JSON.
func (l JSONLimits) Check(text []byte) error {
	objects, values := 0, 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{':
			if objects++; objects > l.Objects {
				return fmt.Errorf("more than %d objects", l.Objects)
			}
		case ',':
			if values++; values > l.Values {
				return fmt.Errorf("more than %d values", l.Values)
			}
		case '"':
			begin := at + 1
			for at = begin; at < len(text) && text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if at-begin > l.String {
				return fmt.Errorf("byte %d: a string of %d bytes, want at most %d", begin, at-begin, l.String)
			}
		}
	}
	return nil
}

// ParsePatternFactor reads PATTERN=FACTOR, such as node-[3,17]=0.9, and checks both.
func ParsePatternFactor(text string) (pattern string, factor float64, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		return "", 0, fmt.Errorf("%s, want PATTERN=FACTOR", Quote(text))
	}
	pattern = text[:at]
	if factor, err = strconv.ParseFloat(text[at+1:], 64); err != nil {
		return pattern, 0, fmt.Errorf("%s: factor %s is not a number", Quote(text), Quote(text[at+1:]))
	}
	if _, err = ParsePattern(pattern); err == nil {
		err = bounds.Factor.Check("factor", factor)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", Quote(text), err)
	}
	return pattern, factor, err
}
