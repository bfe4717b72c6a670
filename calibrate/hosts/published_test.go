package hosts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"reprise/calibrate/table"
)

// published reads a table of published coefficients, from the complete data if
// REPRISE_VALIDATION names their directory. Source: T. Cornebize, PhD thesis, 2021, and its data.
func published(t *testing.T, name string) *Sample {
	t.Helper()
	dir := os.Getenv("REPRISE_VALIDATION")
	if dir == "" {
		dir = "../../testdata/published"
	}
	r, err := table.Open(filepath.Join(dir, "dgemm_calibration", name))
	must(t, err)
	defer r.Close()
	s, err := NewSample([]Variable{gemm, {Kernel: "dgemm", Term: "1"}, {Kernel: "dgemm", Term: "M*N*K", Noise: true}}, true, HalfNormal)
	must(t, err)
	must(t, s.Read(r, ReadOptions{Columns: []string{"mnk", "intercept", "mnk_residual"}}))
	return s
}

// compare compares a class with a published one, to its 7 digits. The publication
// takes the covariance of the units' means as it is, without the part that the number of days
// leaves, and divides the squares about them by the number of days less 1, not by that less the units.
func compare(t *testing.T, r *ClassReport, c, want *Class) {
	t.Helper()
	days, units := float64(r.Days), float64(len(r.Members))
	for i := range want.Mean {
		if !near(c.Mean[i], want.Mean[i], 2e-7) {
			t.Errorf("%s: mean of variable %d: %.9g, published %.9g", c.Name, i, c.Mean[i], want.Mean[i])
		}
		for j := range want.Mean {
			if got := r.OfMeans[i][j]; !near(got, want.Spatial[i][j], 2e-6) {
				t.Errorf("%s: covariance of means %d, %d: %.9g, published %.9g", c.Name, i, j, got, want.Spatial[i][j])
			}
			if got := c.Temporal[i][j] * (days - units) / (days - 1); !near(got, want.Temporal[i][j], 2e-6) {
				t.Errorf("%s: temporal covariance %d, %d: %.9g, published %.9g", c.Name, i, j, got, want.Temporal[i][j])
			}
		}
	}
}

// TestPublishedCPUs: the model of the CPUs of Dahu comes back from its 1,456
// calibrations, and without the part of the days 0.3 % less variance between CPUs.
func TestPublishedCPUs(t *testing.T) {
	r := estimate(t, published(t, "dgemm_calibration.csv.gz"), Options{})
	if len(r.Classes) != 1 {
		t.Fatalf("%d classes, want 1", len(r.Classes))
	}
	c, want := &r.Model.Classes[0], builtinModel(t, "dahu-cpu").Classes[0]
	compare(t, &r.Classes[0], c, &want)
	if less := 1 - c.Spatial[0][0]/want.Spatial[0][0]; less < 0.001 || less > 0.004 {
		t.Errorf("spatial variance %g less than published, want 0.001 to 0.004", less)
	}
	t.Logf("Dahu: mean %.6e s, %.2f %% between CPUs, %.2f %% between days, noise %.2f %%", c.Mean[0],
		100*deviation(c.Spatial, 0)/c.Mean[0], 100*deviation(c.Temporal, 0)/c.Mean[0], 100*r.Classes[0].Noise[0].Variation)
}

// TestPublishedCooling: the classes by noise are the four nodes with broken
// cooling and all others, as the publication divides them by hand; without CPU 1 of node 15, which it
// leaves out, both classes have its figures.
func TestPublishedCooling(t *testing.T) {
	s := published(t, "dgemm_calibration_slownodes.csv.gz")
	r := estimate(t, s, Options{ByNoise: true})
	want := []string{"13:0", "13:1", "14:0", "14:1", "15:0", "15:1", "16:0", "16:1"}
	if len(r.Classes) != 2 || !slices.Equal(r.Classes[1].Members, want) {
		t.Fatalf("classes %+v, want two, the second of %v", r.Classes, want)
	}
	s.Records = slices.DeleteFunc(s.Records, func(r Record) bool { return r.Host == "15" && r.CPU == 1 })
	r = estimate(t, s, Options{Classes: 2, ByNoise: true})
	cooling := builtinModel(t, "dahu-cooling")
	for i := range r.Classes {
		compare(t, &r.Classes[i], &r.Model.Classes[i], &cooling.Classes[i])
	}
}
