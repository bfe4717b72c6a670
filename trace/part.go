package trace

import "slices"

// partParam names the parameter that says which part of a run a trace is.
const partParam = "part"

// Part says from which mark to which a trace is cut out of another one; "" if it is a program's
// own.
func (h *Header) Part() string {
	part, _ := h.Param(partParam)
	return part
}

// SetPart says from which mark to which the trace is cut out of one with this header, which may
// be a part itself. The program's own result and rate, which are those of all of it, are left out.
func (h *Header) SetPart(part string) {
	h.Result, h.Flops = nil, 0
	if of := h.Part(); of != "" {
		part += " of " + of
	}
	h.Params = slices.DeleteFunc(slices.Clone(h.Params), func(p Param) bool { return p.Name == partParam })
	h.Params = append(h.Params, Param{Name: partParam, Value: part})
}
