package calibrate

import (
	"math"
	"slices"

	"reprise/calibrate/regress"
)

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

// findThresholds looks for the thresholds that are not given, and adds them to the options: the
// detached one where a send begins to wait for a receive that is posted late, and the eager one where a receive that is
// posted late begins to wait for its message.
func (r *NetworkReport) findThresholds(m series, o *NetworkOptions) {
	if o.Detached > 0 {
		r.Thresholds = append(r.Thresholds, Threshold{Name: detachedName, Bytes: o.Detached})
	} else if t, ok := r.findDetached(m, o.Learn.MinPoints); ok {
		o.Detached = t.Bytes
		r.Thresholds = append(r.Thresholds, t)
	}
	if o.Eager > 0 {
		r.Thresholds = append(r.Thresholds, Threshold{Name: eagerName, Bytes: o.Eager})
	} else if o.Detached > 0 && len(m[SendLate]) > 0 {
		t := findEager(m, o.Detached)
		o.Eager = t.Bytes
		r.Thresholds = append(r.Thresholds, t)
	}
}

// sendWaits is how many times as long as with a receive that is there a send takes, at least, if it waits for
// one that is posted late: the delay alone is four times what the message takes (calibrate measure network).
const sendWaits = 2.5

// findDetached returns the size that best tells sends that wait from others, if at least so many
// sizes are below it.
func (r *NetworkReport) findDetached(m series, least int) (t Threshold, ok bool) {
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
	at, errors := bestSplit(ratios)
	if errors*10 > len(sizes) {
		r.warn("%d of %d sizes are on the wrong side of the threshold from which sends wait: measure on an idle machine, or give it (--detached)", errors, len(sizes))
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

// bestSplit returns before which ratio the threshold leaves the fewest on the wrong side, and how many.
func bestSplit(ratios []float64) (at, least int) {
	errors := 0
	for _, ratio := range ratios {
		if ratio < sendWaits {
			errors++
		}
	}
	least = errors
	for i, ratio := range ratios {
		if ratio < sendWaits {
			errors--
		} else {
			errors++
		}
		if errors <= least {
			at, least = i+1, errors
		}
	}
	return at, least
}

// thresholdAt returns the threshold before the size i: the byte behind the size before it, as
// breakpoints are the last size before the break.
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

// What a step of the receives is, in logarithms of their part of half a ping-pong: at least this
// high, with at least so many sizes on both sides, and leaving less than a half of the squares that a line leaves.
var leastStep = math.Log(1.5)

const (
	leastSide  = 4
	betterThan = 0.5
)

// findEager returns the size below the detached threshold from which receives that are posted
// late wait for their message all the same: their part of half a ping-pong rises in a step. If there is none, all
// messages that do not wait for their receive travel at once.
func findEager(m series, detached float64) Threshold {
	whole, late := m.medians(PingPong), m.medians(Recv)
	var sizes, parts []float64
	for _, bytes := range m.sizes(Recv) {
		if size := float64(bytes); size < detached && size > 0 && whole[bytes] > 0 {
			sizes, parts = append(sizes, size), append(parts, math.Log(2*late[bytes]/whole[bytes]))
		}
	}
	at, best := 0, math.Inf(1)
	for i := leastSide; i <= len(sizes)-leastSide; i++ {
		below, above := squares(parts[:i]), squares(parts[i:])
		if sum := below.sum + above.sum; above.mean-below.mean >= leastStep && sum < best {
			at, best = i, sum
		}
	}
	if at > 0 && best < betterThan*squaresAboutLine(sizes, parts) {
		return thresholdAt(eagerName, sizes, at)
	}
	return Threshold{Name: eagerName, Bytes: detached, Found: true}
}

// meanSquares is the mean of values and the sum of squares about it.
type meanSquares struct{ mean, sum float64 }

func squares(values []float64) meanSquares {
	var s moments
	for _, v := range values {
		s.add(v)
	}
	return meanSquares{s.mean, s.m2}
}

// squaresAboutLine returns the sum of squares about the best line through the values over the
// logarithms of sizes.
func squaresAboutLine(sizes, values []float64) float64 {
	logs := make([]float64, len(sizes))
	for i, s := range sizes {
		logs[i] = math.Log(s)
	}
	x, y := squares(logs), squares(values)
	xy := 0.0
	for i := range logs {
		xy += float64((logs[i] - x.mean) * (values[i] - y.mean))
	}
	if x.sum == 0 {
		return y.sum
	}
	return max(y.sum-float64(xy*xy)/x.sum, 0)
}

// beforeWaiting returns those points of receives that are overheads: where messages do not travel before
// their receive is posted, it waits for them. The last line below holds up to the detached threshold.
func (r *NetworkReport) beforeWaiting(op Operation, p regress.Points) regress.Points {
	t := r.threshold(eagerName)
	if op != Recv || t == nil || !t.Found || t.Above == 0 {
		return p
	}
	i, _ := slices.BinarySearch(p.X, t.Bytes)
	below, _ := p.Split(i)
	return below
}

// leastReceive is what a receive has at least of half a ping-pong.
const leastReceive = 0.01

// boundReceives bounds receives by what half a ping-pong leaves to them beside the send. Receives of what
// has come before they were posted copy it once more; within a host, where that is most of a message's time, the ping-pong, whose
// receives are posted before, would come out longer than it is.
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

// threshold returns the threshold of a name, nil if it is neither given nor found.
func (r *NetworkReport) threshold(name string) *Threshold {
	i := slices.IndexFunc(r.Thresholds, func(t Threshold) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Thresholds[i]
}
