package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"reprise/calibrate/regress"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file fits the times of messages: FitNetwork, with its options and its report.

// Transfer says how the time on the network is derived from that of a ping-pong, by
// size, os and or being the overheads of sender and receiver.
type Transfer string

// The three ways: all overheads on the way there and back; only those of the receivers;
// only that of one receive. The last two are those of published calibrations.
const (
	RoundTrip    Transfer = "pingpong/2-os-or"
	HalfLessRecv Transfer = "pingpong/2-or"
	OneRecv      Transfer = "(pingpong-or)/2"
)

// NetworkOptions are the choices of FitNetwork. The defaults learn all that timings tell; the
// others are there to follow a published calibration, or to give what was not timed.
type NetworkOptions struct {
	Breakpoints []float64            // whole bytes, ascending, of all operations; none: learned, for each
	Learn       regress.LearnOptions // how
	Plain       bool                 // least squares of residuals in seconds, not of their logarithms; needs Breakpoints
	Eager       float64              // bytes: smpi/async-small-thresh, 0 to leave it out
	Statistic   Statistic            // of the timings of each size
	// part of the timings of each size that a Mean leaves out on both sides, less than 0.5
	Trim float64
	// bytes: smpi/send-is-detached-thresh, from which there are no overheads of send and recv; 0 for none
	Detached  float64
	Transfer  Transfer
	Bandwidth float64 // byte/s of the route; 0: that of the largest messages
	Latency   float64 // seconds of the route; 0: the smallest measured
	Clamp     bool    // bandwidth factors at most 1, latency factors at least 1
}

// DefaultNetworkOptions returns the options of the command without flags.
func DefaultNetworkOptions() NetworkOptions {
	return NetworkOptions{Learn: regress.DefaultLearnOptions(), Statistic: Median, Transfer: RoundTrip}
}

// Validate refuses options out of range, all at once.
func (o *NetworkOptions) Validate() error {
	var faults textutil.Faults
	switch {
	case !slices.Contains([]Statistic{Median, Mean, Min}, o.Statistic):
		faults.Want(false, "statistic %q, want median, mean or min", o.Statistic)
	case !(o.Trim >= 0 && o.Trim < 0.5):
		faults.Want(false, "trim %g, want at least 0 and less than 0.5", o.Trim)
	case o.Trim > 0:
		faults.Want(o.Statistic == Mean, "trim %g of the %s: only a mean is trimmed", o.Trim, o.Statistic)
	}
	// Files of network noise, to which breakpoints go too, count sizes in whole bytes.
	for i, b := range o.Breakpoints {
		faults.Want(b != 0 && isBytes(b) && (i == 0 || b > o.Breakpoints[i-1]),
			"breakpoint %s, want ascending whole numbers of bytes, 1 to %d", short(b), int64(maxBytes))
	}
	if len(o.Breakpoints) == 0 {
		faults.Want(!o.Plain, "breakpoints are learned on logarithms only: give them")
		faults = append(faults, o.Learn.Validate())
	}
	faults.Want(slices.Contains([]Transfer{RoundTrip, HalfLessRecv, OneRecv}, o.Transfer),
		"transfer %q, want %s, %s or %s", o.Transfer, RoundTrip, HalfLessRecv, OneRecv)
	valid := func(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
	faults.Want(valid(o.Bandwidth), "bandwidth %g, want 0 or more", o.Bandwidth)
	faults.Want(valid(o.Latency), "latency %g, want 0 or more", o.Latency)
	const wanted = "%s threshold %s, want a whole number of bytes, 0 to %d"
	faults.Want(isBytes(o.Eager), wanted, "eager", short(o.Eager), int64(maxBytes))
	faults.Want(isBytes(o.Detached), wanted, "detached", short(o.Detached), int64(maxBytes))
	return faults.Err()
}

// maxBytes is the largest threshold and breakpoint, as in files of network noise.
const maxBytes = 1 << 50

// isBytes reports whether x is a number of bytes that can be a threshold.
func isBytes(x float64) bool { return x >= 0 && x <= maxBytes && x == math.Trunc(x) }

// NetworkReport is the result of FitNetwork.
type NetworkReport struct {
	Statistic  Statistic      `json:"statistic"`
	Trim       float64        `json:"trim,omitempty"`
	Between    Between        `json:"between"` // the place of the operations and transfers
	Operations []OperationFit `json:"operations"`
	Route                     // between two ranks
	Thresholds []Threshold    `json:"thresholds,omitempty"` // those given or found
	Polls      []PollFit      `json:"polls,omitempty"`
	FirstPolls *FirstPolls    `json:"first_polls,omitempty"` // if they were timed
	// if the operations are between hosts and some were timed within
	Within     *WithinFit       `json:"within_host,omitempty"`
	Sharing    []SharingFit     `json:"sharing,omitempty"` // of links by messages at the same time
	Properties []Property       `json:"properties"`
	Noise      []OperationNoise `json:"noise,omitempty"` // if it was fitted
	warned                      // of differences between replays and timings, and of timings that look like mistakes

	options NetworkOptions // with the thresholds that were found
}

// Route is the time on the network, to which factors refer.
type Route struct {
	Transfers []NetworkPiece `json:"transfers,omitempty"` // with factors
	Bandwidth float64        `json:"bandwidth,omitempty"` // byte/s, to which the factors refer
	Latency   float64        `json:"latency,omitempty"`   // seconds, to which the factors refer
}

// OperationFit is the fit of one operation.
type OperationFit struct {
	Operation Operation      `json:"operation"`
	Timings   int64          `json:"timings"` // that its points are of
	Sizes     int            `json:"sizes"`
	LogError  float64        `json:"log_error"` // root mean square of log(fit/point) over the sizes
	Pieces    []NetworkPiece `json:"pieces"`

	points regress.Points
	fit    *regress.Pieces
}

// NetworkPiece is a line that holds for sizes above From, up to the next one's.
type NetworkPiece struct {
	From            float64 `json:"from_bytes"`
	Sizes           int     `json:"sizes,omitempty"`
	Intercept       float64 `json:"intercept_s"`
	Slope           float64 `json:"slope_s_per_byte"`
	BandwidthFactor float64 `json:"bandwidth_factor,omitempty"`
	LatencyFactor   float64 `json:"latency_factor,omitempty"`

	// Standard errors; those of factors take the route's bandwidth and latency for exact. 0: none is known.
	InterceptError float64 `json:"intercept_std_error_s,omitempty"`
	SlopeError     float64 `json:"slope_std_error_s_per_byte,omitempty"`
	BandwidthError float64 `json:"bandwidth_factor_std_error,omitempty"`
	LatencyError   float64 `json:"latency_factor_std_error,omitempty"`
}

// Property is an option of the simulator, by SimGrid's name.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// FitNetwork fits lines to the timings of each operation and derives overheads and factors. Each size is one point, at
// the statistic of its timings. Errors carry the warnings that were gathered before them (package warning).
func FitNetwork(m *Messages, o NetworkOptions) (r *NetworkReport, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r = &NetworkReport{Statistic: o.Statistic, Trim: o.Trim, Between: m.Between(), warned: warned{[]warning.Warning{}}}
	defer func() {
		if err != nil {
			r, err = nil, warning.With(err, r.Warnings)
		}
	}()
	// Thresholds come first: which points of an operation are overheads, and where its lines end, depends on them.
	main := m.main()
	// Timings that are far off the median of their size are warned of. How they affect the fit
	// depends on the statistic.
	effect := map[Statistic]string{
		Median: "the median passes over them unless they are half of a size",
		Mean:   "the mean counts them, the median would pass over them",
		Min:    "the minimum passes over those that are longer",
	}[r.Statistic]
	if r.Trim > 0 {
		effect = fmt.Sprintf("the trimmed mean passes over them unless they are more than %g %% of a size", 100*r.Trim)
	}
	for _, op := range fitted {
		if timings, sizes := main.strays(op); timings > 0 {
			r.warn("%s: %d of %d timings, at %d of %d sizes, are %d times longer or shorter than the median of their size, or more: %s",
				op, timings, main.number(op), sizes, len(main[op]), farOff, effect)
		}
	}
	// Thresholds that are not given are looked for: the detached one where a send begins to wait for a receive that is
	// posted late, and the eager one where a receive that is posted late begins to wait for its message.
	if o.Detached > 0 {
		r.Thresholds = append(r.Thresholds, Threshold{Name: detachedName, Bytes: o.Detached})
	} else if t, ok := r.findDetached(main, o.Learn.MinPoints); ok {
		o.Detached = t.Bytes
		r.Thresholds = append(r.Thresholds, t)
	}
	if o.Eager > 0 {
		r.Thresholds = append(r.Thresholds, Threshold{Name: eagerName, Bytes: o.Eager})
	} else if o.Detached > 0 && len(main[SendLate]) > 0 {
		t := findEager(main, o.Detached)
		o.Eager = t.Bytes
		r.Thresholds = append(r.Thresholds, t)
	}
	r.options = o
	for _, op := range fitted {
		p := main.points(op, o.Statistic, o.Trim)
		if len(p.X) == 0 {
			continue
		}
		p = r.dropSpikes(op, p)
		// Points of receives are overheads only where messages travel before their receive is posted: elsewhere it
		// waits for them. The last line below the threshold holds up to the detached one.
		if op == Recv {
			for _, t := range r.Thresholds {
				if t.Name == eagerName && t.Above != 0 {
					i, _ := slices.BinarySearch(p.X, t.Bytes)
					p, _ = p.Split(i)
				}
			}
			if o.Transfer == RoundTrip {
				r.boundReceives(main, p, o)
			}
		}
		// Of a few sizes beyond the detached threshold no line can be learned, and one across it would be wrong.
		cut := main.cut(op, o)
		below, _ := slices.BinarySearch(p.X, cut)
		if few := len(p.X) - below; cut > 0 && below > 0 && few > 0 && few < o.Learn.MinPoints {
			p, _ = p.Split(below)
			r.warn("%s: left out %d sizes from the detached threshold on, too few for a line of their own: that below it holds there, too", op, few)
		}
		fit, err := fitOperation(op, p, cut, o)
		if err != nil {
			return r, fmt.Errorf("%s: %w: %w", op, ErrMeaningless, err)
		}
		r.Operations = append(r.Operations, *fit)
	}
	// Polls cost the medians of their timings: the size of a message that they find does not matter to them.
	for _, op := range []Operation{IprobeMiss, IprobeHit, TestMiss, TestHit} {
		var times []float64
		for _, list := range main[op] {
			times = append(times, list...)
		}
		if len(times) == 0 {
			continue
		}
		// Polls are short, so that a disturbance is many times as long as one.
		slices.Sort(times)
		times = withoutStrays(times)
		r.Polls = append(r.Polls, PollFit{op, len(times), median(times), medianError(times)})
	}
	if hits, misses := main.number(IprobeFirstHit), main.number(IprobeFirstMiss); hits+misses > 0 {
		r.FirstPolls = &FirstPolls{hits + misses, misses}
	}
	if len(r.Operations) == 0 && len(r.Polls) == 0 && r.FirstPolls == nil {
		return r, fmt.Errorf("%w: no timings of one pair of ranks", ErrMeaningless)
	}
	// The rest is what overheads leave of ping-pongs, so that it needs all of the lines.
	if pp := r.fitOf(PingPong); pp != nil {
		if r.Route, err = r.route(pp.fit, o, "network"); err != nil {
			return r, err
		}
	}
	// Of messages within a host, where the report is of those between hosts, only the loopback is
	// fitted, with the overheads of the report, as a platform has one set of overheads and
	// thresholds: where these are not those within the host, its factors make up for it.
	within := m.settings[setting{Cores, 1}]
	if r.Between == Nodes && len(within[PingPong]) > 0 && r.fitOf(PingPong) != nil {
		p := r.dropSpikes(PingPong, within.points(PingPong, o.Statistic, o.Trim))
		fit, err := fitOperation(PingPong, p, within.cut(PingPong, o), o)
		if err != nil {
			return r, fmt.Errorf("pingpong within a host: %w: %w", ErrMeaningless, err)
		}
		loopback := o
		loopback.Bandwidth, loopback.Latency = 0, 0 // given are those between hosts
		route, err := r.route(fit.fit, loopback, "within a host")
		if err != nil {
			return r, fmt.Errorf("within a host: %w", err)
		}
		r.Within = &WithinFit{*fit, route}
		quiet := &NetworkReport{} // its warnings are about a threshold that the platform does not have
		if t, ok := quiet.findDetached(within, 1); ok && t.Bytes != o.Detached {
			r.warn("sends within a host wait from %s bytes on, those between hosts from %s: the model has one threshold, "+
				"that between hosts", short(t.Bytes), short(o.Detached))
		}
	}
	r.fitSharing(m)
	r.setProperties(o)
	// Overheads must not reach beyond the threshold that replays take where the options give none.
	for _, op := range r.Operations {
		if x := op.points.X; o.Detached == 0 && (op.Operation == Send || op.Operation == Recv) &&
			x[len(x)-1] >= defaultDetached {
			r.warn("%s: timings of %d bytes and more count as overhead, but replays have such messages wait for the other side (smpi/send-is-detached-thresh): say with --detached from which size on they did", op.Operation, defaultDetached)
		}
	}
	return r, nil
}

// cut returns the size below which the lines of an operation end, 0 if there is none. From the detached threshold on a
// blocking send waits for its receiver, and a line across it would take some of the waiting for overhead.
func (m series) cut(op Operation, o NetworkOptions) float64 {
	for _, blocking := range []Operation{Send, Recv} {
		if len(m[blocking]) > 0 && op != Isend && len(o.Breakpoints) == 0 {
			return o.Detached
		}
	}
	return 0
}

// fitOperation fits lines to the points of an operation, cut at a size if it is not 0.
func fitOperation(op Operation, p regress.Points, cut float64, o NetworkOptions) (*OperationFit, error) {
	list := o.Breakpoints
	i, _ := slices.BinarySearch(p.X, cut)
	var fit *regress.Pieces
	var err error
	switch {
	case len(list) > 0:
		// Overheads need no line from the detached threshold on, where there are none,
		// unless sizes beyond it were timed.
		if (op == Send || op == Recv) && o.Detached > 0 && p.X[len(p.X)-1] <= o.Detached {
			last, _ := slices.BinarySearch(list, o.Detached)
			list = list[:last]
		}
		fit, err = regress.FitPieces(p, list, o.Plain)
	case i == 0 || i == len(p.X):
		fit, err = regress.LearnPieces(p, o.Learn)
	default:
		// Both sides are learned apart, as their breakpoints have nothing to do with each other.
		below, above := p.Split(i)
		if fit, err = regress.LearnPieces(below, o.Learn); err != nil {
			return nil, fmt.Errorf("sizes below the detached threshold of %s bytes: %w", short(cut), err)
		}
		rest, err := regress.LearnPieces(above, o.Learn)
		if err != nil {
			return nil, fmt.Errorf("sizes from the detached threshold of %s bytes on: %w", short(cut), err)
		}
		fit = regress.Join(fit, o.lastWithOverhead(Send), rest)
	}
	if err != nil {
		return nil, err
	}
	// Each point weighs as many timings as it is of; each line holds from the end of the one before.
	f := &OperationFit{Operation: op, Sizes: len(p.X), LogError: fit.LogError(), points: p, fit: fit}
	for _, n := range p.W {
		f.Timings += int64(n)
	}
	from := 0.0
	for _, p := range fit.Pieces {
		f.Pieces = append(f.Pieces, NetworkPiece{From: from, Sizes: p.Points, Intercept: p.Intercept, Slope: p.Slope,
			InterceptError: p.Errors.Intercept, SlopeError: p.Errors.Slope})
		from = p.UpTo
	}
	return f, nil
}

// lastWithOverhead returns the largest size at which an operation has an overhead: that of a detached send, if there is
// a threshold. Published calibrations have a breakpoint at the threshold itself, which is the same but for one byte.
func (o *NetworkOptions) lastWithOverhead(op Operation) float64 {
	switch {
	case op == Isend || o.Detached == 0:
		return math.Inf(1)
	case slices.Contains(o.Breakpoints, o.Detached):
		return o.Detached
	}
	return o.Detached - 1
}

// fitOf returns the fit of an operation, nil if it was not timed.
func (r *NetworkReport) fitOf(op Operation) *OperationFit {
	i := slices.IndexFunc(r.Operations, func(f OperationFit) bool { return f.Operation == op })
	if i < 0 {
		return nil
	}
	return &r.Operations[i]
}

// dropSpikes warns of sizes whose time is far off those of the sizes beside them. If the points are
// medians, it returns them without the spikes of fewer than leastOfSize timings.
//
// A point is compared with the median of the points around it, as many on each side. The first and the last are
// compared with the point beside them, which bounds them by the same time for each message or for each byte. A step of
// the times is no spike: a point on one side of it is among more of that side.
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

// leastOfSize is the number of timings from which on the median of a size counts, though it is far off those beside it.
const leastOfSize = 3

// spikeWindow is how many points on each side tell whether one is far off.
const spikeWindow = 4

// route returns the time on the network that ping-pongs leave, less the overheads of the report: between the
// breakpoints of all that it is computed from, it is a line too. Warnings call the network by the text what.
func (r *NetworkReport) route(pp *regress.Pieces, o NetworkOptions, what string) (Route, error) {
	// Sums of lines bend wherever one of them does, and at the end of the overheads.
	send, recv := &regress.Pieces{}, &regress.Pieces{}
	if f := r.fitOf(Send); f != nil && o.Transfer == RoundTrip {
		send = f.fit
	}
	if f := r.fitOf(Recv); f != nil {
		recv = f.fit
	}
	from := slices.Concat([]float64{0}, pp.Breakpoints(), send.Breakpoints(), recv.Breakpoints())
	last := o.lastWithOverhead(Send)
	if !math.IsInf(last, 1) {
		from = append(from, last)
	}
	slices.Sort(from)
	t, part := Route{Bandwidth: o.Bandwidth, Latency: o.Latency}, 1.0
	if o.Transfer == OneRecv {
		part = 2
	}
	// One way is half of the ping-pong less one overhead of each kind, or, of one receive alone, half of all of it.
	for _, begin := range slices.Compact(from) {
		at := func(fit *regress.Pieces) regress.Piece {
			if len(fit.Pieces) == 0 || begin >= last && fit != pp { // from the detached threshold on there are no overheads
				return regress.Piece{}
			}
			return fit.Pieces[fit.Find(math.Nextafter(begin, math.Inf(1)))]
		}
		whole, s, r := at(pp), at(send), at(recv)
		p := NetworkPiece{
			From:      begin,
			Intercept: whole.Intercept/2 - (s.Intercept+r.Intercept)/part,
			Slope:     whole.Slope/2 - (s.Slope+r.Slope)/part,
			// Errors are those of independent fits: the operations were timed one after the other.
			InterceptError: math.Hypot(whole.Errors.Intercept/2, math.Hypot(s.Errors.Intercept, r.Errors.Intercept)/part),
			SlopeError:     math.Hypot(whole.Errors.Slope/2, math.Hypot(s.Errors.Slope, r.Errors.Slope)/part),
		}
		// In the model's own account the envelope takes the time of its bytes, which is none of the latency.
		if o.Transfer == RoundTrip && p.Intercept > 0 && p.Slope > 0 {
			p.Intercept = max(p.Intercept-float64(envelope*p.Slope), 0)
		}
		t.Transfers = append(t.Transfers, p)
	}
	// Bandwidth and latency that are not given: the bandwidth is that of the largest messages, because links are shared
	// at the bandwidth of the route, which the times of small messages hardly depend on. If the time of the largest
	// messages does not grow with their bytes, or is overhead alone, the bandwidth is taken from the last piece of half
	// the ping-pong that has a slope. The latency is the smallest positive one of the pieces of half the ping-pong.
	slope, latency := 0.0, math.Inf(1)
	for _, p := range pp.Pieces {
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
	t.Latency = cmp.Or(t.Latency, latency)
	if t.Bandwidth == 0 || math.IsInf(t.Latency, 1) {
		return t, fmt.Errorf("%w: no piece of the ping-pong has a bandwidth and a latency above zero; give those of the route",
			ErrMeaningless)
	}
	// Factors are by these. A time below zero, because overheads and ping-pong were measured at different times, is the
	// bandwidth of the route, or no latency; below by two standard errors it is warned of.
	for i := range t.Transfers {
		p := &t.Transfers[i]
		if p.Slope <= 0 {
			if p.Slope <= -2*p.SlopeError {
				r.warn("%s above %s bytes: overheads cost more per byte than the ping-pong: taken at the bandwidth of the route",
					what, short(p.From))
			}
			p.Slope = 1 / t.Bandwidth
		}
		if p.Intercept < 0 {
			if p.Intercept < -2*p.InterceptError {
				r.warn("%s above %s bytes: overheads alone cost more than the ping-pong: taken without latency", what,
					short(p.From))
			}
			p.Intercept = 0
		}
		p.BandwidthFactor, p.LatencyFactor = 1/p.Slope/t.Bandwidth, p.Intercept/t.Latency
		p.BandwidthError, p.LatencyError = p.BandwidthFactor*p.SlopeError/p.Slope, p.InterceptError/t.Latency
		if o.Clamp {
			p.BandwidthFactor, p.LatencyFactor = min(1, p.BandwidthFactor), max(1, p.LatencyFactor)
		}
	}
	return t, nil
}

// WithinFit is the fit of ping-pongs within a host, where the overheads are those of messages between hosts.
type WithinFit struct {
	PingPong OperationFit `json:"pingpong"`
	Route
}

// PollFit is the time of a poll.
type PollFit struct {
	Operation Operation `json:"operation"`
	Timings   int       `json:"timings"` // without those that are far off their median
	Seconds   float64   `json:"seconds"` // their median
	StdError  float64   `json:"std_error_s"`
}

// FirstPolls is how often the first poll after a message has come does not see it: MPIs
// that look for it before they let messages in see it by the next one.
type FirstPolls struct {
	Timings int `json:"timings"`
	Misses  int `json:"misses"`
}

// medianError returns the standard error of the median of sorted values: sqrt(pi/2) times that of the mean for a normal
// law, whose standard deviation is 1.4826 times the median deviation from the median.
func medianError(sorted []float64) float64 {
	m := median(sorted)
	deviations := make([]float64, len(sorted))
	for i, x := range sorted {
		deviations[i] = math.Abs(x - m)
	}
	slices.Sort(deviations)
	return math.Sqrt(math.Pi/2) * 1.4826 * median(deviations) / math.Sqrt(float64(len(sorted)))
}
