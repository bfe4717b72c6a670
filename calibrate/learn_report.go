package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"reprise/calibrate/regress"
	"reprise/trace/warning"
)

// This file has the report of LearnKernels: what it says of each kernel, and its text. kernel_file.go writes it as a
// kernel file.

// LearnReport is the result of LearnKernels.
type LearnReport struct {
	origin
	Statistic Statistic       `json:"statistic"`
	Kernels   []LearnedKernel `json:"kernels"`
	Missing   []string        `json:"missing,omitempty"` // kernels of the run without timings
	Unfit     []Unfit         `json:"unfit"`             // kernels and groups without a model; never nil
	warned

	// HostScatter is the standard deviation of the times of hosts relative to the models, at most 0.2; 0 if it is
	// not known, as of less than three hosts, or if hosts have models of their own.
	HostScatter float64 `json:"host_scatter,omitempty"`

	cpuNumbers []int // of CPUs that were timed, ascending, if these have models of their own
}

// LearnedKernel is the model of a kernel with its attributes.
type LearnedKernel struct {
	Function   string     `json:"function"`
	Attrs      []Attr     `json:"attributes,omitempty"`
	Dims       []string   `json:"dims"`
	Sizes      int        `json:"sizes"`
	Outliers   int        `json:"outliers"` // sizes that are far off those beside them, and left out
	Range      [][2]int64 `json:"range"`    // of each dimension
	Error      float64    `json:"relative_error"`
	WorstError float64    `json:"worst_relative_error"`
	Share      *float64   `json:"share_of_run,omitempty"` // of the time of all kernels of the run
	// of this kernel's time in the run: calls beyond the sizes measured
	Outside float64        `json:"share_outside,omitempty"`
	Pieces  []LearnedPiece `json:"pieces"`
	Groups  []LearnedGroup `json:"groups,omitempty"` // hosts, or CPUs

	ratios  map[string]float64 // by host: of its times by those of the model, the median
	seconds float64            // in the run
}

// LearnedGroup is the model of a host or CPU, with the pieces and terms of that of all.
type LearnedGroup struct {
	Place
	Error      float64        `json:"relative_error"`
	WorstError float64        `json:"worst_relative_error"`
	Pieces     []LearnedPiece `json:"pieces"`

	sizes []size
}

// LearnedPiece is a sum of terms that holds between thresholds.
type LearnedPiece struct {
	If           string        `json:"if,omitempty"`
	Points       int           `json:"points"`
	Coefficients []Coefficient `json:"coefficients"`
	Covariance   [][]float64   `json:"covariance"` // of the coefficients, in s²
	// standard deviation of the timings of a size on a host, as a part of their median
	Variation float64 `json:"variation"`
	Skewness  float64 `json:"skewness"` // of these timings, 0 of too few to tell normal from half-normal noise

	// of the sizes that the piece is for, whatever pieces are before it
	regress.Box `json:"-"`
	products    []product
}

// Coefficient is a term of a fit.
type Coefficient struct {
	Term   string  `json:"term"`
	Value  float64 `json:"value"`     // seconds per unit of the product
	StdErr float64 `json:"std_error"` // seconds per unit of the product
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

// name names the host or CPU for people, and the day, where days are kept apart.
func (p Place) name() string {
	name := "host " + p.Host
	if p.CPU != nil {
		name += fmt.Sprintf(", CPU %d", *p.CPU)
	}
	if p.Day != "" {
		name += ", " + p.Day
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

// warned holds the warnings of a report, which are never nil in one that is returned.
type warned struct {
	Warnings []warning.Warning `json:"warnings"`
}

// Warned returns the warnings.
func (r *warned) Warned() []warning.Warning { return r.Warnings }

func (r *warned) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, warning.New(format, args...))
}

// at returns the seconds of a size, whether or not the piece is for it.
func (p *LearnedPiece) at(d *[MaxDims]int64) (sum float64) {
	for j := range p.products {
		sum += float64(p.Coefficients[j].Value * p.products[j].at(d))
	}
	return sum
}

// secondsOf returns what pieces say of a size: that which holds, or the last.
func secondsOf(pieces []LearnedPiece, d *[MaxDims]int64) float64 {
	for i := range pieces[:len(pieces)-1] {
		if holds(pieces[i].Box, d) {
			return pieces[i].at(d)
		}
	}
	return pieces[len(pieces)-1].at(d)
}

// errorsOf returns how far pieces are from sizes: on average by weight, and at worst.
func errorsOf(pieces []LearnedPiece, sizes []size) (mean, worst float64) {
	sum, total := 0.0, 0.0
	for i := range sizes {
		s := &sizes[i]
		e := math.Abs(secondsOf(pieces, &s.dims)/s.seconds - 1)
		sum, total = sum+float64(s.weight*e), total+s.weight
		worst = max(worst, e)
	}
	return sum / total, worst
}

// share fills in which part of the run's time each kernel takes, and on sizes that were not measured.
func (r *LearnReport) share(run *Run) {
	if run == nil {
		return
	}
	// By each kernel's model: the time of its calls, and that of calls with a dimension far from all that was measured.
	total := 0.0
	for i := range r.Kernels {
		k := &r.Kernels[i]
		outside := 0.0
		for _, c := range run.of(&function{name: k.Function, attrs: k.Attrs, dims: k.Dims}) {
			seconds := c.number * secondsOf(k.Pieces, &c.dims)
			k.seconds += seconds
			for d, r := range k.Range {
				if x := float64(c.dims[d]); x > slackOfRange*float64(r[1]) || x < float64(r[0])/slackOfRange {
					outside += seconds
					break
				}
			}
		}
		if k.seconds > 0 {
			k.Outside = outside / k.seconds
		}
		total += k.seconds
	}
	for i := range r.Kernels {
		if total > 0 {
			r.Kernels[i].Share = new(r.Kernels[i].seconds / total)
		}
	}
	// A prediction has no time for calls of kernels without timings.
	for i := range run.kernels {
		k := &run.kernels[i]
		if len(k.calls) > 0 && !slices.ContainsFunc(r.Kernels,
			func(l LearnedKernel) bool { return k.is(l.Function, l.Attrs) }) {
			r.Missing = append(r.Missing, fullName(k.name, k.attrs))
		}
	}
}

// slackOfRange is how many times larger or smaller than all that was measured a
// dimension may be before a call counts as outside.
const slackOfRange = 1.5

// A fit is warned of that is off by so much, or has so much of the run's time outside
// of its range, if it takes a part of the run's time that counts.
const (
	largeOutside = 0.1
	countingPart = 0.01
)

// CheckNoise warns of kernels that have no noise, because no size was timed twice on a
// host. If none has, that is an error that wraps ErrMeaningless and carries the warnings.
func (r *LearnReport) CheckNoise(law string) error {
	if law == "" || law == NoNoise {
		return nil
	}
	var without []string
	for i := range r.Kernels {
		if !slices.ContainsFunc(r.Kernels[i].Pieces, func(p LearnedPiece) bool { return p.Variation > 0 }) {
			without = append(without, r.Kernels[i].name())
		}
	}
	switch {
	case len(without) == len(r.Kernels):
		return warning.With(fmt.Errorf("%w: noise of %s: no size was timed twice on one host", ErrMeaningless, without[0]),
			r.Warnings)
	case len(without) > 0:
		r.warn("%s: no noise in the kernel file, because no size was timed twice on one host", strings.Join(without, ", "))
	}
	return nil
}

// name returns the kernel with its attributes, as in a trace.
func (k *LearnedKernel) name() string { return fullName(k.Function, k.Attrs) }

// Names returns the names of the kernels that have a model, each once.
func (r *LearnReport) Names() (list []string) {
	for i := range r.Kernels {
		if !slices.Contains(list, r.Kernels[i].Function) {
			list = append(list, r.Kernels[i].Function)
		}
	}
	return list
}

// WriteText writes the report for people: a line for each kernel.
func (r *LearnReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; the %s of each size\n\n", r.line(), r.Statistic)
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "kernel\tof the run\terror\tworst\tsizes\tpieces\tscatter\trange\n")
	for i := range r.Kernels {
		k := &r.Kernels[i]
		share := "-"
		if k.Share != nil {
			share = fmt.Sprintf("%.2f %%", 100**k.Share)
		}
		var ranges []string // as M 8-4000
		for d, r := range k.Range {
			text := fmt.Sprintf("%s %d", k.Dims[d], r[0])
			if r[1] != r[0] {
				text += fmt.Sprintf("-%d", r[1])
			}
			ranges = append(ranges, text)
		}
		fmt.Fprintf(tab, "%s\t%s\t%.1f %%\t%.0f %%\t%d\t%d\t%.1f %%\t%s\n", k.name(), share, 100*k.Error, 100*k.WorstError,
			k.Sizes, len(k.Pieces), 100*scatterOf(k.Pieces), strings.Join(ranges, ", "))
		for j := range k.Groups {
			g := &k.Groups[j]
			fmt.Fprintf(tab, "  %s\t\t%.1f %%\t%.0f %%\t%d\t%d\t%.1f %%\t\n", g.name(), 100*g.Error, 100*g.WorstError,
				len(g.sizes), len(g.Pieces), 100*scatterOf(g.Pieces))
		}
	}
	_ = tab.Flush() // into memory
	if r.HostScatter > 0 {
		fmt.Fprintf(&b, "\nhosts differ by %.2f %%\n", 100*r.HostScatter)
	}
	for _, u := range r.Unfit {
		fmt.Fprintf(&b, "\n%v\n", u)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// scatterOf returns the largest scatter of pieces.
func scatterOf(pieces []LearnedPiece) float64 {
	return slices.MaxFunc(pieces, func(a, b LearnedPiece) int { return cmp.Compare(a.Variation, b.Variation) }).Variation
}
