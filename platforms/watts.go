package platforms

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/bounds"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file reads what hosts and links draw: the properties wattage_per_state and wattage_off of hosts and clusters, and
// wattage_range of links, as SimGrid's plugins host_energy and link_energy have them.

// HostWatts is the power of a host in watts. With part of its cores' speed in use it draws Epsilon + part*(Full-Epsilon).
type HostWatts struct {
	Idle    float64 // no core computes
	Epsilon float64 // of a load that goes to 0
	Full    float64 // all cores compute
	Off     float64 // it is switched off
	// Part is how much of the speed that the file declares a core has: a profile of one value says so. Power goes by
	// the declared speed.
	Part float64
	// Initial is counted in place of Idle until SimGrid's plugin first looks at the host: it begins with pstate 0,
	// whichever is chosen.
	Initial float64
}

// LinkWatts is the power of a link in watts: with part of its bandwidth in use Idle + part*(Busy-Idle).
type LinkWatts struct {
	Link       int32
	Idle, Busy float64
}

// HostWatts returns the power of host i, nil if the file says nothing of it.
func (p *Platform) HostWatts(i int) *HostWatts { return p.groups[p.hostGroups[i]].watts }

// LinkWatts returns the power of the links of which the file says it, by their numbers. The caller must not change it.
func (p *Platform) LinkWatts() []LinkWatts { return p.linkWatts }

// HasHostWatts reports whether the file says of any host what it draws.
func (p *Platform) HasHostWatts() bool {
	return slices.ContainsFunc(p.groups, func(g hostGroup) bool { return g.watts != nil })
}

// maxWatts bounds the power of a host or link: a machine of 2^20 hosts cannot draw that.
const maxWatts = 1e12

// watts is the range of powers.
var watts = bounds.Range{Low: 0, High: maxWatts, Unit: "W"}

// failAt ends the reading of the file at a property.
func (b *builder) failAt(v *values, p *Prop, err error) {
	at := *v
	if p.Line > 0 {
		e := *v.e
		e.line, at.e = p.Line, &e
	}
	at.fail(fmt.Errorf("%s %q: %w", p.Name, textutil.Cut(p.Value, 80), err))
}

// hostWatts reads the power of hosts that have so many pstates, of which one was chosen; nil if there is none.
func (b *builder) hostWatts(v *values, props []Prop) *HostWatts {
	off, states := first(props, "wattage_off"), first(props, "wattage_per_state")
	w := &HostWatts{Part: 1}
	if off != nil {
		var err error
		if w.Off, err = parseWatts(off.Value); err != nil {
			b.failAt(v, off, err)
		}
	}
	if states == nil {
		return nil
	}
	pstates := strings.Count(v.text("speed"), ",") + 1
	list := strings.Split(states.Value, ",")
	if len(list) != pstates {
		b.failAt(v, states, fmt.Errorf("powers of %s, want those of %d, one for each speed", textutil.Count(len(list), "state"), pstates))
	}
	chosen := v.count("pstate", 0, 0, pstates-1)
	for i, text := range list {
		powers, err := ParseHostWatts(text)
		if err != nil {
			b.failAt(v, states, err)
		}
		if i == 0 {
			w.Initial = powers[0]
		}
		if i == chosen {
			w.Idle, w.Epsilon, w.Full = powers[0], powers[len(powers)-2], powers[len(powers)-1]
		}
	}
	return w
}

// addLinkWatts reads the power of a link. As in SimGrid 3.32, that of a SPLITDUPLEX link reaches neither of its
// directions.
func (b *builder) addLinkWatts(v *values, l declaredLink) {
	props := readProps(v.e)
	p := first(props, "wattage_range")
	if p == nil {
		p = first(props, "watt_range") // its name before SimGrid 3.21
	}
	if p == nil {
		return
	}
	powers, err := splitWatts(p.Value, "IDLE:BUSY", 2, 2)
	if err != nil {
		b.failAt(v, p, err)
	}
	if l.split() {
		b.warnings.Add(warning.At(b.name, p.Line, "%s of the SPLITDUPLEX link %q has no effect, as in SimGrid 3.32: its directions draw nothing", p.Name, v.text("id")))
		powers = []float64{0, 0}
	}
	for _, link := range l.list() {
		b.linkWatts = append(b.linkWatts, LinkWatts{link, powers[0], powers[1]})
	}
}

// ParseHostWatts reads the two or three powers of a pstate: Idle:AllCores or Idle:Epsilon:AllCores.
func ParseHostWatts(text string) ([]float64, error) {
	return splitWatts(text, "Idle:AllCores or Idle:Epsilon:AllCores", 2, 3)
}

// splitWatts reads from least to most powers that colons separate.
func splitWatts(text, want string, least, most int) ([]float64, error) {
	words := strings.Split(text, ":")
	if len(words) < least || len(words) > most {
		return nil, fmt.Errorf("%s, want %s", textutil.Count(len(words), "power"), want)
	}
	powers := make([]float64, len(words))
	for i, word := range words {
		var err error
		if powers[i], err = parseWatts(word); err != nil {
			return nil, err
		}
	}
	return powers, nil
}

// parseWatts reads a power: a number without a unit, before which there may be spaces.
func parseWatts(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimLeft(text, " \t\n"), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of watts", textutil.Cut(text, 40))
	}
	return x, watts.Check("power", x)
}
