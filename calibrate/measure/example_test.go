package measure_test

import (
	"fmt"

	"reprise/calibrate/measure"
)

// What would be measured: two given sizes, three times each, on every core.
func Example() {
	o := measure.DefaultOptions()
	o.Given, o.Reps = []measure.Size{{M: 64, N: 64, K: 64}, {M: 1000, N: 4, K: 32}}, 3
	plan, err := measure.NewPlan(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Sizes, len(plan.Calls)/len(plan.Groups))
	// Output: [64x64x64 1000x4x32] 6
}
