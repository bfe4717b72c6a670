// Package runs reads from traces which kernels a run calls, how often and at which sizes: package measure
// times these calls, and package calibrate weighs sizes by them.
//
//	run, err := runs.Read([]string{"run.trace.zst"}, nil)
//	plan, err := measure.NewPlan(run.Calls, o)
//	weights, err := runs.Weights([]string{"run.trace.zst"}) // for calibrate.LearnOptions
//
// # Units
//
// Guesses of times are in seconds, speeds in flop/s.
//
// # Errors
//
// They begin with the path of the trace.
//
// # Source
//
// First guesses of times are those of the built-in set default (package kernels).
package runs

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

// Traced is a run, or several that count alike, as traces tell of it.
type Traced struct {
	Calls *measure.RunCalls
	Ranks int
}

// Read returns the calls of the runs of some traces, which count alike. If only is not empty, kernels of
// other names are not to be timed.
func Read(paths, only []string) (all Traced, err error) {
	all.Calls = measure.NewRunCalls()
	for _, path := range paths {
		r, err := read(path, only)
		if err != nil {
			return all, err
		}
		if all.Ranks > 0 && r.Ranks != all.Ranks {
			return all, fmt.Errorf("%s has %d ranks and %s %d: measure for each number by itself, as fewer ranks share the memory of a host otherwise", paths[0], all.Ranks, path, r.Ranks)
		}
		all.Ranks = r.Ranks
		if err := all.Calls.AddRun(r.Calls); err != nil {
			return all, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// read returns the calls that some ranks of the run of a trace make.
func read(path string, only []string) (r Traced, err error) {
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
	c.calls.Ranks = h.Ranks
	if h.Program == hpcg.Program { // of a rank's box the points in x and y
		for i, name := range []string{"nx", "ny"} {
			text, _ := h.Param(name)
			c.calls.Plane[i], _ = strconv.ParseInt(text, 10, 64) // 0 of what is none
		}
	}
	if len(only) > 0 {
		c.calls.Only(only)
	}
	return Traced{c.calls, h.Ranks}, nil
}

// Weights returns the calls of the runs of some traces, by which fits weigh sizes.
func Weights(paths []string) (*calibrate.Run, error) {
	traced, err := Read(paths, nil)
	if err != nil {
		return nil, err
	}
	weights := &calibrate.Run{}
	var last *measure.Kernel
	number := 0
	traced.Calls.Each(func(k *measure.Kernel, d [4]int64, calls float64) {
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
		if err == nil {
			return max(model.Seconds(&x), 1e-8)
		}
		flop := 0.0
		for _, term := range t.Flops {
			product := term.Coef
			for i := range x {
				for range term.Pow[i] {
					product *= float64(x[i])
				}
			}
			flop += product
		}
		return flop / guessSpeed
	}
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
