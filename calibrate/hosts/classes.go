package hosts

import (
	"fmt"
	"math"
	"slices"

	"reprise/calibrate"
	"reprise/calibrate/mixture"
)

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
