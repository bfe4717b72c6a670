package tracegen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"reprise/trace"
)

// This file has what traces of programs with a process grid have in common: families, axes, and how their tables of
// call sites, markers and kernels are written down.

// Families of communicators: the process rows, and the process columns.
const (
	RowFamily = iota
	ColFamily
)

// gridAxes are the names of the axes: an argument has one value for everybody, one per process row or column, or one per
// rank. So the axis decides how much of the trace an argument takes.
var gridAxes = []string{"all", "row", "col", "rank"}

// GridAxes returns the axes of a program with a process grid.
func GridAxes() []trace.Axis {
	return []trace.Axis{{Name: gridAxes[0], Kind: trace.AxisAll},
		{Name: gridAxes[1], Kind: trace.AxisFamily, Family: RowFamily},
		{Name: gridAxes[2], Kind: trace.AxisFamily, Family: ColFamily}, {Name: gridAxes[3], Kind: trace.AxisRank}}
}

// gridAxis returns the number of an axis.
func gridAxis(name string) int { return slices.Index(gridAxes, name) }

// GridSite returns a call site by the names of axes: of its masks, which leave out the process rows or columns that
// have no part in a call, and of its blocks. Parameters have their axis behind a colon, if it is not all, and vectors
// brackets: "k, rows:row, pivots[]".
func GridSite(name, masks, block, params string) trace.CallSite {
	s := trace.CallSite{Name: name, Counts: trace.NoAxis, Block: gridAxis(block)}
	for axis := range strings.FieldsSeq(masks) {
		s.Masks = append(s.Masks, gridAxis(axis))
	}
	if params == "" {
		return s
	}
	for param := range strings.SplitSeq(params, ", ") {
		param, axis, _ := strings.Cut(param, ":")
		param, vector := strings.CutSuffix(param, "[]")
		s.Params = append(s.Params, trace.ParamColumn{Name: param, Axis: gridAxis(cmp.Or(axis, "all")), Vector: vector})
	}
	return s
}

// GridResult returns the first columns of the line of results of HPL and the programs that print what it does.
func GridResult(variant string, n, nb, p, q int) []trace.Column {
	list := []trace.Column{{Title: "T/V", Value: variant}}
	for i, v := range []int{n, nb, p, q} {
		list = append(list, trace.Column{Title: []string{"N", "NB", "P", "Q"}[i], Value: strconv.Itoa(v)})
	}
	return list
}

// MarkPair sets the marker begin and the one behind it, which ends the phase, unless that is 0.
func MarkPair(markers []trace.Marker, begin, phase int, text, end string) {
	markers[begin] = trace.Marker{Text: "begin " + text, Phase: phase}
	markers[begin+1] = trace.Marker{Text: "end " + end, Phase: phase, End: phase > 0}
}

// Term is coef times the dimensions of a kernel to the given powers.
func Term(coef float64, powers ...uint8) trace.Term {
	t := trace.Term{Coef: coef}
	copy(t.Pow[:], powers)
	return t
}
