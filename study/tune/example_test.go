package tune_test

import (
	"context"
	"fmt"
	"log"

	"reprise/study"
	"reprise/study/tune"
)

// HPL on eight nodes of the generic machine.
func Example() {
	r := tune.Request{Ranks: 8, N: 1024}
	s, _, err := r.Study()
	if err != nil {
		log.Fatal(err)
	}
	plan, err := study.NewPlan(s, "0.1.0")
	if err != nil {
		log.Fatal(err)
	}
	result, err := tune.Run(context.Background(), plan, tune.Options{Jobs: 2, Tolerances: tune.Tolerances(0), Indifference: 0.02, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Configurations, result.Share < 1)
	// Output: 108 true
}
