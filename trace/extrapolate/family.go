package extrapolate

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"reprise/trace"
)

// This file reads the recordings of a family (readFamily), and finds what all of their actions follow from
// (family.fitAll).

// readFamily expands traces and checks that they are of one program in ascending sizes.
func readFamily(traces []*trace.Trace) (list []*recording, err error) {
	for _, t := range traces {
		r, err := readRecording(t)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b *recording) int { return a.ranks - b.ranks })
	first := list[0]
	for i, r := range list[1:] {
		a, b := first.header, r.header
		switch {
		case list[i].ranks == r.ranks:
			return nil, fmt.Errorf("%s and %s are both of %d ranks: want recordings of different sizes", list[i].name, r.name,
				r.ranks)
		case programOf(first) != programOf(r):
			return nil, fmt.Errorf("%s is of %s, %s of %s: want recordings of one program", first.name, a.Program, r.name,
				b.Program)
		case len(a.CommFamilies) != len(b.CommFamilies):
			return nil, fmt.Errorf("%s has %d communicators, %s %d: want recordings of one program", first.name,
				len(a.CommFamilies), r.name, len(b.CommFamilies))
		case !slices.Equal(a.Phases, b.Phases) || !slices.Equal(a.Markers, b.Markers) ||
			!slices.EqualFunc(a.Kernels, b.Kernels, func(x, y trace.Kernel) bool { return x.FullName() == y.FullName() }):
			return nil, fmt.Errorf("%s and %s have different kernels, phases or markers: want recordings of one program",
				first.name, r.name)
		case a.Communicators != b.Communicators:
			return nil, fmt.Errorf("%s and %s differ in whether they tell communicators apart", first.name, r.name)
		}
	}
	// Tags tell actions apart, unless they depend on the size: then they are numbers.
	tags := map[signature]map[int32]int{}
	for i, r := range list {
		for n := range r.events {
			s := r.events[n].signature
			tag := s.tag
			s.tag = 0
			if tags[s] == nil {
				tags[s] = map[int32]int{}
			}
			switch seen, ok := tags[s][tag]; {
			case ok && seen == i, !ok && i == 0:
				tags[s][tag] = i + 1
			case !ok:
				tags[s][tag] = -1
			}
		}
	}
	for _, r := range list {
		for n := range r.events {
			e := &r.events[n]
			s := e.signature
			s.tag = 0
			for _, seen := range tags[s] {
				if seen < len(list) {
					e.numbers[numTag], e.tag = int64(e.tag), 0
					break
				}
			}
		}
	}
	return list, nil
}

// programOf returns the name of a program without its number of ranks, which NAS benchmarks have in it.
func programOf(r *recording) string {
	return strings.ReplaceAll(r.header.Program, fmt.Sprint(r.ranks), "")
}

// partners returns who exchanges messages with whom, by signature and side of an action.
func partners(r *recording) map[partnersKey][]pair {
	pairs := map[partnersKey]map[pair]bool{}
	for rank := range r.streams {
		for _, n := range r.streams[rank].events {
			e := &r.events[n]
			for side, peer := range e.peers {
				if peer >= 0 {
					k := partnersKey{e.signature, side}
					if pairs[k] == nil {
						pairs[k] = map[pair]bool{}
					}
					pairs[k][pair{int32(rank), peer}] = true
				}
			}
		}
	}
	list := map[partnersKey][]pair{}
	for k, of := range pairs {
		for p := range of {
			list[k] = append(list[k], p)
		}
		slices.SortFunc(list[k], func(a, b pair) int { return cmp.Or(int(a.from-b.from), int(a.to-b.to)) })
	}
	return list
}

// partnersKey names the partners of an action.
type partnersKey struct {
	signature
	side int
}

// String describes the place of an action for people.
func (l *leaf) String() string { return fmt.Sprintf("place %d (%v)", l.place, &l.signature) }

// String describes a signature.
func (s *signature) String() string {
	text := s.kind.String()
	switch s.kind {
	case trace.KindNone:
		return "the end"
	case trace.KindCollective:
		text = trace.CollectiveKind(s.sym).String()
	case trace.KindIcollective:
		text = "i" + trace.CollectiveKind(s.sym).String()
	case trace.KindComplete:
		text = trace.Completion(s.sym).String()
	case trace.KindNull:
		text = s.null.String() + " null"
	case trace.KindWait, trace.KindTest, trace.KindFree:
		text += " " + s.of.String()
	}
	if s.tag != 0 {
		text += fmt.Sprintf(" tag %d", s.tag)
	}
	if s.comm > 0 {
		text += fmt.Sprintf(" communicator %d", s.comm-1)
	}
	return text
}

// describe describes an event of a rank.
func (r *recording) describe(rank, at int) string {
	events := r.streams[rank].events
	if at >= len(events) {
		return "none"
	}
	e := &r.events[events[at]]
	text := e.signature.String()
	for i, peer := range e.peers {
		if peer >= 0 {
			text += []string{" with rank ", " from rank "}[i] + fmt.Sprint(peer)
		}
	}
	return text
}

// brief lists the first numbers of a list.
func brief[T any](list []T) string {
	text := strings.Trim(fmt.Sprint(list[:min(8, len(list))]), "[]")
	if len(list) > 8 {
		text += fmt.Sprintf(" and %d more", len(list)-8)
	}
	return text
}

// loopsOf returns the loops among nodes.
func loopsOf(nodes []*node) (list []*node) {
	for _, n := range nodes {
		if n.body != nil {
			list = append(list, n)
			list = append(list, loopsOf(n.body)...)
		}
	}
	return list
}

// walk goes through the actions of a rank of a recording as the template has them; visit gets the turns of the loops
// around, which it must not keep.
func (f *family) walk(of, rank int, visit func(l *leaf, turns []int)) {
	next := map[*node]int{}
	g := f.list[of].grid
	var turns []int
	var through func(nodes []*node)
	through = func(nodes []*node) {
		for _, n := range nodes {
			switch {
			case n.leaf != nil && n.has(g, rank):
				visit(n.leaf, turns)
			case n.body != nil:
				count := n.counts[of][rank][next[n]]
				next[n]++
				turns = append(turns, 0)
				for turn := range int(count) {
					turns[len(turns)-1] = turn
					through(n.body)
				}
				turns = turns[:len(turns)-1]
			}
		}
	}
	through(f.nodes)
}

// fitAll fits the numbers of all places.
func (f *family) fitAll() error {
	f.unit = 8 // of most types
	for _, r := range f.list {
		for i := range r.events {
			if e := &r.events[i]; e.peers[0] >= 0 {
				for n := e.numbers[numA]; n != 0; {
					f.unit, n = n, f.unit%n
				}
			}
		}
	}
	for _, l := range f.leaves {
		f.changes, f.runs = 0, map[int][]int{}
		turns := func(of, rank int) (list [][]int) {
			f.walk(of, rank, func(at *leaf, turns []int) {
				if at == l {
					list = append(list, slices.Clone(turns))
				}
			})
			return list
		}
		for side := range l.ways {
			if len(l.ways[side]) > 0 {
				f.choosePath(l, side)
			}
		}
		if f.target != nil && l.noneOf(f.target) {
			continue
		}
		f.prefer(l)
		for i := range l.numbers {
			f.place = fmt.Sprintf("%v: %s", l, numberName(l.kind, i))
			v, err := f.fitNumbers(l, i, turns)
			if err != nil {
				return &misfit{fmt.Sprintf("%v: %s: %v", l, numberName(l.kind, i), err)}
			}
			l.numbers[i] = v
		}
		for i := range l.counts {
			if err := f.fitLists(l, i); err != nil {
				return err
			}
		}
		f.fitGaps(l)
		l.changes, l.runs = f.changes, f.runs
	}
	f.monomials = f.all
	for _, n := range f.loops {
		f.place = "turns of a loop"
		v, err := f.fit(n.counts, func(of, rank int) [][]int { return nil })
		if err != nil {
			leaves, _ := leavesOf(n.body, 0)
			return &misfit{fmt.Sprintf("turns of the loop from %v on: %v", leaves[0], err)}
		}
		n.times = v
	}
	return f.fitRequests()
}

// prefer puts the monomials first that do not have the dimension in which the peer of an action is a neighbour: what
// goes through a face of a block grows with the other dimensions.
func (f *family) prefer(l *leaf) {
	f.monomials = f.all
	p := &l.paths[0]
	if len(l.ways[0]) == 0 || p.kind != shifted || p.line {
		return
	}
	var face monomial // its size in parts of the domain
	for k := range f.list[0].grid {
		if p.first[k] == 0 {
			face[k] = -1
		}
	}
	order := func(m monomial) int {
		switch {
		case m == face:
			return 0
		case slices.ContainsFunc([]int{0, 1, 2, 3}, func(k int) bool { return m[k] != 0 && p.first[k] != 0 }):
			return 2
		}
		return 1
	}
	f.monomials = slices.Clone(f.all)
	slices.SortStableFunc(f.monomials, func(a, b monomial) int { return order(a) - order(b) })
}

// numberName names a number of an action.
func numberName(k trace.Kind, i int) string {
	switch {
	case k == trace.KindCompute && i > 0:
		return fmt.Sprintf("dimension %d", i)
	case k == trace.KindCollective || k == trace.KindIcollective:
		return []string{"root", "elements sent", "elements received", "span or flop", ""}[i]
	}
	return []string{"tag", "bytes", "bytes received", "source tag", "peer"}[i]
}

// numbers returns numbers of all events of a place, by recording and rank.
func (f *family) numbers(l *leaf, of func(*recording, *event) []int64) [][][]int64 {
	data := make([][][]int64, len(f.list))
	for i, r := range f.list {
		data[i] = make([][]int64, r.ranks)
		for rank, at := range l.at[i] {
			for _, event := range at {
				data[i][rank] = append(data[i][rank], of(r, &r.events[r.streams[rank].events[event]])...)
			}
		}
	}
	return data
}

// fitNumbers fits a number of a place.
func (f *family) fitNumbers(l *leaf, i int, turns func(of, rank int) [][]int) (v value, err error) {
	data := f.numbers(l, func(_ *recording, e *event) []int64 { return e.numbers[i : i+1] })
	v, err = f.fit(data, turns)
	if fitted := v; err == nil && i == numA && len(l.ways[0]) > 0 {
		return func(g grid, rank int, turns []int) (int64, bool) {
			n, ok := fitted(g, rank, turns)
			return n, ok && n%f.unit == 0
		}, nil
	}
	if err == nil {
		return v, nil
	}
	if f.approximate {
		defer func() {
			if err != nil && i == numA {
				v, err = f.mean(f.place, data), nil
			}
		}()
	}
	if len(l.ways[0]) == 0 || l.paths[0].change != constant || l.kind != trace.KindRecv && l.kind != trace.KindIrecv {
		return v, err
	}
	// A number of a receive, such as its bytes, may be a function of the sender's place in the grid, not of the receiver's.
	sent := make([][][]int64, len(data))
	from := make([][]int, len(data))
	for i, r := range f.list {
		sent[i], from[i] = make([][]int64, r.ranks), make([]int, r.ranks)
		way, ok := f.bind(&l.paths[0], r.grid)
		for rank, values := range data[i] {
			if len(values) > 0 && ok {
				to, _ := way.partner(r.grid, rank, way.params(0))
				sent[i][to], from[i][to] = values, rank
			}
		}
	}
	received, e := f.fit(sent, func(of, rank int) [][]int { return turns(of, from[of][rank]) })
	if e != nil {
		return v, err
	}
	return func(g grid, rank int, turns []int) (int64, bool) {
		way, ok := f.bind(&l.paths[0], g)
		if !ok {
			return 0, false
		}
		to, ok := way.partner(g, rank, way.params(0))
		if !ok {
			return 0, false
		}
		return received(g, to, turns)
	}, nil
}

// choosePath chooses the way to a peer, of those that all recordings allow: with the simplest parameters.
func (f *family) choosePath(l *leaf, side int) {
	least := 0
	for _, k := range l.left[side].list {
		p := path{way: k.way}
		cost := 1
		for d, modes := range k.modes {
			p.modes[d] = bits.TrailingZeros64(modes)
			cost += p.modes[d]
		}
		if least == 0 || cost < least {
			least, l.paths[side] = cost, p
		}
	}
	f.foretold++
	if p := &l.paths[side]; p.change != constant {
		f.changes |= 1 << (l.depth - 1 - p.level)
	}
}

// path is a way whose parameters are known for all sizes.
type path struct {
	way
	modes [mostDims]int
}

// bind returns the way of a path on a grid.
func (f *family) bind(p *path, g grid) (way, bool) {
	w := p.way
	for k := range p.view(g) {
		first, ok := f.scale(&p.way, k, p.modes[k], g)
		if !ok {
			return w, false
		}
		w.first[k] = first
	}
	return w, true
}

// request is one under way: where it was made, and a number.
type request struct {
	leaf *leaf
	id   int
}

// ends returns which of the requests under way a completion ends, or asks for.
func (l *leaf) ends(open []request) (which []int) {
	for i, r := range open {
		if l.kind == trace.KindWaitAll || l.posts[r.leaf] {
			which = append(which, i)
			if l.kind != trace.KindComplete && l.kind != trace.KindWaitAll {
				break
			}
		}
	}
	return which
}

// completes reports whether an action completes requests or asks for them.
func (s *signature) completes() bool {
	switch s.kind {
	case trace.KindWait, trace.KindTest, trace.KindFree, trace.KindWaitAll, trace.KindComplete:
		return true
	}
	return false
}

// lets reports whether the requests that an action names are done behind it.
func (s *signature) lets() bool {
	return s.kind != trace.KindTest && (s.kind != trace.KindComplete || trace.Completion(s.sym) == trace.CompleteAll)
}

// fitRequests finds where the requests of each completion are made, and checks that this tells them in all recordings.
func (f *family) fitRequests() error {
	for of := range f.list {
		// First where they are made, then the check, as a place may complete requests of several others.
		for _, check := range []bool{false, true} {
			for rank := range f.list[of].streams {
				if err := f.requests(of, rank, check); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// requests goes through the requests of a rank.
func (f *family) requests(of, rank int, check bool) (err error) {
	r := f.list[of]
	s := &r.streams[rank]
	at := 0
	made := make([]*leaf, len(s.events))
	var open []request
	f.walk(of, rank, func(l *leaf, _ []int) {
		e := &r.events[s.events[at]]
		if e.makesRequest() {
			made[at] = l
			open = append(open, request{l, at})
		}
		if e.completes() {
			ago := r.lists[e.posts]
			if l.posts == nil {
				l.posts = map[*leaf]bool{}
			}
			newest := int64(s.newest[int32(at)])
			for _, n := range ago {
				if l.kind != trace.KindWaitAll {
					l.posts[made[int64(at)-n-newest]] = true
				}
			}
			if check && e.lets() {
				which := l.ends(open)
				if !slices.EqualFunc(which, ago, func(i int, n int64) bool { return int64(at-open[i].id) == n }) && err == nil {
					err = &misfit{fmt.Sprintf("%s: rank %d of %d: %v: its requests follow no rule", r.name, rank, r.ranks, l)}
				}
			}
			if e.lets() {
				open = slices.DeleteFunc(open, func(q request) bool { return slices.Contains(ago, int64(at-q.id)) })
			}
		}
		at++
	})
	return err
}
