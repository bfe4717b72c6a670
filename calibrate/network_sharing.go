package calibrate

import (
	"math"
	"slices"
)

// This file finds how messages at the same time share a link: NetworkReport.fitSharing.

// fitSharing compares the times of messages that were sent at the same time with those of one alone: of the largest
// number of pairs it takes the capacity of the link, of an exchange whether both directions share it.
func (r *NetworkReport) fitSharing(all *Messages) {
	for _, b := range []Between{Nodes, Cores} {
		// Each place has a ping-pong of its own, and the bandwidth to which a capacity refers.
		route, pingPong := r.Route, r.fitOf(PingPong)
		if r.Between != b {
			if r.Within == nil || b != Cores {
				continue
			}
			route, pingPong = r.Within.Route, &r.Within.PingPong
		}
		if pingPong == nil {
			continue
		}
		fit := SharingFit{Between: b, Single: route.Bandwidth, Duplex: true}
		timings := all.settings[setting{b, 1}]
		alone := timings.medians(PingPong)
		// A point is how much longer the bytes of large messages take together than those of one alone, part of the
		// time together for each time alone: a ping-pong is two, an exchange one after the other's. The part of a time
		// that does not grow with the bytes is not shared: sizes where it is more than half of the time are left out.
		compare := func(p SharingPoint, together map[int64]float64, part float64) {
			var ratios []float64
			for bytes, seconds := range together {
				fixed := pingPong.Pieces[pingPong.fit.Find(float64(bytes))].Intercept
				if one := alone[bytes]; bytes >= largeMessage && one > 2*fixed {
					ratios = append(ratios, (float64(part*seconds)-fixed)/(one-fixed))
				}
			}
			if len(ratios) == 0 {
				return
			}
			slices.Sort(ratios)
			p.Sizes, p.Slowdown, p.StdError = len(ratios), median(ratios), medianError(ratios)
			if !math.IsInf(p.Slowdown, 1) {
				fit.Points = append(fit.Points, p)
			}
		}
		compare(SharingPoint{Messages: 2, Crossing: true}, timings.medians(Exchange), 2)
		var pairs []int64
		for s := range all.settings {
			if s.between == b && s.pairs > 1 {
				pairs = append(pairs, s.pairs)
			}
		}
		slices.Sort(pairs)
		for _, k := range pairs {
			compare(SharingPoint{Messages: k}, all.settings[setting{b, k}].medians(PingPong), 1)
		}
		if len(fit.Points) == 0 {
			continue
		}
		// The capacity is that of the largest number of pairs, at which the link is full if ever it is; within a host,
		// if there was one pair, that of the messages that cross, which use the same memory there. A link on which n
		// messages take s times as long as one alone carries n/s times the bandwidth of one.
		if p := fit.Points[len(fit.Points)-1]; !p.Crossing || fit.Between == Cores {
			fit.Shared = p.Slowdown >= leastSlowdown
			if fit.Shared || fit.Between == Nodes { // within a host where nothing slows, each has a loopback of its own
				fit.Capacity = max(float64(p.Messages)/p.Slowdown, 1) * fit.Single
				fit.Error = fit.Capacity * p.StdError / p.Slowdown
			}
		}
		if p := fit.Points[0]; p.Crossing {
			// Messages that cross take as long as one alone in a model in which they share nothing, and as two on a
			// cable in the other: the nearer one is that below or above the geometric mean. On a cable that two do not
			// fill both say the same: it is shared if they slow each other at all.
			two := 2 * fit.Single / max(fit.Capacity, fit.Single)
			fit.Duplex = p.Slowdown < max(leastSlowdown, math.Sqrt(two))
		}
		r.Sharing = append(r.Sharing, fit)
	}
}

// SharingFit is the link that messages at the same time share: within a host a
// loopback, between hosts the cable of one.
type SharingFit struct {
	Between Between `json:"between"`
	Shared  bool    `json:"shared"`    // pairs slow one another
	Duplex  bool    `json:"duplex"`    // messages that cross do not, or hardly
	Single  float64 `json:"bandwidth"` // byte/s of one message, to which factors refer
	// byte/s of all together, if shared; of a cable that is not, the largest sum that was timed
	Capacity float64        `json:"capacity,omitempty"`
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
	// largeMessage is the size in bytes from which on messages tell what they share:
	// the smallest that calibrate measure network sends in pairs.
	largeMessage = 32768
	// leastSlowdown is the slowdown from which on messages share something; a message alone has 1.
	leastSlowdown = 1.1
)

// sharingOf returns the fit of messages within a host or between two, nil without one.
func (r *NetworkReport) sharingOf(b Between) *SharingFit {
	i := slices.IndexFunc(r.Sharing, func(f SharingFit) bool { return f.Between == b })
	if i < 0 {
		return nil
	}
	return &r.Sharing[i]
}
