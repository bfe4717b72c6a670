package main

import (
	"reprise/kernels"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen"
)

// flops returns what the calls of a trace's kernels cost by the models asked for:
// the flop that take their seconds at the reference speed. It is nil without
// models.
func (o *convertOptions) flops(h *trace.Header) (tracegen.FlopsFunc, error) {
	if o.kernels == "" {
		return nil, nil
	}
	set, err := kernels.Find(o.kernels)
	if err != nil {
		return nil, err
	}
	models := make([]kernels.Model, len(h.Kernels))
	missing := make([]error, len(h.Kernels)) // counts only if the kernel is called
	for i := range models {
		models[i], missing[i] = set.Bind(kernels.Host{Speed: o.speed}, replay.SignatureOf(&h.Kernels[i]))
	}
	return func(kernel int, dims *[4]int64) (float64, error) {
		if models[kernel].Noisy() {
			o.noisy++
		}
		return models[kernel].Seconds(dims) * o.speed, missing[kernel]
	}, nil
}
