package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file has the report of FitKernels: its parts, its warnings, and its text for people (KernelReport.WriteText).
// findings are what it has in common with the report of LearnKernels (learn_report.go).

// KernelReport is the result of FitKernels.
type KernelReport struct {
	origin
	Weights   string           `json:"weights"`   // "equal" or "relative"
	Criterion string           `json:"criterion"` // "bic" or "aic"
	Functions []FunctionReport `json:"functions"`
	findings
}

// findings are the parts that reports on kernels have alike, however they are fitted.
type findings struct {
	Unfit []Unfit `json:"unfit"` // kernels and groups without a model; never nil
	warned
	cpuNumbers []int // of CPUs that were timed, ascending, if these have models of their own
	first      error // of the kernels without a model
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
	Place
	Points       int           `json:"points"`  // different sizes, by host and CPU
	Timings      int64         `json:"timings"` // all of them
	Coefficients []Coefficient `json:"coefficients"`
	R2           float64       `json:"r2"`
	Sigma        float64       `json:"residual_sd"`          // seconds; relative if the weights are
	MeanError    float64       `json:"mean_relative_error"`  // mean of |fit - mean| / mean
	WorstError   float64       `json:"worst_relative_error"` // largest of them
	// sum of |fit - mean| / sum of the means, in which long calls count most
	TimeError float64 `json:"time_error"`
	// ResidualGrowth is how many times as large the residuals of the slower half of the points are
	// as those of the faster half; 0 if not known, or if the fit is to relative ones.
	ResidualGrowth float64 `json:"residual_growth,omitempty"`
	ConditionNo    float64 `json:"condition_number"` // of the scaled terms
	NegativeSizes  int     `json:"negative_sizes"`   // points whose fitted time is below zero, and so counts as none
	NoiseModel     *Noise  `json:"noise,omitempty"`  // of sizes timed at least twice
	AIC            float64 `json:"aic"`
	BIC            float64 `json:"bic"`

	fitted []float64 // seconds, of each point
}

// Coefficient is a term of a fit.
type Coefficient struct {
	Term   string  `json:"term"`
	Value  float64 `json:"value"`           // seconds per unit of the product
	StdErr float64 `json:"std_error"`       // seconds per unit of the product
	Fixed  bool    `json:"fixed,omitempty"` // the fit goes through the shortest time measured
}

// Noise describes how timings of one size scatter, by moments.
type Noise struct {
	Points    int     `json:"points"`    // sizes with at least two timings
	Variation float64 `json:"variation"` // root of the mean square of sd/mean over the sizes
	// of sizes with at least three timings; in the mean 0 for normal noise and 0.995
	// for half-normal, however few there are
	Skewness *float64 `json:"skewness,omitempty"`
	// seconds per unit of the model's first term: the deviation as a fit to this term alone
	MainTerm float64 `json:"sd_main_term"`
	// deviation as a fit to the model's terms: heteroscedastic noise
	Coefficients []Coefficient `json:"sd_terms,omitempty"`
	// sizes at which that fit is below zero, or above the time
	Absurd   int    `json:"sd_absurd_sizes,omitempty"`
	Unfitted string `json:"unfitted,omitempty"` // why there is no such fit
}

// Place is a host or CPU with a model of its own.
type Place struct {
	Host string `json:"host,omitempty"`
	CPU  *int   `json:"cpu,omitempty"`
	Day  string `json:"day,omitempty"` // where days are kept apart
}

// Unfit is a kernel without a model, or a host or CPU without one of its own.
type Unfit struct {
	Function string `json:"function"`
	Group    string `json:"group,omitempty"` // as "host 3, CPU 1"; "": the kernel has none at all
	Why      string `json:"why"`
}

// String names the kernel or group without a model, and the reason.
func (u Unfit) String() string {
	if u.Group == "" {
		return fmt.Sprintf("%s: no model: %s", u.Function, u.Why)
	}
	return fmt.Sprintf("%s: no model of %s, which is left out: %s", u.Function, u.Group, u.Why)
}

// warned holds the warnings of a report, which are never nil in one that is returned.
type warned struct {
	Warnings []warning.Warning `json:"warnings"`
}

// Warned returns the warnings.
func (r *warned) Warned() []warning.Warning { return r.Warnings }

func (r *warned) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, warning.New(format, args...))
}

// begin checks timings and the terms that are given for their kernels, and returns what all reports on them begin with.
func (t *Timings) begin(terms map[string][]string, by Grouping) (findings, error) {
	r := findings{Unfit: []Unfit{}, warned: warned{[]warning.Warning{}}}
	if len(t.functions) == 0 {
		return r, fmt.Errorf("%w: no timings", ErrMeaningless)
	}
	for _, name := range slices.Sorted(maps.Keys(terms)) {
		found := false
		for _, f := range t.functions {
			if f.name != name {
				continue
			}
			found = true
			list, err := parseProducts(terms[name], f.dims)
			if err != nil {
				return r, fmt.Errorf("%s: %w", name, err)
			}
			for i, p := range list {
				same := func(q product) bool { return slices.Equal(p.powers, q.powers) }
				if j := slices.IndexFunc(list[:i], same); j >= 0 {
					return r, fmt.Errorf("%s: terms %s and %s are the same", name, list[j].text, p.text)
				}
			}
		}
		if !found {
			return r, fmt.Errorf("terms given for %s, of which there are no timings", name)
		}
	}
	if by == ForCPU {
		r.cpuNumbers = t.cpuNumbers()
	}
	return r, nil
}

// leaveOut notes a kernel without a model, which costs the others nothing.
func (r *findings) leaveOut(f *function, err error) {
	name := fullName(f.name, f.attrs)
	r.first = cmp.Or(r.first, fmt.Errorf("%s: %w", name, err))
	r.Unfit = append(r.Unfit, Unfit{Function: name, Why: err.Error()})
}

// end warns of all that has no model. If nothing has one, that is an error about the
// first kernel, which carries the warnings of the others.
func (r *findings) end(models int) error {
	for _, u := range r.Unfit {
		r.warn("%v", u)
	}
	if models == 0 {
		return warning.With(r.first, r.Warnings[1:])
	}
	return nil
}

// WriteText writes the report for people.
func (r *KernelReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.line())
	for i := range r.Functions {
		f := &r.Functions[i]
		fmt.Fprintf(&b, "\n%s(%s)   model %s\n", f.Function, strings.Join(f.Dims, ","), f.Model)
		for _, c := range f.Candidates {
			if c.Refused != "" {
				fmt.Fprintf(&b, "  %-5s refused: %s\n", c.Model, c.Refused)
			} else {
				fmt.Fprintf(&b, "  %-5s %s %.1f   %s\n", c.Model, strings.ToUpper(r.Criterion), c.Criterion,
					strings.Join(c.Terms, " + "))
			}
		}
		writeFit(&b, "all", &f.All)
		for j := range f.Groups {
			g := &f.Groups[j]
			writeFit(&b, g.name(), g)
		}
	}
	for _, u := range r.Unfit {
		fmt.Fprintf(&b, "\n%v\n", u)
	}
	return textutil.Write(w, b.String())
}

// writeFit writes the coefficients of a fit, how good it is, and its noise.
func writeFit(b *strings.Builder, name string, f *Fit) {
	fmt.Fprintf(b, "\n  %s: %d timings of %d sizes\n", name, f.Timings, f.Points)
	textutil.WriteAligned(b, "  term|coefficient (s)|standard error|t", func(tab io.Writer) {
		for _, c := range f.Coefficients {
			t := "shortest"
			if !c.Fixed {
				t = fmt.Sprintf("%.1f", c.Value/c.StdErr)
			}
			fmt.Fprintf(tab, "    %s\t%.9e\t%.2e\t%s\t\n", c.Term, c.Value, c.StdErr, t)
		}
	})
	fmt.Fprintf(b, "    R2 %.6f   residual sd %.3e   relative error: mean %.2f %%, worst %.1f %%, of all time %.2f %%\n",
		f.R2, f.Sigma, 100*f.MeanError, 100*f.WorstError, 100*f.TimeError)
	if f.ResidualGrowth > uneven {
		fmt.Fprintf(b, "    residuals of the slower half of the sizes are %.0f times those of the faster half: the standard errors, t and the\n"+
			"    criterion suppose that they are equal, and say too much; --relative supposes equal percentages\n", f.ResidualGrowth)
	}
	if f.NegativeSizes > 0 {
		fmt.Fprintf(b, "    the fitted time of %d sizes is below zero and counts as none\n", f.NegativeSizes)
	}
	n := f.NoiseModel
	if n == nil {
		return
	}
	fmt.Fprintf(b, "    noise: %.2f %% of the time", 100*n.Variation)
	if n.Skewness != nil {
		fmt.Fprintf(b, ", skewness %.2f", *n.Skewness)
	}
	for i, c := range n.Coefficients {
		sign := "; sd = "
		if i > 0 {
			sign = " + "
		}
		fmt.Fprintf(b, "%s%.4e %s", sign, c.Value, c.Term)
	}
	if n.Absurd > 0 {
		fmt.Fprintf(b, ", which is below zero or above the time for %d of %d sizes", n.Absurd, n.Points)
	}
	if n.Unfitted != "" {
		fmt.Fprintf(b, "; %s", n.Unfitted)
	}
	b.WriteString("\n")
}

// uneven is the ratio of the residuals of large sizes to those of small ones above which a report
// warns. For residuals of equal spread, two halves of five points each exceed this ratio once in a
// hundred times (F of 5 and 5 degrees of freedom: 11), larger halves hardly ever.
const uneven = 3.3

// Names returns the names of the kernels that have a model.
func (r *KernelReport) Names() []string {
	return textutil.Texts(r.Functions, func(f FunctionReport) string { return f.Function })
}

// CheckNoise warns of the fits that have no noise of a law, because none of their sizes was timed
// twice. If none has, that is an error that wraps ErrMeaningless and carries the warnings.
func (r *KernelReport) CheckNoise(law string) error {
	if law == "" || law == NoNoise {
		return nil
	}
	var without []string
	fits := 0
	for i := range r.Functions {
		f := &r.Functions[i]
		for _, fit := range append([]Fit{f.All}, f.Groups...) {
			if fits++; fit.NoiseModel == nil {
				without = append(without, fmt.Sprintf("noise of %s, %s", f.Function, fit.name()))
			}
		}
	}
	switch {
	case len(without) == fits:
		return warning.With(fmt.Errorf("%w: %s: no size was timed twice", ErrMeaningless, without[0]), r.Warnings)
	case len(without) > 0:
		r.warn("%s, and of %d of %d fits in all: none in the kernel file, because no size was timed twice", without[0],
			len(without), fits)
	}
	return nil
}

// name names the host or CPU for people.
func (p Place) name() string {
	switch {
	case p.CPU != nil:
		return fmt.Sprintf("host %s, CPU %d", p.Host, *p.CPU)
	case p.Host != "":
		return "host " + p.Host
	}
	return "all timings"
}

// dated returns the name with the day, as far as days are kept apart.
func (p Place) dated() string {
	if p.Day != "" {
		return p.name() + ", " + p.Day
	}
	return p.name()
}

// plotName names the host or CPU as files of plots are called.
func (p Place) plotName() string {
	name := "host-" + textutil.Plain(p.Host)
	if p.CPU != nil {
		name += fmt.Sprintf("-cpu-%d", *p.CPU)
	}
	return name
}

// compare orders hosts, and the CPUs of each; all of a host is before these.
func (p Place) compare(q Place) int {
	cpu := func(p Place) int {
		if p.CPU == nil {
			return noCPU
		}
		return *p.CPU
	}
	return cmp.Or(CompareHosts(p.Host, q.Host), cpu(p)-cpu(q))
}

// Series holds the points of a plot of a fit.
type Series struct {
	Name    string    // of the fit, as dgemm-host-5-cpu-0; fit for the name of a file
	Title   string    // with the measure of the fit
	XLabel  string    // the name of X
	X       []float64 // size of each point: the first term of the model, or bytes
	Seconds []float64 // measured, mean
	Fitted  []float64 // seconds
}

// Series returns the points of each fit that the kernel file has, by the first term of the model.
func (r *KernelReport) Series() (list []Series) {
	for i := range r.Functions {
		f := &r.Functions[i]
		for j, fit := range append([]Fit{f.All}, f.Groups...) {
			name := f.Function + "-all"
			if j > 0 {
				name = f.Function + "-" + fit.plotName()
			}
			term, _ := parseProduct(fit.Coefficients[0].Term, f.Dims) // was parsed for the fit
			s := Series{Name: name, XLabel: term.text, Fitted: fit.fitted,
				Title: fmt.Sprintf("%s   %s   R2 %.4f", name, f.Model, fit.R2)}
			s.X, s.Seconds = design(f.groups[j], []product{term})
			list = append(list, s)
		}
	}
	return list
}

// Series returns the points of each operation.
func (r *NetworkReport) Series() (list []Series) {
	for _, op := range r.Operations {
		s := Series{Name: string(op.Operation), XLabel: "bytes", X: op.points.X, Seconds: op.points.Y,
			Title: fmt.Sprintf("%s   %d pieces   log error %.4f", op.Operation, len(op.Pieces), op.LogError)}
		for _, x := range s.X {
			s.Fitted = append(s.Fitted, op.fit.At(x))
		}
		list = append(list, s)
	}
	return list
}
