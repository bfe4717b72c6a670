package simgrid

import (
	"fmt"

	"reprise/internal/textutil"
	"reprise/trace"
)

// This file writes a SimGrid trace as a trace of Reprise (Trace.Header, Trace.Convert).

// Header returns the header of the trace as a flat one.
func (t *Trace) Header() *trace.Header { return trace.FlatHeader(trace.SimGridText, t.ranks) }

// Convert writes all actions to w, whose header must be that of Header. It does not close w. It holds one unit of
// the trace at a time. progress, if it is set, is called with the number of actions that are written.
func (t *Trace) Convert(w *trace.Writer, progress func(actions int)) (err error) {
	defer textutil.Stopped(&err)
	if t.ahead != nil {
		return fmt.Errorf("%s: read ahead, which a conversion would miss", t.name)
	}
	f := trace.NewFlat(w)
	for written := 0; ; {
		// The shared file is read until some rank has as many actions as go into a unit, or all together have.
		for total, most := 0, 0; t.shared != nil && most < f.Limit && total < trace.FlatActions && !t.streams[0].over; total++ {
			most = max(most, len(t.streams[textutil.Must(t.readShared())].queue))
		}

		// A unit is made of the next actions of all ranks, with vectors of its own.
		f.Begin()
		actions := 0
		for r := range t.streams {
			actions += t.convertRank(&t.streams[r], f)
		}
		if f.Empty() {
			return nil
		}
		textutil.Check(f.End(0))
		if written += actions; progress != nil {
			progress(written)
		}
	}
}

// convertRank adds the next actions of a rank to a unit, and returns how many.
func (t *Trace) convertRank(s *stream, f *trace.Flat) int {
	// Of a file of its own enough is read; of a shared file those that have been read must do.
	for t.shared == nil && len(s.queue)-s.taken < f.Limit && !s.over {
		var a trace.Action
		if textutil.Must(t.readOwn(s, &a)) {
			s.queue = append(s.queue, a)
		}
	}
	if s.over {
		s.queue = append(s.queue, s.last...)
		s.last = nil
	}

	begin := s.taken
	for ; s.taken < len(s.queue) && f.Takes(s.rank, &s.queue[s.taken]); s.taken++ {
		a := &s.queue[s.taken]
		textutil.Check(f.Add(s.rank, a, s.lists.at(a.X[0]), s.lists.at(a.X[1])))
	}
	n := s.taken - begin
	s.lists.give(s.queue[begin:s.taken])
	s.lists.forget()
	s.compact()
	return n
}
