package compare_test

import (
	"fmt"
	"strings"

	"reprise/report/compare"
)

// A gate at 1 % of two replays without noise.
func ExampleCompare() {
	base, err := compare.Read("base.json", strings.NewReader(`{"makespan_s": 100, "gflops": 50}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	other, err := compare.Read("new.json", strings.NewReader(`{"makespan_s": 102, "gflops": 49}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := compare.Compare(base, []*compare.Result{other}, compare.Options{Gate: true, Threshold: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f worse: %t\n", *c.Others[0].Makespan.Relative, c.Worse)
	// Output: 0.020 worse: true
}
