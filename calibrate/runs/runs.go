// Package runs reads from traces which kernels a run calls, how often and at which
// sizes: package measure times these calls, and package calibrate weighs sizes by them.
//
//	run, err := runs.Read([]string{"run.trace.zst"}, nil)
//	plan, err := measure.NewPlan(run, o)
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
	"reprise/internal/textutil"
	"reprise/kernels"
	"reprise/trace"
	"reprise/tracegen/hpcg"
)

// ranksOfRun is of how many ranks of a run the calls are looked at: they differ little.
const ranksOfRun = 4

// guessSpeed is the speed of a core, in flop/s, with which the built-in set default
// guesses where the time of a run goes.
const guessSpeed = 3e10

// Read returns the calls of the runs of some traces, which count alike. If only is not
// empty, kernels of other names are not to be timed.
func Read(paths, only []string) (all *measure.RunCalls, err error) {
	defer textutil.Stopped(&err)
	all = &measure.RunCalls{}
	for _, path := range paths {
		r := textutil.Must(read(path, only))
		if all.Ranks > 0 && r.Ranks != all.Ranks {
			return all, fmt.Errorf("%s has %d ranks and %s %d: measure for each number by itself, as fewer ranks share the memory of a host otherwise", paths[0], all.Ranks, path, r.Ranks)
		}
		all.Ranks = r.Ranks
		if err := all.AddRun(r); err != nil {
			return all, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// read returns the calls that some ranks of the run of a trace make.
func read(path string, only []string) (calls *measure.RunCalls, err error) {
	t, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		err = errors.Join(err, t.Close())
	}()
	defer textutil.Stopped(&err)
	h := t.Header()
	for _, name := range only {
		if !slices.ContainsFunc(h.Kernels, func(k trace.Kernel) bool { return k.Name == name }) {
			return nil, fmt.Errorf("no kernel %q", name)
		}
	}
	// Each kernel of the trace has a number among the calls, its dimensions without
	// labels, and their places among those of the trace.
	set := textutil.Must(kernels.Builtin("default"))
	calls, numbers, dims := &measure.RunCalls{Ranks: h.Ranks}, []int(nil), [][]int(nil)
	for i := range h.Kernels {
		t, at := &h.Kernels[i], []int(nil)
		k, sig := measure.Kernel{Name: t.Name}, kernels.Signature{Name: t.Name}
		for _, a := range t.Attrs {
			k.Attrs = append(k.Attrs, measure.Attr{Name: a.Name, Value: a.Value})
			sig.Attrs = append(sig.Attrs, kernels.Attr{Name: a.Name, Value: a.Value})
		}
		for j, d := range t.Dims {
			sig.Dims = append(sig.Dims, d.Name)
			if !d.Label || measure.HasDim(t.Name, d.Name) {
				k.Dims, at = append(k.Dims, d.Name), append(at, j)
			}
		}
		// The first guess of a call's time is that of the set; of a kernel that it has no model of,
		// the time of its flop. Any host will do: the set says the same of all, up to their speed.
		model, none := set.Bind(kernels.Host{Name: "host", Speed: guessSpeed}, sig)
		guess := func(d *[4]int64) float64 {
			var x [4]int64
			for i, place := range at {
				x[place] = d[i]
			}
			if none == nil {
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
		numbers, dims = append(numbers, calls.Kernel(k, guess)), append(dims, at)
	}
	// The calls of ranks at equal distances.
	ranks := make([]int32, min(ranksOfRun, h.Ranks))
	for i := range ranks {
		ranks[i] = int32(i * h.Ranks / len(ranks))
	}
	cursors := textutil.Must(t.Cursors(ranks, trace.CursorOptions{}))
	var buf [512]trace.Action
	for i := range cursors {
		for {
			n := textutil.Must(cursors[i].Fill(buf[:]))
			if n == 0 {
				break
			}
			for _, a := range buf[:n] {
				if a.Kind != trace.KindCompute {
					continue
				}
				var d [4]int64
				for j, at := range dims[a.Sym] {
					d[j] = a.X[at]
				}
				textutil.Check(calls.Add(numbers[a.Sym], d))
			}
			if buf[n-1].Asks() {
				cursors[i].Answer(true) // each message is there at the first look
			}
		}
	}
	if calls.Sizes() == 0 {
		return nil, errors.New("no call of a kernel with something to do")
	}
	if h.Program == hpcg.Program { // of a rank's box the points in x and y
		for i, name := range []string{"nx", "ny"} {
			text, _ := h.Param(name)
			calls.Plane[i], _ = strconv.ParseInt(text, 10, 64) // 0 of what is none
		}
	}
	if len(only) > 0 {
		calls.Only(only)
	}
	return calls, nil
}

// Weights returns the calls of the runs of some traces, by which fits weigh sizes.
func Weights(paths []string) (weights *calibrate.Run, err error) {
	defer textutil.Stopped(&err)
	calls := textutil.Must(Read(paths, nil))
	weights = &calibrate.Run{}
	var last *measure.Kernel
	number := 0
	calls.Each(func(k *measure.Kernel, d [4]int64, count float64) {
		if k != last {
			var attrs []calibrate.Attr
			for _, a := range k.Attrs {
				attrs = append(attrs, calibrate.Attr(a))
			}
			number, last = weights.Kernel(k.Name, attrs, k.Dims), k
		}
		weights.Add(number, d, count)
	})
	return weights, nil
}
