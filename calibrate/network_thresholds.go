package calibrate

import (
	"math"
	"slices"

	"reprise/calibrate/regress"
)

// This file finds the thresholds of protocols, which a fit of a network needs beside lines: findDetached, findEager.

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

// sendWaits is the ratio of the times of a send, with a receive that is posted late and with one
// that is there, from which on the send counts as waiting. The delay alone is four times the time
// of the message (calibrate measure network).
const sendWaits = 2.5

// findDetached returns the size that best tells sends that wait from others, if at least so many sizes are below it.
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

// findEager takes a rise of the receives for a step, in logarithms of their part of half a
// ping-pong, if it is leastStep high or higher, has leastSide sizes or more on both sides, and
// leaves less than the part betterThan of the squares that a line leaves.
var leastStep = math.Log(1.5)

const (
	leastSide  = 4
	betterThan = 0.5
)

// findEager returns the size below the detached threshold from which receives that are posted late
// wait for their message all the same: their part of half a ping-pong rises in a step. If there is
// none, all messages that do not wait for their receive travel at once.
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

// defaultDetached is SimGrid's value of smpi/send-is-detached-thresh, in bytes.
const defaultDetached = 65536
