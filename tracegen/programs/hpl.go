package programs

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"reprise/smpi/option"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// HPL is a run of HPL.
type HPL struct {
	hpl.Params
	FirstSteps int // so many panels are factored only; 0: all, and the system is solved
}

// newHPL makes the program from the table of parameters of package hpl, with those that no HPL.dat
// has: the build option, the source of pivots, their seed, and how much of the run is traced.
func newHPL() *Program {
	var table option.Table[HPL]
	p := &Program{Name: "hpl", Title: "HPL", SeedName: "pivot-seed", DatName: "hpl-dat", ReadDat: readHPLDat}
	for _, par := range hpl.Parameters() {
		table = append(table, option.Option[HPL]{Name: par.Name, Doc: par.Doc,
			Set: func(r *HPL, v string) error { return par.Set(&r.Params, v) }})
	}
	table = append(table,
		option.Option[HPL]{Name: "copy-l", Doc: "HPL is built with HPL_COPY_L: yes or no", Set: func(r *HPL, v string) error {
			if v != "yes" && v != "no" {
				return fmt.Errorf("%q, want yes or no", v)
			}
			r.CopyL = v == "yes"
			return nil
		}},
		option.Option[HPL]{Name: "pivots", Doc: "random, lu or none",
			Set: func(r *HPL, v string) error { return r.Pivots.Set(v) }},
		option.Option[HPL]{Name: "first-steps",
			Doc: "so many panels only, which tell how a long run begins; all: the whole run", Set: func(r *HPL, v string) error {
				n, err := strconv.Atoi(v)
				if v != "all" && (err != nil || n < 1) {
					return fmt.Errorf("%q, want a positive number of panels, or all", v)
				}
				r.FirstSteps = n
				return nil
			}},
		option.Option[HPL]{Name: "pivot-seed", Doc: "of random pivots", Set: func(r *HPL, v string) (err error) {
			if r.Pivots.Seed, err = strconv.ParseUint(v, 10, 64); err != nil {
				err = fmt.Errorf("%q, want a whole number of at least 0", v)
			}
			return err
		}})
	for _, o := range table {
		p.Parameters = append(p.Parameters, parameter(o, o.Doc))
	}
	// Parameters are set twice: once to learn N, P and Q, by which the defaults go, and once
	// over these.
	p.New = func(given []trace.Param) (Run, error) {
		r := &HPL{}
		var err error
		r.Params, err = hpl.WithDefaults(func(p *hpl.Params) error {
			of := &HPL{Params: *p}
			for _, g := range given {
				o := table.Find(g.Name)
				if o == nil {
					return fmt.Errorf("%s is no parameter of HPL", g.Name)
				}
				if err := o.Set(of, g.Value); err != nil {
					return fmt.Errorf("%s: %w", g.Name, err)
				}
			}
			*p, r.FirstSteps = of.Params, of.FirstSteps
			return nil
		})
		if err == nil {
			err = r.Validate()
		}
		if err == nil && r.FirstSteps >= r.Steps() { // all of them
			r.FirstSteps = 0
		}
		return r, err
	}
	return p
}

// readHPLDat returns the lists of an HPL.dat. A file that HPL reads in another way than it stands
// there is refused: a study is kept, and read by people.
func readHPLDat(text []byte, name string) ([]List, error) {
	dat, err := hpl.ReadDat(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	if odd := dat.Warnings(); len(odd) > 0 {
		return nil, fmt.Errorf("%s; a study wants a file that says what HPL reads", odd[0])
	}
	var lists []List
	for _, l := range dat.Lists() {
		lists = append(lists, List(l))
	}
	return lists, nil
}

// Identity implements Run.
func (r *HPL) Identity() []trace.Param {
	var list []trace.Param
	for _, p := range r.List() {
		list = append(list, trace.Param{Name: "parameter " + p.Name, Value: p.Value})
	}
	if r.FirstSteps > 0 {
		list = append(list, trace.Param{Name: "first-steps", Value: strconv.Itoa(r.FirstSteps)})
	}
	return list
}

// Ranks implements Run.
func (r *HPL) Ranks() int { return r.P * r.Q }

// Flops returns what HPL counts for its matrix, of the first steps their part.
func (r *HPL) Flops() float64 {
	if r.FirstSteps > 0 {
		return r.FirstFlops(r.FirstSteps)
	}
	return r.Params.Flops()
}

// Size counts in each step a broadcast along P rows and a swap along Q columns, and for each column of the matrix a
// pivot exchange. Long broadcasts and long swaps roll: each rank of a row, or column, sends as often as there are
// others.
func (r *HPL) Size() (steps, messages float64) {
	rows, cols, n := float64(r.P), float64(r.Q), float64(r.N)
	steps = math.Ceil(n / float64(r.NB))
	depth := float64(bits.Len(uint(r.P - 1))) // rounds of an exchange by halves
	swap := cols * rows * depth
	if r.Swap != hpl.BinaryExchange && rows > 1 {
		swap = cols * rows * rows
	}
	messages = float64(rows*(cols-1)) + swap + float64(n/steps*rows*depth)
	if r.Bcast.IsLong() {
		messages += float64(rows * cols * (cols - 1))
	}
	if r.FirstSteps > 0 {
		steps = min(steps, float64(r.FirstSteps))
	}
	return steps, messages
}

// Reseeded returns the run with other random pivots.
func (r *HPL) Reseeded(n uint64) Run {
	other := *r
	if other.Pivots.Kind == hpl.RandomPivots {
		other.Pivots.Seed += n
	}
	return &other
}

// Outline implements Run.
func (r *HPL) Outline() (Outline, error) {
	return &headerOnly{trace.Header{Ranks: r.Ranks(), Kernels: hpl.Kernels()}}, nil
}

// Trace implements Run.
func (r *HPL) Trace(ctx context.Context, tool string) ([]byte, error) {
	var b bytes.Buffer
	err := hpl.Generate(ctx, &b, r.Params, hpl.Options{Tool: tool, FirstSteps: r.FirstSteps})
	return b.Bytes(), err
}
