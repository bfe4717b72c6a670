package calibrate

import (
	"fmt"
	"strings"

	"reprise/warning"
)

// String says what has no model, and why.
func (u Unfit) String() string {
	if u.Group == "" {
		return fmt.Sprintf("%s: no model: %s", u.Function, u.Why)
	}
	return fmt.Sprintf("%s: no model of %s, which is left out: %s", u.Function, u.Group, u.Why)
}

// Kernels returns the names of the kernels that have a model.
func (r *KernelReport) Kernels() []string {
	var names []string
	for i := range r.Functions {
		names = append(names, r.Functions[i].Function)
	}
	return names
}

// leaveOut returns the groups to which no candidate fits, and the points of the others.
func leaveOut(f *function, groups [][]point, o KernelOptions) (rest []point, unfit []Unfit) {
	for _, points := range groups[1:] {
		if _, err := fitGroups(f, [][]point{points}, o); err != nil {
			unfit = append(unfit, Unfit{f.name, place(points[0], o.For), err.Error()})
		} else {
			rest = append(rest, points...)
		}
	}
	return rest, unfit
}

// warnUnfit warns of all that has no model, and gathers it.
func (r *KernelReport) warnUnfit() {
	for i := range r.Functions {
		r.Unfit = append(r.Unfit, r.Functions[i].unfit...)
	}
	for _, u := range r.Unfit {
		r.Warnings = append(r.Warnings, warning.New("%v", u))
	}
}

// writeUnfit names in a kernel file what has no model there.
func (r *KernelReport) writeUnfit(b *strings.Builder) {
	for _, u := range r.Unfit {
		fmt.Fprintf(b, "  # %s\n", strings.Join(strings.Fields(u.String()), " "))
	}
}

// largeError is the mean relative error of a fit from which on there is a warning.
const largeError = 0.1

// warnErrors warns of fits that are far off, or below zero.
func (r *KernelReport) warnErrors() {
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
			r.warn("%s: %d of %d fits are more than %g %% off the timings on average; that to %s by %.3g %%, at worst %.3g %%, and %.3g %% of all time: "+
				"want sizes of the run to be predicted (calibrate measure kernels --for), or --relative where short calls count",
				f.Function, far, len(used), 100*largeError, worst.name(), 100*worst.MeanError, 100*worst.WorstError, 100*worst.TimeError)
		}
		if negative > 0 {
			r.warn("%s: the fitted time of %d sizes is below zero and counts as none", f.Function, negative)
		}
	}
}

func (r *KernelReport) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, warning.New(format, args...))
}

// CheckNoise warns of the fits that have no noise of a law, because none of their sizes was
// timed twice. If none has, that is an error that wraps ErrMeaningless.
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
		return fmt.Errorf("%w: %s: no size was timed twice", ErrMeaningless, without[0])
	case len(without) > 0:
		r.warn("%s, and of %d of %d fits in all: none in the kernel file, because no size was timed twice", without[0], len(without), fits)
	}
	return nil
}
