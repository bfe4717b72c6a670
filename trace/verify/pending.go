package verify

// pending is the set of the requests that a rank has open, by slot number. All it does takes the
// same time however many they are.
type pending struct {
	open  []openRequest // in no order
	place []int32       // by slot, of those that were open once: where it is in open, if it is there
}

type openRequest struct {
	slot  int32
	loose bool // it may have been completed: the replay decides
}

// find returns the request of a slot, nil if it is not open; valid until the set changes.
func (p *pending) find(slot int32) *openRequest {
	if int(slot) < len(p.place) {
		if i := int(p.place[slot]); i < len(p.open) && p.open[i].slot == slot {
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
	for int(slot) >= len(p.place) {
		p.place = append(p.place, 0)
	}
	p.place[slot] = int32(len(p.open))
	p.open = append(p.open, openRequest{slot: slot})
}

// remove takes a request away that find has returned.
func (p *pending) remove(q *openRequest) {
	last := p.open[len(p.open)-1]
	p.place[last.slot] = p.place[q.slot]
	*q = last
	p.open = p.open[:len(p.open)-1]
}

func (p *pending) clear() { p.open = p.open[:0] }
