package calibrate_test

import (
	"fmt"
	"os"
	"strings"

	"reprise/calibrate"
	"reprise/calibrate/table"
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
	c := report.Functions[0].All.Coefficients
	fmt.Printf("%.2g s per %s\n", c[0].Value, c[0].Term)
	if err := report.WriteYAML(os.Stdout, calibrate.FileOptions{Source: "made up"}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 2e-09 s per N
	// version: 1
	// source: "made up"
	// unit: s # coefficients: seconds per unit of the product
	// kernels:
	//   # M-1, 4 timings of 4 sizes, R2 1.000000
	//   dscal: {terms: {N: 2.0e-09, 1: 1.0e-06}}
}
