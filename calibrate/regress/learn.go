package regress

import (
	"fmt"
	"math"
	"slices"
)

// MaxLearn is the largest number of points that breakpoints are learned from:
// the search takes quadratic time.
const MaxLearn = 4096

// LearnOptions bounds what LearnPieces looks for.
type LearnOptions struct {
	MinPoints int // of a piece, at least 2
	MaxPieces int
	Gain      float64 // by what part each breakpoint must lower the error, in [0,1)
}

// DefaultLearnOptions returns the options of the command without flags.
func DefaultLearnOptions() LearnOptions { return LearnOptions{MinPoints: 4, MaxPieces: 16, Gain: 0.25} }

// Validate reports what is wrong with the options.
func (o LearnOptions) Validate() error {
	switch {
	case o.MinPoints < 2:
		return fmt.Errorf("pieces of %d points, want at least 2", o.MinPoints)
	case o.MaxPieces < 1 || o.MaxPieces > maxPieces:
		return fmt.Errorf("at most %d pieces, want 1 to %d", o.MaxPieces, maxPieces)
	case !(o.Gain >= 0 && o.Gain < 1):
		return fmt.Errorf("gain %g, want at least 0 and less than 1", o.Gain)
	}
	return nil
}

// maxPieces bounds MaxPieces.
const maxPieces = 100

// precision is a relative error of measurement that every timing is taken to have:
// without it, pieces would be added for ever to data without noise.
const precision = 1e-4

// unseen is how many times the variance that was seen a fit may leave: that of a few timings, or of a median whose
// timings have outliers, is known to no better than that.
const unseen = 2

// LearnPieces fits lines on logarithms and learns where they break: first
// top-down, splitting where the sum of squares falls most, until there are too many pieces; then
// bottom-up, merging the neighbours that raise it least, and after each merge moving every breakpoint to
// its best place between its neighbours. Of all these fits, with k pieces of n points, it
// returns the one with the smallest
//
//	n log max(SSE/n, 2s²) + max(p log n N/(N-p-2), 2 n k log(1/(1-Gain)))
//
// with s² the mean variance of a point by the scatter of its timings, N the number of all these timings (n if
// nothing is known of their scatter; s is 0 then), and p = 3k-1 the number of coefficients and breakpoints. Below the
// scatter that was seen nothing is left that a breakpoint could explain. The first penalty is that of the Bayesian
// information criterion for small samples (McQuarrie 1999): where no scatter was seen, a few points are nearer to
// two lines than to one by chance. It alone takes every bend of a real curve for a breakpoint; by the second one,
// each must lower the root of the mean square by the part Gain as well.
func LearnPieces(p Points, o LearnOptions) (*Pieces, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	switch {
	case len(p.X) > MaxLearn:
		return nil, fmt.Errorf("%w: %d different sizes, want at most %d to learn breakpoints; or give the breakpoints", ErrPoints, len(p.X), MaxLearn)
	case len(p.X) < o.MinPoints:
		return nil, fmt.Errorf("%w: %d different sizes, want at least %d", ErrTooFew, len(p.X), o.MinPoints)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	l := &learner{logFit: p.logs(), least: o.MinPoints, gain: o.Gain, memo: map[[2]int]float64{}}
	l.noise, l.timings = p.noise()
	cuts := l.split(2 * o.MaxPieces)
	best, bestScore := cuts, math.Inf(1)
	for {
		if len(cuts) <= o.MaxPieces {
			l.move(cuts)
			if score := l.score(cuts); score <= bestScore {
				best, bestScore = slices.Clone(cuts), score
			}
		}
		if len(cuts) == 1 {
			return p.fit(best, false), nil
		}
		cuts = l.merge(cuts)
	}
}

// noise returns the mean variance of the logarithms of the points, and the number of timings by which it is known: the
// variance of one timing, over all of them that are not the only one of their point, by the number of each point's.
func (p Points) noise() (variance, timings float64) {
	freedom, squares, shares := 0.0, 0.0, 0.0
	for i := range p.S {
		freedom += p.W[i] - 1
		squares += float64((p.W[i] - 1) * float64(p.W[i]*float64(p.S[i]*p.S[i])))
		shares += 1 / p.W[i]
	}
	n := float64(len(p.X))
	if freedom == 0 {
		return 0, n
	}
	return squares / freedom * (shares / n), n + freedom
}

// learner searches cuts: the indices before which pieces end, the last one being
// the number of points.
type learner struct {
	logFit
	least          int
	gain           float64
	noise, timings float64            // Points.noise
	memo           map[[2]int]float64 // cost by range of points
}

// maxMemo bounds the memory of the learner to some hundred megabytes.
const maxMemo = 1 << 21

// cost returns the sum of squares of the best line through the points from i to
// before j.
func (l *learner) cost(i, j int) float64 {
	key := [2]int{i, j}
	c, ok := l.memo[key]
	if !ok {
		_, c = logFit{l.x[i:j], l.l[i:j]}.fit(roughEnd)
		if len(l.memo) < maxMemo {
			l.memo[key] = c
		}
	}
	return c
}

// bestCut returns the best place to cut the points from i to before j, and the
// sum of squares of both sides; 0 if there are too few.
func (l *learner) bestCut(i, j int) (at int, cost float64) {
	cost = math.Inf(1)
	for k := i + l.least; k <= j-l.least; k++ {
		if c := l.cost(i, k) + l.cost(k, j); c < cost {
			at, cost = k, c
		}
	}
	return at, cost
}

// split cuts the piece that gains most by it, again and again.
func (l *learner) split(pieces int) []int {
	type cut struct {
		at   int
		gain float64
	}
	n := len(l.x)
	find := func(i, j int) cut {
		at, cost := l.bestCut(i, j)
		return cut{at, l.cost(i, j) - cost}
	}
	cuts, next := []int{n}, []cut{find(0, n)}
	for len(cuts) < pieces {
		best := 0
		for i := range next {
			if next[i].at > 0 && (next[best].at == 0 || next[i].gain > next[best].gain) {
				best = i
			}
		}
		at, begin := next[best].at, 0
		if at == 0 || next[best].gain <= 0 {
			break
		}
		if best > 0 {
			begin = cuts[best-1]
		}
		next[best] = find(at, cuts[best])
		next = slices.Insert(next, best, find(begin, at))
		cuts = slices.Insert(cuts, best, at)
	}
	return cuts
}

// merge removes the cut whose loss raises the sum of squares least.
func (l *learner) merge(cuts []int) []int {
	best, least := 0, math.Inf(1)
	for i := range cuts[:len(cuts)-1] {
		begin := start(cuts, i)
		if rise := l.cost(begin, cuts[i+1]) - l.cost(begin, cuts[i]) - l.cost(cuts[i], cuts[i+1]); rise < least {
			best, least = i, rise
		}
	}
	return slices.Delete(slices.Clone(cuts), best, best+1)
}

// move puts each cut at its best place between its neighbours, until none moves.
func (l *learner) move(cuts []int) {
	const rounds = 10
	for range rounds {
		moved := false
		for i := range cuts[:len(cuts)-1] {
			begin := start(cuts, i)
			at, cost := l.bestCut(begin, cuts[i+1])
			if at > 0 && cost < l.cost(begin, cuts[i])+l.cost(cuts[i], cuts[i+1]) {
				cuts[i], moved = at, true
			}
		}
		if !moved {
			return
		}
	}
}

// start returns where piece i begins.
func start(cuts []int, i int) int {
	if i == 0 {
		return 0
	}
	return cuts[i-1]
}

// score returns what LearnPieces minimises; +Inf if there are too few timings for so many pieces.
func (l *learner) score(cuts []int) float64 {
	n, k, sse := float64(len(l.x)), float64(len(cuts)), 0.0
	for i, end := range cuts {
		sse += l.cost(start(cuts, i), end)
	}
	p, penalty := float64(3*k)-1, math.Inf(1)
	if l.timings > p+2 {
		penalty = max(l.timings*p*math.Log(n)/(l.timings-p-2), -2*n*k*math.Log1p(-l.gain))
	}
	return float64(n*math.Log(max(sse/n, unseen*l.noise)+precision*precision)) + penalty
}
