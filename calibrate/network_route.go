package calibrate

import (
	"fmt"
	"math"
	"slices"

	"reprise/calibrate/regress"
)

// deriveTransfers fills in the time on the network: between the breakpoints of
// all that it is computed from, it is a line too.
func (r *NetworkReport) deriveTransfers(o NetworkOptions) error {
	pp := r.fitOf(PingPong)
	if pp == nil {
		return nil
	}
	var err error
	r.Route, err = r.route(pp, o, "network")
	return err
}

// route returns the time on the network that ping-pongs leave, less the overheads of the
// report; what is their name in warnings.
func (r *NetworkReport) route(pp *regress.Pieces, o NetworkOptions, what string) (Route, error) {
	send, recv := r.fitOf(Send), r.fitOf(Recv)
	if o.Transfer != RoundTrip {
		send = nil
	}
	from := []float64{0}
	for _, fit := range []*regress.Pieces{pp, send, recv} {
		if fit != nil {
			from = append(from, fit.Breakpoints()...)
		}
	}
	if last := o.lastWithOverhead(Send); !math.IsInf(last, 1) {
		from = append(from, last)
	}
	slices.Sort(from)
	var t Route
	for _, begin := range slices.Compact(from) {
		t.Transfers = append(t.Transfers, transfer(begin, pp, send, recv, o))
	}
	return t, r.deriveFactors(&t, pp, o, what)
}

// transfer returns the time on the network for sizes above begin. From the
// detached threshold on there are no overheads. In the model's own account the envelope takes the time of its bytes,
// which is none of the latency. Errors are those of independent fits.
func transfer(begin float64, pp, send, recv *regress.Pieces, o NetworkOptions) NetworkPiece {
	piece := func(fit *regress.Pieces) regress.Piece {
		if fit == nil {
			return regress.Piece{}
		}
		return fit.Pieces[fit.Find(math.Nextafter(begin, math.Inf(1)))]
	}
	whole, s, r, part := piece(pp), piece(send), piece(recv), 1.0
	if o.Transfer == OneRecv {
		part = 2
	}
	if begin >= o.lastWithOverhead(Send) {
		s, r = regress.Piece{}, regress.Piece{}
	}
	intercept, slope := whole.Intercept/2-(s.Intercept+r.Intercept)/part, whole.Slope/2-(s.Slope+r.Slope)/part
	if o.Transfer == RoundTrip && intercept > 0 && slope > 0 {
		intercept = max(intercept-float64(envelope*slope), 0)
	}
	return NetworkPiece{
		From:           begin,
		Intercept:      intercept,
		Slope:          slope,
		InterceptError: math.Hypot(whole.Errors.Intercept/2, math.Hypot(s.Errors.Intercept, r.Errors.Intercept)/part),
		SlopeError:     math.Hypot(whole.Errors.Slope/2, math.Hypot(s.Errors.Slope, r.Errors.Slope)/part),
	}
}

// deriveFactors divides the bandwidth and latency of each piece by those of the
// route. What comes out below zero, because overheads and ping-pong were measured at different times,
// is the bandwidth of the route, or no latency; below by two standard errors it is warned of.
func (r *NetworkReport) deriveFactors(route *Route, pp *regress.Pieces, o NetworkOptions, what string) error {
	if route.Bandwidth, route.Latency = o.Bandwidth, o.Latency; route.Bandwidth == 0 || route.Latency == 0 {
		if err := route.derive(pp); err != nil {
			return err
		}
	}
	for i := range route.Transfers {
		t := &route.Transfers[i]
		if t.Slope <= 0 {
			if t.Slope <= -2*t.SlopeError {
				r.warn("%s above %s bytes: overheads cost more per byte than the ping-pong: taken at the bandwidth of the route", what, short(t.From))
			}
			t.Slope = 1 / route.Bandwidth
		}
		if t.Intercept < 0 {
			if t.Intercept < -2*t.InterceptError {
				r.warn("%s above %s bytes: overheads alone cost more than the ping-pong: taken without latency", what, short(t.From))
			}
			t.Intercept = 0
		}
		t.BandwidthFactor, t.LatencyFactor = 1/t.Slope/route.Bandwidth, t.Intercept/route.Latency
		t.BandwidthError, t.LatencyError = t.BandwidthFactor*t.SlopeError/t.Slope, t.InterceptError/route.Latency
		if o.Clamp {
			t.BandwidthFactor, t.LatencyFactor = min(1, t.BandwidthFactor), max(1, t.LatencyFactor)
		}
	}
	return nil
}

// derive takes what is not given: the bandwidth of the largest messages, as links are shared at the bandwidth
// of the route and small messages hardly tell theirs; and the smallest latency above zero of half of the
// ping-pong. Where the time of the largest does not grow with their bytes, or overheads leave nothing of it, the bandwidth is
// that of half of the last piece of the ping-pong that has one.
func (t *Route) derive(pp *regress.Pieces) error {
	slope, latency := 0.0, math.Inf(1)
	for _, p := range networkPieces(pp) {
		if p.Slope > 0 {
			slope = p.Slope / 2
		}
		if p.Intercept > 0 {
			latency = min(latency, p.Intercept/2)
		}
	}
	if last := t.Transfers[len(t.Transfers)-1].Slope; last > 0 {
		slope = last
	}
	if t.Bandwidth == 0 && slope > 0 {
		t.Bandwidth = 1 / slope
	}
	if t.Latency == 0 {
		t.Latency = latency
	}
	if t.Bandwidth == 0 || math.IsInf(t.Latency, 1) {
		return fmt.Errorf("%w: no piece of the ping-pong has a bandwidth and a latency above zero; give those of the route", ErrMeaningless)
	}
	return nil
}
