package sampling

import "fmt"

const (
	// firstWindows is the number of windows of the first round, besides head and tail.
	firstWindows = 16
	// dearest is the part of the run above which simulating it all is the better
	// choice: that is one simulation without warm-ups, and exact.
	dearest = 0.75
	// doubt is by how much a forecast may be too high.
	doubt = 2
	// margin is by how much refinement aims under the variance that is allowed.
	margin = 0.95
	// mostWindows bounds the forecast of how many windows will be needed.
	mostWindows = 1 << 14
)

// begin plans the first round, around the windows that there are already: the ends
// of the run, and windows in the gaps between them.
func (s *sampler) begin() ([]span, error) {
	cost := s.head().steps() + s.tail().steps() + (firstWindows-len(s.done))*s.shape.steps()
	if err := s.worth(s.spent + cost); err != nil {
		return nil, err
	}
	spans := []span{s.head(), s.tail()}
	last := s.head().to
	var gaps []gap
	for _, w := range s.done {
		gaps = append(gaps, gap{from: last, to: w.From + s.shape.warmup, spread: 1})
		last = w.To
	}
	gaps = append(gaps, gap{from: last, to: s.tail().from + s.shape.warmup, spread: 1})
	numbers, _, _ := s.deal(gaps, 0, firstWindows-len(s.done))
	return append(spans, s.place(gaps, numbers)...), nil
}

func (p span) steps() int { return p.to - p.from }

// worth returns ErrExact if simulating so many steps is not worth it.
func (s *sampler) worth(steps int) error {
	if all := s.o.End - s.o.First; float64(steps) > dearest*float64(all) {
		return fmt.Errorf("%w: it would simulate some %d steps where the run has %d", ErrExact, steps, all)
	}
	return nil
}

// refine plans the next round: nothing if the estimate is good enough or the time
// is over.
func (s *sampler) refine(e *Estimate, p *picture) ([]span, error) {
	limit := len(s.done)
	if s.o.Left != nil {
		limit = min(limit, s.affordable())
	}
	if limit < 1 {
		return nil, nil
	}
	target := 0.0
	if s.o.Tolerance > 0 {
		ratio := s.o.Tolerance * e.Seconds / e.Interval
		if e.Interval == 0 || ratio >= 1 {
			return nil, nil
		}
		target = margin*ratio*ratio*p.variance(s.shape) - p.redrawn(s.shape)
		_, total, left := s.deal(p.gaps, target, mostWindows)
		if left > target && total < mostWindows && s.o.Left == nil {
			return nil, fmt.Errorf("%w: the run is too chaotic for a tolerance of %g %%", ErrExact, 100*s.o.Tolerance)
		}
		if err := s.forecast(total); err != nil {
			return nil, err
		}
	}
	numbers, next, _ := s.deal(p.gaps, target, limit)
	if err := s.forecast(next * doubt); err != nil {
		return nil, err
	}
	return s.place(p.gaps, numbers), nil
}

// forecast returns ErrExact if so many more windows are not worth it. The number is
// rough, and gets the benefit of the doubt. With a time limit there is no exact run
// to turn to.
func (s *sampler) forecast(windows int) error {
	if s.o.Left != nil {
		return nil
	}
	return s.worth(s.spent + windows*s.shape.steps()/doubt)
}

// affordable returns how many windows the time left allows.
func (s *sampler) affordable() int {
	const reserve = 0.9 // windows end at different times
	steps := reserve * s.o.Left() * float64(s.o.Workers) / s.perStep
	return int(min(max(steps/float64(s.shape.steps()), 0), mostWindows))
}

// deal distributes windows over the gaps, each to where it lowers the variance
// most, until the variance of all gaps is at most target, or the limit is reached,
// or nothing is left to gain. It returns the number for each gap, their sum, and the
// variance that is left.
func (s *sampler) deal(gaps []gap, target float64, limit int) (numbers []int, total int, left float64) {
	numbers = make([]int, len(gaps))
	gains := make([]float64, len(gaps))
	for i := range gaps {
		left += gaps[i].variance(0, s.shape)
		gains[i] = gaps[i].gain(0, s.shape)
	}
	for ; total < limit && left > target; total++ {
		best := 0
		for i, gain := range gains {
			if gain > gains[best] {
				best = i
			}
		}
		if gains[best] <= 0 {
			break
		}
		left -= gains[best]
		numbers[best]++
		gains[best] = gaps[best].gain(numbers[best], s.shape)
	}
	return numbers, total, left
}

// gain returns by how much one window more than n lowers the variance of a gap.
func (g *gap) gain(n int, shape shape) float64 {
	return g.variance(n, shape) - g.variance(n+1, shape)
}

// place puts windows into the gaps: one into each of equal parts, somewhere in the
// middle half of what room there is, so that no period of the run can hide from
// them. A gap that they would fill is measured from end to end.
func (s *sampler) place(gaps []gap, numbers []int) []span {
	var spans []span
	for i, n := range numbers {
		g := &gaps[i]
		length := g.to - g.from
		if n > 0 && n*s.shape.steps() >= length {
			spans = append(spans, span{g.from - s.shape.warmup, g.to})
			continue
		}
		for j := range n {
			lo, hi := g.from+j*length/n, g.from+(j+1)*length/n
			room := float64(hi - lo - s.shape.length)
			start := lo + int(room*(0.25+0.5*uniform(uint64(lo), uint64(hi))))
			spans = append(spans, span{start - s.shape.warmup, start + s.shape.length})
		}
	}
	return spans
}

// uniform returns a number in [0, 1) that looks random but is the same whenever a
// and b are: splitmix64.
func uniform(a, b uint64) float64 {
	x := a*0x9e3779b97f4a7c15 + b
	for range 2 {
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return float64(x>>11) / (1 << 53)
}
