package calibrate

import (
	"math"
	"strconv"
	"strings"
)

// setProperties fills in the options of the simulator.
func (r *NetworkReport) setProperties(o NetworkOptions) {
	add := func(name, value string) {
		if value != "" {
			r.Properties = append(r.Properties, Property{name, value})
		}
	}
	add("smpi/os", r.overheads(Send, o))
	add("smpi/ois", r.overheads(Isend, o))
	add("smpi/or", r.overheads(Recv, o))
	add("smpi/bw-factor", r.Route.factors(bandwidthFactor))
	add("smpi/lat-factor", r.Route.factors(latencyFactor))
	if r.Within != nil {
		add("reprise/loopback-bw-factor", r.Within.factors(bandwidthFactor))
		add("reprise/loopback-lat-factor", r.Within.factors(latencyFactor))
	}
	r.Properties = append(r.Properties, o.Thresholds()...)
	if r.beyondWindow() {
		add("network/TCP-gamma", "0") // what the window left was timed
	}
	if len(r.Sharing) > 0 {
		add("network/crosstraffic", "no") // what acknowledgements take was timed
	}
	iprobe, test := r.poll(IprobeMiss, IprobeHit), r.poll(TestMiss, TestHit)
	if iprobe > 0 {
		add("smpi/iprobe", short(iprobe))
	}
	if test > 0 {
		add("smpi/test", short(test))
	}
	if iprobe > 0 || test > 0 {
		add("smpi/grow-injected-times", "no") // each poll was timed to cost the same
	}
	if r.FirstPolls.late() {
		add("reprise/poll-late", "yes")
	}
}

// tcpWindow is what a replay takes without network/TCP-gamma, in bytes: netmodel.DefaultOptions.
const tcpWindow = 4194304

// beyondWindow reports whether a route of the report has more bandwidth than the window of a replay would
// leave it.
func (r *NetworkReport) beyondWindow() bool {
	beyond := func(t Route) bool { return 2*t.Latency*t.Bandwidth > tcpWindow }
	return beyond(r.Route) || r.Within != nil && beyond(r.Within.Route)
}

func bandwidthFactor(p NetworkPiece) float64 { return p.BandwidthFactor }
func latencyFactor(p NetworkPiece) float64   { return p.LatencyFactor }

// Thresholds returns the properties that follow from the options alone.
func (o *NetworkOptions) Thresholds() (list []Property) {
	if o.Eager > 0 {
		list = append(list, Property{eagerName, short(o.Eager)})
	}
	if o.Detached > 0 {
		list = append(list, Property{detachedName, short(o.Detached)})
	}
	return list
}

// overheads returns "from:intercept:slope;..." of an operation, "" if it was not timed.
func (r *NetworkReport) overheads(op Operation, o NetworkOptions) string {
	fit, last := r.fitOf(op), o.lastWithOverhead(op)
	if fit == nil {
		return ""
	}
	var list []string
	for _, p := range networkPieces(fit) {
		if p.From >= last {
			break
		}
		list = append(list, short(p.From)+":"+short(p.Intercept)+":"+short(p.Slope))
	}
	if !math.IsInf(last, 1) {
		list = append(list, short(last)+":0:0")
	}
	return strings.Join(list, ";")
}

// factors returns "from:factor;..." of the transfers. The network looks them up by what
// it carries, which is a message and its envelope.
func (t *Route) factors(value func(NetworkPiece) float64) string {
	var list []string
	for _, p := range t.Transfers {
		from := p.From
		if from > 0 {
			from += envelope
		}
		list = append(list, short(from)+":"+short(value(p)))
	}
	return strings.Join(list, ";")
}

// envelope is what SMPI adds to each message, in bytes.
const envelope = 16

// short returns the shortest text that reads as x.
func short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
