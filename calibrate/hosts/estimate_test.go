package hosts

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/calibrate"
	"reprise/calibrate/table"
)

var gemm = Variable{Kernel: "dgemm", Term: "M*N*K"}

func near(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// sampleOf returns the sample of rows "host values...", the variables being dgemm's M*N*K, and
// its constant if there are two values.
func sampleOf(rows ...string) *Sample {
	s := &Sample{Shape: Normal, Variables: []Variable{gemm}}
	for _, row := range rows {
		fields := strings.Fields(row)
		r := Record{Host: fields[0], CPU: noCPU}
		for _, f := range fields[1:] {
			var x float64
			if _, err := fmt.Sscan(f, &x); err != nil {
				panic(err)
			}
			r.Values = append(r.Values, x)
		}
		s.Records = append(s.Records, r)
	}
	if len(s.Records[0].Values) == 2 {
		s.Variables = append(s.Variables, Variable{Kernel: "dgemm", Term: "1"})
	}
	return s
}

func estimate(t *testing.T, s *Sample, o Options) *Report {
	t.Helper()
	r, err := Estimate(s, o)
	must(t, err)
	return r
}

// TestMoments by hand, of which the first two have one variable. Balanced: means of hosts 2 and 7, so a mean of 4.5 and a
// variance of the means of 2·2.5² = 12.5; within, (1+1+4+4)/(4-2) = 5; so 12.5 - 5/2 = 10 between.
// Unbalanced: means 2 and 8, variance of the means 18; within, (1+1)/(3-2) = 2; the mean of
// 1/days is (1/2+1)/2 = 3/4, so 18 - 3/2 = 16.5 between. Means 2 and 2.5 differ less than days explain.
//
// Of two variables, means (2, 20), (7, 40) and (6, 30) have a covariance of (3·10+2·10+1·0)/2 = 25; within,
// 3·(1·1+1·1)/(6-3) = 2; so 25 - 2/2 = 24 between.
func TestMoments(t *testing.T) {
	for _, c := range []struct {
		rows                    []string
		mean, spatial, temporal float64
	}{
		{[]string{"a 1", "b 5", "a 3", "b 9"}, 4.5, 10, 5},
		{[]string{"a 1", "a 3", "b 8"}, 5, 16.5, 2},
	} {
		got := estimate(t, sampleOf(c.rows...), Options{Classes: 1}).Model.Classes[0]
		if !near(got.Mean[0], c.mean, 1e-15) || !near(got.Spatial[0][0], c.spatial, 1e-15) || !near(got.Temporal[0][0], c.temporal, 1e-15) {
			t.Errorf("%v: mean %g, spatial %g, temporal %g, want %g, %g, %g", c.rows, got.Mean[0], got.Spatial[0][0], got.Temporal[0][0], c.mean, c.spatial, c.temporal)
		}
	}
	r := estimate(t, sampleOf("a 1", "a 3", "b 1", "b 4"), Options{Classes: 1})
	if v := r.Model.Classes[0].Spatial[0][0]; v != 0 || !slices.Equal(r.Classes[0].Constant, []string{"dgemm:M*N*K"}) {
		t.Errorf("spatial %g, constant %v, want 0 and the variable named", v, r.Classes[0].Constant)
	}
	got := estimate(t, sampleOf("a 1 19", "a 3 21", "b 6 39", "b 8 41", "c 5 29", "c 7 31"), Options{Classes: 1}).Model.Classes[0]
	for _, at := range [][2]int{{0, 1}, {1, 0}} {
		if s, d := got.Spatial[at[0]][at[1]], got.Temporal[at[0]][at[1]]; !near(s, 24, 1e-15) || !near(d, 2, 1e-15) {
			t.Errorf("covariances %g between hosts, %g between days, want 24 and 2", s, d)
		}
	}
}

// normalModel has one class of one variable. A mean far from 0 keeps draws in range.
func normalModel(deviations, spatial, temporal float64) *Model {
	mean := deviations * math.Sqrt(spatial+temporal)
	return &Model{CPUsPerHost: 1, Shape: Normal, Variables: []Variable{gemm},
		Classes: []Class{{Name: "all", Weight: 1, Mean: []float64{mean}, Spatial: [][]float64{{spatial}}, Temporal: [][]float64{{temporal}}}}}
}

// TestSemidefinite: variances 4 and 1 with a covariance of 3 have a correlation of 1.5,
// which shrinks to 1 by 2/3; a variance below zero takes its covariances with it.
func TestSemidefinite(t *testing.T) {
	c, none, factor := semidefinite([][]float64{{4, 3, 5}, {3, 1, 7}, {5, 7, -1}})
	if !slices.Equal(none, []int{2}) || !near(factor, 2./3, 1e-12) {
		t.Errorf("none %v, factor %g, want 2 and 2/3", none, factor)
	}
	want := [][]float64{{4, 2, 0}, {2, 1, 0}, {0, 0, 0}}
	for i := range want {
		for j := range want {
			if !near(c[i][j], want[i][j], 1e-12) {
				t.Errorf("row %d, column %d: %g, want %g", i, j, c[i][j], want[i][j])
			}
		}
	}
	if err := checkCovariance(c, 3); err != nil {
		t.Error(err)
	}
}

// TestClasses: 16 hosts at the quantiles of a normal law about 1 are one class; 4 more
// about 1.5 are another.
func TestClasses(t *testing.T) {
	var one, two []string
	for i := range 16 {
		one = append(one, fmt.Sprintf("n%d %g", i, 1+0.02*math.Sqrt2*math.Erfinv(float64(2*i-15)/16)))
	}
	two = slices.Clone(one)
	for i, x := range []float64{1.49, 1.5, 1.52, 1.51} {
		two = append(two, fmt.Sprintf("slow%d %g", i, x))
	}
	if r := estimate(t, sampleOf(one...), Options{}); len(r.Classes) != 1 || r.Classes[0].Name != "all" {
		t.Errorf("%d classes, want 1: %+v", len(r.Classes), r.Candidates)
	}
	r := estimate(t, sampleOf(two...), Options{})
	if len(r.Classes) != 2 || !slices.Equal(r.Classes[1].Members, []string{"slow0", "slow1", "slow2", "slow3"}) {
		t.Fatalf("classes %+v, want 2", r.Classes)
	}
	c := r.Model.Classes
	if !near(c[1].Mean[0], (1.49+1.5+1.52+1.51)/4, 1e-15) || !near(c[0].Weight, 0.8, 1e-15) || !near(c[1].Weight, 0.2, 1e-15) {
		t.Errorf("slow: mean %g, weights %g and %g, want 1.505, 0.8, 0.2", c[1].Mean[0], c[0].Weight, c[1].Weight)
	}
}

// TestGivenClasses: those of the table are taken as they are.
func TestGivenClasses(t *testing.T) {
	s := &Sample{}
	var err error
	if s, err = NewSample([]Variable{gemm, {Kernel: "dgemm", Term: "M*N*K", Noise: true}}, true, HalfNormal); err != nil {
		t.Fatal(err)
	}
	r, err := table.NewReader(strings.NewReader("node,cpu,date,kind,a,s\n1,0,0,good,1,0.1\n1,1,0,good,2,0.1\n2,0,0,bad,4,0.4\n2,1,0,bad,6,0.6\n"), "t.csv")
	must(t, err)
	must(t, s.Read(r, ReadOptions{Columns: []string{"a", "s"}, Class: "kind"}))
	got := estimate(t, s, Options{})
	if len(got.Classes) != 2 || got.Classes[1].Name != "bad" || !near(got.Model.Classes[1].Mean[0], 5, 1e-15) {
		t.Fatalf("got %+v", got.Classes)
	}
	if got.Model.CPUsPerHost != 2 || !near(got.Classes[1].Noise[0].Variation, 0.1, 1e-14) {
		t.Errorf("%d CPUs, noise %+v, want 2 and 10 %%", got.Model.CPUsPerHost, got.Classes[1].Noise)
	}
}

func TestRefusals(t *testing.T) {
	inTwo := sampleOf("a 1", "a 2", "b 3")
	inTwo.Records[0].Class, inTwo.Records[1].Class, inTwo.Records[2].Class = "x", "y", "x"
	for want, f := range map[string]func() (*Report, error){
		"no rows":                     func() (*Report, error) { return Estimate(&Sample{Variables: []Variable{gemm}}, Options{}) },
		"nothing says how":            func() (*Report, error) { return Estimate(sampleOf("a 1", "a 2"), Options{Classes: 1}) },
		"too few: 2, want 3 for each": func() (*Report, error) { return Estimate(sampleOf("a 1", "b 2"), Options{Classes: 2}) },
		`in classes "x" and "y"`:      func() (*Report, error) { return Estimate(inTwo, Options{}) },
		"no noise, by which":          func() (*Report, error) { return Estimate(sampleOf("a 1", "b 2"), Options{ByNoise: true}) },
		"and above zero":              func() (*Report, error) { return Estimate(sampleOf("a -1", "b -2"), Options{}) },
	} {
		_, err := f()
		if !errors.Is(err, calibrate.ErrMeaningless) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Estimate(sampleOf("a 1", "b 2"), Options{Classes: 4}); err == nil {
		t.Error("4 classes are no error")
	}
}

// TestFitError: days of 1 and 1.2 differ by a deviation of sqrt(2)/10, of which fits with
// standard errors of 0.06 and 0.08 (root mean square 0.0707) explain a good part if they are a little larger.
func TestFitError(t *testing.T) {
	for _, test := range []struct {
		errors []float64
		rms    float64
		noted  bool
	}{
		{[]float64{0.06, 0.0799}, math.Sqrt((0.06*0.06 + 0.0799*0.0799) / 2), false},
		{[]float64{0.06, 0.0801}, math.Sqrt((0.06*0.06 + 0.0801*0.0801) / 2), true},
	} {
		s := sampleOf("a 1", "a 1.2", "b 1", "b 1.2")
		for i := range s.Records {
			s.Records[i].Errors = []float64{test.errors[i%2]}
		}
		class := estimate(t, s, Options{Classes: 1}).Classes[0]
		if math.Abs(class.FitError[0]-test.rms) > 1e-12 {
			t.Errorf("%v: %g, want %g", test.errors, class.FitError[0], test.rms)
		}
		if noted := strings.Contains(strings.Join(class.Notes, "\n"), "a fit of one day has a standard error of 0.071"); noted != test.noted {
			t.Errorf("%v: notes %q", test.errors, class.Notes)
		}
	}
	if class := estimate(t, sampleOf("a 1", "a 1.2", "b 1", "b 1.2"), Options{Classes: 1}).Classes[0]; len(class.FitError) > 0 {
		t.Errorf("coefficients have errors of fits: %v", class.FitError)
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"cpu,a\n0,1\n":                   "no column host",
		"host,a\nx,1\n":                  "no column date",
		"host,date,a\nx,0,1\n":           "no column cpu",
		"host,cpu,date\nx,1,0\n":         `no column "a" with dgemm:M*N*K`,
		"host,cpu,date,a\nx,0,0,1e10\n":  "is the unit seconds",
		"host,cpu,date,a\nx,0,0,-1\n":    "t.csv:2: dgemm:M*N*K: -1 s, want more than 0",
		"host,cpu,date,a\nx,5000,0,1\n":  "cpu 5000",
		"host,cpu,date,a\nx,0,0,hello\n": "want a number",
		"host,cpu,date,a\nx,0,soon,1\n":  `date "soon", want yyyy-mm-dd`,
		"host,cpu,date,a\nx,0,,1\n":      `date "", want yyyy-mm-dd`,
		"host,cpu,date,a\nx,0,2024-05-02,1\nx,0,2024-05-03,1\nx,1,2024-05-02,1\nx,0,2024-05-02,2\n": "t.csv:5: no meaningful fit: host x:0 at date 2024-05-02 again, which t.csv:2 has",
	} {
		s, err := NewSample([]Variable{gemm}, true, Normal)
		must(t, err)
		r, err := table.NewReader(strings.NewReader(text), "t.csv")
		must(t, err)
		if err := s.Read(r, ReadOptions{Columns: []string{"a"}}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "t.csv:") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// fitsOf fits dgemm's M*N*K to timings, for each host and day.
func fitsOf(t *testing.T, csv string) *calibrate.KernelReport {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(csv), "t.csv")
	must(t, err)
	timings := calibrate.NewTimings()
	must(t, timings.Read(r, calibrate.ReadOptions{Days: true}))
	o := calibrate.DefaultKernelOptions()
	o.For, o.Terms = calibrate.ForHost, map[string][]string{"dgemm": {"M*N*K"}}
	fits, err := calibrate.FitKernels(timings, o)
	must(t, err)
	return fits
}

// TestFromFits: exact timings of two hosts on two days each; of each size two, 10 % above
// and below the mean, so that the deviation is 0.1·sqrt(2) of it.
func TestFromFits(t *testing.T) {
	var b strings.Builder
	b.WriteString("function,host,date,m,n,k,seconds\n")
	slopes := map[string]float64{"a 2024-05-02": 1e-10, "a 2024-05-03": 3e-10, "b 2024-05-02": 5e-10, "b 2024-05-03": 9e-10}
	for _, day := range []string{"2024-05-02", "2024-05-03"} {
		for _, host := range []string{"a", "b"} {
			for _, m := range []float64{100, 200, 400, 800} {
				for _, sign := range []float64{0.9, 1.1} {
					fmt.Fprintf(&b, "dgemm,%s,%sT10:00:00Z,%g,100,10,%g\n", host, day, m, sign*slopes[host+" "+day]*m*1000)
				}
			}
		}
	}
	fits := fitsOf(t, b.String())
	if err := fits.WriteYAML(&b, calibrate.FileOptions{}); err == nil {
		t.Error("fits of days make a kernel file")
	}
	s, err := FromFits(fits, false)
	must(t, err)
	got := estimate(t, s, Options{Classes: 1})
	c := got.Model.Classes[0]
	for i, want := range []struct{ got, want float64 }{
		{c.Mean[0], 4.5e-10}, {c.Spatial[0][0], 10e-20}, {c.Temporal[0][0], 5e-20}, // as in TestMoments
		{c.Mean[1], 4.5e-10 * 0.1 * math.Sqrt2},
	} {
		if !near(want.got, want.want, 1e-9) {
			t.Errorf("figure %d: %g, want %g", i, want.got, want.want)
		}
	}
	if !got.Model.Variables[1].Noise || got.Model.Shape != Normal {
		t.Errorf("variables %v, shape %s, want noise, normal", got.Model.Variables, got.Model.Shape)
	}
	// On one of two days no size was timed twice, so that its noise is not known.
	text := "function,host,date,m,n,k,seconds\n"
	for _, day := range []string{"2024-05-02", "2024-05-03", "2024-05-03"} {
		for _, m := range []float64{100, 200, 400, 800} {
			text += fmt.Sprintf("dgemm,a,%s,%g,100,10,%g\n", day, m, 1e-10*m*1000)
		}
	}
	_, err = FromFits(fitsOf(t, text), false)
	if !errors.Is(err, calibrate.ErrMeaningless) || !strings.Contains(err.Error(), "no size of dgemm was timed twice on a on 2024-05-02") {
		t.Errorf("%v", err)
	}
}
