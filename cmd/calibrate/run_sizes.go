package main

import (
	"errors"
	"fmt"
	"slices"

	"reprise/calibrate/measure"
	"reprise/trace"
)

// ranksOfRun is of how many ranks of a run the calls are looked at: they differ little.
const ranksOfRun = 4

// runSizes returns n sizes of a kernel with dimensions M, N and K among those that the run
// of a trace makes.
func runSizes(path, kernel string, n int) (list []measure.Size, err error) {
	t, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	omit := make([]bool, len(t.Header().Kernels))
	for i := range omit {
		omit[i] = t.Header().Kernels[i].Name != kernel || len(t.Header().Kernels[i].Dims) != 3
	}
	sizes := measure.NewRunSizes()
	if slices.Contains(omit, false) {
		ranks := t.Header().Ranks
		for i := range min(ranksOfRun, ranks) {
			if err := addCalls(sizes, t, int32(i*ranks/min(ranksOfRun, ranks)), omit); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	if sizes.Different() == 0 {
		return nil, fmt.Errorf("%s: no call of %s with something to do", path, kernel)
	}
	return sizes.Choose(n), nil
}

// addCalls adds the calls of a rank, but for those of kernels that are left out.
func addCalls(sizes *measure.RunSizes, t *trace.Trace, rank int32, omit []bool) error {
	cursors, err := t.Cursors([]int32{rank}, trace.CursorOptions{Omit: omit})
	if err != nil {
		return err
	}
	c := &cursors[0]
	var buf [512]trace.Action
	for {
		n, err := c.Fill(buf[:])
		if err != nil || n == 0 {
			return err
		}
		for _, a := range buf[:n] {
			if a.Kind != trace.KindCompute || omit[a.Sym] {
				continue
			}
			if err := sizes.Add(measure.Size{M: a.X[0], N: a.X[1], K: a.X[2]}); err != nil {
				return err
			}
		}
		if buf[n-1].Kind == trace.KindPoll {
			c.Answer(true)
		}
	}
}
