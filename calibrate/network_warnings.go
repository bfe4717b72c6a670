package calibrate

import (
	"fmt"
	"slices"

	"reprise/calibrate/regress"
	"reprise/warning"
)

// warn adds a warning.
func (r *NetworkReport) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, warning.New(format, args...))
}

// warnStrays warns of timings that are far off the median of their size.
func (r *NetworkReport) warnStrays(m series) {
	effect := map[Statistic]string{
		Median: "the median passes over them unless they are half of a size",
		Mean:   "the mean counts them, the median would pass over them",
		Min:    "the minimum passes over those that are longer",
	}[r.Statistic]
	if r.Trim > 0 {
		effect = fmt.Sprintf("the trimmed mean passes over them unless they are more than %g %% of a size", 100*r.Trim)
	}
	for _, op := range fitted {
		if timings, sizes := m.strays(op); timings > 0 {
			r.warn("%s: %d of %d timings, at %d of %d sizes, are %d times longer or shorter than the median of their size, or more: %s",
				op, timings, m.number(op), sizes, len(m[op]), farOff, effect)
		}
	}
}

// leastOfSize is of how many timings of a size their median is not to be believed if it is far off
// those beside it.
const leastOfSize = 3

// dropSpikes warns of sizes that are far off those beside them, and returns the points without those that were
// timed so seldom that chance explains them, if the points are medians.
func (r *NetworkReport) dropSpikes(op Operation, p regress.Points) regress.Points {
	list := spikes(p.X, p.Y)
	if len(list) == 0 {
		return p
	}
	var kept regress.Points
	for i := range p.X {
		if r.Statistic != Median || p.W[i] >= leastOfSize || !slices.Contains(list, i) {
			kept.X, kept.Y, kept.W, kept.S = append(kept.X, p.X[i]), append(kept.Y, p.Y[i]), append(kept.W, p.W[i]), append(kept.S, p.S[i])
		}
	}
	left := ""
	if n := len(p.X) - len(kept.X); n > 0 {
		left = fmt.Sprintf(", and %d of them are left out", n)
	}
	r.warn("%s: at %d of %d sizes the %s is %d times that of the sizes beside it, or more, or a tenth of it, or less: outliers that more timings of each size would show%s",
		op, len(list), len(p.X), r.Statistic, farOff, left)
	return kept
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
