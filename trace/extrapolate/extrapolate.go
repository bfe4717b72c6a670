// Package extrapolate makes a trace of many ranks from recordings of the same program on few: trace extrapolate.
//
// [Write] makes the template of the largest recording: one list of actions, with loops, in which each rank finds its
// own. Ranks stand in a process grid; whether a rank does an action follows from its place (type guard), and its
// peer by a relation of places (type relation). All recordings are then read by the template, which checks the
// structure, and each number (sizes, counts, tags, roots, parameters of relations, turns of loops) is fitted as a
// function of the grid's extents, the place and the turns: by the smaller recordings, if these give what the largest
// one has, else by all. A number that no rule gives is an error. At last the template is evaluated for the grid of the
// wanted size.
//
//	s, err := extrapolate.Write(w, []*trace.Trace{a, b, c}, extrapolate.Options{Ranks: 1024})
//
// # Units
//
// Sizes are in bytes, computations in flop.
//
// # Errors
//
// Errors name the recording, the rank, the place of the program and the number that follows no rule.
//
// # Source
//
// Wu and Mueller, "ScalaExtrap: trace-based communication extrapolation for SPMD programs", PPoPP 2011, has the idea of
// fitting the end points of communication; Myers, "An O(ND) difference algorithm and its variations", 1986.
package extrapolate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"reprise/trace"
)

// Options of an extrapolation.
type Options struct {
	Ranks         int
	Approximate   bool // sizes and counts that follow no rule by their means, with warnings
	Scaling       Scaling
	Tool, Command string // for the header
}

// Scaling says how the computation of a rank goes with the number of ranks.
type Scaling int

const (
	AsRecorded Scaling = iota // by the product of extents that fits the recordings best
	Weak                      // the problem grows with the ranks: as it is
	Strong                    // the problem stays: divided by the ranks
)

// Summary says what was found.
type Summary struct {
	Ranks    int    `json:"ranks"`
	Grid     string `json:"grid"`
	Places   int    `json:"places"`   // of the program
	Foretold int    `json:"foretold"` // numbers of the largest recording that the smaller ones give
	Fitted   int    `json:"fitted"`   // numbers that it took the largest recording to find
	// ComputeError is how much the times of computations differ from their fits in the recordings, as a part, in the
	// mean over the time.
	ComputeError float64  `json:"compute_error"`
	Warnings     []string `json:"warnings"`
}

// misfit is the error of a program that is not regular.
type misfit struct{ text string }

// Error returns the text.
func (m *misfit) Error() string { return m.text }

// family is a program's recordings, of ascending size.
type family struct {
	list        []*recording
	rule        rule
	open        bool // the grid has ends
	nodes       []*node
	leaves      []*leaf
	loops       []*node
	stepped     bool       // all recordings have as many steps
	all         []monomial // of the grid's dimensions, simple ones first
	monomials   []monomial // the same, in the order in which they are tried
	divisions   []division
	approximate bool
	scaling     Scaling
	target      grid // of the wanted number of ranks; nil: there is none

	foretold, fitted int
	late             bool    // what is being fitted takes the largest recording
	load             []load  // of the ranks of the largest recording
	computed, missed float64 // of computations: the time, and the errors of their fits weighted by it
	warnings         []string
	unit             int64         // the bytes of an element, of up to 8: all sizes of messages are multiples of it
	known            []int         // points of the domain in a direction, as numbers have told them
	place            string        // what is being fitted
	changes          uint64        // the loops, outermost first, with whose turns the place that is fitted changes, as bits
	runs             map[int][]int // of loops in few of whose turns it changes: these
}

// Write writes a trace of more ranks.
func Write(w io.Writer, traces []*trace.Trace, o Options) (*Summary, error) {
	if len(traces) < 3 {
		return nil, fmt.Errorf("want recordings of 3 sizes or more, got %d", len(traces))
	}
	list, err := readFamily(traces)
	if err != nil {
		return nil, err
	}
	largest := list[len(list)-1]
	if o.Ranks < largest.ranks {
		return nil, fmt.Errorf("%d ranks are fewer than the %d of %s", o.Ranks, largest.ranks, largest.name)
	}
	// Grids by how well they explain the partners of the largest recording.
	type candidate struct {
		rule rule
		cost int
	}
	var candidates []candidate
	var sizes []int
	for _, r := range list {
		sizes = append(sizes, r.ranks)
	}
	seen := map[string]bool{}
	var pairs []map[partnersKey][]pair
	for _, r := range list {
		pairs = append(pairs, partners(r))
	}
	for _, u := range rules(sizes) {
		text := ""
		for _, n := range append(slices.Clone(sizes), o.Ranks) {
			text += u.grid(n).String() + " "
		}
		if seen[text] {
			continue
		}
		seen[text] = true
		cost := 0
		g := u.grid(largest.ranks)
		for _, list := range pairs[len(pairs)-1] {
			_, n := g.explain(g.relations(false), list)
			cost += n
		}
		candidates = append(candidates, candidate{u, cost})
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return a.cost - b.cost })
	var first error
	for _, c := range candidates {
		if 4*c.cost > 5*candidates[0].cost+4 {
			break
		}
		f := &family{list: list, load: make([]load, largest.ranks), rule: c.rule, open: c.rule.open(list, pairs), target: c.rule.grid(o.Ranks),
			approximate: o.Approximate, scaling: o.Scaling}
		err := f.find()
		if err == nil {
			return f.write(w, o)
		}
		first = cmp.Or(first, err)
		if !errors.As(err, new(*misfit)) {
			return nil, err
		}
	}
	return nil, first
}

// find finds how all numbers of the family follow from its sizes.
func (f *family) find() (err error) {
	for _, r := range f.list {
		r.grid = f.rule.grid(r.ranks)
	}
	f.stepped = !slices.ContainsFunc(f.list, func(r *recording) bool {
		return len(r.streams[0].steps) != len(f.list[0].streams[0].steps)
	})
	f.all = monomials(len(f.list[0].grid))
	f.monomials = f.all
	largest := f.list[len(f.list)-1]
	for n := range largest.header.CommFamilies {
		v, err := divide(f.list, n)
		if err != nil {
			return &misfit{err.Error()}
		}
		f.divisions = append(f.divisions, v)
	}
	if f.nodes, err = newTemplate(largest, largest.grid, f.open); err != nil {
		return err
	}
	const all = 1<<64 - 1
	var depths []int
	f.leaves, depths = leavesOf(f.nodes, 0)
	for i, l := range f.leaves {
		l.place, l.depth = i+1, depths[i]
		l.at = make([][][]int32, len(f.list))
		for side, ways := range l.ways {
			for _, w := range ways {
				l.left[side].list = append(l.left[side].list, kept{w, [mostDims]uint64{all, all, all, all}})
			}
		}
		var ranks []int
		for rank, does := range l.ranks {
			if does {
				ranks = append(ranks, rank)
			}
		}
		if l.guard = newGuard(largest.grid, ranks, l.ways[0]); l.guard == nil {
			return &misfit{fmt.Sprintf("%s: %v is done by ranks %s, which is no rule in a grid of %v", largest.name, l,
				brief(ranks), largest.grid)}
		}
	}
	f.loops = loopsOf(f.nodes)
	for _, n := range f.loops {
		n.counts = make([][][]int64, len(f.list))
	}
	for of := range f.list {
		if err := f.parse(of); err != nil {
			return err
		}
	}
	return f.fitAll()
}
