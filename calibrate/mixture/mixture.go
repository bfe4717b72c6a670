// Package mixture fits mixtures of normal laws to numbers, by expectation and maximisation from deterministic starts.
//
//	fit, err := mixture.New(x, 2, mixture.Options{LeastVariance: 1e-12, LeastMembers: 10})
//	fmt.Println(fit.Laws[0].Mean, fit.BIC())
//
// # Units
//
// Means are in the unit of the numbers, variances in its square.
//
// # Errors
//
// [ErrTooFew]: numbers in which that many laws cannot be told apart.
//
// # Source
//
// A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum Likelihood from Incomplete Data via the EM
// Algorithm", Journal of the Royal Statistical Society B 39, 1977; the criterion is that of G.
// Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6, 1978.
package mixture

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrTooFew is about numbers in which that many laws cannot be told apart.
var ErrTooFew = errors.New("too few")

// Numbers beyond mostAlone are gathered for the iteration: of the sorted ones, the first and last
// outermost stay alone, and the others become the means of runs of the same length.
const (
	mostAlone = 4096
	outermost = 512
)

// Limits of the iteration: its steps, and by how much the mean logarithm of the density must grow in each.
const (
	mostSteps = 500
	leastGain = 1e-7
)

// Law is one normal law of a mixture.
type Law struct{ Weight, Mean, Variance float64 }

// Fit is a mixture that was fitted.
type Fit struct {
	Laws          []Law // the one of the smallest mean first
	Members       []int // of each law: the numbers that are most likely of it
	LogLikelihood float64
	n             int
}

// Options say what a law must be to be one.
type Options struct {
	LeastVariance float64 // of a law; more than 0, or a single number would have a law of its own
	LeastMembers  int     // numbers that are most likely of it
}

// New fits k laws to x. It starts from equally many numbers in each, and from the numbers that the
// widest gaps divide, and takes the more likely result. A law with too few members is an error that
// wraps ErrTooFew. One law has any number of members. Of more than 4,096 numbers, those in the
// middle are gathered into as many means, which have less variance than a mode has by far.
func New(x []float64, k int, o Options) (*Fit, error) {
	if len(x) == 0 || k > 1 && len(x) < k*o.LeastMembers {
		return nil, fmt.Errorf("%w: %d, want %d for each", ErrTooFew, len(x), o.LeastMembers)
	}
	sorted := slices.Sorted(slices.Values(x))
	f := &Fit{LogLikelihood: math.Inf(-1), n: len(x), Members: make([]int, k)}
	few, weights := gathered(sorted)
	// Two starts, as the iteration ends at the nearest maximum of the likelihood, not at the highest.
	var even []int
	for i := 1; i < k; i++ {
		even = append(even, i*len(x)/k)
	}
	// The other start is at the k-1 widest gaps that leave runs of at least so many numbers, if there are as many.
	starts, gaps, order := [][]int{even}, []int(nil), []int(nil)
	for i := max(1, o.LeastMembers); i <= len(x)-o.LeastMembers; i++ {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(sorted[b]-sorted[b-1], sorted[a]-sorted[a-1])
	})
	for _, at := range order {
		near := func(c int) bool { return max(c-at, at-c) < o.LeastMembers }
		if len(gaps) < k-1 && !slices.ContainsFunc(gaps, near) {
			gaps = append(gaps, at)
		}
	}
	if slices.Sort(gaps); len(gaps) == k-1 {
		starts = append(starts, gaps)
	}
	share := make([]float64, k)
	for _, cuts := range starts {
		var laws []Law // of the runs between the cuts
		begin := 0
		for _, end := range append(cuts, len(x)) {
			run := sorted[begin:end]
			n := float64(len(run))
			l := Law{Weight: n / float64(len(x))}
			for _, v := range run {
				l.Mean += v / n
			}
			for _, v := range run {
				l.Variance += float64((v-l.Mean)*(v-l.Mean)) / n
			}
			l.Variance = max(l.Variance, o.LeastVariance)
			laws = append(laws, l)
			begin = end
		}
		// The iteration works on the gathered numbers; which result is better is told by all of them.
		laws = maximise(few, weights, laws, o.LeastVariance)
		likelihood := 0.0
		for _, v := range sorted {
			likelihood += shares(laws, v, share)
		}
		if likelihood > f.LogLikelihood {
			f.Laws, f.LogLikelihood = laws, likelihood
		}
	}
	slices.SortFunc(f.Laws, func(a, b Law) int { return cmp.Compare(a.Mean, b.Mean) })
	for _, v := range x {
		f.Members[f.Class(v)]++
	}
	if fewest := slices.Min(f.Members); k > 1 && fewest < o.LeastMembers {
		return nil, fmt.Errorf("%w: a class of %d, want at least %d", ErrTooFew, fewest, o.LeastMembers)
	}
	return f, nil
}

// BIC returns Schwarz's information criterion: k means, variances, and weights but one.
func (f *Fit) BIC() float64 {
	return float64((3*float64(len(f.Laws))-1)*math.Log(float64(f.n))) - 2*f.LogLikelihood
}

// Class returns the law that v is most likely of.
func (f *Fit) Class(v float64) int {
	best := 0
	for k := range f.Laws {
		if f.Laws[k].logDensity(v) > f.Laws[best].logDensity(v) {
			best = k
		}
	}
	return best
}

// Skewness returns the skewness within the laws: that of each number about the mean and in
// deviations of a law, by the probability that it is of it. It is 0 for mixtures of normal laws.
func (f *Fit) Skewness(x []float64) float64 {
	share, sum := make([]float64, len(f.Laws)), 0.0
	for _, v := range x {
		shares(f.Laws, v, share)
		for k, l := range f.Laws {
			d := (v - l.Mean) / math.Sqrt(l.Variance)
			sum += float64(share[k] * float64(d*d*d))
		}
	}
	return sum / float64(len(x))
}

// gathered returns at most about mostAlone numbers that stand for the sorted x, and how many each stands for.
func gathered(x []float64) (few, weights []float64) {
	run := 1
	if len(x) > mostAlone {
		run = (len(x) - 2*outermost + mostAlone - 1) / (mostAlone - 2*outermost)
	}
	for i := 0; i < len(x); {
		n := 1
		if i >= outermost {
			n = max(1, min(run, len(x)-outermost-i))
		}
		sum := 0.0
		for _, v := range x[i : i+n] {
			sum += v
		}
		few, weights = append(few, sum/float64(n)), append(weights, float64(n))
		i += n
	}
	return few, weights
}

// maximise improves the laws until their likelihood grows no more.
func maximise(x, weights []float64, laws []Law, least float64) []Law {
	k := len(laws)
	share := make([]float64, len(x)*k) // of each law in each number, weighted
	// expect sets the shares, and returns the logarithm of the likelihood.
	expect := func(laws []Law) (likelihood float64) {
		for i, v := range x {
			of := share[i*k : (i+1)*k]
			likelihood += float64(weights[i] * shares(laws, v, of))
			for j := range of {
				of[j] *= weights[i]
			}
		}
		return likelihood
	}
	likelihood, n := expect(laws), 0.0
	for _, w := range weights {
		n += w
	}
	for range mostSteps {
		// The laws of the largest likelihood given the shares; none loses all its weight.
		better := make([]Law, k)
		for j := range better {
			l := &better[j]
			total := math.SmallestNonzeroFloat64
			for i, v := range x {
				total += share[i*k+j]
				l.Mean += float64(share[i*k+j] * v)
			}
			l.Mean /= total
			for i, v := range x {
				l.Variance += float64(share[i*k+j] * float64((v-l.Mean)*(v-l.Mean)))
			}
			l.Weight, l.Variance = max(total/n, 1e-12), max(l.Variance/total, least)
		}
		l := expect(better)
		if !(l-likelihood > leastGain*n) {
			break
		}
		laws, likelihood = better, l
	}
	return laws
}

// shares sets the probability of each law given v, and returns the logarithm of the density at v.
func shares(laws []Law, v float64, share []float64) float64 {
	most := math.Inf(-1)
	for k := range laws {
		share[k] = laws[k].logDensity(v)
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

// logDensity returns the logarithm of the density at v, by which the law counts in the mixture: with its weight.
func (l *Law) logDensity(v float64) float64 {
	d := v - l.Mean
	return math.Log(l.Weight) - float64(d*d)/(2*l.Variance) - math.Log(2*math.Pi*l.Variance)/2
}
