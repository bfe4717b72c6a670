package hosts

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"reprise/calibrate"
)

const (
	mostLearned  = 3    // classes
	leastMembers = 3    // of a learned class
	mostSteps    = 1000 // of expectation and maximisation
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
	best, bestBIC := []int(nil), math.Inf(1)
	for k := 1; k <= mostLearned; k++ {
		if o.Classes != 0 && o.Classes != k {
			continue
		}
		c := ClassCandidate{Classes: k}
		classes, bic, err := mixture(x, least, k)
		if c.BIC = bic; err != nil {
			c.BIC, c.Refused = 0, err.Error()
		} else if bic < bestBIC {
			best, bestBIC = classes, bic
		}
		r.Candidates = append(r.Candidates, c)
	}
	if best == nil {
		return nil, fmt.Errorf("%w: %d classes: %s", calibrate.ErrMeaningless, o.Classes, r.Candidates[0].Refused)
	}
	groups := make([]group, slices.Max(best)+1)
	for i, class := range best {
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

// law is one normal law of a mixture.
type law struct{ weight, mean, variance float64 }

// mixture fits k normal laws to x by expectation and maximisation, from two
// starts: equally many in each class, and classes that the widest gaps divide. It returns the
// class of each x, the one of the smallest mean first, and the BIC.
func mixture(x []float64, least float64, k int) ([]int, float64, error) {
	if k > 1 && len(x) < k*leastMembers {
		return nil, 0, fmt.Errorf("%w: %d, want %d for each", errNoClasses, len(x), leastMembers)
	}
	sorted := slices.Sorted(slices.Values(x))
	var laws []law
	likelihood := math.Inf(-1)
	for _, cuts := range [][]int{evenCuts(len(x), k), gapCuts(sorted, k)} {
		if cuts == nil {
			continue
		}
		l, ll := maximise(sorted, start(sorted, cuts, least), least)
		if ll > likelihood {
			laws, likelihood = l, ll
		}
	}
	slices.SortFunc(laws, func(a, b law) int { return cmp.Compare(a.mean, b.mean) })
	classes, members := make([]int, len(x)), make([]int, k)
	for i, v := range x {
		classes[i] = mostLikely(laws, v)
		members[classes[i]]++
	}
	if fewest := slices.Min(members); k > 1 && fewest < leastMembers {
		return nil, 0, fmt.Errorf("a class of %d, want at least %d", fewest, leastMembers)
	}
	return classes, float64((3*float64(k)-1)*math.Log(float64(len(x)))) - 2*likelihood, nil
}

// evenCuts divides n sorted values into k runs of about the same length; it returns
// where each but the first begins.
func evenCuts(n, k int) []int {
	cuts := []int{}
	for i := 1; i < k; i++ {
		cuts = append(cuts, i*n/k)
	}
	return cuts
}

// gapCuts divides sorted values at the k-1 widest gaps that leave runs of at least
// leastMembers; nil if there are no such gaps.
func gapCuts(sorted []float64, k int) []int {
	var order []int
	for i := leastMembers; i <= len(sorted)-leastMembers; i++ {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(sorted[b]-sorted[b-1], sorted[a]-sorted[a-1])
	})
	cuts := []int{}
	for _, at := range order {
		far := func(c int) bool { return max(c-at, at-c) >= leastMembers }
		if len(cuts) < k-1 && !slices.ContainsFunc(cuts, func(c int) bool { return !far(c) }) {
			cuts = append(cuts, at)
		}
	}
	if len(cuts) < k-1 {
		return nil
	}
	slices.Sort(cuts)
	return cuts
}

// start returns the laws of the runs between the cuts.
func start(sorted []float64, cuts []int, least float64) []law {
	var laws []law
	begin := 0
	for _, end := range append(slices.Clone(cuts), len(sorted)) {
		run := sorted[begin:end]
		n := float64(len(run))
		l := law{weight: n / float64(len(sorted))}
		for _, v := range run {
			l.mean += v / n
		}
		for _, v := range run {
			l.variance += float64((v-l.mean)*(v-l.mean)) / n
		}
		l.variance = max(l.variance, least)
		laws = append(laws, l)
		begin = end
	}
	return laws
}

// maximise improves the laws until their likelihood grows no more, and returns
// them with its logarithm.
func maximise(x []float64, laws []law, least float64) ([]law, float64) {
	before := math.Inf(-1)
	share := make([][]float64, len(x)) // of each law in each x
	for i := range share {
		share[i] = make([]float64, len(laws))
	}
	for range mostSteps {
		likelihood := 0.0
		for i, v := range x {
			likelihood += shares(laws, v, share[i])
		}
		if likelihood-before < 1e-9 {
			return laws, max(likelihood, before)
		}
		before = likelihood
		laws = improved(x, share, len(laws), least)
	}
	return laws, before
}

// shares sets the probability of each law given v, and returns the logarithm of
// the density at v.
func shares(laws []law, v float64, share []float64) float64 {
	most := math.Inf(-1)
	for k, l := range laws {
		share[k] = l.logDensity(v)
		most = max(most, share[k])
	}
	sum := 0.0
	for k := range share {
		share[k] = math.Exp(share[k] - most)
		sum += share[k]
	}
	for k := range share {
		share[k] /= sum
	}
	return most + math.Log(sum)
}

func (l law) logDensity(v float64) float64 {
	d := v - l.mean
	return math.Log(l.weight) - float64(d*d)/(2*l.variance) - math.Log(2*math.Pi*l.variance)/2
}

// improved returns the laws of the largest likelihood given the shares; none
// loses all its weight.
func improved(x []float64, share [][]float64, k int, least float64) []law {
	laws := make([]law, k)
	for j := range laws {
		l := &laws[j]
		total := 1e-12
		for i, v := range x {
			total += share[i][j]
			l.mean += float64(share[i][j] * v)
		}
		l.mean /= total
		for i, v := range x {
			l.variance += float64(share[i][j] * float64((v-l.mean)*(v-l.mean)))
		}
		l.weight, l.variance = total/float64(len(x)), max(l.variance/total, least)
	}
	return laws
}

func mostLikely(laws []law, v float64) int {
	best := 0
	for k, l := range laws {
		if l.logDensity(v) > laws[best].logDensity(v) {
			best = k
		}
	}
	return best
}
