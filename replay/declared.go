package replay

import (
	"fmt"

	"reprise/trace"
)

// checkDeclared checks, before the first action of a trace is played, that all kernels
// that it calls have a model, and all its collective operations an algorithm. Of a stream
// these are not known before its end, and of some steps only not which are called in them:
// there it is an error where the first is called.
func (e *engine) checkDeclared(t *trace.Trace, o *Options) error {
	h := t.Header()
	if _, file := t.Totals(); !file || o.From > 0 || o.To > 0 && o.To < h.Steps {
		return nil
	}
	kernels, collectives := t.Program().Called(len(h.Kernels))
	for k, called := range kernels {
		if called && e.nowhere(k) {
			return fmt.Errorf("the trace calls what cannot be played: %w", e.costs.noModel(0, uint16(k)))
		}
	}
	for kind, called := range collectives {
		if !called || h.Ranks == 1 {
			continue
		}
		if err := e.collectives.selector.Check(trace.CollectiveKind(kind)); err != nil {
			return fmt.Errorf("the trace calls what cannot be played: %w", err)
		}
	}
	return nil
}

// nowhere reports whether no rank has a model of a kernel. Where only some have one, these
// may be those that call it.
func (e *engine) nowhere(kernel int) bool {
	for row := kernel; row < len(e.costs.models); row += len(e.costs.kernelNames) {
		if e.costs.models[row].err == nil {
			return false
		}
	}
	return true
}
