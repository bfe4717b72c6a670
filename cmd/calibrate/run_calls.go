package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"reprise/calibrate"
	"reprise/calibrate/measure"
	"reprise/kernels"
	"reprise/trace"
	"reprise/tracegen/hpcg"
)

// ranksOfRun is of how many ranks of a run the calls are looked at: they differ little.
const ranksOfRun = 4

// guessSpeed is the speed of a core, in flop/s, with which the built-in set default guesses
// where the time of a run goes.
const guessSpeed = 3e10

// tracedRun is a run as its trace tells of it.
type tracedRun struct {
	calls *measure.RunCalls
	ranks int
}

// readRuns returns the calls of the runs of several traces, which count alike.
func readRuns(paths, only []string) (all tracedRun, err error) {
	all.calls = measure.NewRunCalls()
	for _, path := range paths {
		r, err := readRun(path, only)
		if err != nil {
			return all, err
		}
		if all.ranks > 0 && r.ranks != all.ranks {
			return all, fmt.Errorf("%s has %d ranks and %s %d: measure for each number by itself, as fewer ranks share the memory of a host otherwise", paths[0], all.ranks, path, r.ranks)
		}
		all.ranks = r.ranks
		if err := all.calls.AddRun(r.calls); err != nil {
			return all, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// readRun returns the calls that some ranks of the run of a trace make; those of kernels of other names
// than these, if there are some, are not to be timed.
func readRun(path string, only []string) (r tracedRun, err error) {
	t, err := trace.Open(path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	h := t.Header()
	for _, name := range only {
		if !slices.ContainsFunc(h.Kernels, func(k trace.Kernel) bool { return k.Name == name }) {
			return r, fmt.Errorf("%s: no kernel %q", path, name)
		}
	}
	c, err := newCallCounter(h.Kernels)
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	for i := range min(ranksOfRun, h.Ranks) {
		if err := c.add(t, int32(i*h.Ranks/min(ranksOfRun, h.Ranks))); err != nil {
			return r, fmt.Errorf("%s: %w", path, err)
		}
	}
	if c.calls.Sizes() == 0 {
		return r, fmt.Errorf("%s: no call of a kernel with something to do", path)
	}
	c.calls.Ranks, c.calls.Plane = h.Ranks, planeOf(h)
	if len(only) > 0 {
		c.calls.Only(only)
	}
	return tracedRun{c.calls, h.Ranks}, nil
}

// planeOf returns the points of a rank's box in x and y, of a run of HPCG; zeros of another.
func planeOf(h *trace.Header) (plane [2]int64) {
	if h.Program != hpcg.Program {
		return plane
	}
	for i, name := range []string{"nx", "ny"} {
		text, _ := h.Param(name)
		plane[i], _ = strconv.ParseInt(text, 10, 64) // 0 of what is none
	}
	return plane
}

// weightsOf returns the calls of the runs of some traces, by which fits weigh sizes.
func weightsOf(paths []string) (*calibrate.Run, error) {
	traced, err := readRuns(paths, nil)
	if err != nil {
		return nil, err
	}
	weights := &calibrate.Run{}
	var last *measure.Kernel
	number := 0
	traced.calls.Each(func(k *measure.Kernel, d [4]int64, calls float64) {
		if k != last {
			var attrs []calibrate.Attr
			for _, a := range k.Attrs {
				attrs = append(attrs, calibrate.Attr(a))
			}
			number, last = weights.Kernel(k.Name, attrs, k.Dims), k
		}
		weights.Add(number, d, calls)
	})
	return weights, nil
}

// callCounter counts calls by the dimensions that decide how long they take.
type callCounter struct {
	calls   *measure.RunCalls
	numbers []int   // of kernels, by that of the trace
	dims    [][]int // of kernels: where in the trace's dimensions theirs are
}

func newCallCounter(list []trace.Kernel) (*callCounter, error) {
	c := &callCounter{calls: measure.NewRunCalls()}
	set, err := kernels.Builtin("default")
	if err != nil {
		return nil, err
	}
	for i := range list {
		k, dims := kernelOf(&list[i])
		guess := guessOf(set, &list[i], dims)
		c.numbers, c.dims = append(c.numbers, c.calls.Kernel(k, guess)), append(c.dims, dims)
	}
	return c, nil
}

// kernelOf returns a kernel of a trace without the dimensions that are labels, and where the
// others are.
func kernelOf(t *trace.Kernel) (k measure.Kernel, dims []int) {
	k.Name = t.Name
	for _, a := range t.Attrs {
		k.Attrs = append(k.Attrs, measure.Attr{Name: a.Name, Value: a.Value})
	}
	for i, d := range t.Dims {
		if !d.Label || measure.HasDim(t.Name, d.Name) {
			k.Dims, dims = append(k.Dims, d.Name), append(dims, i)
		}
	}
	return k, dims
}

// guessOf returns what the set says of the time of a kernel; of those that it has no model of,
// the time of their flop.
func guessOf(set *kernels.Set, t *trace.Kernel, dims []int) func(d *[4]int64) float64 {
	sig := kernels.Signature{Name: t.Name}
	for _, a := range t.Attrs {
		sig.Attrs = append(sig.Attrs, kernels.Attr{Name: a.Name, Value: a.Value})
	}
	for _, d := range t.Dims {
		sig.Dims = append(sig.Dims, d.Name)
	}
	model, err := set.Bind(kernels.Host{Name: "host", Speed: guessSpeed}, sig)
	return func(d *[4]int64) float64 {
		var x [4]int64
		for i, at := range dims {
			x[at] = d[i]
		}
		if err != nil {
			return flopOf(t, &x) / guessSpeed
		}
		return max(model.Seconds(&x), 1e-8)
	}
}

// flopOf returns the flop of a call.
func flopOf(t *trace.Kernel, x *[4]int64) (sum float64) {
	for _, term := range t.Flops {
		product := term.Coef
		for i := range x {
			for range term.Pow[i] {
				product *= float64(x[i])
			}
		}
		sum += product
	}
	return sum
}

// add counts the calls of a rank.
func (c *callCounter) add(t *trace.Trace, rank int32) error {
	cursors, err := t.Cursors([]int32{rank}, trace.CursorOptions{})
	if err != nil {
		return err
	}
	cursor := &cursors[0]
	var buf [512]trace.Action
	for {
		n, err := cursor.Fill(buf[:])
		if err != nil || n == 0 {
			return err
		}
		for _, a := range buf[:n] {
			if a.Kind != trace.KindCompute {
				continue
			}
			var d [4]int64
			for i, at := range c.dims[a.Sym] {
				d[i] = a.X[at]
			}
			if err := c.calls.Add(c.numbers[a.Sym], d); err != nil {
				return err
			}
		}
		if buf[n-1].Kind == trace.KindPoll {
			cursor.Answer(true)
		}
	}
}
