package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Statistic is the number that stands for the timings of a size. It is the same for all
// operations, since overheads are subtracted from the times of ping-pongs.
type Statistic string

// The statistics. A disturbance makes a timing longer, often many times: the mean is
// moved by each such one, the median, which is of the others, not at all, unless they
// are half of a size.
const (
	Median Statistic = "median"
	Mean   Statistic = "mean"
	Min    Statistic = "min"
)

// check refuses unknown statistics and parts, of which trim is left out on both sides.
func (s Statistic) check(trim float64) error {
	switch {
	case !slices.Contains([]Statistic{Median, Mean, Min}, s):
		return fmt.Errorf("statistic %q, want median, mean or min", s)
	case !(trim >= 0 && trim < 0.5):
		return fmt.Errorf("trim %g, want at least 0 and less than 0.5", trim)
	case trim > 0 && s != Mean:
		return fmt.Errorf("trim %g of the %s: only a mean is trimmed", trim, s)
	}
	return nil
}

// of returns the statistic of sorted times, of which there is one at least, its
// standard error, and how many of them it is of. That of a minimum is how far the next
// one is off: for an exponential tail it is that in the mean. Of one time there is
// none, 0.
func (s Statistic) of(sorted []float64, trim float64) (value, deviation float64, number int) {
	switch s {
	case Median:
		sorted = withoutStrays(sorted)
		return median(sorted), medianError(sorted), len(sorted)
	case Min:
		return sorted[0], sorted[min(1, len(sorted)-1)] - sorted[0], len(sorted)
	}
	// A part of the times, rounded up, is left out on both sides; at least the middle
	// remains.
	n := len(sorted)
	out := min(int(math.Ceil(trim*float64(n)-1e-9)), (n-1)/2) // 0.07 of 100 are 7, not 7.000000000000001
	var m moments
	for _, x := range sorted[out : n-out] {
		m.add(x)
	}
	if m.n > 1 {
		deviation = m.sd() / math.Sqrt(float64(m.n))
	}
	return m.mean, deviation, int(m.n)
}

// median returns the middle of sorted values, of an even number the mean of both.
func median(sorted []float64) float64 { return quantile(sorted, 0.5) }

// farOff is how many times longer or shorter than the median of its size a timing is
// that a report warns of. Noise of messages is not that large, but a first call may be.
const farOff = 10

// withoutStrays returns those of sorted times that are not far off their median, of an
// even number the lower one, as disturbances make timings longer.
func withoutStrays(sorted []float64) []float64 {
	m := sorted[(len(sorted)-1)/2]
	first, last := 0, len(sorted)
	for sorted[first] <= m/farOff {
		first++
	}
	for sorted[last-1] >= farOff*m {
		last--
	}
	return sorted[first:last]
}

// spikeWindow is how many points on each side tell whether one is far off.
const spikeWindow = 4

// spikes returns the indices of points that are far off the median of those around
// them, as many on each side, or, of the first and the last, off what the one beside
// them allows for, at the same time for each message or for each byte. They are
// outliers that were timed too seldom for a median. A step of the times is none: a
// point on one side of it is among more of that side.
func spikes(x, y []float64) (list []int) {
	last := len(y) - 1
	for i := range y {
		var least, most float64
		switch half := min(spikeWindow, i, last-i); {
		case last == 0:
			return nil
		case i == 0:
			least, most = y[1]*x[0]/x[1], y[1]
		case i == last:
			least, most = y[i-1], y[i-1]*x[i]/x[i-1]
		default:
			least = median(slices.Sorted(slices.Values(y[i-half : i+half+1])))
			most = least
		}
		if y[i] >= farOff*most || y[i] <= least/farOff {
			list = append(list, i)
		}
	}
	return list
}

// quantile interpolates between the order statistics of sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

// moments gathers a sample in one pass: its number, mean, and central sums of second
// and third power (Welford's and Terriberry's updates).
type moments struct {
	n      int64
	mean   float64
	m2, m3 float64 // sums of (x-mean)² and (x-mean)³
}

func (m *moments) add(x float64) {
	before := float64(m.n)
	m.n++
	n := float64(m.n)
	delta := x - m.mean
	step := delta / n
	term := float64(delta*step) * before
	m.mean += step
	m.m3 += float64(float64(term*step)*(n-2)) - float64(3*step*m.m2)
	m.m2 += term
}

// variance returns the sample variance, with n-1 degrees of freedom; it needs two
// values.
func (m *moments) variance() float64 { return max(m.m2, 0) / float64(m.n-1) }

// sd returns the standard deviation, of two values or more.
func (m *moments) sd() float64 { return math.Sqrt(m.variance()) }

// skewness returns the adjusted Fisher-Pearson coefficient, which has no bias for
// normal samples; it needs three values, not all the same.
func (m *moments) skewness() float64 {
	n := float64(m.n)
	return math.Sqrt(n) * m.m3 / math.Pow(m.m2, 1.5) * math.Sqrt(n*(n-1)) / (n - 2)
}

// skewnessSeen returns the part of the skewness of half-normal noise that the
// coefficient of n values, at least three, has in the mean; all of it for many values.
// The formula is that of simulations to within 0.02.
func skewnessSeen(n int64) float64 { return 1 - 3.6/(float64(n)+2.2) }

// maxDegree is the highest degree of a product, as in kernel files.
const maxDegree = 3

// product is a term of a model: 1, or dimensions joined by *, with powers.
type product struct {
	text   string // as kernel files write it
	powers []int  // by dimension
}

// parseProduct reads "1", "M*N*K" or "M^2*N", of the dimensions dims.
func parseProduct(text string, dims []string) (product, error) {
	p := product{strings.TrimSpace(text), make([]int, len(dims))}
	if p.text == "1" {
		return p, nil
	}
	degree := 0
	for factor := range strings.SplitSeq(p.text, "*") {
		name, exponent, has := strings.Cut(strings.TrimSpace(factor), "^")
		at, power := slices.Index(dims, name), 1
		if has {
			power, _ = strconv.Atoi(exponent)
		}
		if at < 0 || power < 1 || power > maxDegree {
			return p, fmt.Errorf("term %q: want 1, or a product of %s and their powers up to %d, as M^2*N", p.text,
				strings.Join(dims, ", "), maxDegree)
		}
		p.powers[at] += power
		degree += power
	}
	if degree > maxDegree {
		return p, fmt.Errorf("term %q: degree %d, want at most %d", p.text, degree, maxDegree)
	}
	return p, nil
}

// parseProducts reads the terms of a model.
func parseProducts(terms, dims []string) (list []product, err error) {
	for _, text := range terms {
		p, err := parseProduct(text, dims)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// CheckTerm reports what is wrong with a kernel's name, or with a term of its model: 1,
// or a product of dimensions as M^2*N.
func CheckTerm(kernel, term string) error {
	if !isName(kernel) {
		return fmt.Errorf("kernel %q: want %s", kernel, wantedName)
	}
	// The dimensions of the kernel are not known here: all names that could be some are
	// taken.
	var dims []string
	for factor := range strings.SplitSeq(term, "*") {
		name, _, _ := strings.Cut(strings.TrimSpace(factor), "^")
		if isName(name) && !slices.Contains(dims, name) {
			dims = append(dims, name)
		}
	}
	if len(dims) == 0 && term != "1" {
		dims = []string{"dimensions"}
	}
	p, err := parseProduct(term, dims)
	if err == nil && p.text != term {
		err = fmt.Errorf("term %q: space around it", term)
	}
	return err
}

// NormalTerm returns the same text for all terms that CheckTerm takes and that are the
// same product: M*M*N for N*M^2.
func NormalTerm(term string) string {
	var factors []string
	for factor := range strings.SplitSeq(term, "*") {
		name, exponent, has := strings.Cut(strings.TrimSpace(factor), "^")
		power := 1
		if has {
			power, _ = strconv.Atoi(exponent)
		}
		factors = append(factors, slices.Repeat([]string{name}, min(max(power, 1), maxDegree))...)
	}
	slices.Sort(factors)
	return strings.Join(factors, "*")
}

// at returns the product at a size.
func (p *product) at(size *[MaxDims]int64) float64 {
	v := 1.0
	for d, power := range p.powers {
		for range power {
			v *= float64(size[d])
		}
	}
	return v
}

// allProducts returns the products of all subsets of the dimensions, largest first:
// M*N*K, M*N, M*K, N*K, M, N, K, 1.
func allProducts(dims []string) []string {
	byDegree := make([][]string, len(dims)+1)
	for set := 1<<len(dims) - 1; set >= 0; set-- {
		var names []string
		for d, name := range dims {
			if set>>(len(dims)-1-d)&1 != 0 {
				names = append(names, name)
			}
		}
		text := "1"
		if len(names) > 0 {
			text = strings.Join(names, "*")
		}
		byDegree[len(names)] = append(byDegree[len(names)], text)
	}
	slices.Reverse(byDegree)
	return slices.Concat(byDegree...)
}

// polynomial returns the terms of M-2: of three dimensions the product of all and of
// each two, and 1; of fewer, all products.
func polynomial(dims []string) []string {
	all := allProducts(dims)
	if len(dims) != 3 {
		return all
	}
	return append(slices.Clone(all[:4]), "1")
}
