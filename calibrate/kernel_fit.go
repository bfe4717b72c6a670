package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/calibrate/regress"
)

// fitModel is fitPoints with a constant that the timings bear out. Long calls leave
// it so uncertain that it may come out below zero, as if calls gave time back, or above the
// shortest time that was measured by more than that one is uncertain. The fit is then made to go
// through it; if its constant is below zero even so, it has none. Given terms stay as they are.
func fitModel(points []point, products []product, o KernelOptions, given bool) (*Fit, error) {
	fit, err := fitPoints(points, products, products, nil, o)
	last := len(products) - 1
	if given || last == 0 || products[last].text != "1" || err != nil && !errors.Is(err, errNegative) {
		return fit, err
	}
	least := slices.MinFunc(points, func(a, b point) int { return cmp.Compare(a.seconds.mean, b.seconds.mean) })
	if err == nil && fit.constantWithin(least.seconds.mean+fit.slack(&least.seconds)) {
		return fit, nil
	}
	fit, err = fitPoints(points, products[:last], products, &least, o)
	if err == nil && fit.constantWithin(math.Inf(1)) || err != nil && !errors.Is(err, errNegative) {
		return fit, err
	}
	return fitPoints(points, products[:last], products, nil, o)
}

// slackErrors is the number of standard errors by which the mean time of a size may be
// below what a constant says it is at least. The smallest of a hundred normal means is two
// and a half below the true one as a rule, that of a million less than five.
const slackErrors = 5

// slack returns how far, in seconds, the shortest mean time may be below the true one. Its standard
// error is that of its own timings or, if these scatter less, what timings of
// all sizes scatter as a part of their mean. Where no size was timed twice, that part is
// taken to be a tenth.
func (f *Fit) slack(least *moments) float64 {
	sd := least.mean / 10
	if f.NoiseModel != nil {
		sd = f.NoiseModel.Variation * least.mean
		if least.n > 1 {
			sd = max(sd, least.sd())
		}
	}
	return slackErrors * sd / math.Sqrt(float64(least.n))
}

// constantWithin reports whether the constant, the last coefficient, is in [0, most].
func (f *Fit) constantWithin(most float64) bool {
	c := f.Coefficients[len(f.Coefficients)-1].Value
	return c >= 0 && c <= most
}

// fitPoints fits the sum of the products to the means of the points. If it is to
// go through one of them, a constant is added to the products that does so. The deviation
// is fitted to terms of its own: calls too short to show in the fit have noise, too.
func fitPoints(points []point, products, noise []product, through *point, o KernelOptions) (*Fit, error) {
	x, y := design(points, products)
	w, err := weights(y, o.Relative)
	if err != nil {
		return nil, err
	}
	fromX, fromY := relativeTo(through, products, x, y)
	l, err := regress.LeastSquares(fromX, fromY, w, len(products))
	switch {
	case errors.Is(err, regress.ErrTooFew):
		return nil, fmt.Errorf("%w: %w (different sizes)", ErrMeaningless, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrMeaningless, err)
	}
	f := &Fit{Points: len(points), R2: l.R2, Sigma: l.Sigma(), ConditionNo: l.Cond, AIC: l.AIC(), BIC: l.BIC()}
	for j, p := range products {
		f.Coefficients = append(f.Coefficients, Coefficient{Term: p.text, Value: l.Coef[j], StdErr: l.StdErr[j]})
	}
	constant := 0.0
	if through != nil {
		f.leaveOut(l)
		c := constantThrough(through, products, l.Coef)
		constant = c.Value
		f.Coefficients = append(f.Coefficients, c)
		f.AIC += 2 // it counts as a coefficient
		f.BIC += math.Log(float64(l.N))
	}
	if err := f.compare(points, x, y, l.Coef, constant); err != nil {
		return nil, err
	}
	if !o.Relative {
		f.ResidualGrowth = residualGrowth(y, f.fitted)
	}
	f.NoiseModel = fitNoise(points, noise, o.Relative)
	return f, nil
}

// leaveOut takes the point that the fit goes through out of the degrees of freedom of
// fit l: its residual is 0 by construction.
func (f *Fit) leaveOut(l *regress.Linear) {
	free := float64(l.N - len(l.Coef))
	more := math.Sqrt(free / (free - 1))
	f.Sigma *= more
	for j := range f.Coefficients {
		f.Coefficients[j].StdErr *= more
	}
}

// relativeTo returns x and y less those of a point, if there is one.
func relativeTo(origin *point, products []product, x, y []float64) (fromX, fromY []float64) {
	if origin == nil {
		return x, y
	}
	x0, y0 := design([]point{*origin}, products)
	fromX, fromY = slices.Clone(x), slices.Clone(y)
	for i := range x {
		fromX[i] -= x0[i%len(x0)]
	}
	for i := range y {
		fromY[i] -= y0[0]
	}
	return fromX, fromY
}

// constantThrough returns the constant with which the fit goes through a point;
// its standard error is that of the mean of the point's timings.
func constantThrough(p *point, products []product, coef []float64) Coefficient {
	x, y := design([]point{*p}, products)
	c := Coefficient{Term: "1", Value: y[0] - regress.Dot(coef, x), Fixed: true}
	if n := p.seconds.n; n > 1 {
		c.StdErr = p.seconds.sd() / math.Sqrt(float64(n))
	}
	return c
}

// design returns the products at each point, row by row, and the means.
func design(points []point, products []product) (x, y []float64) {
	for i := range points {
		for j := range products {
			x = append(x, products[j].at(&points[i].size))
		}
		y = append(y, points[i].seconds.mean)
	}
	return x, y
}

// weights returns 1/y² for relative residuals, else nil.
func weights(y []float64, relative bool) ([]float64, error) {
	if !relative {
		return nil, nil
	}
	w := make([]float64, len(y))
	for i, v := range y {
		if v <= 0 {
			return nil, fmt.Errorf("%w: a size takes 0 s: there is no relative residual", ErrMeaningless)
		}
		w[i] = 1 / v / v
	}
	return w, nil
}

// residualGrowth returns how many times as large the residuals of the slower half of the
// points are as those of the faster half, root mean squares; 0 where those are 0 or there
// are too few points to say.
func residualGrowth(y, fitted []float64) float64 {
	if len(y) < minGrowthPoints {
		return 0
	}
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	half := len(y) / 2
	squares := func(list []int) (sum float64) {
		for _, i := range list {
			e := y[i] - fitted[i]
			sum += float64(e * e)
		}
		return sum
	}
	fast, slow := squares(order[:half]), squares(order[len(order)-half:])
	if fast == 0 {
		return 0
	}
	return math.Sqrt(slow / fast)
}

// minGrowthPoints is the number of points below which a half of them says nothing about
// residuals.
const minGrowthPoints = 10

// mainTerm returns the first coefficient but the constant, unless that is all there is.
func (f *Fit) mainTerm() Coefficient {
	if i := slices.IndexFunc(f.Coefficients, func(c Coefficient) bool { return c.Term != "1" }); i >= 0 {
		return f.Coefficients[i]
	}
	return f.Coefficients[0]
}

// fallingError is that of a fit whose main term is not positive.
type fallingError struct{ main Coefficient }

func (e *fallingError) Error() string {
	return fmt.Sprintf("%v: %s s per %s: times would fall as sizes grow, below zero in the end", ErrMeaningless, FormatNumber(e.main.Value), e.main.Term)
}

func (e *fallingError) Unwrap() error { return ErrMeaningless }

// level reports whether the term may as well be zero: it is within three standard errors
// of it, where a normal variable is in all cases but one of 370.
func (e *fallingError) level() bool { return -e.main.Value < 3*e.main.StdErr }

// errNegative marks a fit whose times are below zero for most sizes: the long calls,
// or the scatter of theirs, have bent it.
var errNegative = fmt.Errorf("%w: a time below zero", ErrMeaningless)

// compare fills in how far the fit is from the means. Times below zero for most
// of the sizes, or a main term without a positive coefficient, mean nothing.
func (f *Fit) compare(points []point, x, y, coef []float64, constant float64) error {
	p, sum, compared, off, total := len(coef), 0.0, 0, 0.0, 0.0
	for i, mean := range y {
		fitted := constant + regress.Dot(coef, x[i*p:(i+1)*p])
		f.fitted = append(f.fitted, fitted)
		f.Timings += points[i].seconds.n
		if fitted < 0 {
			f.NegativeSizes++
		}
		if mean > 0 {
			off, total = off+math.Abs(max(fitted, 0)-mean), total+mean
			e := math.Abs(max(fitted, 0)-mean) / mean
			sum += e
			compared++
			f.WorstError = max(f.WorstError, e)
		}
	}
	if compared > 0 {
		f.MeanError, f.TimeError = sum/float64(compared), off/total
	}
	switch main := f.mainTerm(); {
	case main.Value <= 0:
		return &fallingError{main}
	case 2*f.NegativeSizes > len(y):
		return fmt.Errorf("%w for %d of %d sizes", errNegative, f.NegativeSizes, len(y))
	}
	return nil
}
