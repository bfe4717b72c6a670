package verify

// pending is the set of the requests that a rank has open, by slot number. All it does takes the
// same time however many they are.
type pending struct {
	open  []openRequest   // in no order
	place map[int32]int32 // by slot: where it is in open; nil while they are few, which are looked through
}

// few requests are looked through as quickly as a map is.
const few = 16

type openRequest struct {
	slot  int32
	loose bool // it may have been completed: the replay decides
}

// find returns the request of a slot, nil if it is not open; valid until the set changes.
func (p *pending) find(slot int32) *openRequest {
	if p.place != nil {
		if i, ok := p.place[slot]; ok {
			return &p.open[i]
		}
		return nil
	}
	for i := range p.open {
		if p.open[i].slot == slot {
			return &p.open[i]
		}
	}
	return nil
}

// add opens a request; one that may have been completed was.
func (p *pending) add(slot int32) {
	if q := p.find(slot); q != nil {
		q.loose = false
		return
	}
	p.open = append(p.open, openRequest{slot: slot})
	switch {
	case p.place != nil:
		p.place[slot] = int32(len(p.open) - 1)
	case len(p.open) > few:
		p.place = map[int32]int32{}
		for i, q := range p.open {
			p.place[q.slot] = int32(i)
		}
	}
}

// remove takes a request away that find has returned.
func (p *pending) remove(q *openRequest) {
	last := p.open[len(p.open)-1]
	if p.place != nil {
		p.place[last.slot] = p.place[q.slot]
		delete(p.place, q.slot)
	}
	*q = last
	p.open = p.open[:len(p.open)-1]
}

func (p *pending) clear() { p.open, p.place = p.open[:0], nil }
