package text

import (
	"fmt"

	"reprise/trace"
)

// access appends an access to a window: the target, the bytes that go there, those that come
// back, or both, the window and its communicator.
func (l *listing) access(a *trace.Action) {
	kind := a.AccessKind()
	if a.Kind == trace.KindIaccess {
		l.word("r")
		l.requests[a.Req] = request{verb: "r" + kind.String(), short: true}
	}
	l.word(kind.String()).int(int64(a.Peer))
	if kind != trace.AccessGet {
		l.int(a.X[0])
	}
	if kind.Fetches() {
		l.int(a.X[1])
	}
	l.window(a).line()
}

// sync appends a synchronisation: whom it concerns, unless that is all by its kind, and its
// assertions, if it has some.
func (l *listing) sync(a *trace.Action) {
	kind := a.SyncKind()
	l.word("win_").word(kind.String())
	switch {
	case a.Peer != trace.AllRanks:
		l.int(int64(a.Peer))
	case kind == trace.SyncFlush || kind == trace.SyncFlushLocal:
		l.word(" all")
	}
	l.window(a)
	if a.X[1] != 0 {
		l.word(" assert").int(a.X[1])
	}
	l.line()
}

func (l *listing) window(a *trace.Action) *listing {
	return l.word(" window").int(int64(a.Tag)).comm(a)
}

// file appends an access to a file.
func (l *listing) file(a *trace.Action) {
	kind, collective := a.FileKind()
	l.word(kind.String())
	if collective {
		l.word("_all")
	}
	l.int(a.X[0]).comm(a).line()
}

// oneSided returns the text of an item that concerns a window or a file.
func (s *structureWriter) oneSided(it *trace.Item) string {
	arg := func(i int) string { return operand(it.Args[i]) }
	switch it.Op {
	case trace.OpSync:
		return fmt.Sprintf("win_%v peer %s window %s assert %s%s", trace.SyncKind(it.Slot), arg(0), arg(1), arg(2),
			s.comm(it.Sym))
	case trace.OpFile:
		kind, collective := it.FileKind()
		text := kind.String()
		if collective {
			text += "_all"
		}
		return fmt.Sprintf("%s bytes %s%s", text, arg(0), s.comm(it.Sym))
	}
	text := trace.AccessKind(it.Slot).String()
	if it.Op == trace.OpIaccess {
		text = fmt.Sprintf("r%s request %d", text, it.Req)
	}
	return fmt.Sprintf("%s peer %s window %s out %s in %s%s", text, arg(0), arg(1), arg(2), arg(3), s.comm(it.Sym))
}
