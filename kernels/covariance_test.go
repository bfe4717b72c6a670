package kernels_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/noise"
)

// TestDrawCoefficients draws k = a*M + b with covariance [[4, 3], [3, 9]] (in units of 1e-4
// for a and b) many times. From two calls of each drawn model a and b follow; their moments
// are those of the matrix to within six standard errors: of a mean sd/sqrt(n), of a
// covariance of normal deviates sqrt((vii*vjj+vij^2)/n).
func TestDrawCoefficients(t *testing.T) {
	const n = 20000
	file := header + "  k: {empty: charged, terms: {M: 5, 1: 7}, covariance: [[4e-4], [3e-4, 9e-4]]}\n  other: 1\n"
	set, err := kernels.Parse(strings.NewReader(file), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !set.Uncertain() {
		t.Error("a set with a covariance is certain")
	}
	var mean [2]float64
	var moment [2][2]float64
	for i := range n {
		drawn := set.DrawCoefficients(noise.NewSource(uint64(i)))
		b := seconds(t, drawn, "k", 0)
		x := [2]float64{seconds(t, drawn, "k", 1) - b - 5, b - 7}
		for i := range x {
			mean[i] += x[i] / n
			for k := range x {
				moment[i][k] += x[i] * x[k] / n
			}
		}
	}
	want := [2][2]float64{{4e-4, 3e-4}, {3e-4, 9e-4}}
	for i := range mean {
		if e := 6 * math.Sqrt(want[i][i]/n); math.Abs(mean[i]) > e {
			t.Errorf("mean %d is off by %g, allowed %g", i, mean[i], e)
		}
		for k := range mean {
			if e := 6 * math.Sqrt((want[i][i]*want[k][k]+want[i][k]*want[i][k])/n); math.Abs(moment[i][k]-want[i][k]) > e {
				t.Errorf("covariance %d %d is %g, want %g within %g", i, k, moment[i][k], want[i][k], e)
			}
		}
	}
	if got := seconds(t, set, "k", 1); got != 12 {
		t.Errorf("the set itself has changed: %g, want 12", got)
	}
	a, b := set.DrawCoefficients(noise.NewSource(3)), set.DrawCoefficients(noise.NewSource(3))
	if seconds(t, a, "k", 9) != seconds(t, b, "k", 9) || seconds(t, a, "other", 9) != 1 {
		t.Error("the same source draws other coefficients, or of what has no covariance")
	}
}

// TestDrawHosts: the times of hosts scatter by the percentage of the file around its own, by
// name; without a draw all are alike.
func TestDrawHosts(t *testing.T) {
	const n = 20000
	set, err := kernels.Parse(strings.NewReader("host_scatter: 5%\n"+header+"  k: {terms: {M: 2}}\n"), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	drawn := set.DrawHosts(noise.NewSource(1))
	mean, squares := 0.0, 0.0
	for i := range n {
		host := kernels.Host{Name: fmt.Sprintf("node-%d", i)}
		if got := secondsOn(t, set, host, "k", 1); got != 2 {
			t.Fatalf("%s: %g s, want 2", host.Name, got)
		}
		x := secondsOn(t, drawn, host, "k", 1)/2 - 1
		mean += x / n
		squares += x * x / n
	}
	if e := 6 * 0.05 / math.Sqrt(n); math.Abs(mean) > e {
		t.Errorf("mean %g, allowed %g", mean, e)
	}
	if sd, e := math.Sqrt(squares), 6*0.05/math.Sqrt(2*n); math.Abs(sd-0.05) > e {
		t.Errorf("scatter %g, want 0.05 within %g", sd, e)
	}
	host := kernels.Host{Name: "node-1", Factor: 2}
	if got, want := secondsOn(t, drawn, host, "k", 1), secondsOn(t, drawn, kernels.Host{Name: "node-1"}, "k", 1)/2; got != want {
		t.Errorf("twice as quick: %g s, want %g", got, want)
	}
}

func seconds(t *testing.T, set *kernels.Set, kernel string, m int64) float64 {
	t.Helper()
	return secondsOn(t, set, kernels.Host{Name: "host"}, kernel, m)
}

func secondsOn(t *testing.T, set *kernels.Set, host kernels.Host, kernel string, m int64) float64 {
	t.Helper()
	model, err := set.Bind(host, kernels.Signature{Name: kernel, Dims: []string{"M"}})
	if err != nil {
		t.Fatal(err)
	}
	return model.Seconds(&[4]int64{m})
}

// TestCovarianceErrors are matrices that no coefficients have.
func TestCovarianceErrors(t *testing.T) {
	for _, c := range []struct{ model, want string }{
		{"{terms: {M: 1}, covariance: []}", "f.yaml:4: k: covariance: 0 rows, want one for each of the 1 terms"},
		{"{terms: {M: 1}, covariance: [[1, 2]]}", "f.yaml:4: k: covariance: 2 numbers in row 1, want 1: the lower triangle"},
		{"{terms: {M: 1}, covariance: [[-1]]}", "f.yaml:4: k: covariance: variance -1 of term 1 is negative"},
		{"{terms: {M: 1}, covariance: [[x]]}", `f.yaml:4: k: covariance: want a finite number, found "x"`},
		{"{terms: {M: 1, 1: 1}, covariance: [[1], [2, 1]]}", "f.yaml:4: k: covariance: not positive semi-definite"},
		{"{terms: {M: 1, 1: 1}, covariance: [[0], [1, 1]]}", "f.yaml:4: k: covariance: not positive semi-definite"},
		{"{free: true, covariance: [[1]]}", "f.yaml:4: k: covariance of what is free"},
		{"{pieces: [{terms: {M: 1}}], covariance: [[1]]}", `f.yaml:4: k: "covariance" beside pieces: it belongs into one of them`},
	} {
		_, err := kernels.Parse(strings.NewReader(header+"  k: "+c.model+"\n"), "f.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.model, err, c.want)
		}
	}
	for _, scatter := range []string{"1", "30%", "-1%"} {
		if _, err := kernels.Parse(strings.NewReader("host_scatter: "+scatter+"\n"+header+"  k: 1\n"), "f.yaml"); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:1: host_scatter: want a ") {
			t.Errorf("%s: %v", scatter, err)
		}
	}
}
