package collective

import (
	"slices"

	"reprise/trace"
)

// Algorithms of two levels, the nodes and the ranks of a node, which MPICH takes for operations that commute. Source:
// MVAPICH2's, as SimGrid 3.32 has them; A. Faraj, P. Patarasuk, X. Yuan, "A Study of Process Arrival Patterns for MPI
// Collective Operations", IJPP 36, 2008 (bcastNodes).

// bcastNodes sends to rank 0, from there down a binomial tree to the first rank of each node, and down another to the
// others, where nodes are runs of as many ranks as each node has, wherever these are. Nodes with different numbers of
// ranks are left to bcastSized. Cost for n nodes: (1 + ceil(log2 n) + ceil(log2 p/n))(a + nb).
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

// Nodes says which ranks of a communicator share a node, which the algorithms of two levels go by. The ranks of a node
// stand in the order of MPI_COMM_WORLD, whatever that of the communicator; the first of them is the node's leader.
// Nodes stand in the order of their leaders in MPI_COMM_WORLD.
//
// No Nodes (nil) stand for ranks in the order of MPI_COMM_WORLD, each on a node of its own.
type Nodes struct {
	of, at  []int32   // by rank: its node, and its place there
	ranks   [][]int32 // by node
	leaders []int32   // by node
	each    int       // ranks of a node; 0 if nodes differ
}

// NewNodes returns the nodes of the ranks 0, 1, ... of a communicator, of which world and
// host return the ranks in MPI_COMM_WORLD and the hosts.
func NewNodes(ranks int, world, host func(rank int) int32) *Nodes {
	order := make([]int32, ranks)
	ordered := true
	for r := range order {
		order[r] = int32(r)
		ordered = ordered && (r == 0 || world(r-1) < world(r))
	}
	if !ordered {
		slices.SortFunc(order, func(a, b int32) int { return int(world(int(a)) - world(int(b))) })
	}
	n := &Nodes{of: make([]int32, ranks), at: make([]int32, ranks)}
	nodes := map[int32]int32{} // by host
	for _, r := range order {
		node, known := nodes[host(int(r))]
		if !known {
			node = int32(len(n.ranks))
			nodes[host(int(r))] = node
			n.ranks = append(n.ranks, nil)
			n.leaders = append(n.leaders, r)
		}
		n.of[r], n.at[r] = node, int32(len(n.ranks[node]))
		n.ranks[node] = append(n.ranks[node], r)
	}
	if ordered && len(n.ranks) == ranks {
		return nil
	}
	n.each = len(n.ranks[0])
	if slices.ContainsFunc(n.ranks, func(of []int32) bool { return len(of) != n.each }) {
		n.each = 0
	}
	return n
}

// level says among which ranks of the communicator a stage is played.
type level uint8

const (
	whole   level = iota // all
	inNode               // those of the rank's node
	leaders              // the leaders of nodes, the rank among them
)

// enter makes s.p and s.rank those of a level.
func (s *Schedule) enter(l level) {
	s.level, s.group = l, nil
	s.p, s.rank = s.all, s.member
	switch {
	case l == whole:
	case s.nodes == nil:
		if l == inNode {
			s.p, s.rank = 1, 0
		}
	case l == inNode:
		s.group, s.rank = s.nodes.ranks[s.nodes.of[s.member]], int(s.nodes.at[s.member])
		s.p = len(s.group)
	default:
		s.group, s.rank = s.nodes.leaders, int(s.nodes.of[s.member])
		s.p = len(s.group)
	}
}

// leads reports whether the rank is the leader of its node.
func (s *Schedule) leads() bool { return s.nodes == nil || s.nodes.at[s.member] == 0 }

// nodeOf returns the node of a rank of the communicator, and its leader.
func (s *Schedule) nodeOf(rank int) (node, leader int) {
	if s.nodes == nil {
		return rank, rank
	}
	node = int(s.nodes.of[rank])
	return node, int(s.nodes.leaders[node])
}

// perNode returns the ranks of each node of the current level, 0 if nodes differ.
func (s *Schedule) perNode() int {
	switch {
	case s.level == inNode:
		return s.p
	case s.level == leaders || s.nodes == nil:
		return 1
	}
	return s.nodes.each
}
