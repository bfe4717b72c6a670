package trace

// This file holds broadcasts round a ring, of which each member waits for what comes first (Builder.Ring). Source:
// rocHPL-MxP, its ring broadcasts.

// ringFlow is the state of the chunks of a ring that go one way.
type ringFlow struct {
	from, to         int32 // ranks, or -1
	first, count     int32 // chunks
	received, sent   int32 // chunks that are here, and that have been passed on
	tag              int32 // of what comes
	receives, passes bool  // a request is open
	send, receive    bool  // the next action posts one
}

// Requests of a ring, in the order in which they are looked at: of the flows their receives, then their sends.
const (
	ringReceive = 0
	ringSend    = 2
)

// startRing sets up the flows of a ring; it fails on one that cannot be.
func (c *Cursor) startRing(in *instr, r *registers, s *relays) bool {
	size, root := r[in.a]+int64(in.x), r[in.b]+int64(in.y)
	g := c.group(in.sym)
	if size < 0 || root < 0 || root >= int64(g.Count) {
		c.fail("ring of %d bytes from member %d of %d", size, root, g.Count)
		return false
	}
	s.ring = [2]ringFlow{}
	n, me := int64(g.Count), int64(g.Find(c.rank))
	y, skips := (me-root+n)%n, int64(0) // places in the ring
	if in.flags&ringSkips != 0 {
		skips = 1
		if n--; y == 1 {
			return true
		}
		y = max(0, y-1)
	}
	chunk := int64(c.set.code.slots[in.z][0])
	chunks := (size + chunk - 1) / chunk
	if n < 2 || chunks > maxChunks {
		return n < 2
	}
	counts := [2]int64{chunks, 0}
	if in.flags&ringBoth != 0 {
		counts = [2]int64{(chunks + 1) / 2, chunks / 2}
	}
	for i, way := range [2]int64{1, -1} {
		f := &s.ring[i]
		at := func(y int64) (rank, member int32) { // of a place
			if y = (y + n) % n; y > 0 {
				y += skips
			}
			m := (root + y) % (n + skips)
			return int32(g.member(m)), int32(m)
		}
		f.from, f.to, f.count, f.first = -1, -1, int32(counts[i]), int32(int64(i)*counts[0])
		if y > 0 {
			f.from, f.tag = at(y - way)
		} else {
			f.received = f.count
		}
		if way > 0 && y < n-1 || way < 0 && y != 1 {
			f.to, _ = at(y + way)
		}
		f.receive, f.send = y > 0 && f.count > 0, y == 0 && f.count > 0
	}
	return true
}

// passRing carries on an OpRing as advance does an OpAdvance.
func (c *Cursor) passRing(a *Action, in *instr, r *registers) (stored, over bool) {
	s := c.relays()
	if !s.begun {
		if !c.startRing(in, r, s) {
			return false, false
		}
		s.begun, s.stage = true, 0
	}
	size, chunk := r[in.a]+int64(in.x), int64(c.set.code.slots[in.z][0])
	bytes := func(f *ringFlow, i int32) int64 { return min(chunk, size-int64(f.first+i)*chunk) }
	post := func(k Kind, peer, tag, slot int32, bytes int64) (bool, bool) {
		a.set(k, in.sym, int64(peer), int64(tag), in.w+slot)
		a.X = [4]int64{bytes}
		return true, false
	}
	for {
		// Requests are posted first: at the beginning receives and then sends, later those that a completion allows, a
		// send first.
		for _, k := range [2]Kind{KindIsend, KindIrecv} {
			if s.stage == 0 {
				k = KindIsend + KindIrecv - k
			}
			for i := range s.ring {
				f, slot := &s.ring[i], int32(i)
				switch {
				case k == KindIrecv && f.receive:
					f.receive, f.receives = false, true
					return post(k, f.from, f.tag, slot+ringReceive, bytes(f, f.received))
				case k == KindIsend && f.send:
					f.send, f.passes = false, true
					me := int64(c.group(in.sym).Find(c.rank))
					return post(k, f.to, int32(me), slot+ringSend, bytes(f, f.sent))
				}
			}
		}
		s.stage = max(s.stage, 1)
		// One of the open requests is completed: each is asked for in turn, and the last is taken.
		var open []int32
		for slot := range int32(ringSlots) {
			f := &s.ring[slot%2]
			if slot < ringSend && f.receives || slot >= ringSend && f.passes {
				open = append(open, slot)
			}
		}
		if len(open) == 0 {
			s.begun = false
			return false, true
		}
		which := int(s.stage) - 1
		if s.answer == noAnswer {
			reqs := make([]int32, len(open))
			for i, slot := range open {
				reqs[i] = in.w + slot
			}
			c.askFor(a, CompleteAny, FlagSpin, reqs...)
			a.Tag = int32(which)
			return true, false
		}
		hit := s.answer == answerHit
		if s.answer = noAnswer; !hit && which+1 < len(open) {
			s.stage++
			continue
		}
		s.stage = 1
		slot := open[which]
		if f := &s.ring[slot%2]; slot < ringSend {
			// A chunk goes on at once if none is under way.
			f.receives = false
			f.send = f.to >= 0 && f.received == f.sent
			f.received++
			f.receive = f.received < f.count
		} else {
			f.passes = false
			f.sent++
			f.send = f.sent < f.received
		}
	}
}
