package design_test

import (
	"fmt"
	"log"

	"reprise/study/design"
)

// Half of the combinations of three factors with two levels.
func ExampleNewFractional() {
	f, err := design.NewFractional(3, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Resolution, f.Generators, f.Rows)
	fmt.Println(f.Named([]string{"NB", "DEPTH", "SWAP"}))
	// Output:
	// 3 [C=AB] [[0 0 1] [0 1 0] [1 0 0] [1 1 1]]
	// [SWAP=NB*DEPTH]
}
