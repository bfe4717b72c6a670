package hosts

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"reprise/calibrate"
	"reprise/calibrate/mixture"
	"reprise/trace/warning"
)

// Options says what Estimate estimates.
type Options struct {
	// Classes is the number of classes, 1 to 3; 0 chooses it by the Bayesian
	// information criterion. Classes that the sample names are taken as they are.
	Classes int
	// ByNoise tells classes by the first variable that is noise, instead of the
	// first one.
	ByNoise bool
}

// DefaultOptions returns the options of the command without flags.
func DefaultOptions() Options { return Options{} }

// Validate reports what is wrong with the options.
func (o Options) Validate() error {
	if o.Classes < 0 || o.Classes > mostLearned {
		return fmt.Errorf("%d classes, want 1 to %d, or 0 to choose", o.Classes, mostLearned)
	}
	return nil
}

// Report is the result of Estimate.
type Report struct {
	Processors int              `json:"units"` // hosts, or CPUs
	Days       int              `json:"days"`  // of all units together
	Candidates []ClassCandidate `json:"candidates,omitempty"`
	Classes    []ClassReport    `json:"classes"`
	Model      *Model           `json:"model"`
	// Warnings are those about what the sample is from, never nil.
	Warnings []warning.Warning `json:"warnings"`
}

// ClassReport says what a class was estimated from, and how exactly.
type ClassReport struct {
	Name    string   `json:"name"`
	Members []string `json:"members"` // host, or host:CPU
	Days    int      `json:"days"`
	// MeanError are the standard errors of the mean, by variable.
	MeanError []float64 `json:"mean_std_error"`
	// FitError are those of one day's fit, root mean squares, where the sample was timings.
	FitError []float64 `json:"fit_std_error,omitempty"`
	// OfMeans is the covariance of the units' means: that between units, and the part
	// of that between days which the number of days leaves.
	OfMeans [][]float64 `json:"covariance_of_means"`
	// Constant are the variables between whose units there is no more than days explain, and
	// Shrunk is what the correlations between units were multiplied by, so that the spatial
	// covariance is positive semi-definite.
	Constant []string          `json:"constant,omitempty"`
	Shrunk   float64           `json:"correlations_shrunk"`
	Notes    []string          `json:"notes,omitempty"`
	Noise    []KernelVariation `json:"noise,omitempty"`
}

// KernelVariation is the noise of a kernel as a part of its time.
type KernelVariation struct {
	Kernel    string  `json:"kernel"`
	Variation float64 `json:"variation"` // deviation per unit of the first term / time per unit of the same term
}

// Estimate returns the model of a sample, by moments without bias: of each class,
//
//	temporal = sum over units h and days d of (x(h,d)-x(h))·(x(h,d)-x(h))ᵀ / (days - units)
//	spatial  = covariance of the units' means x(h) - temporal · mean over h of 1/days(h)
//	mean     = mean of the x(h)
//
// where the covariance of the means has units - 1 degrees of freedom. What that leaves
// of a spatial covariance may be none: a variance that is not above zero becomes zero, and
// correlations shrink as far as they must. An error about a sample that does not suffice wraps
// calibrate.ErrMeaningless.
func Estimate(s *Sample, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	units, err := s.units()
	if err != nil {
		return nil, err
	}
	m := &Model{PerCPU: s.PerCPU, CPUsPerHost: 1, Shape: s.Shape, Variables: s.Variables}
	if s.PerCPU {
		numbers := make([]int, len(units))
		for i, u := range units {
			numbers[i] = u.cpu
		}
		if err := calibrate.CheckCPUs(numbers); err != nil {
			return nil, err
		}
		m.CPUsPerHost = slices.Max(numbers) + 1
	}
	r := &Report{Processors: len(units), Days: len(s.Records), Model: m, Warnings: warning.Join(s.Warnings)}
	groups, err := r.classify(units, o)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		report, class, err := estimateClass(g, s.Variables, m.unit())
		if err != nil {
			return nil, fmt.Errorf("class %q: %w", g.name, err)
		}
		class.Weight = float64(len(g.units)) / float64(len(units))
		r.Classes, m.Classes = append(r.Classes, *report), append(m.Classes, *class)
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", calibrate.ErrMeaningless, err)
	}
	return r, nil
}

// group is the units of a class.
type group struct {
	name  string
	units []*unitOf
}

// classify divides the units into classes: those that they are said to be in, or
// learned ones.
func (r *Report) classify(units []*unitOf, o Options) ([]group, error) {
	if len(units) == 0 {
		return nil, fmt.Errorf("%w: no rows", calibrate.ErrMeaningless)
	}
	if units[0].class == "" {
		return r.learnClasses(units, o)
	}
	var groups []group
	for _, u := range units {
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == u.class })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{name: u.class})
		}
		groups[i].units = append(groups[i].units, u)
	}
	if o.Classes != 0 && o.Classes != len(groups) {
		return nil, fmt.Errorf("%d classes asked for, but the table has %d", o.Classes, len(groups))
	}
	return groups, nil
}

func estimateClass(g group, variables []Variable, unit string) (*ClassReport, *Class, error) {
	if len(g.units) < 2 {
		return nil, nil, fmt.Errorf("%w: 1 %s: nothing says how %ss differ", calibrate.ErrMeaningless, unit, unit)
	}
	p := len(variables)
	r, c := &ClassReport{Name: g.name}, &Class{Name: g.name, Mean: make([]float64, p)}
	inverse, n := 0.0, float64(len(g.units))
	for _, u := range g.units {
		r.Members = append(r.Members, u.name())
		r.Days += len(u.records)
		inverse += 1 / float64(len(u.records)) / n
		for i, x := range u.mean {
			c.Mean[i] += x / n
		}
	}
	c.Temporal = temporal(g.units, r.Days, p)
	r.OfMeans = square(p)
	for _, u := range g.units {
		addOuter(r.OfMeans, difference(u.mean, c.Mean), 1/(n-1))
	}
	var none []int
	c.Spatial, none, r.Shrunk = semidefinite(combined(1, r.OfMeans, -inverse, c.Temporal))
	for _, i := range none {
		r.Constant = append(r.Constant, variables[i].String())
	}
	for i := range p {
		r.MeanError = append(r.MeanError, deviation(r.OfMeans, i)/math.Sqrt(n))
	}
	r.FitError = fitError(g.units)
	r.setNotes(unit, p)
	r.noteFits(c, variables)
	r.setNoise(c, variables)
	return r, c, nil
}

// temporal returns the covariance between the days of a unit, pooled over units;
// 0 if all have one day only.
func temporal(units []*unitOf, days, p int) [][]float64 {
	sum := square(p)
	freedom := float64(days - len(units))
	if freedom == 0 {
		return sum
	}
	for _, u := range units {
		for _, r := range u.records {
			addOuter(sum, difference(r.Values, u.mean), 1/freedom)
		}
	}
	return sum
}

// fitError returns the root mean square of the standard errors of the units' records, by
// variable; empty if these have none.
func fitError(units []*unitOf) []float64 {
	var squares []float64
	n := 0.0
	for _, u := range units {
		for _, r := range u.records {
			if squares == nil {
				squares = make([]float64, len(r.Errors))
			}
			for i, e := range r.Errors {
				squares[i] += float64(e * e)
			}
			n++
		}
	}
	for i, s := range squares {
		squares[i] = math.Sqrt(s / n)
	}
	return squares
}

func difference(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for i := range d {
		d[i] = x[i] - y[i]
	}
	return d
}

// setNotes says what the sample could not tell.
func (r *ClassReport) setNotes(unit string, p int) {
	if r.Days == len(r.Members) {
		r.Notes = append(r.Notes, fmt.Sprintf("one day of each %s: what differs between days counts as different between %ss",
			unit, unit))
	}
	if len(r.Members) <= p {
		r.Notes = append(r.Notes, fmt.Sprintf("%d %ss do not span %d variables: the spatial covariance is singular",
			len(r.Members), unit, p))
	}
	if len(r.Constant) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("no more difference between %ss than days explain, so none: %s", unit,
			strings.Join(r.Constant, ", ")))
	}
	if r.Shrunk < 1 {
		r.Notes = append(r.Notes, fmt.Sprintf("correlations between %ss contradict each other, so they are multiplied by %.2g", unit, r.Shrunk))
	}
}

// noteFits tells of variables whose difference between days may for a good part be the
// uncertainty of the fits.
func (r *ClassReport) noteFits(c *Class, variables []Variable) {
	for i, e := range r.FitError {
		if days := deviation(c.Temporal, i); days > 0 && e > days/2 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: a fit of one day has a standard error of %.2g, which is part of the difference between days: --relative, fewer terms or more timings make it smaller", variables[i], e))
		}
	}
}

// setNoise compares the noise of each kernel with the time of the same term.
func (r *ClassReport) setNoise(c *Class, variables []Variable) {
	for i, v := range variables {
		j := slices.Index(variables, Variable{Kernel: v.Kernel, Term: v.Term})
		first := !slices.ContainsFunc(r.Noise, func(k KernelVariation) bool { return k.Kernel == v.Kernel })
		if v.Noise && j >= 0 && first && c.Mean[j] > 0 {
			r.Noise = append(r.Noise, KernelVariation{v.Kernel, c.Mean[i] / c.Mean[j]})
		}
	}
}

const (
	mostLearned  = 3 // classes
	leastMembers = 3 // of a learned class
)

// ClassCandidate is a number of classes that was tried.
type ClassCandidate struct {
	Classes int     `json:"classes"`
	BIC     float64 `json:"bic"`               // of the units' means, scaled
	Refused string  `json:"refused,omitempty"` // why
}

// learnClasses divides the units by the first variable, or by the first noise: mixtures of 1, 2 and 3
// normal laws are fitted to the units' means, and the one of the smallest BIC is taken. Each unit
// belongs to the class that it is most likely of; a class of fewer than three units is refused.
func (r *Report) learnClasses(units []*unitOf, o Options) ([]group, error) {
	at := 0
	if o.ByNoise {
		if at = slices.IndexFunc(r.Model.Variables, func(v Variable) bool { return v.Noise }); at < 0 {
			return nil, fmt.Errorf("%w: no noise, by which classes are to be told", calibrate.ErrMeaningless)
		}
	}
	x, least := scaledMeans(units, at)
	var best *mixture.Fit
	for k := 1; k <= mostLearned; k++ {
		if o.Classes != 0 && o.Classes != k {
			continue
		}
		c := ClassCandidate{Classes: k}
		f, err := mixture.New(x, k, mixture.Options{LeastVariance: least, LeastMembers: leastMembers})
		if err != nil {
			c.Refused = err.Error()
		} else if c.BIC = f.BIC(); best == nil || c.BIC < best.BIC() {
			best = f
		}
		r.Candidates = append(r.Candidates, c)
	}
	if best == nil {
		return nil, fmt.Errorf("%w: %d classes: %s", calibrate.ErrMeaningless, o.Classes, r.Candidates[0].Refused)
	}
	groups := make([]group, len(best.Laws))
	for i, v := range x {
		class := best.Class(v)
		groups[class].units = append(groups[class].units, units[i])
	}
	for i := range groups {
		groups[i].name = fmt.Sprintf("class-%d", i+1)
	}
	if len(groups) == 1 {
		groups[0].name = "all"
	}
	return groups, nil
}

// scaledMeans returns the units' means of a variable, with mean 0 and
// deviation 1, and the variance that a class has at least: that of a unit's mean by its
// days, or, of units that do not differ at all, a small one.
func scaledMeans(units []*unitOf, at int) (x []float64, least float64) {
	n := float64(len(units))
	mean, sum, within := 0.0, 0.0, 0.0
	days := 0
	for _, u := range units {
		mean += u.mean[at] / n
		days += len(u.records)
	}
	for _, u := range units {
		sum += float64((u.mean[at] - mean) * (u.mean[at] - mean))
		for _, r := range u.records {
			within += float64((r.Values[at] - u.mean[at]) * (r.Values[at] - u.mean[at]))
		}
	}
	x = make([]float64, len(units))
	if sum == 0 {
		return x, 1
	}
	variance := sum / max(1, n-1)
	for i, u := range units {
		x[i] = (u.mean[at] - mean) / math.Sqrt(variance)
	}
	if freedom := days - len(units); freedom > 0 {
		least = within / float64(freedom) * n / float64(days) / variance
	}
	return x, min(1, max(least, 1e-4))
}

// Tolerances of covariances, scaled to variances of 1: those in files are rounded.
const (
	symmetryTolerance = 1e-6
	pivotTolerance    = 1e-6
)

// square returns a matrix of zeros.
func square(p int) [][]float64 {
	m := make([][]float64, p)
	for i := range m {
		m[i] = make([]float64, p)
	}
	return m
}

// addOuter adds weight·v·vᵀ to m.
func addOuter(m [][]float64, v []float64, weight float64) {
	for i := range v {
		for j := range v {
			m[i][j] += float64(weight * v[i] * v[j])
		}
	}
}

// combined returns a·x + b·y.
func combined(a float64, x [][]float64, b float64, y [][]float64) [][]float64 {
	m := square(len(x))
	for i := range m {
		for j := range m {
			m[i][j] = float64(a*x[i][j]) + float64(b*y[i][j])
		}
	}
	return m
}

// checkCovariance refuses what is no covariance of p variables.
func checkCovariance(m [][]float64, p int) error {
	if len(m) != p {
		return fmt.Errorf("%d rows, want %d, one for each variable", len(m), p)
	}
	for i, row := range m {
		if len(row) != p {
			return fmt.Errorf("row %d: %d numbers, want %d", i+1, len(row), p)
		}
		for j, x := range row {
			if !isFinite(x) {
				return fmt.Errorf("row %d, column %d: %g, want a finite number", i+1, j+1, x)
			}
		}
		if row[i] < 0 {
			return fmt.Errorf("row %d: variance %g, want 0 or more", i+1, row[i])
		}
	}
	for i := range m {
		for j := range i {
			if scale := deviation(m, i) * deviation(m, j); !(math.Abs(m[i][j]-m[j][i]) <= symmetryTolerance*scale) {
				return fmt.Errorf("not symmetric: %g in row %d, column %d, and %g in row %d, column %d", m[i][j], i+1, j+1, m[j][i],
					j+1, i+1)
			}
		}
	}
	_, err := factor(m)
	return err
}

// deviation returns the standard deviation of variable i.
func deviation(m [][]float64, i int) float64 { return math.Sqrt(m[i][i]) }

// errIndefinite is about a matrix by which some sum of variables would have a
// variance below zero.
var errIndefinite = errors.New("not positive semi-definite: correlations contradict each other")

// factor returns the lower triangle l with l·lᵀ = m, which is positive
// semi-definite. A variable that those before it determine has no column of its own. So what is
// drawn of a variable does not depend on those after it.
func factor(m [][]float64) ([][]float64, error) {
	p := len(m)
	l := square(p)
	for j := range p {
		for i := j; i < p; i++ {
			scale := deviation(m, i) * deviation(m, j)
			if scale == 0 {
				if m[i][j] != 0 {
					return nil, errIndefinite // a covariance of what does not vary
				}
				continue
			}
			rest := m[i][j] / scale
			for k := range j {
				rest -= float64(l[i][k] * l[j][k])
			}
			switch {
			case i == j && rest < -pivotTolerance:
				return nil, errIndefinite
			case i == j && rest > pivotTolerance:
				l[j][j] = math.Sqrt(rest)
			case i == j:
			case l[j][j] > 0:
				l[i][j] = rest / l[j][j]
			case math.Abs(rest) > math.Sqrt(2*pivotTolerance):
				return nil, errIndefinite
			}
		}
	}
	for i := range l {
		for j := range l[i] {
			l[i][j] *= deviation(m, i)
		}
	}
	return l, nil
}

// semidefinite makes an estimate of a covariance one: a variable whose variance
// is not above zero has none, and the correlations of the others are multiplied by the
// largest factor up to 1 with which no sum of variables has a variance below zero. So variances
// above zero stay as they are. It returns which variables have none, and the factor.
func semidefinite(m [][]float64) (c [][]float64, none []int, factor float64) {
	p := len(m)
	c = square(p)
	s := mat.NewSymDense(p, nil)
	for i := range p {
		if m[i][i] <= 0 {
			none = append(none, i)
			s.SetSym(i, i, 1)
			continue
		}
		for j := range i + 1 {
			if m[j][j] > 0 {
				c[i][j], c[j][i] = m[i][j], m[i][j]
				s.SetSym(i, j, m[i][j]/deviation(m, i)/deviation(m, j))
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		panic("hosts: no eigenvalues of a symmetric matrix")
	}
	least := e.Values(nil)[0] // that of factor times correlations, plus 1: 1 + factor*(least - 1)
	if least >= -rounding {
		return c, none, 1
	}
	factor = 1 / (1 - least)
	for i := range p {
		for j := range i {
			c[i][j] *= factor
			c[j][i] = c[i][j]
		}
	}
	return c, none, factor
}

// rounding is how far eigenvalues of correlations may be below zero by rounding
// alone.
const rounding = 1e-12
