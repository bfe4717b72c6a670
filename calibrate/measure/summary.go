package measure

import "slices"

// Summary is what there is of a kernel.
type Summary struct {
	Kernel  string  `json:"kernel"`
	Sizes   int     `json:"sizes"`
	Timings int     `json:"timings"`
	Largest string  `json:"largest"` // the size that took longest
	Seconds float64 `json:"seconds"` // median of its timings
}

// Summaries returns what there is of each kernel.
func (r *Result) Summaries(p *Plan) []Summary {
	byCall := make([][]float64, len(p.Calls))
	for _, t := range r.Timings {
		byCall[t.Call] = append(byCall[t.Call], t.Seconds)
	}
	list := make([]Summary, len(p.Kernels))
	for i := range list {
		list[i].Kernel = p.Kernels[i].String()
	}
	for i, seconds := range byCall {
		if len(seconds) == 0 {
			continue
		}
		c := &p.Calls[i]
		s := &list[c.Kernel]
		s.Sizes++
		s.Timings += len(seconds)
		slices.Sort(seconds)
		if median := seconds[len(seconds)/2]; median > s.Seconds {
			s.Seconds, s.Largest = median, sizeText(&p.Kernels[c.Kernel], &c.Dims)
		}
	}
	return list
}

// Repeats says how often the calls are made.
func (p *Plan) Repeats() string { return p.program.passes(p) }

// Space says what memory the calls of a process work in.
func (p *Plan) Space() string { return p.program.space() }
