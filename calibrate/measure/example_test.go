package measure_test

import (
	"fmt"

	"reprise/calibrate/measure"
)

// The plan of a run that calls dscal a hundred times.
func Example() {
	run := &measure.RunCalls{}
	dscal := run.Kernel(measure.Kernel{Name: "dscal", Dims: []string{"N"}}, func(d *[4]int64) float64 { return 1e-10 * float64(d[0]) })
	for n := range int64(100) {
		if err := run.Add(dscal, [4]int64{1000 - 10*n}); err != nil {
			fmt.Println(err)
		}
	}
	o := measure.DefaultOptions()
	plan, err := measure.NewPlan(run, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(plan.Calls), "sizes,", plan.Passes, "times each")
	// Output: 100 sizes, 30 times each
}
