package capture

import (
	"cmp"
	"slices"

	"reprise/trace"
)

// unended is a receive that has not been seen to end: it was let go of while it was under way,
// cancelled and not completed, or is still there in MPI_Finalize. If a message is left that no
// other receive has got, it has; else there is nothing of it in the trace.
type unended struct {
	instance
	comm        int // of the run
	source, tag int32

	family int32
	peers  []int32 // of the communicator, as ranks of the world; nil for the rank alone
}

// answer finds what receives that were not seen to end have got: in a first pass through the ranks
// all messages are counted that are sent and not received.
func (m *merger) answer() error {
	if m.o.Partial || !slices.ContainsFunc(m.surveys, func(v *survey) bool { return len(v.open) > 0 }) {
		return nil
	}
	left, sizes := map[place]int{}, map[place]map[int64]int{} // sizes of those that are sent, less of those received
	count := func(p place, bytes int64, n int) {
		left[p] += n
		if sizes[p] == nil {
			sizes[p] = map[int64]int{}
		}
		sizes[p][bytes] += n
	}
	open := make([][]unended, len(m.streams))
	matching := newMatching(m.table, m.families.list(), len(m.streams))
	for rank := range m.streams {
		t := m.translator(rank, func(step int32) {
			s := &m.table.steps[step]
			out, in, _ := matching.ends(rank, s)
			count(out, s.args[argBytes], 1)
			if s.kind == trace.KindSendrecv {
				count(in, s.args[argReceived], -1)
			} else {
				count(in, s.args[argBytes], -1)
			}
		})
		open[rank] = []unended{}
		t.open = &open[rank]
		if err := t.translate(); err != nil {
			return err
		}
	}
	delete(left, place{})
	rest := make([][]place, len(open)) // by receiver, the messages that are left
	for p, n := range left {
		for range min(n, len(open[p.to])) {
			rest[p.to] = append(rest[p.to], p)
		}
	}
	for rank, list := range open {
		slices.SortFunc(rest[rank], func(a, b place) int {
			return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.tag, b.tag), cmp.Compare(a.family, b.family))
		})
		for i, u := range list {
			delete(m.surveys[rank].open, u.instance)
			m.surveys[rank].finds[u.instance] = status{}
			list[i].peers = m.comms[max(u.comm, 0)].peers(int32(rank))
			list[i].family = m.families.of(max(u.comm, 0))
		}
		for k, i := range assign(list, rest[rank], int32(rank)) {
			if i >= 0 {
				p := rest[rank][k]
				bytes := int64(mostCount)
				for size, n := range sizes[p] {
					if n > 0 && size < bytes {
						bytes = size
					}
				}
				sizes[p][bytes]--
				m.surveys[rank].finds[list[i].instance] = status{found: true, wild: true, source: list[i].from(&p, int32(rank)),
					tag: int32(p.tag), bytes: bytes}
			}
		}
	}
	return nil
}

// assign gives as many receives as possible a message that is left, and returns the receive of each
// message, -1 for none: one that could take others makes way.
func assign(list []unended, rest []place, rank int32) (receive []int) {
	receive = slices.Repeat([]int{-1}, len(rest))
	var seen []bool
	var give func(i int) bool
	give = func(i int) bool {
		for k := range rest {
			if seen[k] || list[i].comm < 0 || list[i].from(&rest[k], rank) < 0 {
				continue
			}
			seen[k] = true
			if receive[k] < 0 || give(receive[k]) {
				receive[k] = i
				return true
			}
		}
		return false
	}
	for i := range list {
		seen = make([]bool, len(rest))
		give(i)
	}
	return receive
}

// from returns the rank, of the communicator, that a message is from which the receive can get, -1
// for one that it cannot.
func (u *unended) from(p *place, rank int32) int32 {
	source := int32(slices.Index(u.peers, p.from))
	if u.peers == nil && p.from == rank {
		source = 0
	}
	if p.family != u.family || p.tag < 0 || u.tag != anyTag && int64(u.tag) != p.tag || u.source != anyRank &&
		u.source != source {
		return -1
	}
	return source
}
