package hpcg

import (
	"reprise/trace"
	"reprise/tracegen"
)

// Families of ranks: all, those of equal position in x, and the lines of ranks along x, in
// which the own rank is found by its position.
const (
	familyWorld = iota
	familyX
	familyLine
)

// Axes: what depends on the position in x has one value for each, what depends on that in
// y and z one for each line.
const (
	axisX = iota
	axisLine
)

// callWork is the one call site: each line calls its block with the position in x.
const callWork = 0

// header describes the trace of a run.
func header(p *Params, o *Options) *trace.Header {
	g := p.Grid
	return &trace.Header{
		Program: Program,
		Tool:    o.Tool,
		Command: o.Command,
		Params:  p.List(),
		Flops:   Total(p.Flops()),
		Ranks:   p.Ranks,
		Steps:   p.Steps(),
		CommFamilies: []trace.CommFamily{
			familyWorld: {Name: "-", Groups: tracegen.Groups(1, 0, 1, p.Ranks)}, // "-": messages are not listed with one
			familyX:     {Name: "x", Groups: tracegen.Groups(g.NX, 1, g.NX, g.NY*g.NZ)},
			familyLine:  {Name: "line", Groups: tracegen.Groups(g.NY*g.NZ, g.NX, 1, g.NX)},
		},
		Axes: []trace.Axis{
			axisX:    {Name: "x", Kind: trace.AxisFamily, Family: familyX},
			axisLine: {Name: "line", Kind: trace.AxisFamily, Family: familyLine},
		},
		Phases:  phaseNames,
		Kernels: kernelTable(),
		Markers: markerTable(),
		CallSites: []trace.CallSite{
			callWork: {Name: "work", Counts: trace.NoAxis, Block: axisLine,
				Params: []trace.ParamColumn{{Name: "x", Axis: axisX}}},
		},
	}
}

// Program is the name of the program in headers.
const Program = "hpcg"
