package smpi_test

import (
	"fmt"

	"reprise/smpi"
)

// The model brings its own factors; an old name is understood, and can be warned of.
func Example() {
	o := smpi.DefaultOptions()
	for _, s := range [][2]string{{"network/model", "LV08"}, {"smpi/async_small_thres", "1000"}} {
		if err := o.Set(s[0], s[1]); err != nil {
			panic(err)
		}
	}
	fmt.Println(o.LatencyFactor, o.EagerBelow)
	fmt.Println(smpi.Obsolete("smpi/async_small_thres"))
	fmt.Println(o.Set("network/modell", "LV08"))
	// Output:
	// 13.01 1000
	// option smpi/async_small_thres is called smpi/async-small-thresh today
	// unknown option "network/modell"; did you mean network/model?
}
