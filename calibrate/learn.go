// Package calibrate turns measurements into models: timings of kernels into a kernel file (package kernels), timings of
// messages into the overheads and factors of a platform (packages netmodel and platforms).
//
//	timings := calibrate.NewTimings()
//	err := timings.Read(table, calibrate.ReadOptions{Keep: true})  // as often as there are files
//	report, err := calibrate.LearnKernels(timings, calibrate.DefaultLearnOptions())
//	err = report.WriteYAML(w, calibrate.FileOptions{})             // for replay --kernels
//
// [LearnKernels] takes medians, attributes and thresholds; [FitKernels] fits means by least squares, as published
// calibrations do, to moments by host, CPU and size, for which no timing is kept. A kernel or host that cannot be
// fitted with sense, as of too few sizes, is left out with a warning, or, if nothing is left, refused
// ([ErrMeaningless]). Reports carry warnings of all that is odd. docs/calibrate.md has the methods.
//
// The package knows nothing of how measurements are made, and nothing of traces.
//
// # Units
//
// Times are in seconds, sizes in bytes, bandwidths in byte/s; a coefficient is in seconds per unit of its term.
//
// # Errors
//
// One of a table begins with file and line. [ErrMeaningless] is about data that no model fits with sense,
// [ErrContradiction] about a table that says something else than the options.
//
// # Source
//
// Models of kernels and of messages are those of T. Cornebize, "High Performance Computing: Towards Better Performance
// Predictions and Experiments", PhD thesis, Université Grenoble Alpes, 2021, for SimGrid's SMPI.
package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/calibrate/regress"
	"reprise/internal/textutil"
)

// LearnOptions says how LearnKernels fits.
type LearnOptions struct {
	For       Grouping
	Statistic Statistic           // Median or Min: what stands for the timings of a size
	MaxPieces int                 // of a kernel with its attributes
	Terms     map[string][]string // by kernel: its terms, all of which are fitted, instead of those that are worth it
	Run       *Run                // by whose calls sizes weigh; nil: all weigh the same
	// Progress, if set, is called with the number of kernels that have been fitted, and with that of all.
	Progress func(kernels, all int)
}

// DefaultLearnOptions returns the options of the command without flags.
func DefaultLearnOptions() LearnOptions { return LearnOptions{Statistic: Median, MaxPieces: 4} }

// mostPieces bounds MaxPieces.
const mostPieces = 16

// Validate reports what is wrong with the options.
func (o *LearnOptions) Validate() error {
	var faults textutil.Faults
	faults.Want(o.Statistic == Median || o.Statistic == Min, "statistic %q, want median or min", o.Statistic)
	faults.Want(o.MaxPieces >= 1 && o.MaxPieces <= mostPieces,
		"at most %d pieces, want 1 to %d", o.MaxPieces, mostPieces)
	return faults.Err()
}

// LearnKernels fits a model to each kernel of t, kernels with other attributes apart: pieces between learned
// thresholds, each a sum of learned terms whose coefficients are above zero. It minimises relative residuals of the
// statistic of each size, weighted by the run. Timings must have been kept. Kernels, hosts and CPUs to which no model
// fits are left out, with a warning; if no kernel is left, that is an error that wraps ErrMeaningless.
// Timings of a rank alone between those of all say how much less time the run's kernels take then.
func LearnKernels(t *Timings, o LearnOptions) (report *LearnReport, err error) {
	defer textutil.Stopped(&err)
	textutil.Check(o.Validate())
	r := &LearnReport{origin: t.origin, Statistic: o.Statistic, cpus: len(t.cpuNumbers())}
	r.findings = textutil.Must(t.begin(o.Terms, o.For))
	for i, f := range t.functions {
		if o.Progress != nil {
			o.Progress(i, len(t.functions))
		}
		k, err := learnKernel(f, &o, r)
		if err != nil {
			r.leaveOut(f, err)
			continue
		}
		r.Kernels = append(r.Kernels, *k)
	}
	textutil.Check(r.end(len(r.Kernels)))
	// The comparison of the models with the run, and that of the hosts with one another, need the fits of all kernels.
	r.share(o.Run)
	if o.For == ForAll {
		r.scatterHosts()
	}
	if len(t.operands) > 1 {
		r.warn("timings with operands %s are taken together: choose some by --where operands=%s",
			strings.Join(t.operands, " and "), t.operands[0])
	}
	// Sizes that are left out are warned of, and models that are far off or used beyond their
	// sizes. Kernels that take hardly any of the run's time are not worth a warning.
	for i := range r.Kernels {
		k := &r.Kernels[i]
		counts := k.Share == nil || *k.Share >= countingPart
		if k.Outliers > 0 {
			r.warn("%s: %d sizes take more than %d times as long as those beside them, and are left out", k.name(), k.Outliers,
				farFromNeighbours)
		}
		of, mean, worst := "", k.Error, k.WorstError
		if len(k.Groups) > 0 { // that of the host or CPU that is farthest off
			g := slices.MaxFunc(k.Groups, func(a, b LearnedGroup) int { return cmp.Compare(a.Error, b.Error) })
			of, mean, worst = " of "+g.name(), g.Error, g.WorstError
		}
		if counts && mean > largeError {
			r.warn("%s: the model%s is %.3g %% off the timings on average, at worst %.3g %%: "+
				"more sizes, more --max-pieces or other --terms may help", k.name(), of, 100*mean, 100*worst)
		}
		if counts && k.Outside > largeOutside {
			r.warn("%s: %.3g %% of its time in the run is spent on sizes beyond those measured: measure for this run", k.name(),
				100*k.Outside)
		}
	}
	if t.alone != nil && o.Run != nil {
		o.Progress = nil
		r.compareAlone(LearnKernels(t.alone, o))
	}
	if len(r.Missing) > 0 {
		r.warn("the run calls %s, which were not timed: measure for this run, or add their models by --base",
			strings.Join(r.Missing, "; "))
	}
	return r, nil
}

// learner fits one kernel.
type learner struct {
	*function
	o      *LearnOptions
	terms  []product
	labels []int // indices of dimensions that are labels, each of whose values has a piece
	extent int   // index of that by which working sets are known to differ; -1: none
}

// learnKernel learns the pieces of a kernel from all its points, and fits their terms to each group. Groups without a
// fit are listed in the report (Unfit); the kernel has a model without them.
func learnKernel(f *function, o *LearnOptions, r *LearnReport) (model *LearnedKernel, err error) {
	defer textutil.Stopped(&err)
	textutil.Check(checkGroups(f.points, o.For))
	l := &learner{function: f, o: o, extent: slices.Index(f.dims, extents[f.name])}
	for _, name := range labelNames {
		if i := slices.Index(f.dims, name); i >= 0 {
			l.labels = append(l.labels, i)
		}
	}
	l.terms = textutil.Must(parseProducts(l.dictionary(), f.dims))
	groups := groups(f.sorted(o.For), o.For)
	all, outliers, err := l.sizes(groups[0])
	if err != nil {
		return nil, err
	}
	for _, dim := range l.labels { // a label of so many values is none
		if n := len(values(all, dim)); n > mostValues {
			return nil, fmt.Errorf("%w: %d values of the label %s, each of which would have a piece, want at most %d: name the dimensions (--dims)", ErrMeaningless, n, l.dims[dim], mostValues)
		}
	}
	k := &LearnedKernel{Function: f.name, Attrs: f.attrs, Dims: f.dims, Sizes: len(all), Outliers: outliers, sizes: all,
		ratios: map[string]float64{}}
	weigh(all, o.Run.of(f))
	// The pieces: in each cell, between thresholds.
	fit := (*regress.Sample).Select
	if o.Terms[f.name] != nil {
		fit = func(s *regress.Sample) *regress.Relative { return s.Fit(regress.UpTo(s.P)) }
	}
	for _, cell := range l.cells(all) {
		// Within a working set of one size there is nothing to put a threshold between.
		part, most := within(cell, all), o.MaxPieces
		if l.extent >= 0 && len(values(part, l.extent)) == 1 {
			most = 1
		}
		sample, at := l.sample(part)
		parts := partition(sample, at, most, fit)
		switch {
		case parts == nil && len(part) == 1 && (len(l.labels) > 0 || l.extent >= 0): // all that is known of it is one time
			k.Pieces = append(k.Pieces, l.single(&part[0], cell))
		case parts == nil:
			return nil, fmt.Errorf("%w: %d sizes, to which no sum of %s fits with coefficients above zero", ErrMeaningless,
				len(part), strings.Join(l.dictionary(), ", "))
		}
		for i := range parts {
			k.Pieces = append(k.Pieces, l.piece(&parts[i], cell))
		}
	}
	k.Error, k.WorstError = errorsOf(k.Pieces, all)
	for d := range k.Dims {
		v := values(all, d)
		k.Range = append(k.Range, [2]int64{v[0], v[len(v)-1]})
	}
	hosts := l.byHost(groups[0])
	setNoise(k.Pieces, hosts)
	for _, h := range hosts {
		k.ratios[h.host] = h.ratio(k.Pieces)
	}
	for _, points := range groups[1:] {
		g, err := l.group(points, k)
		if err != nil {
			r.Unfit = append(r.Unfit, Unfit{fullName(f.name, f.attrs), placeOf(points, o.For).dated(), err.Error()})
			continue
		}
		k.Groups = append(k.Groups, *g)
	}
	return k, nil
}

// dictionary returns the terms to choose from: products of dimensions, and powers as solving with a
// triangle needs them.
func (l *learner) dictionary() []string {
	if terms := l.o.Terms[l.name]; terms != nil {
		return terms
	}
	if l.extent >= 0 {
		return map[string][]string{"ROWS": {"NNZ", "ROWS", "1"}, "N": {"N", "1"}}[extents[l.name]]
	}
	var dims []string
	for i, name := range l.dims {
		if !slices.Contains(l.labels, i) {
			dims = append(dims, name)
		}
	}
	// The terms that a kernel's flop count suggests come first, because Select takes the
	// earliest of equally good terms.
	list := allProducts(dims)
	switch shape := strings.Join(dims, " "); {
	case l.name == "dtrsm" && shape == "M N": // the flop of M x N right-hand sides, whose triangle is on their left or right
		var flop []string
		if !slices.Contains(l.attrs, Attr{"side", "R"}) {
			flop = append(flop, "M^2*N")
		}
		if !slices.Contains(l.attrs, Attr{"side", "L"}) {
			flop = append(flop, "M*N^2")
		}
		list = append(flop, list...)
	case strings.HasPrefix(l.name, "dla") && shape == "M N":
		// Rows of the matrix are moved, more of which is far away the more columns are left.
		list = append(list, "M*N^2")
	case l.name == "dtrsv" && shape == "N":
		list = append([]string{"N^2"}, list...)
	}
	return slices.DeleteFunc(list, func(term string) bool { // rows are of one kind or of the other
		return strings.Contains(term, "M0") && strings.Contains(term, "M1")
	})
}

// mostLearned is the largest number of sizes from which thresholds and terms are learned. Of more
// sizes so many are taken, at equal distances in their list.
const mostLearned = 1000

// partition learns thresholds and terms, from some of the sizes if there are many, and fits these to all.
func partition(s *regress.Sample, at [][]float64, most int,
	fit func(*regress.Sample) *regress.Relative) []regress.Part {
	if len(s.Y) <= mostLearned {
		return s.Partition(at, most, fit)
	}
	var list []int
	var places [][]float64
	for i := range mostLearned {
		list = append(list, i*len(s.Y)/mostLearned)
		places = append(places, at[list[i]])
	}
	parts := s.Points(list).Partition(places, most, fit)
	for i := range parts {
		p := &parts[i]
		p.Points = nil
		for j := range at {
			if p.Has(at[j]) {
				p.Points = append(p.Points, j)
			}
		}
		if full := s.Points(p.Points).Fit(p.Fit.Terms); full != nil {
			p.Fit = full
		}
	}
	return parts
}

// sample returns the terms of each size, and the coordinates between which thresholds are.
func (l *learner) sample(list []size) (*regress.Sample, [][]float64) {
	s := &regress.Sample{P: len(l.terms)}
	var at [][]float64
	for i := range list {
		d := &list[i].dims
		for j := range l.terms {
			s.X = append(s.X, l.terms[j].at(d))
		}
		s.Y, s.W = append(s.Y, list[i].seconds), append(s.W, list[i].weight)
		coordinates := make([]float64, len(l.dims))
		for j := range coordinates {
			coordinates[j] = float64(d[j])
		}
		at = append(at, coordinates)
	}
	return s, at
}

// piece returns a part of a fit to the sizes of a cell.
func (l *learner) piece(part *regress.Part, cell regress.Box) LearnedPiece {
	p := LearnedPiece{Points: part.Fit.N, Covariance: part.Fit.Covariance, Box: cell}
	for d := range part.Lo {
		p.Box = p.With(d, max(cell.Lo[d], part.Lo[d]), min(cell.Hi[d], part.Hi[d]))
	}
	for j, t := range part.Fit.Terms {
		p.Coefficients = append(p.Coefficients,
			Coefficient{Term: l.terms[t].text, Value: part.Fit.Coef[j], StdErr: math.Sqrt(max(0, part.Fit.Covariance[j][j]))})
		p.products = append(p.products, l.terms[t])
	}
	p.If = conditions(l.dims, p.Box)
	return p
}

// single returns the piece of a cell with one size: the time of each element that is
// worked on, or, where it is not known what that would be, the time of a call.
func (l *learner) single(s *size, cell regress.Box) LearnedPiece {
	term, _ := parseProduct("1", l.dims) // is a product
	if l.extent >= 0 && l.terms[0].at(&s.dims) > 0 {
		term = l.terms[0]
	}
	elements := term.at(&s.dims)
	sd := s.scatter() / elements
	return LearnedPiece{Points: 1, Coefficients: []Coefficient{{Term: term.text, Value: s.seconds / elements, StdErr: sd}},
		Covariance: [][]float64{{sd * sd}},
		If:         conditions(l.dims, cell), products: []product{term}, Box: cell}
}

// conditions returns "M > 32 and M <= 1024".
func conditions(dims []string, b regress.Box) string {
	var list []string
	lo, hi := b.Lo, b.Hi
	for d, name := range dims {
		switch {
		case lo[d] == hi[d]-0.5:
			list = append(list, fmt.Sprintf("%s == %.0f", name, hi[d]))
			continue
		case !math.IsInf(lo[d], -1):
			list = append(list, fmt.Sprintf("%s > %.0f", name, lo[d]))
		}
		if !math.IsInf(hi[d], 1) {
			list = append(list, fmt.Sprintf("%s <= %.0f", name, hi[d]))
		}
	}
	return strings.Join(list, " and ")
}

// group fits the terms of the pieces of all to the points of a host or CPU.
func (l *learner) group(points []point, k *LearnedKernel) (*LearnedGroup, error) {
	list, _, err := l.sizes(points)
	if err != nil {
		return nil, err
	}
	weigh(list, l.o.Run.of(l.function))
	g := &LearnedGroup{Place: placeOf(points, l.o.For), sizes: list}
	// Thresholds and terms are those of all hosts, so that models of hosts differ by coefficients alone.
	for i := range k.Pieces {
		p := &k.Pieces[i]
		part := within(p.Box, list)
		switch {
		case len(part) == 0:
			return nil, fmt.Errorf("%w: no size with %s", ErrMeaningless, p.If)
		case p.Points == 1:
			g.Pieces = append(g.Pieces, l.single(&part[0], p.Box))
			continue
		}
		own := &learner{function: l.function, o: l.o, terms: p.products, labels: l.labels, extent: l.extent}
		sample, _ := own.sample(part)
		fit := sample.Fit(regress.UpTo(sample.P))
		if fit == nil {
			return nil, fmt.Errorf("%w: %d sizes are too few for its %d terms, or a coefficient is not above zero",
				ErrMeaningless, len(part), sample.P)
		}
		g.Pieces = append(g.Pieces, own.piece(&regress.Part{Box: p.Box, Fit: fit}, p.Box))
	}
	g.Error, g.WorstError = errorsOf(g.Pieces, list)
	setNoise(g.Pieces, l.byHost(points))
	return g, nil
}

// extents are the dimensions by which what HPCG's kernels work on grows (docs/hpcg.md). They are bound by memory: how
// long they take is decided by which cache holds what they work on, which may be another one at each level and size.
var extents = map[string]string{"spmv": "ROWS", "symgs": "ROWS", "restrict": "N", "prolong": "N", "dot": "N",
	"waxpby": "N", "zero": "N", "copy": "N", "pack": "N"}

// labelNames are the dimensions that are labels: a piece is for one value of each.
var labelNames = []string{"ROLE", "LEVEL", "VECTORS", "BRANCH", "ALIAS"}

// mostValues bounds the number of values of a label.
const mostValues = 256

// mostSets is the number of different working sets up to which each has a piece of its
// own: of more, thresholds are learned.
const mostSets = 16

// within returns the sizes that are within bounds.
func within(b regress.Box, all []size) []size {
	return slices.DeleteFunc(slices.Clone(all), func(s size) bool { return !holds(b, &s.dims) })
}

// holds reports whether a size is within bounds.
func holds(b regress.Box, d *[MaxDims]int64) bool {
	var at [MaxDims]float64
	for i, x := range d {
		at[i] = float64(x)
	}
	return b.Has(at[:])
}

// cells returns the bounds within which sizes are fitted by themselves: one for each
// value of the labels and, of a kernel whose working sets are known to matter, one for
// each of these, with thresholds in the geometric middle between them.
func (l *learner) cells(all []size) []regress.Box {
	list := []regress.Box{regress.All(len(l.dims))}
	for _, dim := range l.labels {
		var next []regress.Box
		for _, b := range list {
			for _, value := range values(within(b, all), dim) {
				next = append(next, b.With(dim, float64(value)-0.5, float64(value)))
			}
		}
		list = next
	}
	if l.extent < 0 {
		return list
	}
	var next []regress.Box
	for _, b := range list {
		extents := values(within(b, all), l.extent)
		if len(extents) > mostSets {
			next = append(next, b)
			continue
		}
		lo := b.Lo[l.extent]
		for i := range extents {
			hi := b.Hi[l.extent]
			if i+1 < len(extents) {
				hi = math.Floor(math.Sqrt(float64(extents[i]) * float64(extents[i+1])))
			}
			next = append(next, b.With(l.extent, lo, hi))
			lo = hi
		}
	}
	return next
}

// values returns the different values of a dimension, ascending.
func values(list []size, dim int) (found []int64) {
	for _, s := range list {
		found = append(found, s.dims[dim])
	}
	slices.Sort(found)
	return slices.Compact(found)
}
