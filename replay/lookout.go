package replay

import "reprise/trace"

// lookout is what is known of the probes of a rank that does nothing else until there is a message, if
// somebody is to be told what has released it.
type lookout struct {
	begun  float64 // when it began to probe, seconds
	looked float64 // when the first of these probes looked; noTime if that follows from begun
}

// beginsToLook notes that a rank begins to probe for a message.
func (e *engine) beginsToLook(r int32) { e.lookouts[r] = lookout{e.ranks[r].clock, noTime} }

// looks notes that the first probe of a rank looks. Not inlined: its caller is a hot loop.
//
//go:noinline
func (e *engine) looks(r int32) { e.lookouts[r].looked = e.ranks[r].clock }

// polled notes what a probe of a busy wait has seen.
func (e *engine) polled(r int32, a *trace.Action, sees bool) {
	if e.watch != nil {
		e.watch.ranks[r].busy = !sees
	}
	if sees {
		e.probed(r, e.findFirst(&e.ranks[r], a.Peer, e.label(a)))
	}
}

// probed tells that a message which a probe of a rank has seen has released it, unless its
// first probe could see it.
func (e *engine) probed(r, id int32) {
	l := &e.lookouts[r]
	if l.looked == noTime {
		l.looked = l.begun + e.prober.cost
	}
	if e.visible(id) <= l.looked {
		return
	}
	at := e.ranks[r].clock
	if e.tapes != nil {
		e.tapes.See(r, id)
	}
	if w := e.watch; w != nil && w.heeds(r) {
		w.released(r, id, l.looked, at)
	}
}
