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

// Points are what pieces are fitted to: Y > 0 at distinct X >= 0, ascending.
type Points struct {
	X, Y []float64
	W    []float64 // number of timings that a point is of: weights of plain residuals; logarithms of all points count alike
	S    []float64 // standard errors of Y, as parts of it, by the scatter of its timings; nil: none is known
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
