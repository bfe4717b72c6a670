package timeline

import (
	"reprise/replay"
	"reprise/trace"
)

// States returns the names of what time is spent on, by Slice.State.
func States() []string {
	names := make([]string, numKinds)
	for k := range names {
		names[k] = replay.TimeKind(k).String()
	}
	return names
}

// Text returns arguments as text.
func Text(args []Arg) string { return string(appendArgs(nil, args)) }

// NewSmallWindow is NewWindow of at most so many slices, arrows and texts of arguments.
var NewSmallWindow = func(h *trace.Header, span Span, slices, arrows, args int) *Collector {
	return newCollector(h, span, limits{slices, arrows, args})
}
