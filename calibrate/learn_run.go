package calibrate

import (
	"math"
	"slices"
)

// Run holds the calls that a run makes of its kernels, by which sizes weigh.
type Run struct{ kernels []runKernel }

type runKernel struct {
	name  string
	attrs []Attr
	dims  []string
	calls []runCall
}

type runCall struct {
	dims   [MaxDims]int64
	number float64
}

// Kernel adds a kernel and returns its number.
func (r *Run) Kernel(name string, attrs []Attr, dims []string) int {
	r.kernels = append(r.kernels, runKernel{name: name, attrs: attrs, dims: dims})
	return len(r.kernels) - 1
}

// Add adds calls of a kernel, whose number is in any unit.
func (r *Run) Add(kernel int, dims [MaxDims]int64, number float64) {
	k := &r.kernels[kernel]
	k.calls = append(k.calls, runCall{dims, number})
}

// of returns the calls of a kernel of a table, with its dimensions: those with its attributes, or, where the table has none, all of its
// name. There are none without a run.
func (r *Run) of(f *function) (list []runCall) {
	if r == nil {
		return nil
	}
	for i := range r.kernels {
		k := &r.kernels[i]
		if !k.is(f.name, f.attrs) {
			continue
		}
		where, ok := k.find(f.dims)
		if !ok {
			continue
		}
		for _, c := range k.calls {
			var own runCall
			own.number = c.number
			for d, at := range where {
				own.dims[d] = c.dims[at]
			}
			list = append(list, own)
		}
	}
	return list
}

func (k *runKernel) is(name string, attrs []Attr) bool {
	return k.name == name && !slices.ContainsFunc(attrs, func(a Attr) bool { return !slices.Contains(k.attrs, a) })
}

// find returns where dimensions are among those of the kernel.
func (k *runKernel) find(dims []string) (where []int, ok bool) {
	for _, name := range dims {
		at := slices.Index(k.dims, name)
		if at < 0 {
			return nil, false
		}
		where = append(where, at)
	}
	return where, true
}

// leastWeight is the weight that a size has at least: what is called seldom still says something.
const leastWeight = 0.05

// weigh gives each size the part of the run's time that is spent on calls to which none is nearer.
func weigh(list []size, calls []runCall) {
	if len(calls) == 0 || len(list) == 0 {
		return
	}
	logs := make([][MaxDims]float64, len(list))
	for i := range list {
		logs[i] = logarithms(&list[i].dims)
		list[i].weight = 0
	}
	total := 0.0
	for _, c := range calls {
		i := closest(logs, logarithms(&c.dims))
		seconds := c.number * list[i].seconds
		list[i].weight += seconds
		total += seconds
	}
	sum := 0.0
	for i := range list {
		list[i].weight = leastWeight + list[i].weight/total*float64(len(list))
		sum += list[i].weight
	}
	for i := range list {
		list[i].weight *= float64(len(list)) / sum
	}
}

func logarithms(d *[MaxDims]int64) (l [MaxDims]float64) {
	for i := range d {
		l[i] = math.Log1p(float64(d[i]))
	}
	return l
}

func closest(places [][MaxDims]float64, to [MaxDims]float64) (at int) {
	least := math.Inf(1)
	for i := range places {
		sum := 0.0
		for d := range to {
			e := places[i][d] - to[d]
			sum += float64(e * e)
		}
		if sum < least {
			at, least = i, sum
		}
	}
	return at
}
