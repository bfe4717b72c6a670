package calibrate

import (
	"math"
	"slices"

	"reprise/calibrate/regress"
)

// SharingFit is what messages at the same time share: within a host a loopback, between hosts the cable of one.
type SharingFit struct {
	Between  Between        `json:"between"`
	Shared   bool           `json:"shared"`             // pairs slow one another
	Duplex   bool           `json:"duplex"`             // messages that cross do not, or hardly
	Single   float64        `json:"bandwidth"`          // byte/s of one message, to which factors refer
	Capacity float64        `json:"capacity,omitempty"` // byte/s of all together, if shared; of a cable that is not, what was seen of it
	Error    float64        `json:"capacity_std_error,omitempty"`
	Points   []SharingPoint `json:"points"`
}

// SharingPoint is how much longer large messages take that are not alone.
type SharingPoint struct {
	Messages int64   `json:"messages"` // at the same time
	Crossing bool    `json:"crossing"` // two, in opposite directions
	Sizes    int     `json:"sizes"`
	Slowdown float64 `json:"slowdown"` // time of their bytes by that of one alone: the median over the sizes
	StdError float64 `json:"std_error"`
}

const (
	// largeMessage is from how many bytes on messages say what is shared. It is what calibrate measure
	// network sends in pairs at least.
	largeMessage = 32768
	// leastSlowdown is from which on messages share something: 1 is what those have that are alone.
	leastSlowdown = 1.1
)

// fitSharing compares messages that were timed at the same time with those alone.
func (r *NetworkReport) fitSharing(all *Messages) {
	for _, b := range []Between{Nodes, Cores} {
		route, pingPong := r.Route, r.fitOf(PingPong)
		if r.Between != b {
			if r.Within == nil || b != Cores {
				continue
			}
			route, pingPong = r.Within.Route, r.Within.pieces
		}
		if pingPong == nil {
			continue
		}
		if fit := sharing(all, b, pingPong, route.Bandwidth); len(fit.Points) > 0 {
			r.Sharing = append(r.Sharing, fit)
		}
	}
}

func sharing(all *Messages, b Between, pingPong *regress.Pieces, bandwidth float64) SharingFit {
	fit := SharingFit{Between: b, Single: bandwidth, Duplex: true}
	series := all.settings[setting{b, 1}]
	alone := single{series.medians(PingPong), pingPong}
	if p, ok := alone.slowdown(series.medians(Exchange), 2); ok {
		p.Messages, p.Crossing = 2, true
		fit.Points = append(fit.Points, p)
	}
	var pairs []int64
	for s := range all.settings {
		if s.between == b && s.pairs > 1 {
			pairs = append(pairs, s.pairs)
		}
	}
	slices.Sort(pairs)
	for _, k := range pairs {
		if p, ok := alone.slowdown(all.settings[setting{b, k}].medians(PingPong), 1); ok {
			p.Messages = k
			fit.Points = append(fit.Points, p)
		}
	}
	fit.judge()
	return fit
}

// judge takes the capacity, and then whether messages that cross share it.
func (f *SharingFit) judge() {
	if len(f.Points) == 0 {
		return
	}
	f.setCapacity(f.Points[len(f.Points)-1])
	if p := f.Points[0]; p.Crossing {
		f.Duplex = p.Slowdown < f.leastCrossing()
	}
}

// setCapacity takes the capacity from the largest number of pairs, at which it is full if ever it is;
// within a host, if there was one pair, from the messages that cross, which use the same memory there. A link on which n messages
// take s times as long as one alone carries n/s times the bandwidth of one.
func (f *SharingFit) setCapacity(p SharingPoint) {
	if p.Crossing && f.Between == Nodes {
		return
	}
	if f.Shared = p.Slowdown >= leastSlowdown; !f.Shared && f.Between == Cores { // each has a loopback of its own
		return
	}
	f.Capacity = max(float64(p.Messages)/p.Slowdown, 1) * f.Single
	f.Error = f.Capacity * p.StdError / p.Slowdown
}

// leastCrossing is from which slowdown on messages that cross share the capacity. They take as long as one alone in a
// model in which they do not, and as two on a cable in the other: the nearer one is that below or above the geometric mean.
// On a cable that two do not fill both say the same: it is shared if they slow each other at all.
func (f *SharingFit) leastCrossing() float64 {
	two := 2 * f.Single / max(f.Capacity, f.Single)
	return max(leastSlowdown, math.Sqrt(two))
}

// single is what ping-pongs alone take, by size, and their fit.
type single struct {
	seconds map[int64]float64
	fit     *regress.Pieces
}

// slowdown returns how much longer the bytes of large messages take together than those of one alone, part of the time
// together for each time alone: a ping-pong is two, an exchange one after the other's. What does not grow with the bytes is not
// shared: sizes of which it is more than half say little.
func (alone *single) slowdown(together map[int64]float64, part float64) (p SharingPoint, ok bool) {
	var ratios []float64
	for bytes, seconds := range together {
		fixed := alone.fit.Pieces[alone.fit.Find(float64(bytes))].Intercept
		if one := alone.seconds[bytes]; bytes >= largeMessage && one > 2*fixed {
			ratios = append(ratios, (float64(part*seconds)-fixed)/(one-fixed))
		}
	}
	if len(ratios) == 0 {
		return p, false
	}
	slices.Sort(ratios)
	p.Sizes, p.Slowdown, p.StdError = len(ratios), median(ratios), medianError(ratios)
	return p, !math.IsInf(p.Slowdown, 1)
}

// sharingOf returns what was found of messages within a host or between two, nil if nothing was.
func (r *NetworkReport) sharingOf(b Between) *SharingFit {
	i := slices.IndexFunc(r.Sharing, func(f SharingFit) bool { return f.Between == b })
	if i < 0 {
		return nil
	}
	return &r.Sharing[i]
}
