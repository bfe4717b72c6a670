package collective

import "reprise/trace"

// Algorithms of two levels, the nodes and the ranks of a node, which MPICH takes for
// operations that commute. Source: MVAPICH2's, as SimGrid 3.32 has them; A. Faraj, P. Patarasuk,
// X. Yuan, "A Study of Process Arrival Patterns for MPI Collective Operations", IJPP 36, 2008
// (bcastNodes).

// bcastNodes sends to rank 0, from there down a binomial tree to the first rank of each node,
// and down another to the others, where nodes are runs of as many ranks as each node has,
// wherever these are. Nodes with different numbers of ranks are left to bcastSized. Cost for n
// nodes: (1 + ceil(log2 n) + ceil(log2 p/n))(a + nb).
func bcastNodes(s *Schedule, o *operands, _ int) bool {
	if s.perNode() == 0 {
		s.thenRun(bcastSized(s, o), *o)
		return false
	}
	switch {
	case o.root == 0:
	case s.rank == o.root:
		s.send(0, o.send.one(), 0)
	case s.rank == 0:
		s.recv(o.root, o.send.one())
	}
	if s.rank%s.perNode() == 0 {
		s.thenRun(bcastAcrossNodes, *o)
	}
	s.thenRun(bcastWithinNode, *o)
	return false
}

func bcastAcrossNodes(s *Schedule, o *operands, round int) bool {
	each := s.perNode()
	return s.binomial(s.rank/each, s.p/each, each, o.send.one(), round)
}

func bcastWithinNode(s *Schedule, o *operands, round int) bool {
	each := s.perNode()
	return s.binomial(s.rank%each, each, 1, o.send.one(), round)
}

// reduceNodes reduces within each node to its leader, then among leaders to that of the root's
// node, which sends the result to the root, as reduceSized chooses for each. On one node data
// of 2 KiB or less go to the leader, others up a tree of fan-out 4.
func reduceNodes(s *Schedule, o *operands, _ int) bool {
	data := operands{send: o.send, at: o.at}
	s.enter(inNode)
	local := s.p
	s.enter(whole)
	node, leader := s.nodeOf(o.root)
	switch {
	case local < s.p:
		if local > 1 {
			s.thenAt(inNode, reduceSized, data)
		}
		if s.leads() {
			data.root = node
			s.thenAt(leaders, reduceSized, data)
		}
	case o.send.one() > 2048:
		s.thenRun(reduceKnomial, *o)
		return false
	default:
		s.thenAt(inNode, always(reduceLinear), data)
	}
	if leader != o.root {
		s.thenRun(reduceHandOver, *o)
	}
	return false
}

// reduceHandOver sends the result from the leader of the root's node to the root.
func reduceHandOver(s *Schedule, o *operands, _ int) bool {
	switch _, leader := s.nodeOf(o.root); s.rank {
	case leader:
		s.send(o.root, o.send.one(), 0)
	case o.root:
		s.recv(leader, o.send.one())
	}
	return false
}

// reduceKnomial goes up a tree whose levels have distances 4^k; a rank receives from all below
// it at once. Cost: ceil(log4 p)(a + 3nb).
func reduceKnomial(s *Schedule, o *operands, round int) bool {
	v, bytes, mask := s.relative(o.root), o.send.one(), 1
	if o.send.count == 0 {
		return false
	}
	for range round {
		mask *= knomial
	}
	if mask < s.p && v%(knomial*mask) == 0 {
		for k := knomial - 1; k > 0; k-- {
			if v+k*mask < s.p {
				s.irecv(knomial*round+k, s.at(s.rank, k*mask), bytes)
			}
		}
		return true
	}
	s.waitAll()
	if mask < s.p {
		s.isend(0, s.at(o.root, v-v%(knomial*mask)), bytes, 0)
		s.waitAll()
	}
	return false
}

// allreduceNodes reduces within each node, as allreduceSized chooses, then among the leaders by
// doubling, and broadcasts within each node, as selected.
func allreduceNodes(s *Schedule, o *operands, _ int) bool {
	if o.send.count == 0 {
		return false
	}
	data := operands{send: o.send, at: o.at}
	s.thenAt(inNode, allreduceSized, data)
	if s.leads() {
		s.thenAt(leaders, always(allreduceDoubling), data)
	}
	s.thenAt(inNode, s.sel.choose[trace.CollBcast], data)
	return false
}
