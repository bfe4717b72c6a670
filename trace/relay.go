package trace

import "fmt"

// This file holds relays, broadcasts whose members pass on the chunks that their polls find complete, and work that goes
// on until requests or relays are done (Builder.UntilDone, UntilComplete, WhilePending). The answers of the polls are not
// in the trace: the consumer gives them.
//
// A relay is what a rank knows of its broadcasts (jobs) in a communicator, one behind the other. It has a list of
// slots, one for each chunk that the rank gets and may pass on, over all jobs. A slot is a receive first, unless the
// rank is the root, and then a send, if the rank passes the chunk on.
//
// In a job with S members the root sends each chunk to the next one and, if S > 2, to the previous one. A member at
// distance d from the root gets chunks from before if d <= S/2 and passes them on if d < S/2; the others get them
// from behind and pass them on, downwards, if d > S/2 + 1. Source: HPL-AI of RIKEN, its broadcast of point-to-point
// messages.

// RelayVerb says what an OpAdvance does with relays.
type RelayVerb uint8

// The verbs.
const (
	RelayPoll   RelayVerb = iota // passes on and posts what it can, until nothing changes
	RelayEither                  // polls the relays in turn until one is done
	RelayFinish                  // waits for all chunks, and forgets the jobs
	numRelayVerbs
)

// MaxRelays bounds the relays of a rank.
const MaxRelays = 1 << relayBits

// Bounds of relays. The slot of an OpAdvance is its verb and, below it, the set of relays.
const (
	relayBits = 2
	relaySet  = 1<<MaxRelays - 1
	maxJobs   = 4
	maxWindow = 1 << 12 // slots between the last received chunk and the last that is done with
	maxChunks = 1 << 20
)

// Flags of an OpUntil in its slot, above the set of relays; and of an OpRing.
const (
	untilWorks  = 1 << MaxRelays // work comes before the polls
	ringBoth    = 1              // the first half of the chunks goes upwards, the rest downwards
	ringSkips   = 2              // the member behind the root takes no part
	ringFlags   = 4
	ringSlots   = 4 // requests of a ring
	relayBounds = 3
	maxAsked    = 4 // requests of a poll
)

// relay is the state of one relay of a rank. Slots before received have their chunk, or wait for it; those before sent
// have been passed on, those before completed are done with.
type relay struct {
	family                    uint16
	member                    int32 // of the rank in its communicator
	req                       int32
	window                    int32
	received, sent, completed int32
	count                     int32
	jobs                      [maxJobs]relayJob
}

// relayJob is one broadcast.
type relayJob struct {
	size, chunk int64
	distance    int32 // of the rank from the root
	end         int32 // slots up to and with this job
	next, prev  int32 // ranks
	from, to    int32 // ranks, or -1; of a root that sends both ways to is next
	both        bool
}

// relays is what a rank's relays and rings are about.
type relays struct {
	of     [MaxRelays]relay
	ring   [2]ringFlow
	asked  [maxAsked]int32 // requests that a round of polls did not find complete, -1 for none
	at     uint8           // relay at hand
	stage  uint8
	answer uint8
	begun  bool // the operation at hand has begun
	// Something happened in the pass, or in the round, at hand.
	changed, found bool
}

// Answers of polls.
const (
	noAnswer uint8 = iota
	answerHit
	answerMiss
)

// askedRelay is the value of Cursor.waiting while a poll of requests waits for its answer.
const askedRelay = 100

// Relay schedules a job on a relay: size bytes from member root of the own group of a family. The chunks have the size
// that makes at most parts of them, and at least the given bytes; the relay uses window request slots from req on.
func (b *Builder) Relay(relay, family int, req int32, size, root Operand, least, parts, window int64) {
	b.Add(Item{Op: OpRelay, Slot: uint8(relay), Sym: family, Req: req, Args: []Operand{size, root},
		Coefs: []int64{least, parts, window}})
}

// Advance does what the verb says with the relays.
func (b *Builder) Advance(v RelayVerb, relays ...int) {
	b.Add(Item{Op: OpAdvance, Slot: uint8(v)<<MaxRelays | relaysOf(relays)})
}

// relaysOf returns the relays as a set.
func relaysOf(relays []int) (set uint8) {
	for _, r := range relays {
		set |= 1 << r
	}
	return set
}

// UntilDone polls a relay, and unless it is done runs the block body(rows, args...) on a slice of n rows and polls
// again, until the relay is done or no row is left. It returns the rows that are left.
func (b *Builder) UntilDone(relay int, n, slice Operand, body int, args ...Operand) Operand {
	return b.until(Item{Slot: 1 << relay}, n, slice, body, args)
}

// WhilePending runs the block on slices of n rows, and polls all of the relays after each, while one of them is not
// done and rows are left. It returns the rows that are left.
func (b *Builder) WhilePending(relays []int, n, slice Operand, body int, args ...Operand) Operand {
	return b.until(Item{Slot: untilWorks | relaysOf(relays)}, n, slice, body, args)
}

// UntilComplete is UntilDone for requests, which it tests together; if no row is left, it waits for them.
func (b *Builder) UntilComplete(slots []int32, n, slice Operand, body int, args ...Operand) Operand {
	var it Item
	for _, s := range slots {
		it.Coefs = append(it.Coefs, int64(s))
	}
	return b.until(it, n, slice, body, args)
}

func (b *Builder) until(it Item, n, slice Operand, body int, args []Operand) Operand {
	it.Op, it.Sym, it.Args = OpUntil, body, append([]Operand{n, slice}, args...)
	return b.let(it)
}

// Ring passes size bytes from member root of the own group of a family round a ring, in chunks: each member has one
// receive and one send open and waits for either of them. With both, half of the chunks go the other way round; with
// skips the member behind the root takes no part. Tags are the numbers of senders; slots from req on are used.
func (b *Builder) Ring(family int, req int32, size, root Operand, chunk int64, both, skips bool) {
	it := Item{Op: OpRing, Sym: family, Req: req, Args: []Operand{size, root}, Coefs: []int64{chunk}}
	if both {
		it.Slot |= ringBoth
	}
	if skips {
		it.Slot |= ringSkips
	}
	b.Add(it)
}

// relay checks an item that concerns relays.
func (c *checker) relay(it *Item) error {
	c.polls = true
	set, verb := it.Slot&relaySet, RelayVerb(it.Slot>>MaxRelays)
	coefs := len(it.Coefs)
	switch it.Op {
	case OpRelay, OpRing:
		if it.Op == OpRing && (it.Slot >= ringFlags || coefs != 1 || it.Coefs[0] < 1 || it.Coefs[0] > 1<<40) {
			return fmt.Errorf("ring with flags %d and chunks %v", it.Slot, it.Coefs)
		}
		if it.Op == OpRelay && (it.Slot >= MaxRelays || coefs != relayBounds || it.Coefs[0] < 1 ||
			it.Coefs[1] < 1 || it.Coefs[1] > maxChunks || it.Coefs[2] < 1 || it.Coefs[2] > maxWindow || it.Coefs[0] > 1<<30) {
			return fmt.Errorf("relay %d with chunks %v", it.Slot, it.Coefs)
		}
		if it.Req > MaxRequests-maxWindow {
			return fmt.Errorf("request %d, allowed 0 to %d", it.Req, MaxRequests-maxWindow)
		}
	case OpAdvance:
		if set == 0 || verb >= numRelayVerbs {
			return fmt.Errorf("verb %d of the relays %#x", verb, set)
		}
	case OpUntil:
		if single := set&(set-1) == 0; coefs > maxAsked || (coefs > 0) != (set == 0) || verb > 1 || verb == 1 && coefs > 0 ||
			verb == 0 && !single {
			return fmt.Errorf("%d requests and relays %#x", coefs, it.Slot)
		}
		for _, s := range it.Coefs {
			if s < 0 || s >= MaxRequests {
				return fmt.Errorf("request %d out of [0,%d)", s, MaxRequests)
			}
		}
	}
	return nil
}

// relays returns what the rank's relays are about.
func (c *Cursor) relays() *relays {
	if c.set.relays == nil {
		c.set.relays = make([]relays, c.set.cursors)
	}
	return &c.set.relays[c.index]
}

// chunkSize returns the size of the chunks of a job, at most parts and of at least some bytes each.
func chunkSize(size, least, parts int64) int64 { return max(least, (size+parts-1)/parts) }

// schedule adds a job to a relay; it fails on one that cannot be.
func (c *Cursor) schedule(in *instr, r *registers) bool {
	size, root := r[in.a]+int64(in.x), r[in.b]+int64(in.y)
	g := c.group(in.sym)
	if size < 0 || root < 0 || root >= int64(g.Count) {
		c.fail("relay of %d bytes from member %d of %d", size, root, g.Count)
		return false
	}
	if size == 0 || g.Count == 1 {
		return true
	}
	x := &c.relays().of[in.flags]
	if x.count == maxJobs {
		c.fail("more than %d jobs of a relay", maxJobs)
		return false
	}
	bounds := c.set.code.slots[in.z]
	x.family, x.req, x.window, x.member = in.sym, in.w, bounds[2], int32(g.Find(c.rank))
	n := g.Count
	j := relayJob{size: size, chunk: chunkSize(size, int64(bounds[0]), int64(bounds[1])), from: -1, to: -1,
		distance: (x.member - int32(root) + n) % n}
	j.next, j.prev = int32(g.member(int64(x.member+1))), int32(g.member(int64(x.member-1)))
	chunks, half := int32((size+j.chunk-1)/j.chunk), n/2
	switch d := j.distance; {
	case d == 0:
		j.to, j.both = j.next, n > 2
		if j.both {
			chunks *= 2
		}
	case d <= half:
		if j.from = j.prev; d < half {
			j.to = j.next
		}
	default:
		if j.from = j.next; d > half+1 {
			j.to = j.prev
		}
	}
	if j.end = chunks; x.count > 0 {
		j.end += x.jobs[x.count-1].end
	}
	x.jobs[x.count] = j
	x.count++
	return true
}

// slots returns the slots of all jobs.
func (x *relay) slots() int32 {
	if x.count == 0 {
		return 0
	}
	return x.jobs[x.count-1].end
}

// done reports whether the relay has done all its jobs.
func (x *relay) done() bool { return x.completed == x.slots() }

// done reports whether all relays of a set are done.
func (s *relays) done(set uint8) bool {
	for i := range s.of {
		if set>>i&1 != 0 && !s.of[i].done() {
			return false
		}
	}
	return true
}

// slot returns of a slot the rank that its chunk comes from, the one that it goes to, each -1 for none, and its bytes.
func (x *relay) slot(i int32) (from, to int32, bytes int64) {
	first := int32(0)
	j := &x.jobs[0]
	for n := 1; i >= j.end; n++ {
		first, j = j.end, &x.jobs[n]
	}
	k := i - first
	to = j.to
	if j.both {
		if k%2 == 1 {
			to = j.prev
		}
		k /= 2
	}
	return j.from, to, min(j.chunk, j.size-int64(k)*j.chunk)
}

// request returns the request of a slot.
func (x *relay) request(i int32) int32 { return x.req + i%x.window }

// post stores the receive or send of a slot.
func (x *relay) post(a *Action, k Kind, peer int32, i int32, bytes int64) {
	a.set(k, x.family, int64(peer), 0, x.request(i))
	a.X = [4]int64{bytes}
}

// test asks whether the request of a slot is complete. It reports the answer, or that it is not known yet.
func (c *Cursor) test(a *Action, s *relays, req int32, flags uint8) (hit, asked bool) {
	switch s.answer {
	case noAnswer:
		c.askFor(a, TestAny, flags, req)
		return false, true
	case answerHit:
		s.changed, s.found, hit = true, true, true
	default:
		for i := range s.asked {
			if s.asked[i] < 0 {
				s.asked[i] = req
				break
			}
		}
	}
	s.answer = noAnswer
	return hit, false
}

// askFor stores a poll of requests.
func (c *Cursor) askFor(a *Action, m Completion, flags uint8, reqs ...int32) {
	*a = Action{Kind: KindAsk, Sym: uint16(m), Flags: flags, X: [4]int64{-1, -1, -1, -1}}
	for i, r := range reqs {
		a.X[i] = int64(r)
	}
	c.waiting = askedRelay
}

// advance carries on an OpAdvance. It stores at most one action, and reports whether it has, and whether the
// operation is over.
func (c *Cursor) advance(a *Action, in *instr) (stored, over bool) {
	s, verb := c.relays(), RelayVerb(in.flags>>MaxRelays)
	none := [maxAsked]int32{-1, -1, -1, -1}
	either := verb == RelayEither
	has := func(i uint8) bool { return in.flags>>i&1 != 0 }
	if !s.begun {
		s.at, s.stage, s.changed, s.found, s.asked = 0, 0, false, false, none
		for i := range uint8(MaxRelays) {
			if either && has(i) && s.of[i].done() {
				return false, true
			}
		}
		s.begun = true
	}
	for {
		for ; s.at < MaxRelays; s.at++ {
			x := &s.of[s.at]
			if !has(s.at) {
				continue
			}
			if verb == RelayFinish {
				stored = x.finish(a, s)
			} else {
				stored = c.pass(a, s, x, either)
			}
			if stored {
				return true, false
			}
			s.stage, s.changed = 0, false
			if verb == RelayFinish {
				*x = relay{}
			}
			if either && x.done() {
				s.begun = false
				return false, true
			}
		}
		if !either {
			s.begun = false
			return false, true
		}
		// Another round. If this one has found nothing, the next one finds something when a request has become complete.
		asked, found := s.asked, s.found
		s.at, s.found, s.asked = 0, false, none
		// A round that did has nothing to wait for.
		if found {
			asked = none
		}
		if found || asked != none {
			*a = Action{Kind: KindRound, X: [4]int64{int64(asked[0]), int64(asked[1]), int64(asked[2]), int64(asked[3])}}
			return true, false
		}
	}
}

// pass makes passes over the slots of a relay until one changes nothing. It reports whether it has stored an action, as
// finish does; then it is called again.
func (c *Cursor) pass(a *Action, s *relays, x *relay, waits bool) bool {
	flags := uint8(0)
	if waits {
		flags = FlagSpin
	}
	for {
		for s.stage == 0 && x.sent < x.received {
			i := x.sent
			from, to, bytes := x.slot(i)
			if from >= 0 {
				hit, asked := c.test(a, s, x.request(i), flags)
				if asked {
					return true
				}
				if !hit {
					break
				}
			}
			x.sent++
			if s.changed = true; to >= 0 {
				x.post(a, KindIsend, to, i, bytes)
				return true
			}
		}
		if s.stage == 0 {
			s.stage = 1
		}
		for s.stage == 1 && x.completed < x.sent {
			if _, to, _ := x.slot(x.completed); to >= 0 {
				hit, asked := c.test(a, s, x.request(x.completed), flags)
				if asked {
					return true
				}
				if !hit {
					break
				}
			}
			x.completed++
			s.changed = true
		}
		s.stage = 2
		before := x.received
		stored := x.receive(a)
		s.changed = s.changed || x.received != before
		if stored || !s.changed {
			return stored
		}
		s.stage, s.changed = 0, false
	}
}

// receive posts the next receive, if there is room. It reports whether it has stored an action.
func (x *relay) receive(a *Action) bool {
	for x.received < x.slots() && x.received-x.completed < x.window {
		i := x.received
		x.received++
		if from, _, bytes := x.slot(i); from >= 0 {
			x.post(a, KindIrecv, from, i, bytes)
			return true
		}
	}
	return false
}

// finish waits for one slot after the other.
func (x *relay) finish(a *Action, s *relays) bool {
	wait := func(i int32) bool {
		*a = Action{Kind: KindWait, Req: x.request(i)}
		return true
	}
	for !x.done() {
		s.stage++
		switch s.stage {
		case 1:
			if x.sent < x.received {
				if from, _, _ := x.slot(x.sent); from >= 0 {
					return wait(x.sent)
				}
			}
		case 2:
			if x.sent < x.received {
				i := x.sent
				x.sent++
				if _, to, bytes := x.slot(i); to >= 0 {
					x.post(a, KindIsend, to, i, bytes)
					return true
				}
			}
		case 3:
			if x.completed < x.sent {
				x.completed++
				if _, to, _ := x.slot(x.completed - 1); to >= 0 {
					return wait(x.completed - 1)
				}
			}
		default:
			s.stage = 3
			if x.receive(a) {
				return true
			}
			s.stage = 0
		}
	}
	return false
}
