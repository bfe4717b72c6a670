package mxp_test

import (
	"bytes"
	"context"
	"fmt"

	"reprise/trace"
	"reprise/tracegen/mxp"
)

// Of the steps, 40 are those of the factorization and three of the refinement; 2/3 N^3 + 3/2 N^2 = 7.37625600e10.
func ExampleGenerate() {
	p, err := mxp.WithDefaults([]trace.Param{{Name: "N", Value: "4800"}, {Name: "NB", Value: "120"},
		{Name: "P", Value: "4"}, {Name: "Q", Value: "4"}, {Name: "bcast", Value: "chain"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := mxp.Generate(context.Background(), &file, p, mxp.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	t, err := trace.NewReader(&file, "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	h := t.Header()
	fmt.Println(h.Ranks, "ranks,", h.Steps, "steps,", h.Flops, "flop")
	// Output: 16 ranks, 43 steps, 7.376256e+10 flop
}
