package extrapolate

import (
	"fmt"
	"slices"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file has counts by rank, as of an alltoallv: how they are fitted (family.fitLists), and how they are written, with
// the other operands of collective operations (output.collective).

// fitLists fits the counts by rank of a place: the same for all of the communicator, or by the member.
func (f *family) fitLists(l *leaf, i int) error {
	var elements, own []row
	uniform := true
	for of, r := range f.list {
		for rank, at := range l.at[of] {
			for _, event := range at {
				n := r.events[r.streams[rank].events[event]].lists[i]
				if n == 0 {
					return nil
				}
				values := r.lists[n]
				own = append(own, row{of, rank, values[0]})
				for member, v := range values {
					uniform = uniform && v == values[0]
					if l.comm == 0 {
						elements = append(elements, row{of, member, v})
					}
				}
			}
		}
	}
	if len(own) == 0 {
		return nil
	}
	// The values of a member must be the same for all ranks.
	byMember := map[[2]int]int64{}
	same := l.comm == 0
	f.late = false
	for _, e := range elements {
		k := [2]int{e.of, e.rank}
		if v, ok := byMember[k]; ok && v != e.v {
			same = false
		}
		byMember[k] = e.v
	}
	switch {
	case uniform:
		if v, ok := f.held(own, f.scalar); ok {
			l.counts[i] = v
			return f.count(nil)
		}
	case same:
		if v, ok := f.held(elements, f.scalar); ok {
			l.counts[i], l.byMember[i] = v, true
			return f.count(nil)
		}
	}
	if f.approximate {
		data := f.numbers(l, func(r *recording, e *event) []int64 { return r.lists[e.lists[i]] })
		l.counts[i] = f.mean(fmt.Sprintf("%v: counts %s by rank", l, []string{"sent", "received"}[i]), data)
		return nil
	}
	r, rank := f.list[own[0].of], own[0].rank
	e := &r.events[r.streams[rank].events[l.at[own[0].of][rank][0]]]
	return &misfit{fmt.Sprintf("%v: its counts by rank follow no rule, such as those of rank %d of %d: %s", l, rank, r.ranks,
		brief(r.lists[e.lists[i]]))}
}

// collective sets the operands of a collective operation.
func (o *output) collective(s *shape, it *trace.Item, l *leaf, number func(int) trace.Operand) {
	kind := trace.CollectiveKind(l.sym)
	c := trace.CollectiveOperands{Root: number(numTag), Send: number(numA), SendSize: trace.Const(l.sizes & (1<<32 - 1)),
		Recv: number(numB), RecvSize: trace.Const(l.sizes >> 32), Flops: number(numC), Span: number(numC)}
	for i, counted := range []bool{kind.SendsPerRank(), kind.RecvsPerRank()} {
		if !counted {
			continue
		}
		handles := make([]int64, len(s.ranks))
		for k, rank := range s.ranks {
			n := o.g.ranks()
			if l.comm > 0 {
				n = len(o.groups[l.comm-1][o.of[l.comm-1][rank]])
			}
			values := make([]int64, n)
			for member := range values {
				who := rank
				if l.byMember[i] {
					who = member
				}
				var ok bool
				if values[member], ok = l.counts[i](o.g, who, nil); !ok {
					textutil.Stop(fmt.Errorf("%v: %w", l, o.cannot("counts", rank)))
				}
				if !l.byMember[i] && member > 0 {
					copy(values, slices.Repeat(values[:1], n))
					break
				}
			}
			key := fmt.Sprint(values)
			handle, ok := o.vectors[key]
			if !ok {
				handle = o.w.Vector(trace.Vector{Values: values})
				o.vectors[key] = handle
			}
			handles[k] = handle
			if l.byMember[i] && l.comm == 0 { // the same for all
				for k := range handles {
					handles[k] = handle
				}
				break
			}
		}
		at := slices.IndexFunc(s.vectors, func(v []int64) bool { return slices.Equal(v, handles) })
		if at < 0 {
			at = len(s.vectors)
			s.vectors = append(s.vectors, handles)
		}
		operand := trace.Operand{Reg: trace.Reg(firstVector + at)}
		if i == 0 {
			c.Send = operand
		} else {
			c.Recv = operand
		}
	}
	// The operands that the kind has, in the order of the format.
	it.Comm = int(l.comm)
	var places []trace.Operand
	for i := range 7 {
		places = append(places, trace.Const(int64(1+i)))
	}
	order := kind.Operands(places)
	args := map[int64]trace.Operand{order.Send.Const: c.Send, order.SendSize.Const: c.SendSize, order.Recv.Const: c.Recv,
		order.RecvSize.Const: c.RecvSize, order.Root.Const: c.Root, order.Flops.Const: c.Flops, order.Span.Const: c.Span}
	for i := int64(1); i <= 7; i++ {
		if a, ok := args[i]; ok {
			it.Args = append(it.Args, a)
		}
	}
}
