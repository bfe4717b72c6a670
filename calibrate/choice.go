package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// This file is FitKernels: it chooses the model of each kernel among candidates, which fit.go fits.

// FitKernels fits a model to each kernel of t. Each size on each CPU is one point, at
// the mean of its timings. Kernels, hosts and CPUs to which no model fits are left out,
// with a warning; if no kernel is left, that is an error that wraps ErrMeaningless.
func FitKernels(t *Timings, o KernelOptions) (report *KernelReport, err error) {
	defer textutil.Stopped(&err)
	textutil.Check(o.Validate())
	// Terms and products must be of kernels that were measured, and of their dimensions.
	given := map[string][]string{}
	maps.Copy(given, o.Terms)
	for name, term := range o.Product {
		given[name] = []string{term}
	}
	r := &KernelReport{origin: t.origin, Weights: "equal", Criterion: o.Criterion}
	r.findings = textutil.Must(t.begin(given, o.For))
	for _, name := range slices.Sorted(maps.Keys(o.Product)) {
		if o.Product[name] == "1" {
			return nil, fmt.Errorf("%s: the product of M-1 is 1: that is M-0", name)
		}
	}
	if o.Relative {
		r.Weights = "relative"
	}
	// One kernel, or one host of a kernel, without a model must not cost the others theirs.
	var unfit []Unfit // groups of kernels that have a model
	for _, f := range t.functions {
		err := checkGroups(f.points, o.For)
		if err == nil {
			all := groups(f.sorted(o.For), o.For)
			var fitted *FunctionReport
			if fitted, err = fitGroups(f, all, o); err != nil { // perhaps without groups to which none fits even alone
				var rest []point
				var left []Unfit
				for _, points := range all[1:] {
					if _, err := fitGroups(f, [][]point{points}, o); err != nil {
						left = append(left, Unfit{f.name, placeOf(points, o.For).dated(), err.Error()})
					} else {
						rest = append(rest, points...)
					}
				}
				if len(left) > 0 && len(rest) > 0 {
					fitted, err = fitGroups(f, groups(rest, o.For), o)
					if err == nil {
						unfit = append(unfit, left...)
					}
				}
			}
			if err == nil {
				r.Functions = append(r.Functions, *fitted)
				continue
			}
		}
		r.leaveOut(f, err)
	}
	r.Unfit = append(r.Unfit, unfit...)
	textutil.Check(r.end(len(r.Functions)))
	// Fits that are far off, or below zero, are warned of.
	for i := range r.Functions {
		f := &r.Functions[i]
		used := f.Groups
		if len(used) == 0 {
			used = []Fit{f.All}
		}
		far, negative := 0, 0
		worst := &used[0]
		for j := range used {
			if used[j].MeanError > largeError {
				far++
			}
			if used[j].MeanError > worst.MeanError {
				worst = &used[j]
			}
			negative += used[j].NegativeSizes
		}
		if far > 0 {
			r.warn("%s: %d of %d fits are more than %g %% off the timings on average; "+
				"that to %s by %.3g %%, at worst %.3g %%, and %.3g %% of all time: want sizes of the run to be predicted "+
				"(calibrate measure kernels --for), or --relative where short calls count",
				f.Function, far, len(used), 100*largeError, worst.name(), 100*worst.MeanError, 100*worst.WorstError,
				100*worst.TimeError)
		}
		if negative > 0 {
			r.warn("%s: the fitted time of %d sizes is below zero and counts as none", f.Function, negative)
		}
	}
	return r, nil
}

// fitGroups tries the candidates on all points and on each group, and takes the one of the smallest
// sum of the criterion over the fits that are used; a constant only if it is better than M-1.
func fitGroups(f *function, list [][]point, o KernelOptions) (*FunctionReport, error) {
	for i, points := range list {
		switch {
		case slices.ContainsFunc(points, func(p point) bool { return p.seconds.mean > 0 }):
		case i == 0:
			return nil, fmt.Errorf("%w: all times are 0 s", ErrMeaningless)
		default:
			return nil, fmt.Errorf("%s: %w: all times are 0 s", placeOf(points, o.For).dated(), ErrMeaningless)
		}
	}
	// Of the candidates that fit all groups the one with the smallest criterion wins. With groups,
	// the fit of all points together is not used for the groups, and so does not count.
	best := -1
	var bestFits []Fit
	r := &FunctionReport{Function: f.name, Dims: f.dims, Candidates: candidates(f, o), groups: list}
	var refused []string
	var one *Candidate // M-1, if it was refused
	level := false     // as its times fall by no more than the uncertainty of the fit
	for i := range r.Candidates {
		c := &r.Candidates[i]
		fits, err := fitCandidate(f, c, r.groups, o)
		if err != nil {
			c.Refused = err.Error()
			refused = append(refused, c.Model+": "+c.Refused)
			if c.Model == LinearOne {
				one = c
				level = errors.Is(err, errLevel)
			}
			if len(r.Candidates) == 1 {
				return nil, err
			}
			continue
		}
		for _, fit := range fits[min(1, len(fits)-1):] {
			if o.Criterion == "aic" {
				c.Criterion += fit.AIC
			} else {
				c.Criterion += fit.BIC
			}
		}
		if best < 0 || c.Criterion < r.Candidates[best].Criterion {
			best, bestFits = i, fits
		}
	}
	if best < 0 {
		return nil, fmt.Errorf("%w: %s", ErrMeaningless, strings.Join(refused, "; "))
	}
	// A constant with which M-1 could not be compared, because it was refused, is a
	// remainder, not a finding of the timings, unless M-1 was refused for a product
	// that may as well have no part in the times and the constant is near all of them.
	if r.Candidates[best].Model == Constant && one != nil {
		worst := slices.MaxFunc(bestFits, func(a, b Fit) int { return cmp.Compare(a.MeanError, b.MeanError) }).MeanError
		if !level || worst > nearConstant {
			return nil, fmt.Errorf("%w: M-1: %s; a constant is left, %.3g %% off on average: to take it, give --terms %s=1",
				ErrMeaningless, one.Refused, 100*worst, r.Function)
		}
	}
	r.Model, r.All, r.Groups = r.Candidates[best].Model, bestFits[0], bestFits[1:]
	return r, nil
}

// nearConstant is the mean relative error up to which a constant is near the times.
const nearConstant = 0.1

// checkGroups refuses points that do not say to which group they belong, or whose host
// has a name that kernel files would take for a pattern.
func checkGroups(points []point, by Grouping) error {
	for i := range points {
		p := &points[i]
		switch {
		case by == ForAll:
		case p.host == "":
			return fmt.Errorf("%w: a model for each host, but there are timings without a host", ErrMeaningless)
		case p.host != textutil.Plain(p.host):
			return fmt.Errorf("%w: host %q, want letters, digits, points, _ and -", ErrMeaningless, p.host)
		case by == ForCPU && p.cpu == noCPU:
			return fmt.Errorf("%w: a model for each CPU, but there are timings without one, on host %s", ErrMeaningless,
				p.host)
		}
	}
	return nil
}

// candidates returns the models to try: the given one, or those of docs/calibrate.md.
func candidates(f *function, o KernelOptions) []Candidate {
	if terms := o.Terms[f.name]; terms != nil {
		return []Candidate{{Model: customModel, Terms: terms}}
	}
	// The product of M-1 leads M-2, too: noise and reports go by the first term.
	one := cmp.Or(o.Product[f.name], strings.Join(f.dims, "*"))
	full := allProducts(f.dims)
	if len(f.dims) == 3 { // those of all and of each two, and 1
		full = append(full[:4], "1")
	}
	if !slices.ContainsFunc(full, func(term string) bool { return NormalTerm(term) == NormalTerm(one) }) {
		full = append([]string{one}, full...)
	}
	list := []Candidate{{Model: Constant, Terms: []string{"1"}}, {Model: LinearOne, Terms: []string{one, "1"}},
		{Model: Polynomial, Terms: full}}
	if o.NoOffset {
		for i := range list[1:] {
			list[1+i].Terms = slices.DeleteFunc(list[1+i].Terms, func(s string) bool { return s == "1" })
		}
	}
	return slices.DeleteFunc(list, func(c Candidate) bool { return o.Model != Auto && c.Model != o.Model })
}

// groups returns all points, then, unless there is one model for all, those of each group in order:
// of a host or CPU, and of a day where these are kept apart. The points are sorted.
func groups(points []point, by Grouping) [][]point {
	list := [][]point{points}
	if by == ForAll {
		return list
	}
	begin := 0
	for i := 1; i <= len(points); i++ {
		if i < len(points) {
			p, q := &points[i], &points[begin]
			if p.host == q.host && p.day == q.day && (by == ForHost || p.cpu == q.cpu) {
				continue
			}
		}
		list = append(list, points[begin:i])
		begin = i
	}
	return list
}

// fitCandidate fits a model to each group. Of the errors it returns one that says more
// than that the times of a group are level.
func fitCandidate(f *function, c *Candidate, groups [][]point, o KernelOptions) (fits []Fit, err error) {
	defer textutil.Stopped(&err)
	products := textutil.Must(parseProducts(c.Terms, f.dims))
	var level error
	for i, points := range groups {
		fit, err := fitModel(points, products, o, c.Model == customModel)
		if err != nil && i > 0 {
			err = fmt.Errorf("%s: %w", placeOf(points, o.For).dated(), err)
		}
		switch {
		case errors.Is(err, errLevel):
			level = cmp.Or(level, err)
			continue
		case err != nil:
			return nil, err
		}
		if i > 0 {
			fit.Place = placeOf(points, o.For)
		}
		fits = append(fits, *fit)
	}
	return fits, level
}

// placeOf returns the host, the CPU and the day of the points of a group, as far as they tell groups apart.
func placeOf(points []point, by Grouping) Place {
	p := Place{Host: points[0].host, Day: points[0].day}
	if by == ForCPU && points[0].cpu != noCPU {
		p.CPU = &points[0].cpu
	}
	return p
}

// largeError is the mean relative error of a fit from which on there is a warning.
const largeError = 0.1
