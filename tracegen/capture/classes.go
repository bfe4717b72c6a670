package capture

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"reprise/trace"
)

// This file finds classes of ranks that do the same, and which of their actions are one (together): on a grid without
// periods, ranks at corners, edges and faces have fewer neighbours and do only a part of what others do.

// Ways to make groups of classes. Of the traces that they make, the smallest is written.
const (
	apart   = iota // each class is a group
	byPeers        // all classes are one; peers of one action are at the same distance from the rank
	byOrder        // all classes are one, whatever the peers
	ways

	mostUnited = 128     // of a group
	mostLength = 1 << 16 // of one of several
	mostUses   = 1 << 16 // of slots, in a trace
	computing  = -1      // key of a computation, which belongs to what is done next
	ending     = -2      // key behind the last step
)

// class is ranks that do the same.
type class struct {
	ranks          []int
	keys, requests []int32        // of the steps; a request is a use of a slot, or -1
	has            map[int32]bool // keys
	at             int            // steps that are done
}

// key is what an action has in common with those that are one with it.
type key struct {
	form            // its request is 1 + a use of a slot, or 0 less a slot
	peer, tag int64 // of a message
	behind    int32 // collective operations of all ranks: these hold the ranks together
	nth       int32 // of the same actions; of a computation, the key of what the rank does next
}

// classes returns the classes of ranks. It returns nil if there are no steps, or, not apart, if requests are left open.
func (w *writer) classes(ranks, way int, of func(rank int) []item) (list []*class) {
	known := map[string]int32{}
	for rank := range ranks {
		c := w.classOf(rank, way, of(rank))
		if c == nil {
			return nil
		}
		name, _ := binary.Append(nil, binary.LittleEndian, c.keys)
		n := numberOf(known, string(name))
		if int(n) == len(list) {
			list = append(list, c)
		}
		list[n].ranks = append(list[n].ranks, rank)
	}
	if len(list) == 1 && len(list[0].keys) == 1 || way != apart && len(list) > mostUnited {
		return nil
	}
	return list
}

// classOf returns the class of a rank, without ranks.
func (w *writer) classOf(rank, way int, items []item) *class {
	c := &class{has: map[int32]bool{}}
	walker, open, times, behind := w.loops.walk(items, 1), map[int32]int32{}, map[key]int32{}, int32(0)
	for n, ok := walker.next(); ok; n, ok = walker.next() {
		s := &w.table.steps[n]
		k, number, use := key{form: s.form}, int32(computing), int32(-1)
		switch {
		case s.kind == trace.KindFlops:
		case way == apart:
			number = numberOf(w.keys, k)
		case len(c.keys) > mostLength || len(w.uses) > mostUses || s.kind == trace.KindComplete:
			return nil
		default:
			if way == byPeers && slices.Contains(messages, s.kind) {
				k.peer, k.tag = s.args[argPeer]-int64(rank), s.args[argTag]
			}
			k.request = 0
			switch s.kind {
			case trace.KindWaitAll:
				clear(open)
			case trace.KindWait, trace.KindTest, trace.KindFree:
				if use, ok = open[s.request]; !ok { // it has begun in a part before
					use = -1
				}
				if k.request = cmp.Or(use+1, -s.request); s.kind != trace.KindTest {
					delete(open, s.request)
				}
			case trace.KindIsend, trace.KindIssend, trace.KindStart, trace.KindIrecv, trace.KindIcollective, trace.KindIaccess:
				under := slices.Collect(maps.Values(open))
				for use = numberOf(w.uses, k); slices.Contains(under, use); use = numberOf(w.uses, k) {
					k.nth++
				}
				open[s.request], k.nth = use, 0
			}
			if k.behind = behind; s.kind == trace.KindCollective && s.family == world {
				behind++
			}
			times[k]++
			k.nth = times[k]
			number = numberOf(w.keys, k)
		}
		c.keys, c.requests = append(c.keys, number), append(c.requests, use)
	}
	c.keys = append(c.keys, ending)
	for i, k := range slices.Backward(c.keys) {
		if k == computing {
			c.keys[i] = numberOf(w.keys, key{form: form{kind: trace.KindFlops}, nth: c.keys[i+1]})
		}
		c.has[c.keys[i]] = true
	}
	if len(open) > 0 {
		return nil
	}
	return c
}

// messages are the kinds of messages, whose peers and tags tell them apart.
var messages = []trace.Kind{trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart, trace.KindRecv,
	trace.KindIrecv, trace.KindSendrecv}

// together has classes take a step: the first one that all that have it have come to. It returns nil if there is none.
func together(classes []*class) (next []*class) {
	for _, c := range classes {
		k := c.keys[c.at]
		ready := k != ending
		next = next[:0]
		for i := 0; ready && i < len(classes); i++ {
			if o := classes[i]; o.has[k] {
				next = append(next, o)
				ready = o.keys[o.at] == k
			}
		}
		if ready {
			for _, o := range next {
				o.at++
			}
			return next
		}
	}
	return nil
}
