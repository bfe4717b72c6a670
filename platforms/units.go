package platforms

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/bounds"
)

// This file reads quantities with SimGrid's units: ParseBandwidth, ParseSpeed, ParseLatency.

// prefixes are the multiples of a unit, decimal and binary: short ones stand before f, Bps and bps, long ones before
// flops.
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
	return bandwidth, cmp.Or(err, bounds.Bandwidth.Check("bandwidth", bandwidth))
}

// parseBandwidth is ParseBandwidth of a number that may be 0.
func parseBandwidth(text string) (float64, error) {
	bandwidth, err := parseScaled(text, "a bandwidth: want Bps or bps", scaledUnit{"Bps", false, 1}, scaledUnit{"bps", false, 0.125})
	if err != nil || bandwidth == 0 {
		return 0, err
	}
	return bandwidth, bounds.Bandwidth.Check("bandwidth", bandwidth)
}

// ParseSpeed reads "1Gf" or "1000megaflops" as flop/s, more than 0; without a unit it is flop/s already.
func ParseSpeed(text string) (float64, error) {
	speed, err := parseSpeed(text)
	return speed, cmp.Or(err, bounds.Speed.Check("speed", speed))
}

// parseSpeed is ParseSpeed of a number that may be 0.
func parseSpeed(text string) (float64, error) {
	speed, err := parseScaled(text, "a speed: want f", scaledUnit{"f", false, 1}, scaledUnit{"flops", true, 1})
	return speed, cmp.Or(err, bounds.Speed.OrZero().Check("speed", speed))
}

// scaledUnit is a unit that prefixes may stand before: short ones as in kBps, or long ones as in kiloflops.
type scaledUnit struct {
	base  string
	long  bool
	scale float64 // of the quantity's own unit
}

// parseScaled reads a number with one of a quantity's units behind it, or with none: it then is in the
// quantity's own unit. want says in errors which quantity and which units those are.
func parseScaled(text, want string, units ...scaledUnit) (float64, error) {
	value, unit, err := splitQuantity(text)
	if err != nil || unit == "" {
		return value, err
	}
	for _, u := range units {
		head, ok := strings.CutSuffix(unit, u.base)
		for _, p := range prefixes {
			if ok && (u.long && head == p.long || !u.long && head == p.short) {
				return value * (p.factor * u.scale), nil
			}
		}
	}
	// The decimal prefixes have one letter, the binary ones two.
	var names [2][]string
	for _, p := range prefixes[1:] {
		names[len(p.short)-1] = append(names[len(p.short)-1], p.short)
	}
	return 0, fmt.Errorf("unit %q of %q is not %s, alone or with a prefix %s or %s", unit, text, want,
		strings.Join(names[0], " "), strings.Join(names[1], " "))
}

// ParseLatency reads "0.10us" as seconds; without a unit it is seconds already. The product of number and unit is
// rounded once, as SimGrid does: 0.10us is 0.10*1e-6, whose last bit may differ from that of 1e-7.
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

// splitQuantity parts a number from the unit behind it. An e belongs to the number only before a digit or a sign,
// so that the prefixes of exa and of exbi remain units.
func splitQuantity(text string) (value float64, unit string, err error) {
	text = strings.TrimSpace(text)
	end := 0
scan:
	for end < len(text) {
		switch c := text[end]; {
		case c >= '0' && c <= '9' || c == '.':
		case (c == '+' || c == '-') && (end == 0 || text[end-1] == 'e' || text[end-1] == 'E'):
		case (c == 'e' || c == 'E') && end > 0 && end+1 < len(text) && strings.IndexByte("+-0123456789", text[end+1]) >= 0:
		default:
			break scan
		}
		end++
	}
	value, err = strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0, "", fmt.Errorf("%q is not a number with a unit", text)
	}
	return value, strings.TrimSpace(text[end:]), nil
}
