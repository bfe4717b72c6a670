package vectors_test

import (
	"fmt"

	"reprise/trace/vectors"
)

// With one owner only the diagonal is told from the rows below it; in the last
// column nothing else is left.
func Example() {
	g := vectors.PivotOwners{Seed: 1, First: 7, Count: 1, Rows: 8, Block: 2, Owners: 1}.Generated()
	fmt.Println(g.Kind.Name(), g.Kind.Args())
	fmt.Println(g.Append(nil))
	// Output:
	// pivot-owners/1 [seed first rows block owners]
	// [0]
}
