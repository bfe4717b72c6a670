package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/calibrate/regress"
)

// ErrMeaningless is wrapped by the errors about data from which no model with a
// meaning can be fitted.
var ErrMeaningless = errors.New("no meaningful fit")

// Grouping says for what there is a model of its own.
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

// KernelOptions says what FitKernels fits.
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

// Validate reports what is wrong with the options.
func (o *KernelOptions) Validate() error {
	var errs []error
	if !slices.Contains([]string{Auto, Constant, LinearOne, Polynomial}, o.Model) {
		errs = append(errs, fmt.Errorf("model %q, want auto, M-0, M-1 or M-2", o.Model))
	}
	if o.Criterion != "bic" && o.Criterion != "aic" {
		errs = append(errs, fmt.Errorf("criterion %q, want bic or aic", o.Criterion))
	}
	return errors.Join(errs...)
}

// KernelReport is the result of FitKernels.
type KernelReport struct {
	Timings   int64            `json:"timings"`
	FirstDate string           `json:"first_date,omitempty"`
	LastDate  string           `json:"last_date,omitempty"`
	Weights   string           `json:"weights"`   // "equal" or "relative"
	Criterion string           `json:"criterion"` // "bic" or "aic"
	Functions []FunctionReport `json:"functions"`
}

// FunctionReport is the model of one kernel.
type FunctionReport struct {
	Function   string      `json:"function"`
	Dims       []string    `json:"dims"`
	Model      string      `json:"model"`
	Candidates []Candidate `json:"candidates"`
	All        Fit         `json:"all"`              // of all points together
	Groups     []Fit       `json:"groups,omitempty"` // of each host or CPU

	groups [][]point // all points, then those of each group
}

// Candidate is a model that was tried.
type Candidate struct {
	Model     string   `json:"model"`
	Terms     []string `json:"terms"`
	Criterion float64  `json:"criterion"`         // sum over the fits; 0 if refused
	Refused   string   `json:"refused,omitempty"` // why
}

// Fit is one fit of one kernel.
type Fit struct {
	Host          string        `json:"host,omitempty"`
	CPU           *int          `json:"cpu,omitempty"`
	Points        int           `json:"points"`  // different sizes, by host and CPU
	Timings       int64         `json:"timings"` // all of them
	Coefficients  []Coefficient `json:"coefficients"`
	R2            float64       `json:"r2"`
	Sigma         float64       `json:"residual_sd"`          // seconds; relative if the weights are
	MeanError     float64       `json:"mean_relative_error"`  // mean of |fit - mean| / mean
	WorstError    float64       `json:"worst_relative_error"` // largest of them
	ConditionNo   float64       `json:"condition_number"`     // of the scaled terms
	NegativeSizes int           `json:"negative_sizes"`       // points whose fitted time is below zero, and so counts as none
	NoiseModel    *Noise        `json:"noise,omitempty"`      // of sizes timed at least twice
	AIC           float64       `json:"aic"`
	BIC           float64       `json:"bic"`

	fitted []float64 // seconds, of each point
}

// Coefficient is a term of a fit.
type Coefficient struct {
	Term   string  `json:"term"`
	Value  float64 `json:"value"`           // seconds per unit of the product
	StdErr float64 `json:"std_error"`       // seconds per unit of the product
	Fixed  bool    `json:"fixed,omitempty"` // the fit goes through the shortest time measured
}

// FitKernels fits a model to each kernel of t. Each size on each CPU is one
// point, at the mean of its timings. A fit that means nothing is an error that wraps ErrMeaningless.
func FitKernels(t *Timings, o KernelOptions) (*KernelReport, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(t.functions) == 0 {
		return nil, fmt.Errorf("%w: no timings", ErrMeaningless)
	}
	r := &KernelReport{Timings: t.rows, FirstDate: t.first, LastDate: t.last, Weights: "equal", Criterion: o.Criterion}
	if o.Relative {
		r.Weights = "relative"
	}
	if err := checkNames(t, o); err != nil {
		return nil, err
	}
	for _, f := range t.functions {
		fitted, err := fitFunction(f, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		r.Functions = append(r.Functions, *fitted)
	}
	return r, nil
}

// checkNames refuses terms for kernels that were not measured.
func checkNames(t *Timings, o KernelOptions) error {
	var unknown []string
	for name := range o.Terms {
		if t.byName[name] == nil {
			unknown = append(unknown, name)
		}
	}
	for name := range o.Product {
		if t.byName[name] == nil {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	if len(unknown) > 0 {
		return fmt.Errorf("terms given for %s, of which there are no timings", strings.Join(slices.Compact(unknown), ", "))
	}
	return nil
}

// fitFunction tries the candidates on all points and on each group, and takes
// the one of the smallest sum of the criterion over the fits that are used.
func fitFunction(f *function, o KernelOptions) (*FunctionReport, error) {
	if err := checkGroups(f.points, o.For); err != nil {
		return nil, err
	}
	best := -1
	var bestFits []Fit
	r := &FunctionReport{Function: f.name, Dims: f.dims, Candidates: candidates(f, o), groups: groups(f.sorted(), o.For)}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		fits, err := fitCandidate(f, c, r.groups, o)
		if err != nil {
			c.Refused = err.Error()
			if len(r.Candidates) == 1 {
				return nil, err
			}
			continue
		}
		for _, fit := range fits[min(1, len(fits)-1):] {
			c.Criterion += fit.criterion(o.Criterion)
		}
		if best < 0 || c.Criterion < r.Candidates[best].Criterion {
			best, bestFits = i, fits
		}
	}
	if best < 0 {
		return nil, refusedAll(r.Candidates)
	}
	r.Model, r.All, r.Groups = r.Candidates[best].Model, bestFits[0], bestFits[1:]
	return r, nil
}

// checkGroups refuses points that do not say to which group they belong, or whose
// host has a name that kernel files would take for a pattern.
func checkGroups(points []point, by Grouping) error {
	for i := range points {
		p := &points[i]
		switch {
		case by == ForAll:
		case p.host == "":
			return fmt.Errorf("%w: a model for each host, but there are timings without a host", ErrMeaningless)
		case p.host != plain(p.host):
			return fmt.Errorf("%w: host %q, want letters, digits, points, _ and -", ErrMeaningless, p.host)
		case by == ForCPU && p.cpu == noCPU:
			return fmt.Errorf("%w: a model for each CPU, but there are timings without one, on host %s", ErrMeaningless, p.host)
		}
	}
	return nil
}

func refusedAll(list []Candidate) error {
	var why []string
	for _, c := range list {
		why = append(why, c.Model+": "+c.Refused)
	}
	return fmt.Errorf("%w: %s", ErrMeaningless, strings.Join(why, "; "))
}

func (f *Fit) criterion(name string) float64 {
	if name == "aic" {
		return f.AIC
	}
	return f.BIC
}

// candidates returns the models to try.
func candidates(f *function, o KernelOptions) []Candidate {
	if terms := o.Terms[f.name]; terms != nil {
		return []Candidate{{Model: customModel, Terms: terms}}
	}
	one := o.Product[f.name]
	if one == "" {
		one = strings.Join(f.dims, "*")
	}
	full := polynomial(f.dims)
	if !slices.Contains(full, one) {
		full = append([]string{one}, full...)
	}
	list := []Candidate{{Model: Constant, Terms: []string{"1"}}, {Model: LinearOne, Terms: []string{one, "1"}}, {Model: Polynomial, Terms: full}}
	if o.NoOffset {
		for i := range list[1:] {
			list[1+i].Terms = slices.DeleteFunc(list[1+i].Terms, func(s string) bool { return s == "1" })
		}
	}
	if o.Model != Auto {
		list = slices.DeleteFunc(list, func(c Candidate) bool { return c.Model != o.Model })
	}
	return list
}

// groups returns all points, then, unless there is one model for all, those of
// each group in order. The points are sorted by host and CPU.
func groups(points []point, by Grouping) [][]point {
	list := [][]point{points}
	if by == ForAll {
		return list
	}
	begin := 0
	for i := 1; i <= len(points); i++ {
		if i < len(points) && points[i].host == points[begin].host && (by == ForHost || points[i].cpu == points[begin].cpu) {
			continue
		}
		list = append(list, points[begin:i])
		begin = i
	}
	return list
}

// fitCandidate fits a model to each group.
func fitCandidate(f *function, c *Candidate, groups [][]point, o KernelOptions) ([]Fit, error) {
	var products []product
	for _, text := range c.Terms {
		p, err := parseProduct(text, f.dims)
		if err != nil {
			return nil, err
		}
		products = append(products, p)
	}
	var fits []Fit
	for i, points := range groups {
		fit, err := fitModel(points, products, o, c.Model == customModel)
		if err != nil && i > 0 {
			err = fmt.Errorf("%s: %w", place(points[0], o.For), err)
		}
		if err != nil {
			return nil, err
		}
		if i > 0 {
			fit.Host = points[0].host
			if o.For == ForCPU && points[0].cpu != noCPU {
				fit.CPU = &points[0].cpu
			}
		}
		fits = append(fits, *fit)
	}
	return fits, nil
}

func place(p point, by Grouping) string {
	if by == ForCPU && p.cpu != noCPU {
		return fmt.Sprintf("host %s, CPU %d", p.host, p.cpu)
	}
	return "host " + p.host
}

// fitModel is fitPoints with a constant that the timings bear out. Long calls leave
// it so uncertain that it may come out below zero, as if calls gave time back, or above the
// shortest time that was measured. The fit is then made to go through that time; if its constant
// is below zero even so, it has none. Given terms stay as they are.
func fitModel(points []point, products []product, o KernelOptions, given bool) (*Fit, error) {
	fit, err := fitPoints(points, products, nil, o)
	last := len(products) - 1
	if err != nil || given || last == 0 || products[last].text != "1" {
		return fit, err
	}
	least := slices.MinFunc(points, func(a, b point) int { return cmp.Compare(a.seconds.mean, b.seconds.mean) })
	if c := fit.Coefficients[last].Value; c >= 0 && c <= least.seconds.mean {
		return fit, nil
	}
	fit, err = fitPoints(points, products[:last], &least, o)
	if err != nil || fit.Coefficients[last].Value >= 0 {
		return fit, err
	}
	return fitPoints(points, products[:last], nil, o)
}

// fitPoints fits the sum of the products to the means of the points. If it is to
// go through one of them, a constant is added to the products that does so.
func fitPoints(points []point, products []product, through *point, o KernelOptions) (*Fit, error) {
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
		c := constantThrough(through, products, l.Coef)
		constant = c.Value
		f.Coefficients = append(f.Coefficients, c)
		f.AIC += 2 // it counts as a coefficient
		f.BIC += math.Log(float64(l.N))
	}
	if err := f.compare(points, x, y, l.Coef, constant); err != nil {
		return nil, err
	}
	f.NoiseModel = fitNoise(points, products, x)
	return f, nil
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

// compare fills in how far the fit is from the means. Times below zero for most
// of the sizes, or a main term without a positive coefficient, mean nothing.
func (f *Fit) compare(points []point, x, y, coef []float64, constant float64) error {
	p, sum, compared := len(coef), 0.0, 0
	for i, mean := range y {
		fitted := constant + regress.Dot(coef, x[i*p:(i+1)*p])
		f.fitted = append(f.fitted, fitted)
		f.Timings += points[i].seconds.n
		if fitted < 0 {
			f.NegativeSizes++
		}
		if mean > 0 {
			e := math.Abs(max(fitted, 0)-mean) / mean
			sum += e
			compared++
			f.WorstError = max(f.WorstError, e)
		}
	}
	if compared > 0 {
		f.MeanError = sum / float64(compared)
	}
	switch {
	case coef[0] <= 0:
		return fmt.Errorf("%w: %s s per %s: times would fall as sizes grow, below zero in the end", ErrMeaningless, number(coef[0]), f.Coefficients[0].Term)
	case 2*f.NegativeSizes > len(y):
		return fmt.Errorf("%w: a time below zero for %d of %d sizes", ErrMeaningless, f.NegativeSizes, len(y))
	}
	return nil
}
