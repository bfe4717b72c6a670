package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"reprise/calibrate/regress"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// This file has the report of LearnKernels: what it says of each kernel, as text and as a kernel file.

// LearnReport is the result of LearnKernels.
type LearnReport struct {
	origin
	Statistic Statistic       `json:"statistic"`
	Kernels   []LearnedKernel `json:"kernels"`
	Missing   []string        `json:"missing,omitempty"` // kernels of the run without timings
	findings

	// HostScatter is the standard deviation of the times of hosts relative to the models, at most 0.2; 0 if it is
	// not known, as of less than three hosts, or if hosts have models of their own.
	HostScatter float64 `json:"host_scatter,omitempty"`
	// Alone is the part of the time of the run's kernels that they take on a host where one rank runs, if Ranks were timed
	// at once; 0: it is not known.
	Alone float64 `json:"alone,omitempty"`
	Ranks int     `json:"ranks,omitempty"`

	cpus int // that were timed
}

// mostAlone bounds the part of the time that a rank takes alone: it has at least what it has among others, and timings scatter.
const mostAlone = 1.1

// compareAlone compares the models with those of timings that a rank made alone on the same host.
// A rank alone has at most the bandwidths and caches of all ranks, so that it takes at least one in so many of their time.
// If it seems quicker than that, or slower than they are, other programs have disturbed the timings: a warning says so,
// and Alone stays 0.
func (r *LearnReport) compareAlone(alone *LearnReport, err error) {
	if err != nil {
		r.warn("ranks alone: left out: %v", err)
		return
	}
	together, by := 0.0, 0.0
	for i := range r.Kernels {
		k := &r.Kernels[i]
		at := slices.IndexFunc(alone.Kernels, func(other LearnedKernel) bool { return other.name() == k.name() })
		if at >= 0 {
			together, by = together+k.seconds, by+alone.Kernels[at].seconds
		}
	}
	switch part := by / together; {
	case !(together > 0 && by > 0):
		r.warn("ranks alone: left out: the run calls no kernel that was timed both alone and at once")
	case part < 1/float64(r.cpus) || part > mostAlone:
		r.warn("ranks alone: left out: a rank alone takes %.1f %% of the time of each of %d, which should be %.3g to %g %%: other "+
			"programs ran on the machine", 100*part, r.cpus, 100/float64(r.cpus), 100*mostAlone)
	default:
		r.Alone, r.Ranks = min(part, 1), r.cpus // more is scatter
	}
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

	sizes   []size
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
	if r.Alone > 0 {
		fmt.Fprintf(&b, "\na rank alone on the host takes %.1f %% of the time of each of %d\n", 100*r.Alone, r.Ranks)
	}
	if r.HostScatter > 0 {
		fmt.Fprintf(&b, "\nhosts differ by %.2f %%\n", 100*r.HostScatter)
	}
	for _, u := range r.Unfit {
		fmt.Fprintf(&b, "\n%v\n", u)
	}
	return textutil.Write(w, b.String())
}

// scatterOf returns the largest scatter of pieces.
func scatterOf(pieces []LearnedPiece) float64 {
	return slices.MaxFunc(pieces, func(a, b LearnedPiece) int { return cmp.Compare(a.Variation, b.Variation) }).Variation
}

// Series returns the sizes of each model that the kernel file has, by the product of
// all dimensions, in which one of zero counts as one.
func (r *LearnReport) Series() (list []Series) {
	for i := range r.Kernels {
		k := &r.Kernels[i]
		for j, g := range append([]LearnedGroup{{Pieces: k.Pieces, sizes: k.sizes}}, k.Groups...) {
			name := strings.NewReplacer(" ", "-", "=", "").Replace(k.name()) + "-all"
			if j > 0 {
				name = strings.TrimSuffix(name, "all") + g.plotName()
			}
			s := Series{Name: name, Title: fmt.Sprintf("%s   %d pieces", name, len(g.Pieces)), XLabel: strings.Join(k.Dims, "*")}
			for _, size := range g.sizes {
				x := 1.0
				for d := range k.Dims {
					x *= max(1, float64(size.dims[d]))
				}
				s.X, s.Seconds = append(s.X, x), append(s.Seconds, size.seconds)
				s.Fitted = append(s.Fitted, secondsOf(g.Pieces, &size.dims))
			}
			list = append(list, s)
		}
	}
	return list
}

// WriteYAML writes the models as a kernel file (docs/kernels.md): those of all hosts, and, where there are any, those
// of each host or CPU. Coefficients have as many digits as it takes to read the same numbers again.
func (r *LearnReport) WriteYAML(w io.Writer, o FileOptions) error {
	if r.Alone > 0 {
		o.alone = fmt.Sprintf("alone: {ranks: %d, time: %.1f%%} # of the models' time, of a rank alone on its host\n", r.Ranks, 100*r.Alone)
	}
	all := func(b *strings.Builder, o FileOptions) {
		indent := "  "
		if len(o.Base) > 0 {
			b.WriteString("  - host: \"*\"\n    kernels:\n")
			indent = "      "
		}
		r.writeKernels(b, indent, o, func(k *LearnedKernel) []LearnedPiece { return k.Pieces })
	}
	b, err := r.writeYAML(o, "; covariances: its square", r.HostScatter, all, r.writeHosts)
	if err == nil {
		r.writeUnfit(b, "# ")
		_, err = io.WriteString(w, b.String())
	}
	return err
}

// writeHosts writes the models of hosts and CPUs.
func (r *LearnReport) writeHosts(b *strings.Builder, o FileOptions) {
	// A file has one entry for each host or CPU, with all its kernels, while reports go by kernel.
	var order []Place
	for i := range r.Kernels {
		for j := range r.Kernels[i].Groups {
			order = append(order, r.Kernels[i].Groups[j].Place)
		}
	}
	slices.SortFunc(order, Place.compare)
	for _, p := range slices.CompactFunc(order, func(p, q Place) bool { return p.compare(q) == 0 }) {
		p.writeYAML(b, o)
		b.WriteString("    kernels:\n")
		r.writeKernels(b, "      ", o, func(k *LearnedKernel) []LearnedPiece {
			for j := range k.Groups {
				if k.Groups[j].compare(p) == 0 {
					return k.Groups[j].Pieces
				}
			}
			return nil
		})
	}
}

// writeKernels writes a model for each name, with the pieces of all attributes; the
// kernel for all attributes is the last.
func (r *LearnReport) writeKernels(b *strings.Builder, indent string, o FileOptions,
	piecesOf func(*LearnedKernel) []LearnedPiece) {
	for _, name := range r.Names() {
		var named []*LearnedKernel
		for i := range r.Kernels {
			if r.Kernels[i].Function == name {
				named = append(named, &r.Kernels[i])
			}
		}
		slices.SortStableFunc(named, func(a, b *LearnedKernel) int { return min(1, len(b.Attrs)) - min(1, len(a.Attrs)) })
		var lines, dims []string
		for _, k := range named {
			pieces := piecesOf(k)
			for j := range pieces {
				p := &pieces[j]
				var keys []string
				if len(k.Attrs) > 0 {
					when := textutil.Texts(k.Attrs, func(a Attr) string { return a.Name + ": " + strconv.Quote(a.Value) })
					keys = append(keys, "when: {"+strings.Join(when, ", ")+"}")
				}
				// The last piece for its attributes holds wherever no other does.
				if p.If != "" && j < len(pieces)-1 {
					keys = append(keys, "if: "+p.If)
				}
				var rows []string // of the lower triangle, [[a], [b, c]]
				for i, row := range p.Covariance {
					rows = append(rows, FormatNumbers(row[:i+1]))
				}
				keys = append(keys, "terms: {"+FormatTerms(p.Coefficients)+"}", "covariance: ["+strings.Join(rows, ", ")+"]")
				switch {
				case o.Noise != "" && o.Noise != NoNoise && p.Variation != 0:
					keys = append(keys, fmt.Sprintf("noise: {%s: %s%%}", lawOf(o.Noise, p.Skewness), FormatNumber(100*p.Variation)))
				case len(o.Base) > 0:
					keys = append(keys, "noise: none") // that of the base is of other models
				}
				lines = append(lines, fmt.Sprintf("%s    - {%s}\n", indent, strings.Join(keys, ", ")))
			}
			if len(pieces) > 0 {
				dims = k.Dims
			}
		}
		if len(lines) == 0 {
			continue
		}
		// Calls with an extent of zero cost nothing. A label is no extent, and the rows of two kinds are one.
		var extents []string
		for _, d := range dims {
			switch {
			case slices.Contains(labelNames, d), d == "M1" && slices.Contains(dims, "M0"):
			case d == "M0" && slices.Contains(dims, "M1"):
				extents = append(extents, "M0+M1")
			default:
				extents = append(extents, d)
			}
		}
		empty := "[" + strings.Join(extents, ", ") + "]"
		if o.Empty == "charged" || len(extents) == 0 {
			empty = "charged"
		}
		fmt.Fprintf(b, "%s%s:\n", indent, name)
		if len(o.Base) > 0 {
			fmt.Fprintf(b, "%s  unit: s\n", indent)
		}
		fmt.Fprintf(b, "%s  empty: %s\n%s  pieces:\n%s", indent, empty, indent, strings.Join(lines, ""))
	}
}
