package replay

import (
	"fmt"

	"reprise/replay/collective"
	"reprise/trace"
)

// communicator is a family of them: groups that collective operations are called on.
type communicator struct {
	groups []trace.Group
	of     []int32             // by rank: its group
	member []int32             // by rank: its place in the group
	calls  []int64             // by rank: collective operations that were begun
	nodes  []*collective.Nodes // by group; nil: no algorithm goes by them
}

// communicator returns that of a family, between so many ranks.
func (c *collectives) communicator(family int32, ranks int) (*communicator, error) {
	if uint32(family) >= uint32(len(c.families)) {
		return nil, fmt.Errorf("communicator of family %d out of [0,%d)", family, len(c.families))
	}
	if c.comms == nil {
		c.comms = make([]communicator, len(c.families))
	}
	comm := &c.comms[family]
	if comm.groups == nil {
		*comm = newCommunicator(c.families[family].Groups, ranks)
		comm.nodes = c.nodesOf(comm.groups)
	}
	return comm, nil
}

// nodesOf returns the nodes of groups, if algorithms go by them.
func (c *collectives) nodesOf(groups []trace.Group) []*collective.Nodes {
	if !c.selector.ByNodes() {
		return nil
	}
	nodes := make([]*collective.Nodes, len(groups))
	for i := range groups {
		world := func(member int) int32 { return groups[i].Member(member) }
		nodes[i] = collective.NewNodes(groups[i].Len(), world, func(member int) int32 { return c.hosts[world(member)] })
	}
	return nodes
}

// newCommunicator returns that of groups, which are a partition of so many ranks.
func newCommunicator(groups []trace.Group, ranks int) communicator {
	c := communicator{groups: groups, of: make([]int32, ranks), member: make([]int32, ranks), calls: make([]int64, ranks)}
	for g := range groups {
		for m := range groups[g].Len() {
			r := groups[g].Member(m)
			c.of[r], c.member[r] = int32(g), int32(m)
		}
	}
	return c
}
