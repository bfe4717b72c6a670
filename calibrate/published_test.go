package calibrate

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"reprise/calibrate/table"
)

// published returns the path of a file of the published measurements, which are
// not part of the repository.
func published(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("REPRISE_VALIDATION")
	if dir == "" {
		t.Skip("REPRISE_VALIDATION does not name the directory of the published measurements")
	}
	return filepath.Join(dir, name)
}

// TestPublishedDgemm: the regressions of the thesis data on dgemm timings
// of a node of Dahu come back to all printed digits: means per size, terms MNK, MN, MK, NK.
// Source: T. Cornebize, "High Performance Computing: Towards Better Performance Predictions
// and Experiments", PhD thesis, 2021, and its data.
func TestPublishedDgemm(t *testing.T) {
	raw := published(t, "dgemm_calibration/dgemm_raw.csv.gz")
	want, err := table.Open(published(t, "dgemm_calibration/dgemm_raw_expected.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	compared, worst := 0, 0.0
	for want.Next() == nil {
		fit := fitPublished(t, raw, want)
		for j, name := range []string{"mnk", "mn", "mk", "nk"} {
			for suffix, got := range map[string]float64{"": fit.Coefficients[j].Value, "_residual": fit.NoiseModel.Coefficients[j].Value} {
				number := expected(t, want, name+suffix)
				if !near(got, number, 1e-9) {
					t.Errorf("%s CPU %s: %s%s: got %.16g, want %.16g", want.Text(0), want.Text(2), name, suffix, got, number)
				}
				compared++
				worst = max(worst, abs(got/number-1))
			}
			c := fit.Coefficients[j]
			if number := expected(t, want, "tvalue_"+name); !near(c.Value/c.StdErr, number, 1e-9) {
				t.Errorf("%s CPU %s: t of %s: got %g, want %g", want.Text(0), want.Text(2), name, c.Value/c.StdErr, number)
			}
		}
	}
	t.Logf("%d published coefficients of dgemm: largest relative difference %.1e", compared, worst)
	if compared == 0 {
		t.Error("no rows")
	}
}

func abs(x float64) float64 { return max(x, -x) }

// fitPublished fits the rows of the experiment and CPU of the current row of want.
func fitPublished(t *testing.T, raw string, want *table.Reader) Fit {
	t.Helper()
	r, err := table.Open(raw)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	timings := NewTimings()
	where := []Condition{{"experiment", want.Text(0)}, {"cpu", want.Text(2)}}
	if err := timings.Read(r, ReadOptions{Function: "dgemm", Where: where}); err != nil {
		t.Fatal(err)
	}
	o := DefaultKernelOptions()
	o.Terms = map[string][]string{"dgemm": {"M*N*K", "M*N", "M*K", "N*K"}}
	report, err := FitKernels(timings, o)
	if err != nil {
		t.Fatal(err)
	}
	return report.Functions[0].All
}

func expected(t *testing.T, r *table.Reader, column string) float64 {
	t.Helper()
	i, err := r.Column(column)
	if err != nil || i < 0 {
		t.Fatalf("no column %s: %v", column, err)
	}
	x, err := strconv.ParseFloat(r.Text(i), 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
