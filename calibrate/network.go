package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/calibrate/regress"
	"reprise/warning"
)

// Transfer says how the time on the network is derived from that of a ping-pong, by
// size, os and or being the overheads of sender and receiver.
type Transfer string

// The three ways: all overheads on the way there and back; only those of the
// receivers; only that of one receive. The last two are those of published calibrations.
const (
	RoundTrip    Transfer = "pingpong/2-os-or"
	HalfLessRecv Transfer = "pingpong/2-or"
	OneRecv      Transfer = "(pingpong-or)/2"
)

// NetworkOptions says what FitNetwork fits.
type NetworkOptions struct {
	Breakpoints []float64            // whole bytes, ascending, of all operations; none: learned, for each
	Learn       regress.LearnOptions // how
	Plain       bool                 // least squares of residuals in seconds, not of their logarithms; needs Breakpoints
	Eager       float64              // bytes: smpi/async-small-thresh, 0 to leave it out
	Statistic   Statistic            // of the timings of each size
	Trim        float64              // part of the timings of each size that a Mean leaves out on both sides, less than 0.5
	Detached    float64              // bytes: smpi/send-is-detached-thresh, from which there are no overheads of send and recv; 0 for none
	Transfer    Transfer
	Bandwidth   float64 // byte/s of the route; 0: the largest measured
	Latency     float64 // seconds of the route; 0: the smallest measured
	Clamp       bool    // bandwidth factors at most 1, latency factors at least 1
}

// DefaultNetworkOptions returns the options of the command without flags.
func DefaultNetworkOptions() NetworkOptions {
	return NetworkOptions{Learn: regress.DefaultLearnOptions(), Statistic: Median, Transfer: RoundTrip}
}

// Validate reports what is wrong with the options.
func (o *NetworkOptions) Validate() error {
	errs := []error{o.Statistic.check(o.Trim)}
	for i, b := range o.Breakpoints {
		if b == 0 || !isBytes(b) || i > 0 && b <= o.Breakpoints[i-1] {
			errs = append(errs, fmt.Errorf("breakpoint %s, want ascending whole numbers of bytes, 1 to %d", short(b), int64(maxBytes)))
		}
	}
	if o.Plain && len(o.Breakpoints) == 0 {
		errs = append(errs, errors.New("breakpoints are learned on logarithms only: give them"))
	}
	if len(o.Breakpoints) == 0 {
		errs = append(errs, o.Learn.Validate())
	}
	if !slices.Contains([]Transfer{RoundTrip, HalfLessRecv, OneRecv}, o.Transfer) {
		errs = append(errs, fmt.Errorf("transfer %q, want %s, %s or %s", o.Transfer, RoundTrip, HalfLessRecv, OneRecv))
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"bandwidth", o.Bandwidth}, {"latency", o.Latency}} {
		if !(v.value >= 0) || math.IsInf(v.value, 1) {
			errs = append(errs, fmt.Errorf("%s %g, want 0 or more", v.name, v.value))
		}
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"eager threshold", o.Eager}, {"detached threshold", o.Detached}} {
		if !isBytes(v.value) {
			errs = append(errs, fmt.Errorf("%s %s, want a whole number of bytes, 0 to %d", v.name, short(v.value), int64(maxBytes)))
		}
	}
	return errors.Join(errs...)
}

// maxBytes is the largest threshold and breakpoint, as in files of network noise.
const maxBytes = 1 << 50

// isBytes reports whether x is a number of bytes that can be a threshold.
func isBytes(x float64) bool { return x >= 0 && x <= maxBytes && x == math.Trunc(x) }

// NetworkReport is the result of FitNetwork.
type NetworkReport struct {
	Statistic  Statistic         `json:"statistic"`
	Trim       float64           `json:"trim,omitempty"`
	Operations []OperationFit    `json:"operations"`
	Transfers  []NetworkPiece    `json:"transfers,omitempty"` // the time on the network, with factors
	Bandwidth  float64           `json:"bandwidth,omitempty"` // byte/s, to which the factors refer
	Latency    float64           `json:"latency,omitempty"`   // seconds, to which the factors refer
	Properties []Property        `json:"properties"`
	Noise      []OperationNoise  `json:"noise,omitempty"` // if it was fitted
	Warnings   []warning.Warning `json:"warnings"`        // what makes replays differ from the timings, and timings that are hardly meant; never nil

	points []regress.Points
	pieces []*regress.Pieces
}

// OperationFit is the fit of one operation.
type OperationFit struct {
	Operation Operation      `json:"operation"`
	Timings   int64          `json:"timings"` // that its points are of
	Sizes     int            `json:"sizes"`
	LogError  float64        `json:"log_error"` // root mean square of log(fit/point) over the sizes
	Pieces    []NetworkPiece `json:"pieces"`
}

// NetworkPiece is a line that holds for sizes above From, up to the next one's.
type NetworkPiece struct {
	From            float64 `json:"from_bytes"`
	Sizes           int     `json:"sizes,omitempty"`
	Intercept       float64 `json:"intercept_s"`
	Slope           float64 `json:"slope_s_per_byte"`
	BandwidthFactor float64 `json:"bandwidth_factor,omitempty"`
	LatencyFactor   float64 `json:"latency_factor,omitempty"`
}

// Property is an option of the simulator, by SimGrid's name.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// FitNetwork fits lines to the timings of each operation and derives overheads
// and factors. Each size is one point, at the statistic of its timings. Errors carry the
// warnings that were gathered before them (package warning).
func FitNetwork(m *Messages, o NetworkOptions) (*NetworkReport, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &NetworkReport{Statistic: o.Statistic, Trim: o.Trim, Warnings: []warning.Warning{}}
	if err := r.fit(m, o); err != nil {
		return nil, warning.With(err, r.Warnings)
	}
	return r, nil
}

func (r *NetworkReport) fit(m *Messages, o NetworkOptions) error {
	r.warnStrays(m)
	for _, op := range operations {
		p := m.points(op, o.Statistic, o.Trim)
		if len(p.X) == 0 {
			continue
		}
		r.warnSpikes(op, p)
		cut := m.cut(op, o)
		if few := lastFew(p, cut, o); few > 0 {
			p, _ = p.Split(len(p.X) - few)
			r.warn("%s: left out %d sizes from the detached threshold on, too few for a line of their own: that below it holds there, too", op, few)
		}
		fit, err := fitOperation(op, p, cut, o)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", op, ErrMeaningless, err)
		}
		timings := 0.0
		for _, n := range p.W {
			timings += n
		}
		r.points, r.pieces = append(r.points, p), append(r.pieces, fit)
		r.Operations = append(r.Operations, OperationFit{op, int64(timings), len(p.X), fit.LogError(), networkPieces(fit)})
	}
	if len(r.Operations) == 0 {
		return fmt.Errorf("%w: no timings", ErrMeaningless)
	}
	if err := r.deriveTransfers(o); err != nil {
		return err
	}
	r.setProperties(o)
	r.warnWaiting(o)
	return nil
}

// cut returns the size below which the lines of an operation end, 0 if there is none. From
// the detached threshold on a blocking send waits for its receiver, and a line across
// it would take some of the waiting for overhead.
func (m *Messages) cut(op Operation, o NetworkOptions) float64 {
	for _, blocking := range []Operation{Send, Recv} {
		if m.Has(blocking) && op != Isend && len(o.Breakpoints) == 0 {
			return o.Detached
		}
	}
	return 0
}

// lastFew returns the number of points from a cut on if they are too few to learn from.
func lastFew(p regress.Points, cut float64, o NetworkOptions) int {
	i, _ := slices.BinarySearch(p.X, cut)
	if few := len(p.X) - i; cut > 0 && i > 0 && few < o.Learn.MinPoints {
		return few
	}
	return 0
}

// fitOperation fits lines to the points of an operation, cut at a size if it is not 0.
func fitOperation(op Operation, p regress.Points, cut float64, o NetworkOptions) (*regress.Pieces, error) {
	if len(o.Breakpoints) > 0 {
		return regress.FitPieces(p, o.breakpointsOf(op, p.X[len(p.X)-1]), o.Plain)
	}
	i, _ := slices.BinarySearch(p.X, cut)
	if i == 0 || i == len(p.X) {
		return regress.LearnPieces(p, o.Learn)
	}
	below, above := p.Split(i)
	first, err := regress.LearnPieces(below, o.Learn)
	if err != nil {
		return nil, fmt.Errorf("sizes below the detached threshold of %s bytes: %w", short(cut), err)
	}
	rest, err := regress.LearnPieces(above, o.Learn)
	if err != nil {
		return nil, fmt.Errorf("sizes from the detached threshold of %s bytes on: %w", short(cut), err)
	}
	return regress.Join(first, o.lastWithOverhead(Send), rest), nil
}

// breakpointsOf returns the breakpoints of an operation of which sizes up to the largest
// were measured: overheads need no line from the detached threshold on, where there are none.
func (o *NetworkOptions) breakpointsOf(op Operation, largest float64) []float64 {
	if (op == Send || op == Recv) && o.Detached > 0 && largest <= o.Detached {
		i, _ := slices.BinarySearch(o.Breakpoints, o.Detached)
		return o.Breakpoints[:i]
	}
	return o.Breakpoints
}

// lastWithOverhead returns the largest size at which an operation has an overhead: that of
// a detached send, if there is a threshold. Published calibrations have a breakpoint at
// the threshold itself, which is the same but for one byte.
func (o *NetworkOptions) lastWithOverhead(op Operation) float64 {
	switch {
	case op == Isend || o.Detached == 0:
		return math.Inf(1)
	case slices.Contains(o.Breakpoints, o.Detached):
		return o.Detached
	}
	return o.Detached - 1
}

func networkPieces(fit *regress.Pieces) []NetworkPiece {
	list := make([]NetworkPiece, len(fit.Pieces))
	from := 0.0
	for i, p := range fit.Pieces {
		list[i] = NetworkPiece{From: from, Sizes: p.Points, Intercept: p.Intercept, Slope: p.Slope}
		from = p.UpTo
	}
	return list
}

// fitOf returns the fit of an operation, nil if it was not timed.
func (r *NetworkReport) fitOf(op Operation) *regress.Pieces {
	for i := range r.Operations {
		if r.Operations[i].Operation == op {
			return r.pieces[i]
		}
	}
	return nil
}

// deriveTransfers fills in the time on the network: between the breakpoints of
// all that it is computed from, it is a line too.
func (r *NetworkReport) deriveTransfers(o NetworkOptions) error {
	pp, send, recv := r.fitOf(PingPong), r.fitOf(Send), r.fitOf(Recv)
	if pp == nil {
		return nil
	}
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
	for _, begin := range slices.Compact(from) {
		r.Transfers = append(r.Transfers, transfer(begin, pp, send, recv, o))
	}
	return r.deriveFactors(o)
}

// transfer returns the time on the network for sizes above begin. From the
// detached threshold on there are no overheads.
func transfer(begin float64, pp, send, recv *regress.Pieces, o NetworkOptions) NetworkPiece {
	line := func(fit *regress.Pieces) regress.Line {
		if fit == nil {
			return regress.Line{}
		}
		return fit.Pieces[fit.Find(math.Nextafter(begin, math.Inf(1)))].Line
	}
	whole, less := line(pp), regress.Line{}
	if begin < o.lastWithOverhead(Send) {
		s, r := line(send), line(recv)
		less = regress.Line{Intercept: s.Intercept + r.Intercept, Slope: s.Slope + r.Slope}
	}
	if o.Transfer == OneRecv {
		less = regress.Line{Intercept: less.Intercept / 2, Slope: less.Slope / 2}
	}
	return NetworkPiece{From: begin, Intercept: whole.Intercept/2 - less.Intercept, Slope: whole.Slope/2 - less.Slope}
}

// deriveFactors divides the bandwidth and latency of each piece by those of the
// route. What comes out below zero, because overheads and ping-pong were measured at different times,
// is the bandwidth of the route, or no latency.
func (r *NetworkReport) deriveFactors(o NetworkOptions) error {
	if r.Bandwidth, r.Latency = o.Bandwidth, o.Latency; r.Bandwidth == 0 || r.Latency == 0 {
		if err := r.deriveRoute(); err != nil {
			return err
		}
	}
	for i := range r.Transfers {
		t := &r.Transfers[i]
		if t.Slope <= 0 {
			t.Slope = 1 / r.Bandwidth
			r.warn("network above %s bytes: overheads cost more per byte than the ping-pong: taken at the bandwidth of the route", short(t.From))
		}
		if t.Intercept < 0 {
			t.Intercept = 0
			r.warn("network above %s bytes: overheads alone cost more than the ping-pong: taken without latency", short(t.From))
		}
		t.BandwidthFactor, t.LatencyFactor = 1/(t.Slope*r.Bandwidth), t.Intercept/r.Latency
		if o.Clamp {
			t.BandwidthFactor, t.LatencyFactor = min(1, t.BandwidthFactor), max(1, t.LatencyFactor)
		}
	}
	return nil
}

// deriveRoute takes what is not given from half of the ping-pong: the largest
// bandwidth and the smallest latency above zero of its pieces.
func (r *NetworkReport) deriveRoute() error {
	slope, latency := math.Inf(1), math.Inf(1)
	for _, p := range r.fitOf(PingPong).Pieces {
		if p.Slope > 0 {
			slope = min(slope, p.Slope/2)
		}
		if p.Intercept > 0 {
			latency = min(latency, p.Intercept/2)
		}
	}
	if r.Bandwidth == 0 {
		r.Bandwidth = 1 / slope
	}
	if r.Latency == 0 {
		r.Latency = latency
	}
	if r.Bandwidth == 0 || math.IsInf(r.Latency, 1) {
		return fmt.Errorf("%w: no piece of the ping-pong has a bandwidth and a latency above zero; give those of the route", ErrMeaningless)
	}
	return nil
}
