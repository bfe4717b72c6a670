package compare

import "math"

// figure is a number that results tell, with how sure it is.
type figure struct {
	mean     float64
	variance float64 // of the mean; 0: it is exact
	freedom  float64 // of the variance; +Inf: it is known
	// values are those of the seeds. each is the variance of mean for a variance of one of
	// them: 1/n of a mean, 1+1/n of the next run.
	// further is what the variance has beyond that.
	values  []float64
	each    float64
	further float64
	// unsure: how sure the number is, is not known, as of one draw of noise.
	unsure bool
}

func exact(value float64) figure { return figure{mean: value, freedom: math.Inf(1)} }

// estimated is the figure of an estimate whose interval of 95 % has a half-width.
func estimated(value, interval float64) figure {
	deviation := interval / quantile(0.025, math.Inf(1))
	return figure{mean: value, variance: deviation * deviation, freedom: math.Inf(1)}
}

// meanOf is the mean of at least two seeds.
func meanOf(values []float64) figure {
	mean, variance := moments(values)
	n := float64(len(values))
	return figure{mean: mean, variance: variance / n, freedom: n - 1, values: values, each: 1 / n}
}

// nextOf is that of one more run on a machine that is drawn as those of the values are, where
// each has a further variance that they do not show.
func nextOf(values []float64, further float64) figure {
	mean, variance := moments(values)
	n := float64(len(values))
	each := 1 + 1/n
	return figure{mean: mean, variance: (variance + further) * each, freedom: n - 1, values: values, each: each,
		further: further * each}
}

// moments returns the mean and the variance (by n-1) of at least two values.
func moments(values []float64) (mean, variance float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		variance += float64((v-mean)*(v-mean)) / (n - 1)
	}
	return mean, variance
}

// covariance is that of values which belong together one by one, by n-1.
func covariance(a, b []float64) float64 {
	meanA, _ := moments(a)
	meanB, _ := moments(b)
	sum := 0.0
	for i := range a {
		sum += float64((a[i]-meanA)*(b[i]-meanB)) / float64(len(a)-1)
	}
	return sum
}
