package option

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// This file has the kinds of options, by what their values are: Number, Bytes, YesNo, Choice and others.

// ParseNumber reads a finite number >= 0.
func ParseNumber(s string) (float64, error) {
	v, err := parseSigned(s)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("%q is not a number >= 0", s)
	}
	return v, nil
}

// parseSigned reads a finite number.
func parseSigned(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.Contains(s, "_") {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

// Number is an option that is a number >= 0, and what else check asks for.
func Number[T any](name, doc string, check func(float64) error, field func(*T) *float64) Option[T] {
	return parsedNumber(name, doc, ParseNumber, check, field)
}

// Signed is an option that is a number, and what else check asks for.
func Signed[T any](name, doc string, check func(float64) error, field func(*T) *float64) Option[T] {
	return parsedNumber(name, doc, parseSigned, check, field)
}

func parsedNumber[T any](name, doc string,
	parse func(string) (float64, error), check func(float64) error, field func(*T) *float64) Option[T] {
	opt := Parsed(name, doc, parse, field)
	opt.Get = func(o *T) string { return numberText(*field(o)) }
	opt.Check = func(o *T) error { return check(*field(o)) }
	return opt
}

// numberText writes whole numbers by their digits.
func numberText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Bytes is an option that is a whole number >= 0 of bytes.
func Bytes[T any](name, doc string, field func(*T) *int64) Option[T] {
	return Parsed(name, doc, func(value string) (int64, error) {
		v, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || v < 0 {
			return 0, fmt.Errorf("%q is not a number of bytes", value)
		}
		return v, nil
	}, field)
}

// YesNo is an option that is on or off.
func YesNo[T any](name, doc string, field func(*T) *bool) Option[T] {
	opt := Parsed(name, doc, func(value string) (bool, error) {
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "yes", "on", "true", "1":
			return true, nil
		case "no", "off", "false", "0":
			return false, nil
		}
		return false, fmt.Errorf("%q is neither yes nor no", value)
	}, field)
	opt.Get = func(o *T) string {
		if *field(o) {
			return "yes"
		}
		return "no"
	}
	return opt
}

// Choice is an option that is one of several names, those of the numbers 0, 1, ... of an E.
func Choice[T any, E ~uint8](name, doc string, names []string, field func(*T) *E) Option[T] {
	opt := Parsed(name, doc, func(value string) (E, error) {
		i := slices.Index(names, strings.TrimSpace(value))
		if i < 0 {
			return 0, fmt.Errorf("%q, want %s", value, alternatives(names))
		}
		return E(i), nil
	}, field)
	opt.Get = func(o *T) string {
		if i := int(*field(o)); i < len(names) {
			return names[i]
		}
		return strconv.Itoa(int(*field(o)))
	}
	opt.Check = func(o *T) error {
		if i := int(*field(o)); i >= len(names) {
			return fmt.Errorf("unknown choice %d, want 0 to %d", i, len(names)-1)
		}
		return nil
	}
	return opt
}

// alternatives is "a, b or c".
func alternatives(names []string) string {
	last := len(names) - 1
	if last <= 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Parsed is an option whose field is what parse makes of the text.
func Parsed[T, V any](name, doc string, parse func(string) (V, error), field func(*T) *V) Option[T] {
	return Option[T]{Name: name, Doc: doc,
		Set: func(o *T, value string) error {
			v, err := parse(value)
			if err == nil {
				*field(o) = v
			}
			return err
		},
		Get: func(o *T) string { return fmt.Sprint(*field(o)) }}
}

// Only is an option that accepts only the values by which it asks for what a replay does anyway.
func Only[T any](name, doc string, values ...string) Option[T] {
	return Option[T]{Name: name, Doc: doc, Set: func(_ *T, value string) error {
		if !slices.Contains(values, strings.TrimSpace(value)) {
			return fmt.Errorf("%q, want %s: no other is modelled", value, strings.Join(values, " or "))
		}
		return nil
	}}
}

// Idle is an option that takes any value and has no effect.
func Idle[T any](name string) Option[T] {
	return Option[T]{Name: name, Doc: "no effect on the times of a replay", Idle: true,
		Set: func(*T, string) error { return nil }}
}

// Then is an option after whose setting something else is done.
func Then[T any](opt Option[T], do func(*T)) Option[T] {
	set := opt.Set
	opt.Set = func(o *T, value string) error {
		err := set(o, value)
		if err == nil {
			do(o)
		}
		return err
	}
	return opt
}
