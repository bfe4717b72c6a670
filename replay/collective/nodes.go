package collective

import "slices"

// Nodes says which ranks of a communicator share a node, which the algorithms of two levels
// go by. The ranks of a node stand in the order of MPI_COMM_WORLD, whatever that of the
// communicator; the first of them is the node's leader. Nodes stand in the order of their
// leaders in MPI_COMM_WORLD.
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
	for _, of := range n.ranks {
		if len(of) != n.each {
			n.each = 0
		}
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
