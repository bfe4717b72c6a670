package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/calibrate/regress"
	"reprise/internal/textutil"
)

// This file fits given terms to the points of a kernel, for FitKernels: fitModel. Before it stand the options.

// ErrMeaningless is wrapped by the errors about data from which no model with a meaning can be fitted.
var ErrMeaningless = errors.New("no meaningful fit")

// ErrContradiction is wrapped by the errors about options that a table contradicts.
var ErrContradiction = errors.New("the table contradicts the command line")

// Grouping is the unit that has a model of its own.
type Grouping int

const (
	ForAll  Grouping = iota // one model for all hosts
	ForHost                 // one for each host, and one for all others
	ForCPU                  // one for each CPU of each host, and one for all others
)

// Models that can be asked for; see docs/calibrate.md.
const (
	Auto        = "auto"
	Constant    = "M-0"
	LinearOne   = "M-1"
	Polynomial  = "M-2"
	customModel = "terms"
)

// KernelOptions are the choices of FitKernels.
type KernelOptions struct {
	For       Grouping
	Model     string              // Auto, Constant, LinearOne or Polynomial
	Terms     map[string][]string // by function: the terms of its model, instead of Model
	Product   map[string]string   // by function: the product of M-1; default: of all dimensions
	NoOffset  bool                // leave the constant out of M-1 and M-2
	Criterion string              // "bic" or "aic", by which Auto chooses
	Relative  bool                // minimise relative residuals, not those in seconds
}

// DefaultKernelOptions returns the options of the command without flags.
func DefaultKernelOptions() KernelOptions { return KernelOptions{Model: Auto, Criterion: "bic"} }

// Validate refuses unknown models and criteria.
func (o *KernelOptions) Validate() error {
	var faults textutil.Faults
	faults.Want(slices.Contains([]string{Auto, Constant, LinearOne, Polynomial}, o.Model),
		"model %q, want auto, M-0, M-1 or M-2", o.Model)
	faults.Want(o.Criterion == "bic" || o.Criterion == "aic", "criterion %q, want bic or aic", o.Criterion)
	return faults.Err()
}

// fitModel fits the products to the points, and sees to it that the constant among them makes sense. Long calls leave
// the constant so uncertain that it may come out below zero, or above the shortest mean time by more than that time's
// own uncertainty. Such a fit is made again, through the point of the shortest time; if its constant is then below
// zero, it is made without one. Given terms stay as they are.
func fitModel(points []point, products []product, o KernelOptions, given bool) (*Fit, error) {
	fit, err := fitPoints(points, products, products, nil, o)
	last := len(products) - 1
	if given || last == 0 || products[last].text != "1" || err != nil && !errors.Is(err, errNegative) {
		return fit, err
	}
	least := slices.MinFunc(points, func(a, b point) int { return cmp.Compare(a.seconds.mean, b.seconds.mean) })
	if err == nil {
		// The shortest mean time may be below the true one by its standard error: that of its own timings or, if these
		// scatter less, the relative scatter of the timings of all sizes times its mean. If no size was timed twice,
		// the relative scatter is unknown and taken to be a tenth.
		m := &least.seconds
		sd := m.mean / 10
		if fit.NoiseModel != nil {
			sd = fit.NoiseModel.Variation * m.mean
			if m.n > 1 {
				sd = max(sd, m.sd())
			}
		}
		if c := fit.Coefficients[last].Value; c >= 0 && c <= m.mean+slackErrors*sd/math.Sqrt(float64(m.n)) {
			return fit, nil
		}
	}
	fit, err = fitPoints(points, products[:last], products, &least, o)
	if err == nil && fit.Coefficients[last].Value >= 0 || err != nil && !errors.Is(err, errNegative) {
		return fit, err
	}
	return fitPoints(points, products[:last], products, nil, o)
}

// slackErrors is by how many standard errors the constant may be above the shortest mean time. The smallest of a
// hundred normal means is two and a half below the true one as a rule, that of a million less than five.
const slackErrors = 5

// fitPoints fits the sum of the products to the means of the points. If it is to go
// through one of them, a constant is added to the products that does so. The deviation
// is fitted to terms of its own: calls too short to show in the fit have noise, too.
func fitPoints(points []point, products, noise []product, through *point, o KernelOptions) (*Fit, error) {
	x, y := design(points, products)
	// Weights: with a time as the divisor of its residual, all sizes count alike in percent.
	var w []float64 // 1/y² for relative residuals
	for _, v := range y {
		if !o.Relative {
			break
		}
		if v <= 0 {
			return nil, fmt.Errorf("%w: a size takes 0 s: there is no relative residual", ErrMeaningless)
		}
		w = append(w, 1/v/v)
	}
	// A fit through a point is one without a constant of the differences from it.
	fromX, fromY := x, y
	var x0, y0 []float64
	if through != nil {
		x0, y0 = design([]point{*through}, products)
		fromX, fromY = slices.Clone(x), slices.Clone(y)
		for i := range x {
			fromX[i] -= x0[i%len(x0)]
		}
		for i := range y {
			fromY[i] -= y0[0]
		}
	}
	l, err := regress.LeastSquares(fromX, fromY, w, len(products))
	switch {
	case errors.Is(err, regress.ErrTooFew):
		return nil, fmt.Errorf("%w: %w (different sizes)", ErrMeaningless, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrMeaningless, err)
	}
	aic, bic := l.Criteria()
	f := &Fit{Points: len(points), R2: l.R2, Sigma: l.Sigma(), ConditionNo: l.Cond, AIC: aic, BIC: bic}
	for j, p := range products {
		f.Coefficients = append(f.Coefficients, Coefficient{Term: p.text, Value: l.Coef[j], StdErr: l.StdErr[j]})
	}
	constant := 0.0
	if through != nil {
		// The residual of the point is 0 by construction: it is no degree of freedom.
		free := float64(l.N - len(l.Coef))
		more := math.Sqrt(free / (free - 1))
		f.Sigma *= more
		for j := range f.Coefficients {
			f.Coefficients[j].StdErr *= more
		}
		// The standard error of the constant is that of the mean of the point's timings.
		constant = y0[0] - regress.Dot(l.Coef, x0)
		c := Coefficient{Term: "1", Value: constant, Fixed: true}
		if n := through.seconds.n; n > 1 {
			c.StdErr = through.seconds.sd() / math.Sqrt(float64(n))
		}
		f.Coefficients = append(f.Coefficients, c)
		f.AIC += 2 // it counts as a coefficient
		f.BIC += math.Log(float64(l.N))
	}
	// How far the fit is from the means: in percent of each, and of all time, in which long calls count most.
	p, sum, compared, off, total := len(products), 0.0, 0, 0.0, 0.0
	for i, mean := range y {
		fitted := constant + regress.Dot(l.Coef, x[i*p:(i+1)*p])
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
	// Times below zero for most of the sizes, or a main term without a positive coefficient, mean nothing.
	main := f.Coefficients[0] // the first term but the constant, unless that is all there is
	if i := slices.IndexFunc(f.Coefficients, func(c Coefficient) bool { return c.Term != "1" }); i >= 0 {
		main = f.Coefficients[i]
	}
	switch {
	case main.Value <= 0:
		kind := ErrMeaningless
		// Within three standard errors of zero a normal variable is in all cases but one of 370.
		if -main.Value < 3*main.StdErr {
			kind = errLevel
		}
		return nil, fmt.Errorf("%w: %s s per %s: times would fall as sizes grow, below zero in the end", kind,
			FormatNumber(main.Value), main.Term)
	case 2*f.NegativeSizes > len(y):
		return nil, fmt.Errorf("%w for %d of %d sizes", errNegative, f.NegativeSizes, len(y))
	}
	if !o.Relative {
		f.ResidualGrowth = residualGrowth(y, f.fitted)
	}
	f.NoiseModel = fitNoise(points, noise, o.Relative)
	return f, nil
}

// residualGrowth returns how many times as large the residuals of the slower half of the points are as those of the
// faster half, root mean squares; 0 where those are 0 or there are too few points to say.
func residualGrowth(y, fitted []float64) float64 {
	if len(y) < minGrowthPoints {
		return 0
	}
	order := regress.UpTo(len(y))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	half, sums := len(y)/2, [2]float64{}
	for side, list := range [][]int{order[:half], order[len(order)-half:]} {
		for _, i := range list {
			e := y[i] - fitted[i]
			sums[side] += float64(e * e)
		}
	}
	if sums[0] == 0 {
		return 0
	}
	return math.Sqrt(sums[1] / sums[0])
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

// minGrowthPoints is the number of points below which a half of them says nothing about residuals.
const minGrowthPoints = 10

// errLevel marks a fit whose main term is not positive, but may as well be zero: times fall by no
// more than the uncertainty of the fit. Its text is that of ErrMeaningless.
var errLevel = fmt.Errorf("%w", ErrMeaningless)

// errNegative marks a fit whose times are below zero for most sizes: the long calls, or
// the scatter of theirs, have bent it.
var errNegative = fmt.Errorf("%w: a time below zero", ErrMeaningless)

// fitNoise returns the moments of the timings about the mean of their size, and the fit
// of the standard deviation of each size to terms: all sizes alike, or weighed by the
// square of their mean time if relative. It is nil without sizes that were timed twice.
func fitNoise(points []point, terms []product, relative bool) *Noise {
	p := len(terms)
	x, _ := design(points, terms)
	n := &Noise{}
	var rows, mean, sd, w []float64
	squares, cubes, seen := 0.0, 0.0, 0.0
	xx, xy := 0.0, 0.0 // of the slope of the deviation over the first term, of a line through the origin
	for i := range points {
		m := &points[i].seconds
		if m.n < 2 {
			continue
		}
		n.Points++
		rows = append(rows, x[i*p:(i+1)*p]...)
		s := m.sd()
		mean, sd = append(mean, m.mean), append(sd, s)
		if relative {
			w = append(w, 1/m.mean/m.mean)
		}
		if m.mean > 0 {
			squares += float64((s / m.mean) * (s / m.mean))
		}
		if m.n > 2 && s > 0 {
			cubes += float64(float64(m.n) * m.skewness())
			seen += float64(float64(m.n) * skewnessSeen(m.n))
		}
		xx += float64(x[i*p] * x[i*p])
		xy += float64(x[i*p] * s)
	}
	if n.Points == 0 {
		return nil
	}
	// The deviation in parts of the time, the skewness that half-normal noise of so many timings
	// would show as its own, and the deviation by the terms, which says how it grows with the size.
	n.Variation = math.Sqrt(squares / float64(n.Points))
	if seen > 0 {
		n.Skewness = new(cubes / seen)
	}
	if xx != 0 {
		n.MainTerm = xy / xx
	}
	l, err := regress.LeastSquares(rows, sd, w, p)
	if err != nil {
		n.Unfitted = fmt.Sprintf("no fit of the deviation: %v", err)
		return n
	}
	for i, seconds := range mean {
		if fitted := regress.Dot(l.Coef, rows[i*p:(i+1)*p]); fitted < 0 || fitted > seconds {
			n.Absurd++
		}
	}
	for j, term := range terms {
		n.Coefficients = append(n.Coefficients, Coefficient{Term: term.text, Value: l.Coef[j], StdErr: l.StdErr[j]})
	}
	return n
}

// Noise that a kernel file can have.
const (
	NoNoise    = "none"
	Normal     = "normal"
	HalfNormal = "half-normal"
)

// IsHalfNormal reports whether noise of a skewness is rather half-normal than normal.
func IsHalfNormal(skewness float64) bool { return skewness > halfNormalSkewness/2 }

// halfNormalSkewness is the skewness of half-normal noise, sqrt(2)(4-pi)/(pi-2)^1.5.
const halfNormalSkewness = 0.99527

// lawOf returns the law for noise of a skewness: the one that is asked for or, where it
// is to be chosen, the one whose skewness is nearer.
func lawOf(asked string, skewness float64) string {
	switch {
	case asked != Auto:
		return asked
	case IsHalfNormal(skewness):
		return HalfNormal
	}
	return Normal
}
