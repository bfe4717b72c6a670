package capture

import (
	"errors"
	"slices"

	"reprise/trace"
)

// twoGroups returns a collective operation of an intercommunicator as one of a communicator that
// moves the same bytes: a rooted one of the root, which is rank 0 there, and the other group; all
// others of both groups, in which the ranks of one exchange nothing with each other. Joins is false
// of the ranks beside the root, which take no part.
func (t *translator) twoGroups(e *event, kind trace.CollectiveKind) (s step, joins bool, err error) {
	id := t.own.of[e.comm]
	c := &t.comms[id]
	mine, theirs, from := c.members, c.others, len(c.members)
	if !slices.Contains(mine, t.rank) {
		mine, theirs, from = c.others, c.members, 0
	}
	s = step{form: form{kind: trace.KindCollective, collective: kind, family: t.families.of(id)}}
	if kind.Reduces() {
		s.operator = trace.Operator(e.operator)
	}
	out, in := e.of[sends], e.of[receives]
	both := e.of[anySide]
	n := len(mine) + len(theirs)
	if kind.Rooted() {
		root, group := t.rank, theirs
		switch {
		case e.ranks[0] == procNull:
			return s, false, nil
		case e.ranks[0] == rootHere:
			out, in = out.behindRoot(), in.behindRoot()
			if kind == trace.CollGather || kind == trace.CollGatherv {
				out = counted{stated: true, size: 1}
			} else if kind == trace.CollScatter || kind == trace.CollScatterv {
				in = counted{stated: true, size: 1}
			}
		case int(e.ranks[0]) >= len(theirs):
			return s, false, errors.New("a root that the other group does not have")
		default:
			root, group = theirs[e.ranks[0]], mine
		}
		s.family = t.families.ofRoot(id, root, group)
		n = 1 + len(group)
	} else {
		switch kind {
		case trace.CollAllgather, trace.CollAllgatherv, trace.CollAlltoall, trace.CollAlltoallv:
			s.collective = trace.CollAlltoallv
			out, in = out.toOthers(from, len(theirs), n), in.toOthers(from, len(theirs), n)
		case trace.CollReduceScatter: // both groups have as many elements in all
			s.collective = trace.CollAllreduce
			total := counted{stated: true, size: both.size, count: in.count * int64(len(mine))}
			if in.counts != nil {
				total.count = 0
				for _, k := range in.counts {
					total.count += k
				}
			}
			out, in = total, total
		}
	}
	if both.stated {
		out, in = both, both
	}
	t.directions(&s, out, in, n, 0)
	return s, true, nil
}

// behindRoot returns counts by rank of a group as those of a communicator in which the root,
// which has none, comes first.
func (c counted) behindRoot() counted {
	if c.counts != nil {
		c.counts = slices.Insert(slices.Clone(c.counts), 0, 0)
	}
	return c
}

// toOthers returns what goes to each of the ranks of a communicator of n, of which the other
// group are some from one on.
func (c counted) toOthers(from, others, n int) counted {
	list := counted{stated: true, size: c.size, counts: make([]int64, n)}
	for i := range others {
		if c.sizes != nil {
			list.size, list.counts[from+i] = 1, c.bytes(i)
			continue
		}
		list.counts[from+i] = c.count
		if c.counts != nil {
			list.counts[from+i] = c.counts[i]
		}
	}
	return list
}
