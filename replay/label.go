package replay

import "reprise/trace"

// label is what messages match by, beside their ranks.
type label struct {
	tag  int32
	comm uint16 // communicator: what its messages are told apart by from those of others
}

// Communicators of labels. That of a message between two ranks is its family, or 0 where the
// trace does not tell communicators apart; that of a collective operation, whose tag no
// other has, is 1 + the family, or 0 for all ranks, and with it these.
const (
	commNonblocking = 1 << 14 // nonblocking operations
	commBarrier     = 1 << 15 // nonblocking barriers, which receive from any rank
	familyMask      = 1<<12 - 1
)

// label returns that of the message of an action.
func (e *engine) label(a *trace.Action) label { return label{a.Tag, a.Sym & e.commMask} }

// label returns that of a message.
func (m *message) label() label { return label{m.tag, m.comm} }

// commMask returns which bits of the family of a message are part of its label.
func commMask(h *trace.Header) uint16 {
	if h.Communicators {
		return familyMask
	}
	return 0
}
