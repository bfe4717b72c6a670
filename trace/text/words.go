package text

import (
	"math"
	"strconv"

	"reprise/trace"
)

// This file has the pieces of a line: texts, numbers, envelopes, and the forms that replace usual lines.

// Words are forms of lines that replace the usual ones, where the recorder of a program
// writes others; empty ones replace nothing. In a form {name} stands for a value.
type Words struct {
	Wait     string // of {verb} (send or recv), {peer}, {bytes}, {tag}, {comm}
	WaitAll  string // of {count} requests
	WaitAny  string // of one request, as Wait
	Sendrecv string // with one peer and tag: as Wait, and {received} bytes
	// Requests have numbers, in the order in which they begin, which follow their messages; kernels in queues are listed as
	// others, and what waits for queues with sync and event.
	Plain       bool
	Collectives map[trace.CollectiveKind]string // of {count} elements of {size} bytes, {bytes} in all, {root}, {operator}, {comm}
}

// The pieces of a line, all appended to out.

// word appends a text.
func (l *listing) word(s string) *listing {
	l.out = append(l.out, s...)
	return l
}

// int appends an integer.
func (l *listing) int(v int64) *listing {
	l.out = strconv.AppendInt(append(l.out, ' '), v, 10)
	return l
}

// float appends v with the digits that it takes to read it back, whole numbers as integers.
func (l *listing) float(v float64) *listing {
	if v == math.Trunc(v) && math.Abs(v) < 1e18 {
		return l.int(int64(v))
	}
	l.out = strconv.AppendFloat(append(l.out, ' '), v, 'g', -1, 64)
	return l
}

// envelope appends peer, bytes ("?" where a receiver does not know) and tag.
func (l *listing) envelope(a *trace.Action, bytes int64) *listing {
	l.peer(a.Peer)
	if bytes < 0 {
		l.word(" ?")
	} else {
		l.int(bytes)
	}
	return l.tag(a.Tag)
}

// peer appends a rank, or a word for one of the values that are none.
func (l *listing) peer(v int32) *listing {
	switch v {
	case trace.AnySource:
		return l.word(" any")
	case trace.ProcNull:
		return l.word(" null")
	}
	return l.int(int64(v))
}

// tag appends a tag, or a word for any.
func (l *listing) tag(v int32) *listing {
	if v == trace.AnyTag {
		return l.word(" any")
	}
	return l.int(int64(v))
}

// comm appends the name of an action's communicator, if it has one.
func (l *listing) comm(a *trace.Action) *listing { return l.word(l.commName(a)) }

// commName returns the name of an action's communicator with a blank before it, if it has one.
func (l *listing) commName(a *trace.Action) string {
	if int(a.Sym) < len(l.comms) {
		return l.comms[a.Sym]
	}
	return ""
}

// memory appends where the buffer of a message lies, if that is said.
func (l *listing) memory(a *trace.Action) *listing {
	if m := a.Memory(); m != trace.MemoryUnsaid {
		l.word(" ").word(m.String())
	}
	return l
}

// line ends a line.
func (l *listing) line() { l.out = append(l.out, '\n') }
