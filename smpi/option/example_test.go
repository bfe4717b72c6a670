package option_test

import (
	"fmt"

	"reprise/smpi/option"
)

type garden struct{ trees int64 }

var options = option.Table[garden]{
	option.Bytes("garden/trees", "number of trees", func(g *garden) *int64 { return &g.trees }),
}

func Example() {
	var g garden
	trees := options.Find("garden/trees")
	fmt.Println(trees.Apply(&g, "12"), g.trees, trees.Get(&g))
	fmt.Println(trees.Apply(&g, "many"))
	// Output:
	// <nil> 12 12
	// option garden/trees: "many" is not a number of bytes
}
