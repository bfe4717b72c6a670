package platforms

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Profile is how a quantity of a machine changes with time: a list of dated values,
// which may begin anew. Before its first time the quantity is as declared.
type Profile struct {
	Name string // of the file or of the <trace>

	points []profilePoint
	again  float64 // seconds from the last point to the begin of the next round; < 0: there is none
}

// profilePoint is a value, and how many seconds after the one before it comes. SimGrid
// adds up these differences, so the last bits of times depend on them.
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

// Value returns the value at a place. One below 0 says nothing: as in SimGrid, the quantity
// stays what it is.
func (p *Profile) Value(t ProfileTime) float64 { return p.points[t.Index].value }

// Next returns the place behind t, which is not the end.
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

// Ever reports whether one of the values at t or behind it is positive.
func (p *Profile) Ever(t ProfileTime) bool {
	from := t.Index
	if p.again >= 0 {
		from = 0
	}
	for _, point := range p.points[from:] {
		if point.value > 0 {
			return true
		}
	}
	return false
}

// minRound is the shortest round of a profile, in seconds: SimGrid's precision of times.
// The events of shorter ones would be without end.
const minRound = 1e-9

// parseProfile reads the text of a profile, whose first line has a number in the file
// that errors name. A period that is not positive is none. Each line holds a time in
// seconds and a value; PERIODICITY and LOOPAFTER say when it begins anew.
func parseProfile(text, name, file string, line int, period float64) (*Profile, error) {
	r := profileReader{profile: &Profile{Name: name, again: -1}, period: period}
	for l := range strings.Lines(text) {
		if err := r.take(strings.Fields(l)); err != nil {
			return nil, fmt.Errorf("%s:%d: profile: %w", file, line, err)
		}
		line++
	}
	if err := r.close(); err != nil {
		return nil, fmt.Errorf("%s: profile %q: %w", file, name, err)
	}
	return r.profile, nil
}

// A profileReader is the state between two lines of a profile. All times are in seconds.
type profileReader struct {
	profile *Profile
	last    float64 // time of the last point
	period  float64 // > 0: of a round
	pause   float64 // between two rounds, if loops
	loops   bool
}

// take reads a line.
func (r *profileReader) take(words []string) error {
	for i, w := range words { // a comment ends the line
		if w[0] == '#' || w[0] == '%' {
			words = words[:i]
			break
		}
	}
	switch {
	case len(words) == 0:
		return nil
	case words[0] == "STOCHASTIC":
		return fmt.Errorf("STOCHASTIC is not supported: want the values themselves")
	case words[0] == "PERIODICITY", words[0] == "LOOPAFTER":
		return r.takeLoop(words)
	}
	// DET stands before a number that is not random.
	words = slices.DeleteFunc(words, func(w string) bool { return w == "DET" })
	if len(words) != 2 {
		return fmt.Errorf("%.40q: want a time in seconds and a value", strings.Join(words, " "))
	}
	at, err := profileNumber(words[0])
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}
	value, err := finiteNumber(words[1])
	switch {
	case err != nil:
		return fmt.Errorf("value: %w", err)
	case at < r.last:
		return fmt.Errorf("time %g s after %g s: want ascending ones", at, r.last)
	}
	r.profile.points = append(r.profile.points, profilePoint{at - r.last, value})
	r.last = at
	return nil
}

// takeLoop reads when the profile begins anew.
func (r *profileReader) takeLoop(words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("%s: want a number of seconds", words[0])
	}
	seconds, err := profileNumber(words[1])
	if err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	r.loops = true
	if words[0] == "PERIODICITY" {
		r.period = seconds
	} else {
		r.pause = seconds
	}
	return nil
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

// close says when the profile begins anew.
func (r *profileReader) close() error {
	if len(r.profile.points) == 0 {
		return nil // as in SimGrid it says nothing, not even when it begins anew
	}
	if r.period > 0 {
		switch {
		case r.pause > 0:
			return fmt.Errorf("it has both a period and LOOPAFTER")
		case r.period < r.last:
			return fmt.Errorf("a period of %g s is shorter than its last time, %g s", r.period, r.last)
		}
		r.pause, r.loops = r.period-r.last, true
	}
	if !r.loops {
		return nil
	}
	r.profile.again = r.pause
	if round := r.last + r.pause; round < minRound {
		return fmt.Errorf("it begins anew after %g s: want at least %g s", round, minRound)
	}
	return nil
}
