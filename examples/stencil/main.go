// Command stencil writes the trace of a five-point stencil on a grid of ranks to standard output.
package main

import (
	"context"
	"log"
	"os"

	"reprise/trace"
	"reprise/tracegen"
)

const rows, columns, points, steps = 4, 8, 512, 100 // of ranks; of a rank in each direction

func main() {
	const sweep, byRow, byColumn = 0, 0, 1 // a kernel, two families of ranks and their axes
	g, err := tracegen.New(context.Background(), os.Stdout, &trace.Header{
		Program: "stencil", Ranks: rows * columns, Steps: steps, Flops: 6 * points * points * rows * columns * steps,
		CommFamilies: []trace.CommFamily{
			byRow: {Name: "row", Groups: tracegen.Groups(rows, columns, 1, columns)}, byColumn: {Name: "column", Groups: tracegen.Groups(columns, 1, columns, rows)}},
		Axes: []trace.Axis{
			byRow: {Name: "row", Kind: trace.AxisFamily, Family: byRow}, byColumn: {Name: "column", Kind: trace.AxisFamily, Family: byColumn}},
		Kernels:   []trace.Kernel{{Name: "sweep", Dims: []trace.Dim{{Name: "N"}}, Flops: []trace.Term{{Coef: 6, Pow: [4]uint8{2}}}}},
		CallSites: []trace.CallSite{{Name: "step", Counts: trace.NoAxis, Block: byRow, Params: []trace.ParamColumn{{Name: "column", Axis: byColumn}}}},
	}, steps, nil)
	if err != nil {
		log.Fatal(err)
	}
	type ends struct{ up, down bool } // whether there is a row above, below
	blocks := tracegen.Blocks(rows, func(row int) ends { return ends{row > 0, row < rows-1} }, func(e ends) int64 {
		b := trace.NewBuilder("step", 1)
		column := b.Param(0)
		rank, right := b.Member(byRow, column), b.Scale(-1, column).Plus(columns-1) // right: 0 in the last column
		neighbours := func(do func(peer trace.Operand, request int32)) {
			b.If(trace.Const(truth(e.up)), func() { do(rank.Plus(-columns), 0) })
			b.If(column, func() { do(rank.Plus(-1), 1) })
			b.If(right, func() { do(rank.Plus(1), 2) })
			b.If(trace.Const(truth(e.down)), func() { do(rank.Plus(columns), 3) })
		}
		tag, bytes := trace.Const(1), trace.Const(8*points)
		neighbours(func(peer trace.Operand, request int32) { b.Message(trace.OpIrecv, byRow, request, peer, tag, bytes) })
		neighbours(func(peer trace.Operand, _ int32) { b.Message(trace.OpSend, byRow, 0, peer, tag, bytes) })
		b.WaitAll()
		b.Compute(sweep, trace.Const(points))
		b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: trace.Const(1), SendSize: trace.Const(8), Operator: trace.OperatorMax})
		return g.Block(b)
	})
	for step := range steps {
		g.Step(step)
		g.Call(&trace.Call{Blocks: blocks, Args: [][]int64{{0, 1, 2, 3, 4, 5, 6, 7}}})
	}
	if err := g.Close(); err != nil {
		log.Fatal(err)
	}
}

func truth(v bool) int64 { return map[bool]int64{true: 1}[v] }
