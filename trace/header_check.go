package trace

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of a header. A reader refuses what exceeds them, so that no file can
// make it allocate without bound.
const (
	MaxRanks     = 1 << 24
	maxSymbols   = 1 << 16 // kernels, markers, phases each
	maxFamilies  = 1 << 12
	maxGrouped   = 1 << 32 // families times ranks
	maxAxes      = 1 << 8
	maxCallSites = 1 << 12
	maxColumns   = 60 // masks and arguments of a call site, each
	maxDims      = 4
	MaxPollables = 1 << 4
)

// ErrHeader marks a header that contradicts itself.
var ErrHeader = errors.New("bad trace header")

func headerErrorf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrHeader}, args...)...)
}

// Check reports the first contradiction in the header.
func (h *Header) Check() error {
	if h.Ranks < 1 || h.Ranks > MaxRanks {
		return headerErrorf("%d ranks, allowed 1 to %d", h.Ranks, MaxRanks)
	}
	if h.Steps < 0 {
		return headerErrorf("%d steps", h.Steps)
	}
	if !(h.Flops >= 0) || h.Flops > 1e300 {
		return headerErrorf("flop count %g", h.Flops)
	}
	if h.Pollables < 0 || h.Pollables > MaxPollables {
		return headerErrorf("%d pollables, at most %d", h.Pollables, MaxPollables)
	}
	for _, check := range []func() error{h.checkCommFamilies, h.checkAxes, h.checkSymbols, h.checkCallSites} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (h *Header) checkCommFamilies() error {
	if len(h.CommFamilies) > maxFamilies {
		return headerErrorf("%d families, at most %d", len(h.CommFamilies), maxFamilies)
	}
	if n := int64(len(h.CommFamilies)) * int64(h.Ranks); n > maxGrouped {
		return headerErrorf("%d families of %d ranks, at most %d in all", len(h.CommFamilies), h.Ranks, int64(maxGrouped))
	}
	for i := range h.CommFamilies {
		if _, err := h.groupOf(i); err != nil {
			return err
		}
	}
	return nil
}

// groupOf returns the group of each rank in family i, or an error if the groups
// are not a partition of the ranks.
func (h *Header) groupOf(i int) ([]int32, error) {
	f := &h.CommFamilies[i]
	of := make([]int32, h.Ranks)
	for r := range of {
		of[r] = -1
	}
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
			if of[r] >= 0 {
				return nil, headerErrorf("family %q: rank %d is in groups %d and %d", f.Name, r, of[r], g)
			}
			of[r] = int32(g)
		}
	}
	for r, g := range of {
		if g < 0 {
			return nil, headerErrorf("family %q: rank %d is in no group", f.Name, r)
		}
	}
	return of, nil
}

func (h *Header) checkAxes() error {
	if len(h.Axes) > maxAxes {
		return headerErrorf("%d axes, at most %d", len(h.Axes), maxAxes)
	}
	for _, a := range h.Axes {
		if a.Kind > AxisRank {
			return headerErrorf("axis %q has unknown kind %d", a.Name, a.Kind)
		}
		if a.Kind == AxisFamily && (a.Family < 0 || a.Family >= len(h.CommFamilies)) {
			return headerErrorf("axis %q: family %d out of [0,%d)", a.Name, a.Family, len(h.CommFamilies))
		}
	}
	return nil
}

func (h *Header) checkSymbols() error {
	if n := max(len(h.Kernels), len(h.Markers), len(h.Phases)); n > maxSymbols {
		return headerErrorf("%d symbols of a kind, at most %d", n, maxSymbols)
	}
	for i := range h.Kernels {
		if k := &h.Kernels[i]; len(k.Dims) > maxDims {
			return headerErrorf("kernel %q has %d dimensions, at most %d", k.Name, len(k.Dims), maxDims)
		}
	}
	for i := range h.Markers {
		m := &h.Markers[i]
		if m.Phase < 0 || m.Phase > len(h.Phases) {
			return headerErrorf("marker %q: phase %d out of [0,%d]", m.Text, m.Phase, len(h.Phases))
		}
		if strings.ContainsAny(m.Text, "\n\r") {
			return headerErrorf("marker %q holds a line break", m.Text)
		}
	}
	return nil
}

func (h *Header) checkCallSites() error {
	if len(h.CallSites) > maxCallSites {
		return headerErrorf("%d call sites, at most %d", len(h.CallSites), maxCallSites)
	}
	for i := range h.CallSites {
		t := &h.CallSites[i]
		if len(t.Masks) > maxColumns || len(t.Params) > maxColumns {
			return headerErrorf("call site %q has more than %d columns", t.Name, maxColumns)
		}
		for _, a := range t.Masks {
			if a < 0 || a >= len(h.Axes) {
				return headerErrorf("call site %q: mask axis %d out of [0,%d)", t.Name, a, len(h.Axes))
			}
		}
		if t.Counts != NoAxis && (t.Counts < 0 || t.Counts >= len(h.Axes)) {
			return headerErrorf("call site %q: counts axis %d out of [0,%d)", t.Name, t.Counts, len(h.Axes))
		}
		if err := h.checkColumnAxis(t, "block", t.Block); err != nil {
			return err
		}
		for _, p := range t.Params {
			if err := h.checkColumnAxis(t, p.Name, p.Axis); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *Header) checkColumnAxis(t *CallSite, column string, axis int) error {
	if axis == PerItem && t.Counts == NoAxis {
		return headerErrorf("call site %q column %q: per item, but there are no counts", t.Name, column)
	}
	if axis != PerItem && (axis < 0 || axis >= len(h.Axes)) {
		return headerErrorf("call site %q column %q: axis %d out of [0,%d)", t.Name, column, axis, len(h.Axes))
	}
	return nil
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

// VectorArgs returns how many arguments a marker's text takes, and which of them
// (bit i) are vectors.
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
