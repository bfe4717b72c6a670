package calibrate

import (
	"fmt"

	"reprise/calibrate/regress"
)

// WithinFit is what ping-pongs within a host say, where the overheads are those of messages between hosts.
type WithinFit struct {
	PingPong OperationFit `json:"pingpong"`
	Route

	pieces *regress.Pieces
}

// fitWithin fits messages within a host, where the report is of those between hosts.
func (r *NetworkReport) fitWithin(all *Messages, o NetworkOptions) error {
	m := all.settings[setting{Cores, 1}]
	if r.Between == Cores || len(m[PingPong]) == 0 || r.fitOf(PingPong) == nil {
		return nil
	}
	p := r.dropSpikes(PingPong, m.points(PingPong, o.Statistic, o.Trim))
	fit, err := fitOperation(PingPong, p, m.cut(PingPong, o), o)
	if err != nil {
		return fmt.Errorf("pingpong within a host: %w: %w", ErrMeaningless, err)
	}
	o.Bandwidth, o.Latency = 0, 0 // given are those between hosts
	route, err := r.route(fit, o, "within a host")
	if err != nil {
		return fmt.Errorf("within a host: %w", err)
	}
	r.Within = &WithinFit{operationFit(PingPong, p, fit), route, fit}
	quiet := &NetworkReport{} // its warnings are about a threshold that the platform does not have
	if t, ok := quiet.findDetached(m, 1); ok && t.Bytes != o.Detached {
		r.warn("sends within a host wait from %s bytes on, those between hosts from %s: the model has one threshold, that between hosts", short(t.Bytes), short(o.Detached))
	}
	return nil
}
