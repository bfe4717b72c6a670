package capture

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"reprise/trace"
)

// This file puts in order what threads of a rank called at once (MPI_THREAD_MULTIPLE): stream.order finds the order,
// stream.next reads events in it. The recorder numbers the beginnings and ends of calls as they happen, and the trace
// has the calls of a rank in the order of these numbers. A call counts at one moment:
//
//   - where it ended, if it waits for requests or messages;
//   - where it began, if it begins requests;
//   - at both, if it blocks and was under way while others began or ended. It begins in the trace as its nonblocking
//     kin, and is waited for where it ended. As one call in front of the others, it could block the rank before a call
//     that another rank waits for; behind the others, they could block the rank before it.

// moment is the point in the order of beginnings and ends at which a call, or a part of it, counts.
type moment struct {
	at   uint64 // number of the beginning or the end
	part piece
	from recordPlace
	ours int64 // of a part: the first of the requests that stand for it
}

// piece is the part of a call that a moment stands for.
type piece uint8

// The parts of calls that count at a moment of their own.
const (
	whole        piece = iota
	begins             // a nonblocking kin of it
	beginsToSend       // of MPI_Sendrecv
	ends               // it is waited for
)

// recordPlace is the position of a record, with the numbers of communicators and windows that there were.
type recordPlace struct {
	position
	comms, windows int
}

// kin has the nonblocking procedure as which a blocking call under way begins. Collective operations begin under
// their own name, with a request.
var kin = map[procedureNumber]procedureNumber{
	procSend: procIsend, procSsend: procIssend, procRsend: procIrsend, procRecv: procIrecv, procMrecv: procImrecv,
	procSendrecv: procIrecv, procSendrecvreplace: procIrecv,
}

// order finds the moments of a rank whose threads may call at once; none if no call was under way while another one
// began or ended. It reads the whole stream.
func (s *stream) order() error {
	var e event
	var all []moment
	overlap := false
	for {
		// The place is that before the record, to which next returns.
		m := moment{from: recordPlace{s.position, len(s.comms), len(s.windows)}}
		err := s.read(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		m.at = s.ended
		// Beginnings and ends are numbered together, so the beginning is that many numbers before the end.
		begun := s.ended - s.during - 1
		_, splits := kin[e.proc]
		switch {
		case s.during == 0:
		// A call that may block the rank is parted in its beginning and its end.
		case splits || e.proc.known().blocking:
			overlap = true
			end := m
			m.at, m.part = begun, begins
			all = append(all, m)
			if e.proc == procSendrecv || e.proc == procSendrecvreplace {
				m.part = beginsToSend
				all = append(all, m)
			}
			end.part = ends
			m = end
		// What only begins something counts where it began.
		case e.request.number > 0 && e.made == nil || e.proc == procStart || e.proc == procStartall || e.proc == procBsend:
			overlap = true
			m.at = begun
		default:
			_, of := e.proc.known().does.(trace.SyncKind)
			overlap = overlap || of // of a window; nothing nonblocking stands for it, so that its order must do
		}
		all = append(all, m)
	}
	if !overlap {
		return nil
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	// Parts have requests of their own, numbered behind those of the program.
	number := s.made
	ours := map[int]int64{}
	for i := range all {
		switch m := &all[i]; m.part {
		case begins, beginsToSend:
			number++
			if m.ours = number; m.part == begins {
				ours[m.from.at] = number
			}
		// The end waits for the request of its own beginning; a record's byte says which that is.
		case ends:
			m.ours = ours[m.from.at]
		}
	}
	s.moments = all
	return nil
}

// next reads the next event, or part of one; io.EOF behind the last.
func (s *stream) next(e *event) error {
	if s.moments == nil {
		return s.read(e)
	}
	if s.moment == len(s.moments) {
		return io.EOF
	}
	m := &s.moments[s.moment]
	s.moment++
	// All of the stream has been read before, so that the communicators and windows that the record may name are still
	// in the backing arrays.
	s.position, s.comms, s.windows = m.from.position, s.comms[:m.from.comms], s.windows[:m.from.windows]
	if err := s.read(e); err != nil || m.part == whole {
		return err
	}
	// The parts of a call are different sites, and the time before the call is that before its first part.
	s.key = (s.key ^ uint64(m.part)) * 1099511628211
	if m.part != begins {
		e.gap, e.lost = 0, false
	}
	first := request{number: m.ours}
	switch exchange := e.proc == procSendrecv || e.proc == procSendrecvreplace; {
	// The end becomes an MPI_Waitall of the requests of the beginning, with the status of the call.
	case m.part == ends:
		first.status = e.status
		if !e.status.found {
			first.status = status{bytes: -1}
		}
		*e = event{proc: procWaitall, called: e.called, gap: e.gap, comm: -1, requests: append(e.requests[:0], first),
			ended: append(e.ended[:0], 0)}
		if exchange {
			e.requests = append(e.requests, request{number: m.ours + 1, status: status{bytes: -1}})
			e.ended = append(e.ended, 1)
		}
	// A collective operation with a request is its nonblocking kin.
	case e.proc.known().blocking:
		e.request = first
	// MPI_Sendrecv begins with its receive; the send is the next moment, with the number behind that of the receive.
	case exchange:
		side, i := receives, 1
		if e.request = first; m.part == beginsToSend {
			side, i = sends, 0
		}
		if e.proc == procSendrecv {
			e.of[anySide] = e.of[side]
		}
		e.ranks, e.tags = append(e.ranks[:0], e.ranks[i]), append(e.tags[:0], e.tags[i])
		if e.proc = procIrecv; side == sends {
			e.proc = procIsend
		}
	default:
		e.proc, e.request = kin[e.proc], first
	}
	return nil
}
