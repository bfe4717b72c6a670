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

// The process grid that HPCG takes is not sorted.
func ExampleChooseGrid() {
	for _, n := range []int{7, 12, 64, 158976} {
		fmt.Println(n, hpcg.ChooseGrid(n))
	}
	// Output:
	// 7 7x1x1
	// 12 2x3x2
	// 64 4x4x4
	// 158976 64x54x46
}
