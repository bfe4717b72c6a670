// Package option describes the options of a structure by name: how the text of a value,
// as in --cfg=NAME:VALUE or in a platform's file, becomes a field, how a field becomes
// text, what values make sense, and what a reader is to know. Whatever deals with options
// (flags, files, checks, checkpoints, pages) goes through one table of them.
//
//	type plan struct{ trees int64 }
//	table := option.Table[plan]{
//		option.Bytes("garden/trees", "number of trees", func(p *plan) *int64 { return &p.trees }),
//	}
//	err := table.Find("garden/trees").Apply(&p, "12")
//
// Tables of parts combine: [Of] turns the options of a part into those of the whole.
//
// # Units
//
// An option's Doc says the unit of its value.
//
// # Errors
//
// Those of [Option.Apply] name the option and say what is wanted; [Table.Validate] joins one
// for each value that makes no sense.
//
// # Source
//
// The form is that of SimGrid's --cfg=NAME:VALUE.
package option

import (
	"errors"
	"fmt"

	"reprise/internal/textutil"
)

// Option is one option of a T: all that is to be known of it, in one place.
type Option[T any] struct {
	Name  string
	Doc   string                         // what it says, with the unit of its value, for readers
	Set   func(o *T, value string) error // takes a value by its text
	Get   func(o *T) string              // the text of the value, equal for equal ones; nil: it has none
	Check func(o *T) error               // of a value by itself; nil: whatever Set takes is good
	Idle  bool                           // it is taken, and has no effect
}

// Table lists options of a T by name.
type Table[T any] []Option[T]

// Find returns the option of a name, nil if there is none.
func (t Table[T]) Find(name string) *Option[T] {
	for i := range t {
		if t[i].Name == name {
			return &t[i]
		}
	}
	return nil
}

// Names returns the names in the order of the table.
func (t Table[T]) Names() []string {
	return textutil.Texts(t, func(opt Option[T]) string { return opt.Name })
}

// Apply sets an option by the text of its value and checks it. Errors name the option.
func (opt *Option[T]) Apply(o *T, value string) error {
	err := opt.Set(o, value)
	if err == nil && opt.Check != nil {
		err = opt.Check(o)
	}
	if err != nil {
		return fmt.Errorf("option %s: %w", opt.Name, err)
	}
	return nil
}

// Validate reports all options whose values make no sense by themselves, joined.
func (t Table[T]) Validate(o *T) error {
	var errs []error
	for i := range t {
		if check := t[i].Check; check != nil {
			if err := check(o); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", t[i].Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Of returns the options of a part of a W as options of the W.
func Of[W, T any](t Table[T], part func(*W) *T) Table[W] {
	wider := make(Table[W], len(t))
	for i, opt := range t {
		wider[i] = Option[W]{Name: opt.Name, Doc: opt.Doc, Idle: opt.Idle,
			Set: func(o *W, value string) error { return opt.Set(part(o), value) }}
		if opt.Get != nil {
			wider[i].Get = func(o *W) string { return opt.Get(part(o)) }
		}
		if opt.Check != nil {
			wider[i].Check = func(o *W) error { return opt.Check(part(o)) }
		}
	}
	return wider
}
