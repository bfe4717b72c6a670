package capture

import (
	"errors"

	"reprise/trace"
)

// neighbourTag is the first of the tags of messages that stand for neighbourhood collectives:
// no program has tags below 0.
const neighbourTag = -1000

// neighbours adds the messages of a neighbourhood collective, as libraries make them: from
// each source, to each destination, all at once. Of a grid, what goes down in a dimension
// comes from above, which tags tell apart: neighbours 2d and 2d+1 are those of dimension d.
func (t *translator) neighbours(e *event, r request) error {
	from, to := t.own.sources[e.comm], t.own.destinations[e.comm]
	of := t.own.topologies[e.comm]
	if of == noTopology {
		return errors.New("a neighbourhood collective of a communicator without neighbours")
	}
	var requests []request
	for i, source := range from {
		if err := t.neighbour(e, &requests, trace.KindIrecv, source, i, tagOf(of, i), receives); err != nil {
			return err
		}
	}
	for i, destination := range to {
		if err := t.neighbour(e, &requests, trace.KindIsend, destination, i, tagOf(of, i^1), sends); err != nil {
			return err
		}
	}
	if r.number > 0 {
		t.slots[t.started.instance(r)] = slot{none: true, rest: requests}
		return nil
	}
	for _, q := range requests {
		t.release(q, trace.KindWait)
	}
	return nil
}

func tagOf(of topology, i int) int64 {
	if of == grid {
		return neighbourTag - int64(i)
	}
	return neighbourTag
}

// neighbour adds a message of a neighbourhood collective.
func (t *translator) neighbour(e *event, requests *[]request, kind trace.Kind, rank int32, i int, tag int64,
	of side) error {
	if rank == procNull {
		return nil
	}
	peer, family, err := t.peerOf(e, rank)
	if err != nil {
		return err
	}
	t.ours--
	q := request{number: t.ours}
	*requests = append(*requests, q)
	s := step{form: form{kind: kind, family: family, request: t.take(q)}}
	s.args[argPeer], s.args[argTag], s.args[argBytes] = peer, tag, e.of[of].bytes(i)
	t.add(s)
	return nil
}

// bytes returns the bytes to or from a peer.
func (c *counted) bytes(i int) int64 {
	count, size := c.count, c.size
	if c.counts != nil {
		count = c.counts[i]
	}
	if c.sizes != nil {
		size = c.sizes[i]
	}
	return count * size
}
