package timeline

import "reprise/trace"

// Text returns arguments as text.
func Text(args []Arg) string { return string(appendArgs(nil, args)) }

// NewSmallWindow is NewWindow of at most so many slices, arrows and texts of arguments.
var NewSmallWindow = func(h *trace.Header, span Span, slices, arrows, args int) *Collector {
	return newCollector(h, span, limits{slices, arrows, args})
}
