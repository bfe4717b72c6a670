package calibrate

import (
	"fmt"

	"reprise/calibrate/regress"
	"reprise/warning"
)

// warn adds a warning.
func (r *NetworkReport) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, warning.New(format, args...))
}

// warnStrays warns of timings that are far off the median of their size.
func (r *NetworkReport) warnStrays(m *Messages) {
	effect := map[Statistic]string{
		Median: "the median passes over them unless they are half of a size",
		Mean:   "the mean counts them, the median would pass over them",
		Min:    "the minimum passes over those that are longer",
	}[r.Statistic]
	if r.Trim > 0 {
		effect = fmt.Sprintf("the trimmed mean passes over them unless they are more than %g %% of a size", 100*r.Trim)
	}
	for _, op := range operations {
		if timings, sizes := m.strays(op); timings > 0 {
			r.warn("%s: %d of %d timings, at %d of %d sizes, are %d times longer or shorter than the median of their size, or more: %s",
				op, timings, m.number(op), sizes, len(m.timings[op]), farOff, effect)
		}
	}
}

// warnSpikes warns of sizes that are far off those beside them.
func (r *NetworkReport) warnSpikes(op Operation, p regress.Points) {
	if n := spikes(p.X, p.Y); n > 0 {
		r.warn("%s: at %d of %d sizes the %s is %d times that of the sizes beside it, or more, or a tenth of it, or less: outliers that more timings of each size would show",
			op, n, len(p.X), r.Statistic, farOff)
	}
}

// defaultDetached is SimGrid's value of smpi/send-is-detached-thresh, in bytes.
const defaultDetached = 65536

// warnWaiting warns of operations whose overheads reach beyond the threshold that replays
// take where the options give none.
func (r *NetworkReport) warnWaiting(o NetworkOptions) {
	for i, op := range r.Operations {
		if x := r.points[i].X; o.Detached == 0 && (op.Operation == Send || op.Operation == Recv) && x[len(x)-1] >= defaultDetached {
			r.warn("%s: timings of %d bytes and more count as overhead, but replays have such messages wait for the other side (smpi/send-is-detached-thresh): say with --detached from which size on they did", op.Operation, defaultDetached)
		}
	}
}
