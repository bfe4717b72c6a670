package replay

import (
	"strconv"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/warning"
)

// This file compares the memory of a run with that of its hosts, where both are known.

// MemoryProperty is the property of a host, or of the cluster that it belongs to, with its memory in bytes.
const MemoryProperty = "memory"

// Bytes of the matrix of HPL for each element, and of all that HPCG 3.1 keeps for each point.
const (
	bytesPerElement = 8
	bytesPerPoint   = 715
)

// memoryOf warns of runs that do not fit the memory of their hosts, and of HPCG below the quarter that its rules demand.
func (m *Machine) memoryOf(h *trace.Header) []warning.Warning {
	number := func(name string) float64 {
		text, _ := h.Param(name)
		v, _ := strconv.ParseFloat(text, 64) // 0 of what is no number
		return v
	}
	needed, what := 0.0, ""
	switch h.Program {
	case "hpl":
		n := number("N")
		needed, what = bytesPerElement*n*n, "the matrix of N = "+strconv.FormatFloat(n, 'f', -1, 64)
	case "hpcg":
		points := number("nx") * number("ny") * number("nz")
		needed, what = bytesPerPoint*points*float64(h.Ranks), "HPCG with "+strconv.FormatFloat(points, 'f', -1, 64)+" points a rank"
	}
	// Each host counts once; if one does not say its memory, nothing is known.
	used, total, line := map[int32]bool{}, 0.0, 0
	for _, host := range m.Hosts {
		if used[host] {
			continue
		}
		used[host] = true
		p, ok := m.Platform.HostProp(int(host), MemoryProperty)
		bytes, err := strconv.ParseFloat(p.Value, 64)
		if !ok || err != nil || !(bytes > 0) {
			return nil
		}
		total, line = total+bytes, p.Line
	}
	verdict := ""
	switch {
	case needed == 0 || total == 0:
		return nil
	case needed > total:
		verdict = "does not fit"
	case h.Program == "hpcg" && needed < total/4:
		verdict = "takes less than the quarter that its rules demand"
	default:
		return nil
	}
	return []warning.Warning{warning.At(m.Platform.Name(), line, "%s: %s takes %.4g GB, and %s have %.4g GB in all: it %s",
		MemoryProperty, what, needed/1e9, textutil.Count(len(used), "host"), total/1e9, verdict).As(warning.Risk)}
}
