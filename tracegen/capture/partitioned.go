package capture

import "errors"

// partitionedTag is the first of the tags of partitioned messages, which match none of the
// others; that of a program is subtracted.
const partitionedTag = -1 << 20

// makeReady counts partitions of a message that are ready. With the last one it is sent.
func (t *translator) makeReady(e *event) error {
	r := e.requests[0]
	if r.number == 0 {
		return nil // of a call that was left out
	}
	p, ok := t.plans[r.number]
	if !ok || !r.persistent || p.partitions == 0 {
		return errors.New("a partition of a request that was not made")
	}
	before := p.ready
	p.ready += e.partitions
	t.plans[r.number] = p
	if before < p.partitions && p.ready >= p.partitions {
		return t.message(&p.event, r)
	}
	return nil
}
