package sampling

import (
	"cmp"
	"math"
	"slices"
)

// This file is about runs in which ranks take turns, as process columns do with the panels of HPL: the cost of a step
// depends on whose turn it is. Windows are spread over the turns (place calls evenly), each is compared with that whose
// turns are next to its own, and what the windows tell of the turns is taken off (add calls takeTurns).

// cycles returns after how many steps turns begin anew: of all cycles those that a window sees but a part of.
func (s *sampler) cycles() []int {
	var list []int
	for _, c := range s.o.Cycles {
		if s.shape.coupled && c > s.shape.length {
			list = append(list, c)
		}
	}
	return list
}

// taken returns where windows begin that are measured, or always will be.
func (s *sampler) taken() []int {
	list := []int{s.head().from + s.shape.warmup, s.tail().from + s.shape.warmup}
	for i := range s.done {
		list = append(list, s.done[i].refFrom)
	}
	return list
}

// evenly returns the step of [from, to] whose place in the cycles is farthest from those of the steps taken, above all
// from those of near steps: all parts of the run see all turns then. Of equal steps it is the first one from step start
// on, where from comes after to.
func evenly(cycles []int, from, start, to int, taken []int) int {
	// The periodic discrepancy in L2 is the sum over all pairs of x^2 - x + 1/6, where x is their distance in cycles.
	// With 1/4 in place of 1/6 no near step is better than none.
	best, least := start, math.Inf(1)
	for i := range min(to-from+1, slices.Max(cycles)) {
		k := from + (start-from+i)%(to-from+1)
		sum := 0.0
		for _, t := range taken {
			for _, cycle := range cycles {
				x := math.Abs(float64((k-t)%cycle)) / float64(cycle)
				sum += (x - 0.5) * (x - 0.5) / math.Max(1, math.Abs(float64(k-t)))
			}
		}
		if sum < least {
			best, least = k, sum
		}
	}
	return best
}

// takeTurns finds the scatter that is left besides turns. Of several cycles it takes that which leaves least.
func (p *fit) takeTurns(s *sampler, cycles []int) {
	all, best, least, gaps := p.scatter.variance, 0, math.Inf(1), p.gaps
	for _, cycle := range cycles {
		p.gaps = slices.Clone(gaps)
		pairs := p.byTurn(cycle, float64(s.shape.length))
		sum := 0.0
		for _, c := range pairs {
			sum += c.square
		}
		if sum < least {
			least, best, gaps = sum, cycle, p.gaps
			p.scatter = commonScatter(pairs, nil)
		}
	}
	p.gaps = gaps
	if p.scatter.variance < all {
		p.cycle, p.ratio = best, p.scatter.variance/(all-p.scatter.variance)
	}
}

// byTurn compares each window with that whose place in the cycle is next. What depends on turns differs less between
// these than between windows that follow each other. A gap's jump is the mean of what its two windows show.
func (p *fit) byTurn(cycle int, length float64) []pair {
	n := len(p.stretches)
	order, scaled := make([]int, n), slices.Clone(p.stretches)
	for i := range order {
		order[i] = i
		scaled[i].residual /= p.scaleAt(&scaled[i])
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := scaled[i].from, scaled[j].from
		return cmp.Or(cmp.Compare(a%cycle, b%cycle), cmp.Compare(a, b))
	})
	pairs, own := make([]pair, n), make([]float64, n)
	for k, i := range order {
		j := order[(k+1)%n]
		d := scaled[i].difference(&scaled[j], length)
		pairs[k] = pair{square: d, scale: math.Sqrt(p.scaleAt(&scaled[i]) * p.scaleAt(&scaled[j]))}
		own[i] += float64(d / 2)
		own[j] += float64(d / 2)
	}
	for i := range p.gaps {
		g := &p.gaps[i]
		g.jump, g.change = (own[i]+own[i+1])/2*g.scale*g.scale, 0
	}
	return pairs
}

// learnTurns sets what a step costs by its place in the cycle: the mean of the measured steps of that place above the
// trend, drawn to 0 as their other scatter is so many times that by turns. All places together cost nothing. Parts of
// the run learn as the whole does, so that they add up to it. Then the gaps are filled once more.
func (p *fit) learnTurns(s *sampler) {
	like := cmp.Or(p.whole, p)
	cycle := like.cycle
	if cycle == 0 {
		return
	}
	sums, steps := make([]float64, cycle), make([]float64, cycle)
	for i := range s.done {
		w := &s.done[i]
		for k := w.refFrom; k < w.refTo; k++ {
			sums[k%cycle] += (w.Cost(k) - p.trend.at(k)) / like.scale(like.trend.at(k))
			steps[k%cycle]++
		}
	}
	mean := 0.0
	for i := range sums {
		sums[i] /= steps[i] + like.ratio
		mean += sums[i] / float64(cycle)
	}
	for i := range sums {
		sums[i] -= mean
	}
	p.turns = sums
	gaps := p.gaps
	p.bridgeAll(s)
	p.gaps = gaps
}

// expected returns the cost of the steps [a, b) by the trend and by turns.
func (p *fit) expected(a, b int) float64 {
	sum := p.trend.sum(a, b)
	if p.turns != nil {
		like := cmp.Or(p.whole, p)
		for k := a; k < b; k++ {
			sum += float64(p.turns[k%len(p.turns)] * like.scale(like.trend.at(k)))
		}
	}
	return sum
}
