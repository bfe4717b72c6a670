package trace

// A message whose peer is ProcNull is not sent: MPI_PROC_NULL, which programs have at the
// borders of grids so that all their ranks make the same calls.

// null stores the action of a message whose peer is ProcNull; it is false if the message is
// none, or impossible all the same.
func (c *Cursor) null(a *Action, in *instr, peer, tag, size int64) bool {
	if peer != ProcNull || Kind(in.flags) == KindProbed || !c.set.trace.Header().Communicators || tag != int64(int32(tag)) || size < -1 {
		return false
	}
	*a = Action{Kind: KindNull, Sym: in.sym, Peer: ProcNull, Tag: int32(tag), Req: in.w, X: [4]int64{size, int64(in.flags)}}
	return true
}

// nullSendrecv stores what is left of a sendrecv one of whose peers is ProcNull; it is false
// if that is impossible all the same.
func (c *Cursor) nullSendrecv(a *Action, in *instr, peer, tag, out int64) bool {
	source, with, into := c.set.aux[0], c.set.aux[1], c.set.aux[2]
	message := *in
	message.w = 0
	switch {
	case peer == ProcNull && source == ProcNull:
		message.flags = uint8(KindSendrecv)
		return c.null(a, &message, peer, tag, out)
	case !c.set.trace.Header().Communicators:
		return false
	case peer == ProcNull:
		return c.message(a, KindRecv, in.sym, source, with, into)
	case source == ProcNull:
		return c.message(a, KindSend, in.sym, peer, tag, out)
	}
	return false
}

// message stores a blocking message, unless it cannot be.
func (c *Cursor) message(a *Action, k Kind, family uint16, peer, tag, size int64) bool {
	ok := uint64(peer) < uint64(c.set.ranks) && size >= 0 && tag == int64(int32(tag))
	if !ok && !c.receivable(k, peer, tag, size) {
		return false
	}
	*a = Action{Kind: k, Sym: family, Peer: int32(peer), Tag: int32(tag), X: [4]int64{size}}
	return true
}
