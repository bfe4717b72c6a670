package platforms

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/bounds"
)

// prefixes are the multiples of a unit, decimal and binary.
var prefixes = []struct {
	short, long string
	factor      float64
}{
	{"", "", 1},
	{"k", "kilo", 1e3}, {"M", "mega", 1e6}, {"G", "giga", 1e9}, {"T", "tera", 1e12},
	{"P", "peta", 1e15}, {"E", "exa", 1e18}, {"Z", "zetta", 1e21}, {"Y", "yotta", 1e24},
	{"Ki", "kibi", 1 << 10}, {"Mi", "mebi", 1 << 20}, {"Gi", "gibi", 1 << 30}, {"Ti", "tebi", 1 << 40},
	{"Pi", "pebi", 1 << 50}, {"Ei", "exbi", 1 << 60}, {"Zi", "zebi", 1 << 70}, {"Yi", "yobi", 1 << 80},
}

// wantPrefix says in errors which prefixes there are: decimal ones, which are one letter,
// and binary ones.
func wantPrefix() string {
	var names [2][]string
	for _, p := range prefixes[1:] {
		names[len(p.short)-1] = append(names[len(p.short)-1], p.short)
	}
	return ", alone or with a prefix " + strings.Join(names[0], " ") + " or " + strings.Join(names[1], " ")
}

// timeUnits are SimGrid's units of time, in seconds.
var timeUnits = []struct {
	name    string
	seconds float64
}{
	{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12},
	{"m", 60}, {"h", 3600}, {"d", 24 * 3600}, {"w", 7 * 24 * 3600},
}

// ParseBandwidth reads "12.5GBps" or "56Gbps" as byte/s; without a unit it is
// byte/s already. Bps counts bytes, bps bits.
func ParseBandwidth(text string) (float64, error) {
	bandwidth, err := parseBandwidth(text)
	if err == nil {
		err = bounds.Bandwidth.Check("bandwidth", bandwidth)
	}
	return bandwidth, err
}

// parseBandwidth is ParseBandwidth of a number that may be 0.
func parseBandwidth(text string) (float64, error) {
	value, unit, err := splitQuantity(text)
	if err != nil {
		return 0, err
	}
	scale, ok := multiple(unit, "Bps", false)
	if !ok {
		scale, ok = multiple(unit, "bps", false)
		scale *= 0.125
	}
	if unit == "" {
		scale, ok = 1, true
	}
	if !ok {
		return 0, fmt.Errorf("unit %q of %q is not a bandwidth: want Bps or bps%s", unit, text, wantPrefix())
	}
	if value == 0 {
		return 0, nil
	}
	return value * scale, bounds.Bandwidth.Check("bandwidth", value*scale)
}

// ParseSpeed reads "1Gf" or "1000megaflops" as flop/s, more than 0; without a unit it is
// flop/s already.
func ParseSpeed(text string) (float64, error) {
	speed, err := parseSpeed(text)
	if err == nil {
		err = bounds.Speed.Check("speed", speed)
	}
	return speed, err
}

// parseSpeed is ParseSpeed of a number that may be 0.
func parseSpeed(text string) (float64, error) {
	value, unit, err := splitQuantity(text)
	if err != nil {
		return 0, err
	}
	scale, ok := multiple(unit, "f", false)
	if !ok {
		scale, ok = multiple(unit, "flops", true)
	}
	if unit == "" {
		scale, ok = 1, true
	}
	if !ok {
		return 0, fmt.Errorf("unit %q of %q is not a speed: want f%s", unit, text, wantPrefix())
	}
	speed := value * scale
	return speed, bounds.Speed.OrZero().Check("speed", speed)
}

// ParseLatency reads "0.10us" as seconds; without a unit it is seconds already.
func ParseLatency(text string) (float64, error) {
	value, unit, err := splitQuantity(text)
	if err != nil {
		return 0, err
	}
	if unit == "" {
		return value, bounds.Latency.Check("latency", value)
	}
	for _, u := range timeUnits {
		if u.name == unit {
			return value * u.seconds, bounds.Latency.Check("latency", value*u.seconds)
		}
	}
	return 0, fmt.Errorf("unit %q of %q is not a time: want s ms us ns ps m h d w", unit, text)
}

// splitQuantity parts a number from the unit behind it.
func splitQuantity(text string) (value float64, unit string, err error) {
	text = strings.TrimSpace(text)
	end := 0
	for end < len(text) && isNumberByte(text, end) {
		end++
	}
	value, err = strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0, "", fmt.Errorf("%q is not a number with a unit", text)
	}
	return value, strings.TrimSpace(text[end:]), nil
}

// isNumberByte tells whether byte i of text still belongs to the number at its
// start. An e does only before a digit or sign, so that the prefixes of exa and
// of exbi remain units.
func isNumberByte(text string, i int) bool {
	c := text[i]
	switch {
	case c >= '0' && c <= '9' || c == '.':
		return true
	case c == '+' || c == '-':
		return i == 0 || text[i-1] == 'e' || text[i-1] == 'E'
	case c == 'e' || c == 'E':
		return i > 0 && i+1 < len(text) && strings.IndexByte("+-0123456789", text[i+1]) >= 0
	}
	return false
}

// multiple returns the factor of a unit that is base behind a prefix: a short
// one as in kBps, or a long one as in kiloflops.
func multiple(unit, base string, long bool) (float64, bool) {
	head, ok := strings.CutSuffix(unit, base)
	if !ok {
		return 0, false
	}
	for _, p := range prefixes {
		if long && head == p.long || !long && head == p.short {
			return p.factor, true
		}
	}
	return 0, false
}
