package text

import (
	"math"
	"strconv"

	"reprise/trace"
)

// The pieces of a line, all appended to out.

func (l *listing) word(s string) *listing {
	l.out = append(l.out, s...)
	return l
}

func (l *listing) int(v int64) *listing {
	l.out = strconv.AppendInt(append(l.out, ' '), v, 10)
	return l
}

// float appends v with the digits that it takes to read it back, whole numbers
// as integers.
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

func (l *listing) peer(v int32) *listing {
	switch v {
	case trace.AnySource:
		return l.word(" any")
	case trace.ProcNull:
		return l.word(" null")
	}
	return l.int(int64(v))
}

func (l *listing) tag(v int32) *listing {
	if v == trace.AnyTag {
		return l.word(" any")
	}
	return l.int(int64(v))
}

func (l *listing) comm(a *trace.Action) *listing {
	if int(a.Sym) < len(l.comms) {
		l.word(l.comms[a.Sym])
	}
	return l
}

func (l *listing) line() { l.out = append(l.out, '\n') }
