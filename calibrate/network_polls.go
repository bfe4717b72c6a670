package calibrate

import (
	"math"
	"slices"
)

// PollFit is what a poll takes.
type PollFit struct {
	Operation Operation `json:"operation"`
	Timings   int       `json:"timings"` // without those that are far off their median
	Seconds   float64   `json:"seconds"` // their median
	StdError  float64   `json:"std_error_s"`
}

// FirstPolls is how often the first poll after a message has come does not see it: MPIs that look for it
// before they let messages in see it by the next one.
type FirstPolls struct {
	Timings int `json:"timings"`
	Misses  int `json:"misses"`
}

// late reports whether most of them miss.
func (f *FirstPolls) late() bool { return f != nil && 2*f.Misses > f.Timings }

// fitPolls takes the medians of polls, and counts what the first ones saw. The size of what they find does not matter to them.
func (r *NetworkReport) fitPolls(m series) {
	for _, op := range []Operation{IprobeMiss, IprobeHit, TestMiss, TestHit} {
		var times []float64
		for _, list := range m[op] {
			times = append(times, list...)
		}
		if len(times) == 0 {
			continue
		}
		slices.Sort(times)
		times = withoutStrays(times)
		r.Polls = append(r.Polls, PollFit{op, len(times), median(times), medianError(times)})
	}
	if hits, misses := m.number(IprobeFirstHit), m.number(IprobeFirstMiss); hits+misses > 0 {
		r.FirstPolls = &FirstPolls{hits + misses, misses}
	}
}

// poll returns the time of the first of the operations that was timed, 0 if none was.
func (r *NetworkReport) poll(ops ...Operation) float64 {
	for _, op := range ops {
		for _, p := range r.Polls {
			if p.Operation == op {
				return p.Seconds
			}
		}
	}
	return 0
}

// medianError returns the standard error of the median of sorted values: sqrt(pi/2) times that
// of the mean for a normal law, whose standard deviation is 1.4826 times the median deviation from the median.
func medianError(sorted []float64) float64 {
	m := median(sorted)
	deviations := make([]float64, len(sorted))
	for i, x := range sorted {
		deviations[i] = math.Abs(x - m)
	}
	slices.Sort(deviations)
	return math.Sqrt(math.Pi/2) * 1.4826 * median(deviations) / math.Sqrt(float64(len(sorted)))
}
