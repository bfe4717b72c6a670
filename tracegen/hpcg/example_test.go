package hpcg_test

import (
	"bytes"
	"context"
	"fmt"

	"reprise/trace"
	"reprise/tracegen/hpcg"
)

// A trace of Fugaku's size takes some kB.
func ExampleGenerate() {
	var file bytes.Buffer
	p := hpcg.DefaultParams(158976, 104)
	if err := hpcg.Generate(context.Background(), &file, p, hpcg.Options{}); err != nil {
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
	fmt.Println(h.Ranks, "ranks,", h.Steps, "iterations,", h.Flops, "flop")
	// Output: 158976 ranks, 50 iterations, 3.354715190115056e+15 flop
}
