package regress

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// This file fits consecutive lines to points: the overheads and transfer times of messages by their size, with
// breakpoints that are given (FitPieces) or learned (LearnPieces). Times of kernels are fitted by the other files.

// ErrPoints is wrapped by the error about more points than breakpoints are learned from.
var ErrPoints = errors.New("unfit points")

// Piece is a line that holds up to a size, from where the piece before ends.
type Piece struct {
	UpTo float64 // inclusive; +Inf for the last piece
	Line
	Errors Line // standard errors of the coefficients; of one that is held at zero, 0
	Points int  // number of points in the piece
}

// Pieces is a fit of consecutive lines.
type Pieces struct {
	Pieces []Piece
	N      int     // number of points
	LogSSE float64 // sum of squared residuals of the logarithms
}

// LogError returns the root of the mean squared residual of the logarithms: for small ones, the relative error.
func (p *Pieces) LogError() float64 { return math.Sqrt(p.LogSSE / float64(p.N)) }

// Join returns the pieces of two fits, of which the first one holds up to x and with it.
func Join(first *Pieces, x float64, rest *Pieces) *Pieces {
	p := &Pieces{Pieces: slices.Concat(first.Pieces, rest.Pieces), N: first.N + rest.N, LogSSE: first.LogSSE + rest.LogSSE}
	p.Pieces[len(first.Pieces)-1].UpTo = x
	return p
}

// Breakpoints returns the ends of all pieces but the last, none of no pieces.
func (p *Pieces) Breakpoints() (list []float64) {
	for _, piece := range p.Pieces[:max(0, len(p.Pieces)-1)] {
		list = append(list, piece.UpTo)
	}
	return list
}

// At returns the value at x >= 0.
func (p *Pieces) At(x float64) float64 { return p.Pieces[p.Find(x)].At(x) }

// Find returns the index of the piece that holds at x.
func (p *Pieces) Find(x float64) int {
	i := 0
	for x > p.Pieces[i].UpTo {
		i++
	}
	return i
}

// Points are the data of a fit of pieces: finite Y > 0 at distinct X >= 0, ascending. Learned fits do without W and S.
type Points struct {
	X, Y []float64
	// Number of timings of each point. They weigh plain residuals; residuals of logarithms weigh alike.
	W []float64
	S []float64 // relative standard errors of Y, by the scatter of its timings
}

// Split returns the points before i and those from it on.
func (p Points) Split(i int) (below, rest Points) {
	return Points{p.X[:i], p.Y[:i], p.W[:i], p.S[:i]}, Points{p.X[i:], p.Y[i:], p.W[i:], p.S[i:]}
}

// FitPieces fits lines to the points between given breakpoints, ascending: on
// logarithms or, if plain, on the residuals themselves. Each piece needs two points.
func FitPieces(p Points, breakpoints []float64, plain bool) (*Pieces, error) {
	edges := []int{0}
	for _, b := range breakpoints {
		i, found := slices.BinarySearch(p.X, b)
		if found {
			i++
		}
		edges = append(edges, i)
	}
	edges = append(edges, len(p.X))
	for i := range edges[1:] {
		if n := edges[i+1] - edges[i]; n < 2 {
			return nil, fmt.Errorf("%w: %d sizes in piece %d, want at least 2", ErrTooFew, max(n, 0), i+1)
		}
	}
	fit := p.fit(edges, plain)
	// The last point of a piece may be below its breakpoint, up to which the line is to hold.
	for i, b := range breakpoints {
		fit.Pieces[i].UpTo = b
	}
	return fit, nil
}

// fit fits a piece to the points between each two edges, which are indices of points
// from 0 to their number; each piece is up to its last point.
func (p Points) fit(edges []int, plain bool) *Pieces {
	all, fit := newLogFit(p), &Pieces{N: len(p.X)}
	for i, end := range edges[1:] {
		begin := edges[i]
		piece := Piece{UpTo: p.X[end-1], Points: end - begin}
		if part := (logFit{p.X[begin:end], all.l[begin:end]}); plain {
			piece.Line, piece.Errors = plainLine(part.x, p.Y[begin:end], p.W[begin:end])
		} else {
			piece.Line, _ = part.fit(preciseAt)
			piece.Errors = part.errors(piece.Line)
		}
		for j := begin; j < end; j++ {
			e := all.l[j] - math.Log(max(piece.At(p.X[j]), math.SmallestNonzeroFloat64))
			fit.LogSSE += float64(e * e)
		}
		fit.Pieces = append(fit.Pieces, piece)
	}
	fit.Pieces[len(fit.Pieces)-1].UpTo = math.Inf(1)
	return fit
}

// MaxLearn is the largest number of points that breakpoints are learned from: the search takes quadratic time.
const MaxLearn = 4096

// LearnOptions bounds the search of LearnPieces.
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

// unseen bounds how well a fit counts: a remainder below unseen times the variance of the timings is as good as this
// one, for the variance of a few timings, or of a median with outliers, is known to no better than that.
const unseen = 2

// LearnPieces fits lines on logarithms and learns where they break: first top-down, splitting where the sum of squares
// falls most, until there are too many pieces; then bottom-up, merging the neighbours that raise it least, and after
// each merge moving every breakpoint to its best place between its neighbours. Of all these fits, with k pieces of n
// points, it returns the one with the smallest
//
//	n log max(SSE/n, 2s²) + max(p log n N/(N-p-2), 2 n k log(1/(1-Gain)))
//
// with s² the mean variance of a point by the scatter of its timings, N the number of all these timings (n if nothing
// is known of their scatter; s is 0 then), and p = 3k-1 the number of coefficients and breakpoints. Below the scatter
// that was seen nothing is left that a breakpoint could explain. The first penalty is that of the Bayesian information
// criterion for small samples (McQuarrie 1999): where no scatter was seen, a few points are nearer to two lines than to
// one by chance. It alone takes every bend of a real curve for a breakpoint; by the second one, each must lower the
// root of the mean square by the part Gain as well.
func LearnPieces(p Points, o LearnOptions) (*Pieces, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	switch {
	case len(p.X) > MaxLearn:
		return nil, fmt.Errorf("%w: %d different sizes, want at most %d to learn breakpoints; or give the breakpoints",
			ErrPoints, len(p.X), MaxLearn)
	case len(p.X) < o.MinPoints:
		return nil, fmt.Errorf("%w: %d different sizes, want at least %d", ErrTooFew, len(p.X), o.MinPoints)
	}
	l := &learner{logFit: newLogFit(p), least: o.MinPoints, memo: map[[2]int]float64{}}
	noise, timings := p.noise()
	score := func(edges []int) float64 {
		n, k, sse := float64(len(p.X)), float64(len(edges)-1), 0.0
		for i, end := range edges[1:] {
			sse += l.cost(edges[i], end)
		}
		p, penalty := float64(3*k)-1, math.Inf(1) // too few timings for so many pieces
		if timings > p+2 {
			penalty = max(timings*p*math.Log(n)/(timings-p-2), -2*n*k*math.Log1p(-o.Gain))
		}
		return float64(n*math.Log(max(sse/n, unseen*noise)+precision*precision)) + penalty
	}
	edges := l.split(2 * o.MaxPieces)
	best, bestScore := edges, math.Inf(1)
	for {
		if len(edges)-1 <= o.MaxPieces {
			l.move(edges)
			if s := score(edges); s <= bestScore {
				best, bestScore = slices.Clone(edges), s
			}
		}
		if len(edges) == 2 {
			return p.fit(best, false), nil
		}
		// The edge goes whose loss raises the sum of squares least.
		loss, least := 1, math.Inf(1)
		for i := 1; i < len(edges)-1; i++ {
			before, at, after := edges[i-1], edges[i], edges[i+1]
			if rise := l.cost(before, after) - l.cost(before, at) - l.cost(at, after); rise < least {
				loss, least = i, rise
			}
		}
		edges = slices.Delete(slices.Clone(edges), loss, loss+1)
	}
}

// noise returns the mean variance of the logarithms of the points, and the number of timings. The variance of one
// timing is pooled over the points with several timings; that of a point is this variance divided by its number of
// timings. Without such points the variance is 0, and each point counts as one timing.
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

// learner searches edges: the indices at which pieces begin, and the number of points, where the last one ends.
type learner struct {
	logFit
	least int                // points of a piece
	memo  map[[2]int]float64 // cost by range of points: merging and moving ask for the same ranges again and again
}

// maxMemo bounds the memory of the learner to some hundred megabytes.
const maxMemo = 1 << 21

// cost returns the sum of squares of the best line through the points from i to before j.
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

// bestCut returns the best place to cut the points from i to before j, and the sum of
// squares of both sides; 0 if there are too few.
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
	// Each piece remembers its best cut, so that a round searches the two new pieces alone.
	find := func(i, j int) cut {
		at, cost := l.bestCut(i, j)
		return cut{at, l.cost(i, j) - cost}
	}
	edges, next := []int{0, n}, []cut{find(0, n)} // the best cut of each piece
	for len(next) < pieces {
		best := 0
		for i := range next {
			if next[i].at > 0 && (next[best].at == 0 || next[i].gain > next[best].gain) {
				best = i
			}
		}
		at := next[best].at
		if at == 0 || next[best].gain <= 0 {
			break
		}
		next[best] = find(at, edges[best+1])
		next = slices.Insert(next, best, find(edges[best], at))
		edges = slices.Insert(edges, best+1, at)
	}
	return edges
}

// move puts each edge at its best place between its neighbours, until none moves.
func (l *learner) move(edges []int) {
	const rounds = 10 // each lowers the sum of squares, so that no place comes again; a bound saves time
	for range rounds {
		moved := false
		for i := 1; i < len(edges)-1; i++ {
			before, after := edges[i-1], edges[i+1]
			at, cost := l.bestCut(before, after)
			if at > 0 && cost < l.cost(before, edges[i])+l.cost(edges[i], after) {
				edges[i], moved = at, true
			}
		}
		if !moved {
			return
		}
	}
}

// Line is intercept + slope*x; neither is negative.
type Line struct {
	Intercept, Slope float64
}

// At returns the value of the line at x.
func (l Line) At(x float64) float64 { return l.Intercept + float64(l.Slope*x) }

// Fineness of the search for the ratio of intercept and slope, in natural logarithms:
// steps of the scan, and widths of the last bracket.
const (
	scanStep  = 1.0
	roughEnd  = 1e-4
	preciseAt = 1e-13
)

// logFit fits lines to points (x, exp(l)) by least squares on logarithms.
//
// With r = intercept/slope, the best slope for a given r is the geometric mean of exp(l)/(x+r), and what remains is the
// variance of l - log(x+r): a search in one variable, in which neither coefficient can become negative.
type logFit struct {
	x, l []float64 // x >= 0, ascending
}

// newLogFit returns the fit to all points.
func newLogFit(p Points) logFit {
	f := logFit{x: p.X}
	for _, y := range p.Y {
		f.l = append(f.l, math.Log(y))
	}
	return f
}

// fit returns the best line and the sum of its squared residuals. end is the width of the last bracket of log r.
func (f logFit) fit(end float64) (Line, float64) {
	// The ends of the search: a constant, and, where no point is at zero, a line without one.
	n := len(f.x)
	mean, best := f.spread(math.Inf(1))
	line := Line{Intercept: math.Exp(mean)}
	if f.x[n-1] == 0 {
		return line, best
	}
	if f.x[0] > 0 {
		if mean, sse := f.spread(0); sse < best {
			line, best = Line{Slope: math.Exp(mean)}, sse
		}
	}
	// A grid of log r from where r does not matter any more to where x does not.
	low := f.x[0]
	for i := 1; low == 0; i++ {
		low = f.x[i]
	}
	from, to := math.Log(low)-10, math.Log(f.x[n-1])+4
	value := func(s float64) float64 {
		_, sse := f.spread(math.Exp(s))
		return sse
	}
	at, least := math.NaN(), best
	for i := range int((to-from)/scanStep) + 2 {
		s := from + float64(scanStep*float64(i))
		if sse := value(s); sse < least {
			at, least = s, sse
		}
	}
	if math.IsNaN(at) {
		return line, best
	}
	// The golden section narrows the bracket: one new value each time, the other is that of before.
	ratio := (math.Sqrt(5) - 1) / 2
	a, b := at-scanStep, at+scanStep
	c, d := b-float64(ratio*(b-a)), a+float64(ratio*(b-a))
	atC, atD := value(c), value(d)
	for i := 0; i < 100 && b-a > end; i++ {
		if atC <= atD {
			b, d, atD = d, c, atC
			c = b - float64(ratio*(b-a))
			atC = value(c)
		} else {
			a, c, atC = c, d, atD
			d = a + float64(ratio*(b-a))
			atD = value(d)
		}
	}
	if atC > atD {
		c = d
	}
	r := math.Exp(c)
	mean, sse := f.spread(r)
	if sse >= best {
		return line, best
	}
	slope := math.Exp(mean)
	return Line{Intercept: float64(slope * r), Slope: slope}, sse
}

// spread returns the mean of l - log(x+r) and the sum of squares about it; for an infinite r, those of l.
func (f logFit) spread(r float64) (mean, sse float64) {
	n := float64(len(f.x))
	constant := math.IsInf(r, 1)
	at := func(i int) float64 {
		if constant {
			return f.l[i]
		}
		return f.l[i] - math.Log(f.x[i]+r)
	}
	first, sum, squares := at(0), 0.0, 0.0
	for i := range f.x {
		d := at(i) - first
		sum += d
		squares += float64(d * d)
	}
	return first + sum/n, max(squares-float64(sum*sum)/n, 0)
}

// plainLine fits a line by weighted least squares of the residuals themselves, neither coefficient
// below zero: one that would be is zero. It returns the standard errors, too.
func plainLine(x, y, w []float64) (line, errors Line) {
	var sw, sx, sy float64
	for i := range x {
		sw += w[i]
		sx += float64(w[i] * x[i])
		sy += float64(w[i] * y[i])
	}
	mx, my := sx/sw, sy/sw
	var sxx, sxy, xx, xy float64
	for i := range x {
		sxx += float64(w[i] * float64((x[i]-mx)*(x[i]-mx)))
		sxy += float64(w[i] * float64((x[i]-mx)*(y[i]-my)))
		xx += float64(w[i] * float64(x[i]*x[i]))
		xy += float64(w[i] * float64(x[i]*y[i]))
	}
	switch slope := sxy / sxx; {
	case sxx == 0 || sxy <= 0:
		line = Line{Intercept: my}
	case my >= float64(slope*mx):
		line = Line{Intercept: my - float64(slope*mx), Slope: slope}
	default:
		line = Line{Slope: xy / xx}
	}
	sse := 0.0
	for i := range x {
		e := y[i] - line.At(x[i])
		sse += float64(w[i] * float64(e*e))
	}
	return line, deviations(sw, sx, xx, line, sse, len(x))
}

// errors returns the standard errors of a line that was fitted, whose residuals are l -
// log(a + bx). Their derivatives by log a and log b are the parts p = a/(a + bx) and q
// = 1 - p of the line, so that the errors are, to first order, a and b times
//
//	sqrt(s2 * sum(q q)/d), sqrt(s2 * sum(p p)/d)    d = sum(p p)*sum(q q) - sum(p q)^2
//
// with s2 the sum of squares by the number of points less that of the coefficients. They suppose
// independent relative errors of the same size, and do not know that breakpoints were chosen.
func (f logFit) errors(line Line) Line {
	var pp, pq, qq, sse float64
	for i := range f.x {
		at := line.At(f.x[i])
		p, q := line.Intercept/at, float64(line.Slope*f.x[i])/at
		e := f.l[i] - math.Log(at)
		pp, pq, qq, sse = pp+float64(p*p), pq+float64(p*q), qq+float64(q*q), sse+float64(e*e)
	}
	d := deviations(pp, pq, qq, line, sse, len(f.x))
	return Line{Intercept: line.Intercept * d.Intercept, Slope: line.Slope * d.Slope}
}

// deviations returns the standard deviations of the coefficients of a line with the normal matrix
// (pp pq, pq qq), or of the one that is not zero; 0 where no point is left to tell.
func deviations(pp, pq, qq float64, line Line, sse float64, n int) Line {
	root := func(variance float64, coefficients int) float64 {
		if n <= coefficients || !(variance > 0) || math.IsInf(variance, 1) {
			return 0
		}
		return math.Sqrt(sse / float64(n-coefficients) * variance)
	}
	switch {
	case line.Slope == 0:
		return Line{Intercept: root(1/pp, 1)}
	case line.Intercept == 0:
		return Line{Slope: root(1/qq, 1)}
	}
	d := float64(pp*qq) - float64(pq*pq)
	return Line{Intercept: root(qq/d, 2), Slope: root(pp/d, 2)}
}
