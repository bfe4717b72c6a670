package extrapolate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"reprise/trace"
)

// This file makes the template of a program of its largest recording: one list of all actions, in which each rank
// finds its own (template.align), with loops (fold).

// node is an action of the template, a loop, or the beginning of a step.
type node struct {
	*leaf         // nil: a loop or a step
	form  int     // nodes of one form are alike but for numbers and peers
	body  []*node // of a loop; nil: a step
	turns int     // in the largest recording

	counts [][][]int64 // of a loop, by recording and rank: its turns, each time that it begins
	times  value       // the same, after the fit
}

// leaf is an action that some of the ranks do.
type leaf struct {
	signature
	*guard
	place int         // in the order of the template, from 1
	depth int         // how many loops it is in
	ranks []bool      // that do it, in the largest recording
	ways  [2][]way    // how the peers may follow from the ranks
	at    [][][]int32 // by recording and rank: the events, in the order of the program

	posts    map[*leaf]bool // of a completion: where its requests are made
	left     [2]candidates
	paths    [2]path
	bound    [2]way // the paths in the grid that is written
	numbers  [numNumbers]value
	counts   [2]value // of lists, by the rank, or by the member of the communicator
	byMember [2]bool
	compute  func(g grid) gap // the computation before it
	changes  uint64           // as those of family
	runs     map[int][]int
}

// way is a formula for a peer, whose parameters may change from turn to turn of the innermost loop around it.
type way struct {
	relation
	first  params
	change change
	delta  params
	level  int // how many loops of the leaf, from the innermost on, are inside of the one that changes it
}

type change uint8

const (
	constant change = iota
	steady          // delta is added
	doubled
	halved
)

// template makes the template of a recording.
type template struct {
	*recording
	grid      grid
	relations []relation
	formulas  map[signature][2][]formula
	forms     map[string]int
}

// newTemplate returns the nodes of a recording on a grid.
func newTemplate(r *recording, g grid, open bool) (nodes []*node, err error) {
	t := &template{recording: r, grid: g, relations: g.relations(open), formulas: map[signature][2][]formula{},
		forms: map[string]int{}}
	t.explainAll()
	// Parts of the run, from step to step. Equal ones are made once; repeated ones become loops.
	known := map[[sha256.Size]byte]*node{}
	var parts []*node
	from, to := make([]int32, r.ranks), make([]int32, r.ranks)
	for part := range r.streams[0].steps {
		hash, buf := sha256.New(), []byte(nil)
		for rank := range r.streams {
			s := &r.streams[rank]
			from[rank], to[rank] = s.part(part)
			buf = binary.AppendUvarint(buf[:0], uint64(to[rank]-from[rank]))
			for _, e := range s.events[from[rank]:to[rank]] {
				buf = binary.AppendUvarint(buf, uint64(e))
			}
			hash.Write(buf)
		}
		key := [sha256.Size]byte(hash.Sum(nil))
		if known[key] == nil {
			list, err := t.align(from, to)
			if err != nil {
				return nil, err
			}
			known[key] = &node{body: append([]*node{{}}, t.fold(list)...), turns: 1} // the step begins
			t.number(known[key])
		}
		parts = append(parts, clone([]*node{known[key]})...)
	}
	nodes = flat(t.fold(parts))
	// All ranks come to the end.
	for rank := range r.streams {
		from[rank], to[rank] = to[rank], to[rank]+1
	}
	end, err := t.align(from, to)
	return append(nodes, end...), err
}

// flat replaces loops of one turn by their bodies.
func flat(nodes []*node) (list []*node) {
	for _, n := range nodes {
		n.body = flat(n.body)
		if n.leaf == nil && n.turns == 1 {
			list = append(list, n.body...)
		} else {
			list = append(list, n)
		}
	}
	return list
}

// part returns the events of a step. The last event, the end of the program, is none of them.
func (s *stream) part(step int) (from, to int32) {
	from, to = int32(len(s.events))-1, int32(len(s.events))-1
	if step < len(s.steps) {
		from = s.steps[step]
	}
	if step+1 < len(s.steps) {
		to = s.steps[step+1]
	}
	return from, to
}

// explainAll finds formulas for the peers of each signature.
func (t *template) explainAll() {
	for k, list := range partners(t.recording) {
		of := t.formulas[k.signature]
		of[k.side], _ = t.grid.explain(t.relations, list)
		t.formulas[k.signature] = of
	}
}

// ways returns the formulas by which a rank may come to the peers of an event.
func (t *template) ways(rank int32, e *event) (ways [2][]way) {
	for i, peer := range e.peers {
		if peer < 0 {
			continue
		}
		for _, f := range t.formulas[e.signature][i] {
			r := &t.relations[f.relation]
			if r.equal(t.grid, f.params, r.between(t.grid, int(rank), int(peer))) {
				ways[i] = append(ways[i], way{relation: *r, first: f.params})
			}
		}
	}
	return ways
}

// common returns the ways that are in both lists; ok is false if both have some, but none in common.
func common(a, b []way) (list []way, ok bool) {
	for _, w := range a {
		if slices.Contains(b, w) {
			list = append(list, w)
		}
	}
	return list, len(list) > 0 || len(a) == 0 && len(b) == 0
}

// matches reports whether an event may be that of a leaf.
func (l *leaf) matches(e *event, ways *[2][]way) bool {
	if l.signature != e.signature {
		return false
	}
	for i := range ways {
		if _, ok := common(l.ways[i], ways[i]); !ok {
			return false
		}
	}
	return true
}

// before reports whether an action comes before another one, which no rank does besides it: if it has the lower peer, or is
// of the last kind, that of the action before the other one.
func (l *leaf) before(other *leaf, last trace.Kind) bool {
	a, b := l.ways[0], other.ways[0]
	return l.kind != other.kind && l.kind == last || l.kind == other.kind && len(a) > 0 && len(b) > 0 && a[0].relation == b[0].relation && a[0].kind == shifted &&
		slices.Compare(a[0].first[:], b[0].first[:]) < 0
}

// mostEdits bounds how much the actions of a rank may differ from those of the others.
const mostEdits = 6000

// align makes one list of the events [from, to) of all ranks.
func (t *template) align(from, to []int32) ([]*node, error) {
	order := make([]int, t.ranks)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(to[b]-from[b]) - int(to[a]-from[a]) })
	var leaves []*leaf
	for _, rank := range order {
		s := &t.streams[rank]
		events := s.events[from[rank]:to[rank]]
		ways, known := make([][2][]way, len(events)), map[int32][2][]way{}
		for i, n := range events {
			w, ok := known[n]
			if !ok {
				w = t.ways(int32(rank), &t.events[n])
				known[n] = w
			}
			ways[i] = w
		}
		same, ok := longest(len(leaves), len(events), func(i, k int) bool {
			return leaves[i].matches(&t.events[events[k]], &ways[k])
		})
		if !ok {
			return nil, fmt.Errorf("%s: rank %d does not do what others do: more than %d of its actions are different",
				t.name, rank, mostEdits)
		}
		var merged []*leaf
		i := 0
		for k, n := range events {
			var l *leaf
			if at := same[k]; at >= 0 {
				merged = append(merged, leaves[i:at+1]...)
				i = at + 1
				l = leaves[at]
				for side := range l.ways {
					l.ways[side], _ = common(l.ways[side], ways[k][side])
				}
			} else {
				l = &leaf{signature: t.events[n].signature, ranks: make([]bool, t.ranks), ways: ways[k]}
				next := len(leaves)
				if of := slices.IndexFunc(same[k:], func(at int) bool { return at >= 0 }); of >= 0 {
					next = same[k+of]
				}
				last := t.events[events[max(0, k-1)]].kind
				for ; i < next && leaves[i].before(l, last); i++ {
					merged = append(merged, leaves[i])
				}
				merged = append(merged, l)
			}
			l.ranks[rank] = true
		}
		leaves = append(merged, leaves[i:]...)
	}
	nodes := make([]*node, len(leaves))
	for i, l := range leaves {
		nodes[i] = &node{leaf: l}
		t.number(nodes[i])
	}
	return nodes, nil
}

// longest returns for each element of a list the element of another one that is the same in a longest common
// subsequence, or -1: the algorithm of Myers (1986). ok is false if the lists differ too much.
func longest(n, m int, same func(i, k int) bool) (at []int, ok bool) {
	const nowhere = -1 << 30
	at = slices.Repeat([]int{-1}, m)
	slide := func(i, k int) int {
		for i < n && k < m && same(i, k) {
			i, k = i+1, k+1
		}
		return i
	}
	// v[d] are the furthest places i by diagonal q = i-k, after d edits. enter is where edit d+1 comes to a diagonal:
	// by an element of the second list (down), or of the first.
	v := [][]int32{{int32(slide(0, 0))}}
	enter := func(d, q int) (i int, down bool) {
		by := func(q int) int {
			if q < -d || q > d {
				return nowhere
			}
			return int(v[d][(q+d)/2])
		}
		below, left := by(q+1), by(q-1)+1
		if below-q > m {
			below = nowhere
		}
		if left > n {
			left = nowhere
		}
		return max(below, left), below >= left
	}
	for d := 0; d <= mostEdits; d++ {
		if q := n - m; q >= -d && q <= d && (q+d)%2 == 0 && int(v[d][(q+d)/2]) == n {
			// Back from the end, edit by edit.
			for i, k := n, m; ; d-- {
				begin, down := 0, false
				if d > 0 {
					begin, down = enter(d-1, i-k)
				}
				for i > begin {
					i, k = i-1, k-1
					at[k] = i
				}
				switch {
				case d == 0:
					return at, true
				case down:
					k--
				default:
					i--
				}
			}
		}
		next := make([]int32, d+2)
		for q := -d - 1; q <= d+1; q += 2 {
			i, _ := enter(d, q)
			if i >= 0 {
				i = slide(i, i-q)
			}
			next[(q+d+1)/2] = int32(max(i, nowhere))
		}
		v = append(v, next)
	}
	return nil, false
}

// clone copies nodes, with their leaves.
func clone(nodes []*node) []*node {
	if nodes == nil {
		return nil // of a leaf, or of the beginning of a step
	}
	list := make([]*node, len(nodes))
	for i, n := range nodes {
		c := *n
		if n.leaf != nil {
			l := *n.leaf
			c.leaf = &l
		}
		c.body = clone(n.body)
		list[i] = &c
	}
	return list
}
