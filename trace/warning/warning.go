// Package warning has the type of warnings: what a reader, a model or a replay found odd though it could go on. Results
// carry their warnings, and an error carries those that were gathered before it (With), so that all reach the report.
//
//	var list warning.List
//	list.Add(warning.At("p.xml", 7, "option %s has no effect", name))
//	return warning.With(err, list.All()) // and warning.Of(err) has them again
//
// # Units
//
// Lines are numbers from 1.
//
// # Errors
//
// The package has none.
//
// # Source
//
// There is none: it is plain data.
package warning

import (
	"errors"
	"fmt"
	"slices"

	"reprise/internal/textutil"
)

// A Warning is one oddity, with its place if it has one.
type Warning struct {
	File string // "": no file
	Line int    // from 1; 0: none, or the whole file
	Text string // lower case, no full stop: what, and what follows from it
	Kind Kind
}

// Kind says when a warning is worth telling.
type Kind uint8

// The kinds of warnings.
const (
	Oddity Kind = iota // beside a result, or an error, which it may be the cause of
	Choice             // where nothing says what is meant: before a long run, and beside its result
	Risk               // of an error to come: before a long run, and as an Oddity
)

// New returns a warning without a place.
func New(format string, args ...any) Warning { return At("", 0, format, args...) }

// As returns the warning as one of a kind.
func (w Warning) As(kind Kind) Warning {
	w.Kind = kind
	return w
}

// At returns a warning about a line of a file, or about the whole file if line is 0.
func At(file string, line int, format string, args ...any) Warning {
	return Warning{File: file, Line: line, Text: textutil.Cut(textutil.Visible(fmt.Sprintf(format, args...)), maxText)}
}

// String returns the warning behind its place: file:line: text.
func (w Warning) String() string {
	switch {
	case w.File == "":
		return w.Text
	case w.Line == 0:
		return w.File + ": " + w.Text
	}
	return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Text)
}

// MarshalText has reports in JSON show what String returns.
func (w Warning) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// maxText is how many bytes of text a warning has: it may quote a file.
const maxText = 1000

// MaxKept is how many warnings a List keeps. Files of a million odd lines give no more.
const MaxKept = 100

// A List gathers warnings in their order, equal ones once. The zero value is empty.
type List struct {
	kept    []Warning
	dropped int
}

// Add appends warnings, but for those that the list has.
func (l *List) Add(list ...Warning) {
	for _, w := range list {
		switch {
		case slices.Contains(l.kept, w):
		case len(l.kept) == MaxKept:
			l.dropped++
		default:
			l.kept = append(l.kept, w)
		}
	}
}

// All returns the warnings, never nil. If there were too many to keep, the last one says how many are missing.
func (l *List) All() []Warning {
	all := append([]Warning{}, l.kept...)
	if l.dropped > 0 {
		all = append(all, New("%d more warnings are not shown", l.dropped))
	}
	return all
}

// Join returns the warnings of all lists, equal ones once, never nil.
func Join(lists ...[]Warning) []Warning {
	var l List
	for _, list := range lists {
		l.Add(list...)
	}
	return l.All()
}

// failure is an error with what was odd before it.
type failure struct {
	err      error
	warnings []Warning
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// With returns err with the warnings that were gathered before it, which often name its
// cause. It returns err itself if that is nil or there are none.
func With(err error, warnings []Warning) error {
	if err == nil || len(warnings) == 0 {
		return err
	}
	return &failure{err, warnings}
}

// Of returns the warnings that err and the errors that it wraps carry, those gathered
// first in front, equal ones once; nil if there are none.
func Of(err error) []Warning {
	var l List
	l.gather(err)
	if len(l.kept) == 0 {
		return nil
	}
	return l.All()
}

// gather adds the warnings that an error and all that it wraps carry, those of the innermost first, as they came first.
func (l *List) gather(err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			l.gather(e)
		}
		return
	}
	if err == nil {
		return
	}
	l.gather(errors.Unwrap(err))
	if f, ok := err.(*failure); ok {
		l.Add(f.warnings...)
	}
}
