package hosts

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"reprise/calibrate"
	"reprise/calibrate/mixture"
	"reprise/internal/portable"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// Estimate returns the model of a sample, by moments without bias: of each class,
//
//	temporal = sum over units h and days d of (x(h,d)-x(h))·(x(h,d)-x(h))ᵀ / (days - units)
//	spatial  = covariance of the units' means x(h) - temporal · mean over h of 1/days(h)
//	mean     = mean of the x(h)
//
// where the covariance of the means has units - 1 degrees of freedom. The difference may be no
// covariance: a variance that is not above zero becomes zero, and correlations shrink as far as
// they must. An error about a sample that does not suffice wraps calibrate.ErrMeaningless.
func Estimate(s *Sample, o Options) (report *Report, err error) {
	defer textutil.Stopped(&err)
	if o.Classes < 0 || o.Classes > mostLearned {
		return nil, fmt.Errorf("%d classes, want 1 to %d, or 0 to choose", o.Classes, mostLearned)
	}
	units := textutil.Must(s.units())
	m := &Model{PerCPU: s.PerCPU, CPUsPerHost: 1, Shape: s.Shape, Variables: s.Variables}
	// Hosts of the model have as many CPUs as the highest number tells.
	if s.PerCPU {
		var numbers []int
		for _, u := range units {
			numbers = append(numbers, u.cpu)
		}
		textutil.Check(calibrate.CheckCPUs(numbers))
		m.CPUsPerHost = slices.Max(numbers) + 1
	}
	r := &Report{Processors: len(units), Days: len(s.Records), Model: m, Warnings: warning.Join(s.Warnings)}

	// Classes are those that the sample names, in order of appearance, or learned ones.
	var groups []group
	switch {
	case len(units) == 0:
		return nil, fmt.Errorf("%w: no rows", calibrate.ErrMeaningless)
	case units[0].class == "":
		groups = textutil.Must(r.learnClasses(units, o))
	default:
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
	}
	for _, g := range groups {
		report, class, err := estimateClass(g, s.Variables, m.unit())
		if err != nil {
			return nil, fmt.Errorf("class %q: %w", g.name, err)
		}
		class.Weight = float64(len(g.units)) / float64(len(units))
		r.Classes, m.Classes = append(r.Classes, *report), append(m.Classes, *class)
	}
	// The means of a class may be those of no host, as of coefficients below zero. Draws would never end then.
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", calibrate.ErrMeaningless, err)
	}
	return r, nil
}

// Options says which model Estimate estimates.
type Options struct {
	// Classes is the number of classes, 1 to 3; 0 chooses it by the Bayesian
	// information criterion. Classes that the sample names are taken as they are.
	Classes int
	// ByNoise tells classes by the first variable that is noise, instead of the first one.
	ByNoise bool
}

// Report is the result of Estimate. Classes are in the order of the model's, whose parameters the
// model has and whose exactness these reports have.
type Report struct {
	Processors int              `json:"units"` // hosts, or CPUs
	Days       int              `json:"days"`  // of all units together
	Candidates []ClassCandidate `json:"candidates,omitempty"`
	Classes    []ClassReport    `json:"classes"`
	Model      *Model           `json:"model"`
	// Warnings are those about the source of the sample, never nil.
	Warnings []warning.Warning `json:"warnings"`
}

// ClassReport describes the estimate of a class: its members, and how exact it is.
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
	// Constant are the variables in which units differ no more than days explain, and
	// Shrunk is the factor of the correlations between units that makes the spatial
	// covariance positive semi-definite, 1 where they are as estimated.
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

// group is the units of a class.
type group struct {
	name  string
	units []*unitOf
}

// estimateClass estimates the law of a class. unit is the word for its members.
func estimateClass(g group, variables []Variable, unit string) (*ClassReport, *Class, error) {
	if len(g.units) < 2 {
		return nil, nil, fmt.Errorf("%w: 1 %s: nothing says how %ss differ", calibrate.ErrMeaningless, unit, unit)
	}
	// The mean of a class is that of its units' means, each of which counts once, however many days it has.
	p, n := len(variables), float64(len(g.units))
	r, c := &ClassReport{Name: g.name}, &Class{Name: g.name, Mean: make([]float64, p)}
	inverse := 0.0 // mean over the units of 1/days
	for _, u := range g.units {
		r.Members = append(r.Members, u.String())
		r.Days += len(u.records)
		inverse += 1 / float64(len(u.records)) / n
		for i, x := range u.mean {
			c.Mean[i] += x / n
		}
	}

	// The covariance between days is pooled over the units; it is 0 if all have one day only.
	c.Temporal, r.OfMeans = portable.Square(p), portable.Square(p)
	freedom := float64(r.Days - len(g.units))
	for _, u := range g.units {
		for _, record := range u.records {
			if freedom > 0 {
				addOuter(c.Temporal, record.Values, u.mean, 1/freedom)
			}
			// Root mean squares of the standard errors of the fits, where records have them.
			if r.FitError == nil && len(record.Errors) > 0 {
				r.FitError = make([]float64, len(record.Errors))
			}
			for i, e := range record.Errors {
				r.FitError[i] += float64(e * e)
			}
		}
		addOuter(r.OfMeans, u.mean, c.Mean, 1/(n-1))
	}
	for i, squares := range r.FitError {
		r.FitError[i] = math.Sqrt(squares / float64(r.Days))
	}

	// The covariance of the means less the part that the number of days leaves. Without this part
	// the scatter of days would count twice: once in the average of a unit, and once in its days.
	between := portable.Square(p)
	for i := range p {
		for j := range p {
			between[i][j] = r.OfMeans[i][j] + float64(-inverse*c.Temporal[i][j])
		}
		r.MeanError = append(r.MeanError, deviation(r.OfMeans, i)/math.Sqrt(n))
	}
	var none []int
	c.Spatial, none, r.Shrunk = semidefinite(between)
	r.Constant = textutil.Texts(none, func(i int) string { return variables[i].String() })

	// Notes on the limits of the sample.
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	if r.Days == len(r.Members) {
		note("one day of each %s: what differs between days counts as different between %ss", unit, unit)
	}
	if len(r.Members) <= p {
		note("%d %ss do not span %d variables: the spatial covariance is singular", len(r.Members), unit, p)
	}
	if len(r.Constant) > 0 {
		note("no more difference between %ss than days explain, so none: %s", unit, strings.Join(r.Constant, ", "))
	}
	if r.Shrunk < 1 {
		note("correlations between %ss contradict each other, so they are multiplied by %.2g", unit, r.Shrunk)
	}
	for i, e := range r.FitError {
		if days := deviation(c.Temporal, i); days > 0 && e > days/2 {
			note("%s: a fit of one day has a standard error of %.2g, which is part of the difference between days: "+
				"--relative, fewer terms or more timings make it smaller", variables[i], e)
		}
	}

	// The first noise of each kernel is compared with the time of the same term.
	for i, v := range variables {
		j := slices.Index(variables, Variable{Kernel: v.Kernel, Term: v.Term})
		first := !slices.ContainsFunc(r.Noise, func(k KernelVariation) bool { return k.Kernel == v.Kernel })
		if v.Noise && j >= 0 && first && c.Mean[j] > 0 {
			r.Noise = append(r.Noise, KernelVariation{v.Kernel, c.Mean[i] / c.Mean[j]})
		}
	}
	return r, c, nil
}

// Bounds of learned classes: their number, and the units of each.
const (
	mostLearned  = 3
	leastMembers = 3
)

// ClassCandidate is a number of classes that was tried.
type ClassCandidate struct {
	Classes int     `json:"classes"`
	BIC     float64 `json:"bic"`               // of the units' means, scaled
	Refused string  `json:"refused,omitempty"` // why
}

// learnClasses divides the units by the first variable, or by the first noise: mixtures of 1, 2 and
// 3 normal laws are fitted to the units' means, and the one of the smallest BIC is taken. Each unit
// belongs to the class that it is most likely of; a class of fewer than three units is refused.
func (r *Report) learnClasses(units []*unitOf, o Options) ([]group, error) {
	at := 0
	// A sample may have several noises; the first one decides.
	if o.ByNoise {
		if at = slices.IndexFunc(r.Model.Variables, func(v Variable) bool { return v.Noise }); at < 0 {
			return nil, fmt.Errorf("%w: no noise, by which classes are to be told", calibrate.ErrMeaningless)
		}
	}

	// The units' means are scaled to mean 0 and deviation 1. A class has at least the variance of a
	// unit's mean by its days; units that do not differ at all get a small one.
	n, days := float64(len(units)), 0
	mean, sum, within := 0.0, 0.0, 0.0
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
	// Scaled values make the bounds of variances independent of the unit, and of the size of the coefficient.
	x, least := make([]float64, len(units)), 1.0
	if sum > 0 {
		variance := sum / max(1, n-1)
		for i, u := range units {
			x[i] = (u.mean[at] - mean) / math.Sqrt(variance)
		}
		least = 0
		if freedom := days - len(units); freedom > 0 {
			least = within / float64(freedom) * n / float64(days) / variance
		}
		least = min(1, max(least, 1e-4))
	}

	var best *mixture.Fit
	// The smallest BIC wins; a number of classes that was asked for is tried alone.
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
	// Classes are in the order of their means. A unit belongs to one class alone, although the laws
	// overlap: the estimate of a class takes its members as they are.
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

// mostNamed is how many members of a class the text report names.
const mostNamed = 8

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	unit := r.Model.unit()
	fmt.Fprintf(&b, "%d %ss, %d days of them\n", r.Processors, unit, r.Days)
	for _, c := range r.Candidates {
		if c.Refused != "" {
			fmt.Fprintf(&b, "  %d classes: refused: %s\n", c.Classes, c.Refused)
		} else {
			fmt.Fprintf(&b, "  %d classes: BIC %.1f\n", c.Classes, c.BIC)
		}
	}
	// A deviation is told in seconds and as a part of the mean; a coefficient of 0 has no such part.
	percent := func(part, whole float64) string {
		if whole == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f %%", 100*part/math.Abs(whole))
	}
	// Classes have a table each, of a line for each variable: the standard error is that of the
	// mean, the deviations those of the law.
	for i := range r.Classes {
		report, class := &r.Classes[i], &r.Model.Classes[i]
		fmt.Fprintf(&b, "\n%s: %d %ss, %d days", class.Name, len(report.Members), unit, report.Days)
		if len(r.Classes) > 1 {
			named := report.Members[:min(mostNamed, len(report.Members))]
			fmt.Fprintf(&b, ": %s", strings.Join(named, " "))
			if len(named) < len(report.Members) {
				b.WriteString(" ...")
			}
		}
		b.WriteString("\n")
		header := fmt.Sprintf("variable|mean (s)|standard error|sd between %ss||sd between days|", unit)
		textutil.WriteAligned(&b, header, func(tab io.Writer) {
			for j, v := range r.Model.Variables {
				mean := class.Mean[j]
				spatial, temporal := deviation(class.Spatial, j), deviation(class.Temporal, j)
				fmt.Fprintf(tab, "  %s\t%.6e\t%.1e\t%.3e\t%s\t%.3e\t%s\t\n", v, mean, report.MeanError[j], spatial,
					percent(spatial, mean), temporal, percent(temporal, mean))
			}
		})
		for _, n := range report.Noise {
			fmt.Fprintf(&b, "  noise of %s: %.2f %% of the time, %s\n", n.Kernel, 100*n.Variation, r.Model.Shape)
		}
		for _, note := range report.Notes {
			fmt.Fprintf(&b, "  %s\n", note)
		}
	}
	return textutil.Write(w, b.String())
}
