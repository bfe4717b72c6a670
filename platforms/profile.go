package platforms

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Profile is how a quantity of a machine changes with time: a list of dated values, which may repeat in rounds.
// Before its first time the quantity is as declared. parseProfile reads a profile, profile_use.go says of which host or
// link it is, and package replay plays it (replay/changes.go), from Begin by Next.
type Profile struct {
	Name string // of the file or of the <trace>

	points []profilePoint
	again  float64 // seconds from the last point to the begin of the next round; < 0: there is none
}

// profilePoint is a value, and how many seconds it comes after the one before. SimGrid adds up these differences, so
// the last bits of times depend on them.
type profilePoint struct{ after, value float64 }

// Len returns the number of values of a round.
func (p *Profile) Len() int { return len(p.points) }

// Repeats reports whether the profile begins anew, and the seconds that a round takes.
func (p *Profile) Repeats() (round float64, ok bool) {
	if p.again < 0 {
		return 0, false
	}
	_, last := p.Span()
	return last + p.again, true
}

// Span returns the times in seconds of the first and the last value of the first round.
func (p *Profile) Span() (first, last float64) {
	for i := range p.points {
		last += p.points[i].after
	}
	return p.points[0].after, last
}

// A ProfileTime is a place in a profile: of its next value.
type ProfileTime struct {
	Index int     // in the round; Len if there is no next value
	Time  float64 // seconds; +Inf if there is none
}

// Begin returns the place of the first value.
func (p *Profile) Begin() ProfileTime { return ProfileTime{0, p.points[0].after} }

// Value returns the value at a place. If it is below 0 the quantity stays what it is, as in SimGrid.
func (p *Profile) Value(t ProfileTime) float64 { return p.points[t.Index].value }

// Next returns the place after t, which must not be the end. Its time is SimGrid's to the last bit, as the differences
// are added one after the other.
func (p *Profile) Next(t ProfileTime) ProfileTime {
	t.Index++
	switch {
	case t.Index < len(p.points):
		t.Time += p.points[t.Index].after
	case p.again < 0:
		t.Time = math.Inf(1)
	default:
		t.Index = 0
		t.Time += p.points[0].after + p.again
	}
	return t
}

// Ever reports whether one of the values at t or after it is positive: if not, a host or link that is off stays off.
func (p *Profile) Ever(t ProfileTime) bool {
	from := t.Index
	if p.again >= 0 {
		from = 0
	}
	return slices.ContainsFunc(p.points[from:], func(point profilePoint) bool { return point.value > 0 })
}

// minRound is the shortest round of a profile, in seconds: SimGrid's precision of times. With shorter rounds the time
// of a simulation would not advance.
const minRound = 1e-9

// parseProfile reads the text of a profile, which begins at a line of the file. Each line holds a time in seconds and a
// value; PERIODICITY and LOOPAFTER say when the profile repeats. A period that is not positive is none.
func parseProfile(text, name, file string, line int, period float64) (*Profile, error) {
	p := &Profile{Name: name, again: -1}
	last := 0.0                // time of the last point, in seconds as all times here
	pause, loops := 0.0, false // between two rounds, if there are several
	for l := range strings.Lines(text) {
		bad := func(format string, args ...any) (*Profile, error) {
			return nil, fmt.Errorf("%s:%d: profile: %w", file, line, fmt.Errorf(format, args...))
		}
		words := strings.Fields(l)
		if i := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' || w[0] == '%' }); i >= 0 {
			words = words[:i] // a comment ends the line
		}
		switch {
		case len(words) == 0:
		case words[0] == "STOCHASTIC":
			return bad("STOCHASTIC is not supported: want the values themselves")
		case words[0] == "PERIODICITY", words[0] == "LOOPAFTER":
			if len(words) != 2 {
				return bad("%s: want a number of seconds", words[0])
			}
			seconds, err := profileNumber(words[1])
			if err != nil {
				return bad("%s: %w", words[0], err)
			}
			if loops = true; words[0] == "PERIODICITY" {
				period = seconds
			} else {
				pause = seconds
			}
		default:
			// DET stands before a number that is not random.
			words = slices.DeleteFunc(words, func(w string) bool { return w == "DET" })
			if len(words) != 2 {
				return bad("%.40q: want a time in seconds and a value", strings.Join(words, " "))
			}
			at, err := profileNumber(words[0])
			if err != nil {
				return bad("time: %w", err)
			}
			value, err := finiteNumber(words[1])
			switch {
			case err != nil:
				return bad("value: %w", err)
			case at < last:
				return bad("time %g s after %g s: want ascending ones", at, last)
			}
			p.points = append(p.points, profilePoint{at - last, value})
			last = at
		}
		line++
	}

	// When the profile begins anew. As in SimGrid, one without values says nothing, not even that.
	if len(p.points) == 0 {
		return p, nil
	}
	bad := func(format string, args ...any) (*Profile, error) {
		return nil, fmt.Errorf("%s: profile %q: %w", file, name, fmt.Errorf(format, args...))
	}
	if period > 0 {
		switch {
		case pause > 0:
			return bad("it has both a period and LOOPAFTER")
		case period < last:
			return bad("a period of %g s is shorter than its last time, %g s", period, last)
		}
		pause, loops = period-last, true
	}
	if !loops {
		return p, nil
	}
	if round := last + pause; round < minRound {
		return bad("it begins anew after %g s: want at least %g s", round, minRound)
	}
	p.again = pause
	return p, nil
}

// finiteNumber reads a finite number.
func finiteNumber(word string) (float64, error) {
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(word, "_xX") {
		return 0, fmt.Errorf("%.40q is not a number", word)
	}
	return x, nil
}

// profileNumber reads a finite number of at least 0.
func profileNumber(word string) (float64, error) {
	x, err := finiteNumber(word)
	if err == nil && !(x >= 0) {
		err = fmt.Errorf("%.40q is not a number >= 0", word)
	}
	return x, err
}
