package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// This file has the Header of a trace, with the types of its parts, and Header.Check.

// Version is the version of the file format that this package writes. Readers
// accept all older versions and refuse newer ones.
const Version = 1

// Param is one parameter of the traced program, in its own words.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Names of parameters of a recorded program: the MPI that it ran with, the flop that a second of its computations
// counts for, and the hosts that it ran on.
const (
	ParamMPI   = "MPI"
	ParamRate  = "flop of a second"
	ParamHosts = "recorded on"
)

// SimGridText is the program of traces that are texts of SimGrid.
const SimGridText = "simgrid-ti"

// Column is one column of the program's own result line, such as HPL's "N".
type Column struct{ Title, Value string }

// Header describes a trace: what ran, and the names that its actions use.
// It is complete before the first block; only blocks may follow later.
type Header struct {
	Program      string   // "hpl", "simgrid-ti", ...
	Tool         string   // name and version of the writer
	Command      string   // command line
	Params       []Param  // every parameter of the program, in its order
	Result       []Column // columns of the program's result line, before time and rate
	Flops        float64  // flop that the program's own rate counts; 0 if it has none
	Ranks        int
	Steps        int // number of steps that the program has, set-up and end included; the trace may hold fewer
	CommFamilies []CommFamily
	// Communicators says that the families of messages are communicators of MPI: a message only matches within its
	// group of its family, and peers may be ProcNull. Without it families are only names in listings.
	Communicators bool
	Axes          []Axis
	Phases        []string
	Kernels       []Kernel
	Markers       []Marker
	// Call sites are the places from which ranks call blocks.
	CallSites []CallSite
	// Pollables is the number of slots for pollable operations.
	Pollables int
	// Queues are the names of the queues of each rank's device, Events those of the events that are recorded there.
	Queues, Events []string
}

// CommFamily is a partition of the ranks into groups (communicators), such as the process rows of a grid. Every rank is
// in exactly one group: if a communicator has only some of the ranks, the others are in a group that no call names.
type CommFamily struct {
	Name   string
	Groups []Group
}

// Group lists its members by world rank, member i at index i:
// Start + i*Stride for 0 <= i < Count, or Ranks if that is set.
type Group struct {
	Start, Stride, Count int32
	Ranks                []int32
}

// GroupOf returns ranks, at least one, as a group: by a rule if they have a constant distance, as rows and columns of a
// grid have, which takes three numbers in the header however many ranks there are.
func GroupOf(ranks []int32) Group {
	stride := int32(1)
	if len(ranks) > 1 {
		stride = ranks[1] - ranks[0]
	}
	for i, r := range ranks {
		if r != ranks[0]+int32(i)*stride {
			return Group{Ranks: ranks}
		}
	}
	return Group{Start: ranks[0], Stride: stride, Count: int32(len(ranks))}
}

// Len returns the number of members.
func (g *Group) Len() int {
	if g.Ranks != nil {
		return len(g.Ranks)
	}
	return int(g.Count)
}

// Member returns the world rank of member i, 0 <= i < Len.
func (g *Group) Member(i int) int32 {
	if g.Ranks != nil {
		return g.Ranks[i]
	}
	return g.Start + int32(i)*g.Stride
}

// Find returns the index of a world rank among the members of the group, in which it must be.
func (g *Group) Find(rank int32) int {
	if g.Ranks != nil {
		return slices.Index(g.Ranks, rank)
	}
	if rank == g.Start {
		return 0 // the stride of one member may be 0
	}
	return int((rank - g.Start) / g.Stride)
}

// AxisKind says how an axis divides the ranks into classes.
type AxisKind uint8

// Kinds of axes.
const (
	AxisAll    AxisKind = iota // one class: everybody
	AxisFamily                 // class g = the members of group g of a family
	AxisRank                   // each rank is a class of its own
)

// Axis is a partition of the ranks into classes; an argument of a call belongs to an axis: it has one value per class.
type Axis struct {
	Name   string
	Kind   AxisKind
	Family int // index into Header.Families, for AxisFamily
}

// Kernel is a computation by name. Attrs are part of the name (side=L); Dims name the integers that each call carries.
type Kernel struct {
	Name  string
	Attrs []Param
	Dims  []Dim  // at most 4
	Flops []Term // flop of a call: the sum of the terms
}

// FullName returns the kernel's name with its attributes, as listings print it.
func (k *Kernel) FullName() string {
	name := k.Name
	for _, a := range k.Attrs {
		name += " " + a.Value
	}
	return name
}

// Dim is a dimension of a kernel. A dimension with Enum is printed by name. It is a label and not a size, as is
// one with Label, such as a column's number or a part of another dimension. A call with a size of 0 computes
// nothing; a label of 0 does not say so.
type Dim struct {
	Name  string
	Enum  []string
	Label bool
}

// Term is Coef times the product of the dimensions to the powers Pow.
type Term struct {
	Coef float64
	Pow  [4]uint8
}

// Marker is a line that tells where a program is. Text holds one {} per integer argument, and {list} or {sums} for
// a vector: its elements, or its running sums from 0, separated by commas.
type Marker struct {
	Text  string
	Phase int // 1 + index of the phase that begins or ends here; 0: none
	End   bool
}

// CallSite is a place in the stream of steps from which ranks call blocks. A rank takes part in a call if its entries
// in all mask columns are non-zero. It then calls the block that its entry of the block column names, with one value
// from each argument column: once, or as often as its entry of the count column says.
type CallSite struct {
	Name   string
	Masks  []int // axes
	Counts int   // axis of the count column, or NoAxis: exactly one call
	Block  int   // axis of the block column, or PerItem
	// Params are the argument columns; a block of fewer parameters ignores the rest.
	Params []ParamColumn
}

// ParamColumn is an argument of a call site.
type ParamColumn struct {
	Name   string
	Axis   int  // an axis, or PerItem
	Vector bool // the values are handles of vectors
}

// Values of a column's axis that name no axis.
const (
	// NoAxis: the call site has no count column.
	NoAxis = -1
	// PerItem: the column has one value per call in the list, classes in order.
	PerItem = -2
)

// partParam names the parameter that says which part of a run a trace is.
const partParam = "part"

// Part says from which mark to which a trace is cut out of another one; "" if it is a program's own.
func (h *Header) Part() string {
	part, _ := h.Param(partParam)
	return part
}

// SetPart says from which mark to which the trace is cut out of the one with this header, which may be a part
// itself. The program's result and rate are dropped, as they are those of the whole run.
func (h *Header) SetPart(part string) {
	h.Result, h.Flops = nil, 0
	if of := h.Part(); of != "" {
		part += " of " + of
	}
	h.Params = slices.DeleteFunc(slices.Clone(h.Params), func(p Param) bool { return p.Name == partParam })
	h.Params = append(h.Params, Param{Name: partParam, Value: part})
}

// Limits of a header. A reader refuses what exceeds them, so that no file can make it allocate without bound.
const (
	MaxRanks     = 1 << 24
	maxSymbols   = 1 << 16 // kernels, markers, phases, events each
	maxFamilies  = 1 << 12
	maxGrouped   = 1 << 32 // families times ranks
	maxAxes      = 1 << 8
	maxCallSites = 1 << 12
	maxColumns   = 160 // masks and arguments of a call site, each
	maxDims      = 4
	MaxPollables = 1 << 4
)

// ErrHeader marks a header that contradicts itself.
var ErrHeader = errors.New("bad trace header")

// headerErrorf returns an error about a header that contradicts itself.
func headerErrorf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrHeader}, args...)...)
}

// Check reports the first contradiction in the header.
func (h *Header) Check() error {
	_, err := h.check()
	return err
}

// check is Check, and returns the group of each rank by family.
func (h *Header) check() (groups [][]int32, err error) {
	if h.Ranks < 1 || h.Ranks > MaxRanks {
		return nil, headerErrorf("%d ranks, allowed 1 to %d", h.Ranks, MaxRanks)
	}
	if h.Steps < 0 {
		return nil, headerErrorf("%d steps", h.Steps)
	}
	if !(h.Flops >= 0) || h.Flops > 1e300 {
		return nil, headerErrorf("flop count %g", h.Flops)
	}
	for _, list := range []struct {
		n, most int
		what    string
	}{
		{h.Pollables, MaxPollables, "pollables"},
		{len(h.Queues), MaxQueues, "queues"},
		{len(h.Events), maxSymbols, "events"},
		{len(h.CommFamilies), maxFamilies, "families"},
		{len(h.Axes), maxAxes, "axes"},
		{max(len(h.Kernels), len(h.Markers), len(h.Phases)), maxSymbols, "symbols of a kind"},
		{len(h.CallSites), maxCallSites, "call sites"},
	} {
		if list.n < 0 || list.n > list.most {
			return nil, headerErrorf("%d %s, at most %d", list.n, list.what, list.most)
		}
	}

	// Families: each is a partition of the ranks.
	if n := int64(len(h.CommFamilies)) * int64(h.Ranks); n > maxGrouped {
		return nil, headerErrorf("%d families of %d ranks, at most %d in all", len(h.CommFamilies), h.Ranks, int64(maxGrouped))
	}
	for i := range h.CommFamilies {
		// The groups of a family are a partition of the ranks.
		f := &h.CommFamilies[i]
		of := slices.Repeat([]int32{-1}, h.Ranks)
		for g := range f.Groups {
			group := &f.Groups[g]
			if n := group.Len(); n < 1 || n > h.Ranks {
				return nil, headerErrorf("family %q group %d has %d members", f.Name, g, n)
			}
			for m := 0; m < group.Len(); m++ {
				r := group.Member(m)
				if r < 0 || int(r) >= h.Ranks {
					return nil, headerErrorf("family %q group %d: rank %d out of [0,%d)", f.Name, g, r, h.Ranks)
				}
				// Two groups with one rank would make the owner of a value of an axis ambiguous.
				if of[r] >= 0 {
					return nil, headerErrorf("family %q: rank %d is in groups %d and %d", f.Name, r, of[r], g)
				}
				of[r] = int32(g)
			}
		}
		if r := slices.Index(of, -1); r >= 0 {
			return nil, headerErrorf("family %q: rank %d is in no group", f.Name, r)
		}
		groups = append(groups, of)
	}

	// Axes.
	for _, a := range h.Axes {
		if a.Kind > AxisRank {
			return nil, headerErrorf("axis %q has unknown kind %d", a.Name, a.Kind)
		}
		if a.Kind == AxisFamily && (a.Family < 0 || a.Family >= len(h.CommFamilies)) {
			return nil, headerErrorf("axis %q: family %d out of [0,%d)", a.Name, a.Family, len(h.CommFamilies))
		}
	}

	// Kernels and markers. A marker's text is a line of listings.
	for i := range h.Kernels {
		if k := &h.Kernels[i]; len(k.Dims) > maxDims {
			return nil, headerErrorf("kernel %q has %d dimensions, at most %d", k.Name, len(k.Dims), maxDims)
		}
	}
	for i := range h.Markers {
		m := &h.Markers[i]
		if m.Phase < 0 || m.Phase > len(h.Phases) {
			return nil, headerErrorf("marker %q: phase %d out of [0,%d]", m.Text, m.Phase, len(h.Phases))
		}
		if strings.ContainsAny(m.Text, "\n\r") {
			return nil, headerErrorf("marker %q holds a line break", m.Text)
		}
	}
	// Call sites, and the axes of their columns.
	for i := range h.CallSites {
		t := &h.CallSites[i]
		if len(t.Masks) > maxColumns || len(t.Params) > maxColumns {
			return nil, headerErrorf("call site %q has more than %d columns", t.Name, maxColumns)
		}
		isAxis := func(a int) bool { return 0 <= a && a < len(h.Axes) }
		for _, a := range t.Masks {
			if !isAxis(a) {
				return nil, headerErrorf("call site %q: mask axis %d out of [0,%d)", t.Name, a, len(h.Axes))
			}
		}
		if t.Counts != NoAxis && !isAxis(t.Counts) {
			return nil, headerErrorf("call site %q: counts axis %d out of [0,%d)", t.Name, t.Counts, len(h.Axes))
		}
		for _, p := range append([]ParamColumn{{Name: "block", Axis: t.Block}}, t.Params...) {
			if p.Axis == PerItem && t.Counts == NoAxis {
				return nil, headerErrorf("call site %q column %q: per item, but there are no counts", t.Name, p.Name)
			}
			if p.Axis != PerItem && !isAxis(p.Axis) {
				return nil, headerErrorf("call site %q column %q: axis %d out of [0,%d)", t.Name, p.Name, p.Axis, len(h.Axes))
			}
		}
	}
	return groups, nil
}

// Classes returns the number of classes of an axis.
func (h *Header) Classes(axis int) int {
	switch a := &h.Axes[axis]; a.Kind {
	case AxisFamily:
		return len(h.CommFamilies[a.Family].Groups)
	case AxisRank:
		return h.Ranks
	}
	return 1
}

// Param returns the value of a parameter of the program.
func (h *Header) Param(name string) (string, bool) {
	for _, p := range h.Params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// VectorArgs returns how many arguments a marker's text takes, and which of them (bit i) are vectors.
func (m *Marker) VectorArgs() (args int, vectors uint64) {
	for text := m.Text; ; {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return args, vectors
		}
		text = text[open:]
		switch {
		case strings.HasPrefix(text, "{}"):
		case strings.HasPrefix(text, "{list}"), strings.HasPrefix(text, "{sums}"):
			vectors |= 1 << min(args, 63)
		default:
			text = text[1:]
			continue
		}
		text = text[2:]
		args++
	}
}
