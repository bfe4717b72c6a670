package main

import (
	"math"
	"os"
	"strconv"
	"strings"

	"reprise/internal/command"
	"reprise/kernels"
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
	set, err := loadKernels(o.kernels)
	if err != nil {
		return nil, err
	}
	models := make([]kernels.Model, len(h.Kernels))
	missing := make([]error, len(h.Kernels)) // counts only if the kernel is called
	for i := range models {
		models[i], missing[i] = set.Bind(kernels.Host{Speed: o.speed}, signatureOf(&h.Kernels[i]))
	}
	return func(kernel int, dims *[4]int64) (float64, error) {
		return models[kernel].Seconds(dims) * o.speed, missing[kernel]
	}, nil
}

// loadKernels loads the models of a file, or a built-in set.
func loadKernels(name string) (*kernels.Set, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return kernels.Load(name)
	}
	return kernels.Builtin(name)
}

func signatureOf(k *trace.Kernel) kernels.Signature {
	sig := kernels.Signature{Name: k.Name}
	for _, a := range k.Attrs {
		sig.Attrs = append(sig.Attrs, kernels.Attr{Name: a.Name, Value: a.Value})
	}
	for _, d := range k.Dims {
		sig.Dims = append(sig.Dims, d.Name)
	}
	return sig
}

// speedPrefixes are the factors 1000, 1000^2, ... of a speed.
const speedPrefixes = "kMGTPE"

// parseSpeed reads a speed as platforms have it: 1e9, 1Gf, 32.5Gf.
func parseSpeed(text string) (float64, error) {
	number, factor := text, 1.0
	if head, ok := strings.CutSuffix(text, "f"); ok {
		number = head
		if i := len(head) - 1; i >= 0 && strings.IndexByte(speedPrefixes, head[i]) >= 0 {
			factor = math.Pow10(3 * (1 + strings.IndexByte(speedPrefixes, head[i])))
			number = head[:i]
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= factor; err != nil || !(v > 0) || math.IsInf(v, 1) {
		return 0, command.Usagef("convert: --speed %q, want a positive number of flop/s, such as 1Gf", text)
	}
	return v, nil
}
