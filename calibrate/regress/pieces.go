package regress

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrPoints is wrapped by the errors about points that no pieces can be fitted to.
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

// LogError returns the root of the mean squared residual of the logarithms: for
// small ones, the relative error.
func (p *Pieces) LogError() float64 { return math.Sqrt(p.LogSSE / float64(p.N)) }

// Join returns the pieces of two fits, of which the first one holds up to x and with it.
func Join(first *Pieces, x float64, rest *Pieces) *Pieces {
	p := &Pieces{Pieces: slices.Concat(first.Pieces, rest.Pieces), N: first.N + rest.N, LogSSE: first.LogSSE + rest.LogSSE}
	p.Pieces[len(first.Pieces)-1].UpTo = x
	return p
}

// Breakpoints returns the ends of all pieces but the last.
func (p *Pieces) Breakpoints() []float64 {
	var list []float64
	for _, piece := range p.Pieces[:len(p.Pieces)-1] {
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

// Points are the data of a fit of pieces: Y > 0 at distinct X >= 0, ascending.
type Points struct {
	X, Y []float64
	// number of timings that a point is of: weights of plain residuals; logarithms of all points count alike
	W []float64
	S []float64 // standard errors of Y, as parts of it, by the scatter of its timings; nil: none is known
}

// Split returns the points before i and those from it on.
func (p Points) Split(i int) (below, rest Points) {
	below, rest = Points{X: p.X[:i], Y: p.Y[:i]}, Points{X: p.X[i:], Y: p.Y[i:]}
	if p.W != nil {
		below.W, rest.W = p.W[:i], p.W[i:]
	}
	if p.S != nil {
		below.S, rest.S = p.S[:i], p.S[i:]
	}
	return below, rest
}

// check reports points that nothing can be fitted to.
func (p Points) check() error {
	if len(p.X) == 0 {
		return fmt.Errorf("%w: there are none", ErrPoints)
	}
	for i, x := range p.X {
		if !(x >= 0) || math.IsInf(x, 1) || i > 0 && x <= p.X[i-1] {
			return fmt.Errorf("%w: sizes must be >= 0, distinct and ascending, found %g", ErrPoints, x)
		}
		if y := p.Y[i]; !(y > 0) || math.IsInf(y, 1) {
			return fmt.Errorf("%w: %g s at %g: want a time above zero", ErrPoints, y, x)
		}
	}
	return nil
}

func (p Points) logs() logFit {
	l := make([]float64, len(p.Y))
	for i, y := range p.Y {
		l[i] = math.Log(y)
	}
	return logFit{p.X, l}
}

// FitPieces fits lines to the points between given breakpoints, ascending: on
// logarithms or, if plain, on the residuals themselves. Each piece needs two points.
func FitPieces(p Points, breakpoints []float64, plain bool) (*Pieces, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	var cuts []int
	for _, b := range breakpoints {
		i, found := slices.BinarySearch(p.X, b)
		if found {
			i++
		}
		cuts = append(cuts, i)
	}
	cuts = append(cuts, len(p.X))
	begin := 0
	for i, end := range cuts {
		if end-begin < 2 {
			return nil, fmt.Errorf("%w: %d sizes in piece %d, want at least 2", ErrTooFew, max(end-begin, 0), i+1)
		}
		begin = end
	}
	fit := p.fit(cuts, plain)
	for i, b := range breakpoints {
		fit.Pieces[i].UpTo = b
	}
	return fit, nil
}

// fit fits the pieces that end before the indices cuts; each is up to its last
// point.
func (p Points) fit(cuts []int, plain bool) *Pieces {
	all, fit, begin := p.logs(), &Pieces{N: len(p.X)}, 0
	for _, end := range cuts {
		piece := Piece{UpTo: p.X[end-1], Points: end - begin}
		if plain {
			x, y, w := p.X[begin:end], p.Y[begin:end], p.W[begin:end]
			piece.Line = plainLine(x, y, w)
			piece.Errors = plainErrors(piece.Line, x, y, w)
		} else {
			piece.Line, _ = logFit{p.X[begin:end], all.l[begin:end]}.fit(preciseAt)
			piece.Errors = logErrors(piece.Line, p.X[begin:end], all.l[begin:end])
		}
		for i := begin; i < end; i++ {
			e := all.l[i] - math.Log(max(piece.At(p.X[i]), math.SmallestNonzeroFloat64))
			fit.LogSSE += float64(e * e)
		}
		fit.Pieces = append(fit.Pieces, piece)
		begin = end
	}
	fit.Pieces[len(fit.Pieces)-1].UpTo = math.Inf(1)
	return fit
}

// MaxLearn is the largest number of points that breakpoints are learned from:
// the search takes quadratic time.
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
		return nil, fmt.Errorf("%w: %d different sizes, want at most %d to learn breakpoints; or give the breakpoints",
			ErrPoints, len(p.X), MaxLearn)
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

// score returns the criterion of LearnPieces, which it minimises; +Inf if there are too few timings for so many pieces.
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

// Line is intercept + slope*x; neither is negative.
type Line struct {
	Intercept, Slope float64
}

// At returns the value of the line at x.
func (l Line) At(x float64) float64 { return l.Intercept + float64(l.Slope*x) }

// Fineness of the search for the ratio of intercept and slope, in natural
// logarithms: steps of the scan, and widths of the last bracket.
const (
	scanStep  = 1.0
	roughEnd  = 1e-4
	preciseAt = 1e-13
)

// logFit fits lines to points (x, exp(l)) by least squares on logarithms.
//
// With r = intercept/slope, the best slope for a given r is the geometric mean of
// exp(l)/(x+r), and what remains is the variance of l - log(x+r): a search in one
// variable, in which neither coefficient can become negative.
type logFit struct {
	x, l []float64 // x >= 0, ascending
}

// fit returns the best line and the sum of its squared residuals. end is the
// width of the last bracket of log r.
func (f logFit) fit(end float64) (Line, float64) {
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
	s, found := f.scan(best)
	if !found {
		return line, best
	}
	r := math.Exp(f.golden(s-scanStep, s+scanStep, end))
	mean, sse := f.spread(r)
	if sse >= best {
		return line, best
	}
	slope := math.Exp(mean)
	return Line{Intercept: float64(slope * r), Slope: slope}, sse
}

// spread returns the mean of l - log(x+r) and the sum of squares about it; for an
// infinite r, those of l.
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

// scan looks for the log r of the smallest sum of squares, on a grid from where r
// does not matter any more to where x does not. found is false if best is smaller.
func (f logFit) scan(best float64) (at float64, found bool) {
	low := f.x[0]
	for i := 1; low == 0; i++ {
		low = f.x[i]
	}
	from, to := math.Log(low)-10, math.Log(f.x[len(f.x)-1])+4
	steps := int((to-from)/scanStep) + 1
	for i := range steps + 1 {
		s := from + float64(scanStep*float64(i))
		if _, sse := f.spread(math.Exp(s)); sse < best {
			at, best, found = s, sse, true
		}
	}
	return at, found
}

// golden returns the place of a minimum between a and b.
func (f logFit) golden(a, b, end float64) float64 {
	value := func(s float64) float64 {
		_, sse := f.spread(math.Exp(s))
		return sse
	}
	ratio := (math.Sqrt(5) - 1) / 2
	c, d := b-float64(ratio*(b-a)), a+float64(ratio*(b-a))
	atC, atD := value(c), value(d)
	for range 100 {
		if b-a <= end {
			break
		}
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
	if atC <= atD {
		return c
	}
	return d
}

// plainLine fits a line by weighted least squares of the residuals themselves,
// neither coefficient below zero: one that would be is zero.
func plainLine(x, y, w []float64) Line {
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
	if sxx == 0 || sxy <= 0 {
		return Line{Intercept: my}
	}
	if slope := sxy / sxx; my >= float64(slope*mx) {
		return Line{Intercept: my - float64(slope*mx), Slope: slope}
	}
	return Line{Slope: xy / xx}
}

// logErrors returns the standard errors of a line that was fitted to the points (x, exp(l)) on
// logarithms, whose residuals are l - log(a + bx). Their derivatives by log a and log b are the parts
// p = a/(a + bx) and q = 1 - p of the line, so that the errors are, to first order, a and b times
//
//	sqrt(s2 * sum(q q)/d), sqrt(s2 * sum(p p)/d)    d = sum(p p)*sum(q q) - sum(p q)^2
//
// with s2 the sum of squares by the number of points less that of the coefficients. They suppose independent relative
// errors of the same size, and do not know that breakpoints were chosen.
func logErrors(line Line, x, l []float64) Line {
	var pp, pq, qq, sse float64
	for i := range x {
		at := line.At(x[i])
		p, q := line.Intercept/at, float64(line.Slope*x[i])/at
		e := l[i] - math.Log(at)
		pp, pq, qq, sse = pp+float64(p*p), pq+float64(p*q), qq+float64(q*q), sse+float64(e*e)
	}
	a, b := deviations(pp, pq, qq, line, sse, len(x))
	return Line{Intercept: line.Intercept * a, Slope: line.Slope * b}
}

// plainErrors returns the standard errors of a line that was fitted by weighted least squares.
func plainErrors(line Line, x, y, w []float64) Line {
	var pp, pq, qq, sse float64
	for i := range x {
		e := y[i] - line.At(x[i])
		pp, pq, qq, sse = pp+w[i], pq+float64(w[i]*x[i]), qq+float64(w[i]*float64(x[i]*x[i])), sse+float64(w[i]*float64(e*e))
	}
	a, b := deviations(pp, pq, qq, line, sse, len(x))
	return Line{Intercept: a, Slope: b}
}

// deviations returns the standard deviations of two coefficients with the normal matrix
// (pp pq, pq qq), or of the one that is not zero; 0 where no point is left to tell.
func deviations(pp, pq, qq float64, line Line, sse float64, n int) (a, b float64) {
	root := func(variance float64, coefficients int) float64 {
		if n <= coefficients || !(variance > 0) || math.IsInf(variance, 1) {
			return 0
		}
		return math.Sqrt(sse / float64(n-coefficients) * variance)
	}
	switch {
	case line.Slope == 0:
		return root(1/pp, 1), 0
	case line.Intercept == 0:
		return 0, root(1/qq, 1)
	}
	d := float64(pp*qq) - float64(pq*pq)
	return root(qq/d, 2), root(pp/d, 2)
}
