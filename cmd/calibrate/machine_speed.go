package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/calibrate/measure"
	"reprise/internal/atomicfile"
	"reprise/kernels"
	"reprise/trace"
	"reprise/tracegen/capture"
)

// speed returns the flop/s of a core in the largest product of matrices that was timed or, of HPCG, those with which the set
// default says what the largest symgs takes, or those that the runs were recorded with; 0 if they have none of these.
func (r *machineRun) speed() (speed float64, err error) {
	if r.recorded > 0 {
		return r.recorded, nil
	}
	var m struct {
		Kernels []measure.Summary `json:"kernels"`
	}
	if err := r.readReport(stepKernelTimes, &m); err != nil {
		return 0, err
	}
	longest := 0.0
	for i := range m.Kernels {
		k := &m.Kernels[i]
		flop, err := flopOfLargest(k)
		if err != nil {
			return 0, err
		}
		if flop > 0 && k.Seconds > longest {
			longest, speed = k.Seconds, flop/k.Seconds
		}
	}
	return speed, nil
}

// flopOfLargest returns what the largest call of dgemm or symgs costs, in flop; 0 of another kernel.
func flopOfLargest(k *measure.Summary) (flop float64, err error) {
	var d [4]int64
	for i, text := range strings.SplitN(k.Largest, "x", len(d)) {
		d[i], _ = strconv.ParseInt(text, 10, 64) // 0 of what is none
	}
	switch {
	case strings.HasPrefix(k.Kernel, "dgemm "):
		return 2 * float64(d[0]) * float64(d[1]) * float64(d[2]), nil
	case k.Kernel != "symgs":
		return 0, nil
	}
	set, err := kernels.Builtin("default")
	if err != nil {
		return 0, err
	}
	model, err := set.Bind(kernels.Host{Name: "host", Speed: 1}, kernels.Signature{Name: "symgs", Dims: []string{"LEVEL", "ROWS", "NNZ", "COLS"}})
	if err != nil {
		return 0, err
	}
	return model.Seconds(&d), nil
}

// recordedSpeed returns the flop that a second of computation counts for in traces that
// tracegen mpi recorded, if they call no kernel: then there are none to time, and hosts of
// that speed take for each computation what it took. Of other traces it is 0.
func recordedSpeed(paths []string) (speed float64, err error) {
	for i, path := range paths {
		s, err := speedOfRecording(path)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", stepKernelTimes, err)
		}
		switch {
		case s == 0:
			return 0, nil
		case i > 0 && s != speed:
			return 0, fmt.Errorf("a second of computation is %g flop in %s and %g in %s: record them with the same --speed", speed, paths[0], s, path)
		}
		speed = s
	}
	return speed, nil
}

// speedOfRecording returns what recordedSpeed does, of one trace.
func speedOfRecording(path string) (speed float64, err error) {
	t, err := trace.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	text, ok := t.Header().Param(capture.SpeedParam)
	if !ok || len(t.Header().Kernels) > 0 {
		return 0, nil
	}
	if speed, err = strconv.ParseFloat(text, 64); err != nil || !(speed > 0) {
		return 0, fmt.Errorf("%s: %s %q, want flop/s above 0", path, capture.SpeedParam, text)
	}
	return speed, nil
}

// writeDefaultKernels writes the models that stand for kernels where the runs call none.
func (r *machineRun) writeDefaultKernels() error {
	text, err := kernels.BuiltinText("default")
	if err != nil {
		return err
	}
	return atomicfile.Write(r.path("kernels.yaml"), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
