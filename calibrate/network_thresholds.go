package calibrate

import (
	"fmt"
	"math"
	"slices"

	"reprise/calibrate/regress"
)

// This file finds what a fit of a network needs beside lines: the thresholds of protocols, how messages share a link,
// and timings that are too far off to count.

// Threshold is a size at which MPI changes how it sends.
type Threshold struct {
	Name  string  `json:"name"`
	Bytes float64 `json:"bytes"`
	// Of one that was found: the last size below it and the first one from it on that were timed, 0 for none.
	Found bool    `json:"found"`
	Below float64 `json:"below_bytes,omitempty"`
	Above float64 `json:"from_bytes,omitempty"`
}

// Names of the thresholds.
const (
	eagerName    = "smpi/async-small-thresh"
	detachedName = "smpi/send-is-detached-thresh"
)

// sendWaits is how many times as long as with a receive that is there a send takes, at least, if it waits for one
// that is posted late: the delay alone is four times the time of the message (calibrate measure network).
const sendWaits = 2.5

// findDetached returns the size that best tells sends that wait from others, if at
// least so many sizes are below it.
func (r *NetworkReport) findDetached(m series, least int) (t Threshold, ok bool) {
	// Send times with a receive that is posted before are the measure, as they grow with the size, too.
	soon, late := m.medians(Send), m.medians(SendLate)
	var sizes, ratios []float64
	for _, bytes := range m.sizes(SendLate) {
		if soon[bytes] > 0 {
			sizes, ratios = append(sizes, float64(bytes)), append(ratios, late[bytes]/soon[bytes])
		}
	}
	if len(sizes) == 0 {
		return t, false
	}
	// The threshold stands before the ratio at, where it leaves the fewest ratios on the wrong side.
	errors := 0
	for _, ratio := range ratios {
		if ratio < sendWaits {
			errors++
		}
	}
	at, fewest := 0, errors
	for i, ratio := range ratios {
		if ratio < sendWaits {
			errors--
		} else {
			errors++
		}
		if errors <= fewest {
			at, fewest = i+1, errors
		}
	}
	if fewest*10 > len(sizes) {
		r.warn("%d of %d sizes are on the wrong side of the threshold from which sends wait: measure on an idle machine, or give it (--detached)", fewest, len(sizes))
	}
	switch {
	case at == len(sizes):
		r.warn("no send of up to %s bytes waits for its receive: larger messages are taken to wait; measure larger ones (--max)", short(sizes[at-1]))
	case at > 0 && at < least:
		r.warn("sends wait from %s bytes on, and there are %d smaller sizes, too few for a line: all messages are taken to wait", short(sizes[at]), at)
		at = 0
	}
	return thresholdAt(detachedName, sizes, at), true
}

// thresholdAt returns the threshold before the size i: the byte behind the size before
// it, as breakpoints are the last size before the break.
func thresholdAt(name string, sizes []float64, i int) Threshold {
	t := Threshold{Name: name, Found: true, Bytes: 1}
	if i > 0 {
		t.Below, t.Bytes = sizes[i-1], sizes[i-1]+1
	}
	if i < len(sizes) {
		t.Above = sizes[i]
	}
	return t
}

// findEager takes a rise of the receives for a step, in logarithms of their part of half a ping-pong, if it is
// leastStep high or higher, has leastSide sizes or more on both sides, and leaves less than the part betterThan of
// the squares that a line leaves.
var leastStep = math.Log(1.5)

const (
	leastSide  = 4
	betterThan = 0.5
)

// findEager returns the size below the detached threshold from which receives that are posted late wait for their
// message all the same: their part of half a ping-pong rises in a step. If there is none, all messages that do not
// wait for their receive travel at once.
func findEager(m series, detached float64) Threshold {
	whole, late := m.medians(PingPong), m.medians(Recv)
	var sizes, logs, parts []float64
	for _, bytes := range m.sizes(Recv) {
		if size := float64(bytes); size < detached && size > 0 && whole[bytes] > 0 {
			sizes, logs = append(sizes, size), append(logs, math.Log(size))
			parts = append(parts, math.Log(2*late[bytes]/whole[bytes]))
		}
	}
	// The best step: where two constants leave the least sum of squares.
	at, best := 0, math.Inf(1)
	for i := leastSide; i <= len(sizes)-leastSide; i++ {
		below, above := momentsOf(parts[:i]), momentsOf(parts[i:])
		if sum := below.m2 + above.m2; above.mean-below.mean >= leastStep && sum < best {
			at, best = i, sum
		}
	}
	if at > 0 {
		// A step is none where a straight line over the logarithms of the sizes is nearly as good.
		x, y, xy := momentsOf(logs), momentsOf(parts), 0.0
		for i := range logs {
			xy += float64((logs[i] - x.mean) * (parts[i] - y.mean))
		}
		aboutLine := y.m2
		if x.m2 != 0 {
			aboutLine = max(y.m2-float64(xy*xy)/x.m2, 0)
		}
		if best < betterThan*aboutLine {
			return thresholdAt(eagerName, sizes, at)
		}
	}
	return Threshold{Name: eagerName, Bytes: detached, Found: true}
}

// leastReceive is the part of half a ping-pong that a receive takes at least.
const leastReceive = 0.01

// boundReceives bounds the times of receives by half a ping-pong less the send. A timed receive, whose message has come
// before, copies it once more than those of a ping-pong, which are posted before. Within a host the copy is most of a
// message's time: without the bound, a predicted ping-pong would be longer than the measured one.
func (r *NetworkReport) boundReceives(m series, p regress.Points, o NetworkOptions) {
	whole, send := m.points(PingPong, o.Statistic, o.Trim), m.points(Send, o.Statistic, o.Trim)
	bounded := 0
	for i, bytes := range p.X {
		w, ok1 := slices.BinarySearch(whole.X, bytes)
		s, ok2 := slices.BinarySearch(send.X, bytes)
		if !ok1 || !ok2 || o.Detached > 0 && bytes >= o.Detached {
			continue
		}
		half := whole.Y[w] / 2
		if most := max(half-send.Y[s], leastReceive*half); p.Y[i] > most {
			p.Y[i] = most
			bounded++
		}
	}
	if bounded > 0 {
		r.warn("recv: at %d of %d sizes a receive of what has come takes longer than half a ping-pong leaves beside the send: taken to be what it leaves", bounded, len(p.X))
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

// fitSharing compares messages that were timed at the same time with those alone.
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
		// time together for each time alone: a ping-pong is two, an exchange one after the other's. The part of a
		// time that does not grow with the bytes is not shared: sizes where it is more than half of the time are
		// left out.
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
		// The capacity is that of the largest number of pairs, at which the link is full if ever it is; within a
		// host, if there was one pair, that of the messages that cross, which use the same memory there. A link on
		// which n messages take s times as long as one alone carries n/s times the bandwidth of one.
		if p := fit.Points[len(fit.Points)-1]; !p.Crossing || fit.Between == Cores {
			fit.Shared = p.Slowdown >= leastSlowdown
			if fit.Shared || fit.Between == Nodes { // within a host where nothing slows, each has a loopback of its own
				fit.Capacity = max(float64(p.Messages)/p.Slowdown, 1) * fit.Single
				fit.Error = fit.Capacity * p.StdError / p.Slowdown
			}
		}
		if p := fit.Points[0]; p.Crossing {
			// Messages that cross take as long as one alone in a model in which they share nothing, and as two on a
			// cable in the other: the nearer one is that below or above the geometric mean. On a cable that two do
			// not fill both say the same: it is shared if they slow each other at all.
			two := 2 * fit.Single / max(fit.Capacity, fit.Single)
			fit.Duplex = p.Slowdown < max(leastSlowdown, math.Sqrt(two))
		}
		r.Sharing = append(r.Sharing, fit)
	}
}

// sharingOf returns the fit of messages within a host or between two, nil without one.
func (r *NetworkReport) sharingOf(b Between) *SharingFit {
	i := slices.IndexFunc(r.Sharing, func(f SharingFit) bool { return f.Between == b })
	if i < 0 {
		return nil
	}
	return &r.Sharing[i]
}

// leastOfSize is of how many timings of a size their median is not to be believed if it is far off those beside it.
const leastOfSize = 3

// spikeWindow is how many points on each side tell whether one is far off.
const spikeWindow = 4

// dropSpikes warns of sizes that are far off those beside them, outliers that were timed
// too seldom for a median, and returns the points without those that were timed so
// seldom that chance explains them, if the points are medians.
//
// A point is far off the median of those around it, as many on each side, or, if it is the first or the last, off
// what the one beside it allows for, at the same time for each message or for each byte. A step of the times is
// none: a point on one side of it is among more of that side.
func (r *NetworkReport) dropSpikes(op Operation, p regress.Points) regress.Points {
	var kept regress.Points
	x, y, last, spikes := p.X, p.Y, len(p.Y)-1, 0
	for i := range y {
		least, most := 0.0, math.Inf(1)
		switch half := min(spikeWindow, i, last-i); {
		case last == 0:
		case i == 0:
			least, most = y[1]*x[0]/x[1], y[1]
		case i == last:
			least, most = y[i-1], y[i-1]*x[i]/x[i-1]
		default:
			least = median(slices.Sorted(slices.Values(y[i-half : i+half+1])))
			most = least
		}
		far := y[i] >= farOff*most || y[i] <= least/farOff
		if far {
			spikes++
		}
		if r.Statistic != Median || p.W[i] >= leastOfSize || !far {
			kept.X, kept.Y, kept.W, kept.S = append(kept.X, x[i]), append(kept.Y, y[i]), append(kept.W, p.W[i]),
				append(kept.S, p.S[i])
		}
	}
	if spikes == 0 {
		return p
	}
	left := ""
	if n := len(x) - len(kept.X); n > 0 {
		left = fmt.Sprintf(", and %d of them are left out", n)
	}
	r.warn("%s: at %d of %d sizes the %s is %d times that of the sizes beside it, or more, or a tenth of it, or less: outliers that more timings of each size would show%s",
		op, spikes, len(x), r.Statistic, farOff, left)
	return kept
}

// defaultDetached is SimGrid's value of smpi/send-is-detached-thresh, in bytes.
const defaultDetached = 65536
