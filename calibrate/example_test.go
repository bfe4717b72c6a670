package calibrate_test

import (
	"fmt"
	"strings"

	"reprise/calibrate"
	"reprise/calibrate/table"
	"reprise/kernels"
)

// Timings that are 2 ns a column and 1 us: the fit says so, and the kernel file is
// one that replay --kernels reads.
func Example() {
	csv := "function,n,seconds\ndscal,0,1e-6\ndscal,1000,3e-6\ndscal,2000,5e-6\ndscal,4000,9e-6\n"
	r, err := table.NewReader(strings.NewReader(csv), "timings.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	timings := calibrate.NewTimings()
	if err := timings.Read(r, calibrate.ReadOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	o := calibrate.DefaultKernelOptions()
	o.Model = calibrate.LinearOne
	report, err := calibrate.FitKernels(timings, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range report.Functions[0].All.Coefficients {
		fmt.Printf("%.3g s per %s\n", c.Value, c.Term)
	}
	var file strings.Builder
	if err := report.WriteYAML(&file, calibrate.FileOptions{Source: "made up"}); err != nil {
		fmt.Println(err)
	}
	if _, err := kernels.Parse(strings.NewReader(file.String()), "fit.yaml"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 2e-09 s per N
	// 1e-06 s per 1
}
