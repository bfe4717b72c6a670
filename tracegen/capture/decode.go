package capture

import (
	"reprise/trace"
)

// This file decodes a record into an event (stream.record), by the fields of its procedure.

// event is a call of MPI as it was recorded.
type event struct {
	proc   procedureNumber // with counts of any width
	called procedureNumber // as it was called
	gap    float64         // nanoseconds of the processor before it
	lost   bool            // its rank was without a processor for more than half of the time before it

	comm     int        // -1: none, or a stranger
	strange  bool       // its communicator is of a call that is not recorded
	groups   bool       // it has two groups
	message  int64      // that a matched probe has found, from 1
	ranks    []int32    // a destination, a source, a root; of a communicator
	tags     []int32    // by ranks
	inPlace  int64      // MPI_IN_PLACE: bit 0 of the sends, bit 1 of the receives
	flag     bool       // something was found, or has ended
	of       [3]counted // by side
	span     int64      // elements of a reduction whose counts each rank has
	operator int64      // a trace.Operator
	status   status     // of a receive or a probe
	made     *made
	request  request // that the call has made
	nth      int64   // of a persistent operation: its number in its communicator, from 1
	kernel   kernelCall

	// Of one-sided communication, files and partitioned messages.
	window     int     // number of the rank's window; -1: none, or a stranger
	members    []int32 // of a group, ranks of the world
	assertions int64   // bits, as those of the trace
	shared     bool    // the lock
	noOp       bool    // an accumulation that only fetches
	partitions int64   // of a message, or those that are ready

	// Of completions: the requests of the call, and those that have ended, by their places, in the order in which the
	// call lists them.
	requests []request
	ended    []int
	code     int64 // of MPI_Abort, MPI_Pcontrol
}

// counted holds the numbers of a call in one direction.
type counted struct {
	stated bool    // the call has them
	count  int64   // elements
	size   int64   // bytes of an element
	counts []int64 // by peer, in place of count
	sizes  []int64 // by peer, of MPI_Alltoallw and its like, in place of size
}

// status has the fields of the MPI_Status of a call that its arguments left open.
type status struct {
	found       bool
	source, tag int32 // if wild
	wild        bool  // the call asked for any source, or any tag
	bytes       int64 // -1: as many as there was room for; mostCount: more, it is not known how many
}

// made is a communicator as a rank sees it when it is made. None says that the call made none for the rank.
type made struct {
	none                  bool
	local                 int // its number, of this rank
	size, rank, remote    int
	members, others       []int32 // ranks of the world, if the record has them
	sources, destinations []int32 // neighbours
	topology              topology
}

// request is a request as a record names it. Persistent and other requests are numbered apart, from 1; number 0
// is no request.
type request struct {
	number     int64
	persistent bool
	cancelled  bool
	status     status // if it has ended
}

// topology says where the neighbours of a communicator come from.
type topology int

// Topologies of communicators.
const (
	noTopology topology = iota
	graph
	grid // Cartesian
)

// mostCount bounds counts and sizes in records, so that their products fit.
const mostCount = 1 << 50

// record reads the part of a record behind the number of its procedure.
func (s *stream) record(e *event, p *procedure) {
	if p.byHand {
		s.completion(e)
		return
	}
	// Fields come in the order of procedures.txt. A field stands behind those that decide on it: the
	// communicator, whose size is the number of counts, the root, and the flags of MPI_IN_PLACE.
	for i := range p.fields {
		f := &p.fields[i]
		// Arguments that MPI declares significant at the root alone are in the record of the root alone.
		root := false
		if f.rootOnly && len(e.ranks) > 0 {
			if c := s.commOf(e); c.remote > 0 {
				root = e.ranks[0] == rootHere
			} else {
				root = int(e.ranks[0]) == c.rank
			}
		}
		switch {
		case s.err != nil:
			return
		case f.rootOnly && !root, f.side == sends && e.inPlace&1 != 0, f.side == receives && e.inPlace&2 != 0:
			continue
		}
		of := &e.of[f.side]
		switch f.role {
		case roleComm, roleFile:
			s.comm(e)
		case roleRank:
			e.ranks = append(e.ranks, s.int32())
		case roleTag:
			e.tags = append(e.tags, s.int32())
		// MPI_Mrecv and MPI_Imrecv name the message by its age, the number of messages that matched probes have
		// found since. Of a probe the field has no bytes: its status numbers the message.
		case roleMessage:
			if e.of[anySide].stated = e.proc == procMrecv || e.proc == procImrecv; e.of[anySide].stated {
				s.comm(e)
				e.ranks, e.tags = append(e.ranks, s.int32()), append(e.tags, s.int32())
				if age := s.number(s.matched); age > 0 {
					e.message = s.matched + 1 - age
				}
			}
		case roleInPlace:
			e.inPlace = s.number(3)
		case roleFlag:
			e.flag = s.number(1) == 1
		case roleCount:
			of.stated, of.count = true, s.number(mostCount)
		case roleCounts:
			of.stated, of.counts = true, s.numbers(s.peers(e, f.side))
		// The recorder writes the size behind the count, so that the product can be checked here.
		case roleSize:
			of.size = s.number(mostCount)
			s.fits(of.count, of.size)
			for _, n := range of.counts {
				s.fits(n, of.size)
			}
		case roleSizes:
			of.sizes = s.numbers(s.peers(e, f.side))
			for i := range min(len(of.sizes), len(of.counts)) {
				s.fits(of.counts[i], of.sizes[i])
			}
		case roleSpan:
			e.span = s.number(mostCount)
		case roleOperator:
			e.operator = s.number(12)
		case roleStatus:
			s.status(e)
		case roleNew:
			s.newComm(e)
		case roleRequest:
			// Persistent requests have a sequence of their own, as they may live as long as the program.
			if e.proc.known().persistent {
				s.persistent++
				e.request = request{number: s.persistent, persistent: true}
			} else {
				s.made++
				e.request = request{number: s.made}
			}
		// Counts are those of one partition; the trace sends the whole message.
		case rolePartitions:
			e.partitions = s.number(1 << 31)
			s.fits(e.partitions, of.count*of.size)
			of.count *= e.partitions
		case roleWindow:
			s.window(e)
		// The recorder numbers no windows of communicators that it does not know.
		case roleNewWindow:
			if e.comm >= 0 {
				e.window = len(s.windows)
				s.windows = append(s.windows, e.comm)
			}
		case roleAssert:
			e.assertions = s.number(1<<5 - 1)
		case roleLock:
			e.shared = s.number(1) == 1
		case roleGroup:
			e.members = s.ranks(int(s.number(mostRanks)))
		case roleNoOp:
			e.noOp = s.number(1) == 1
		}
	}
}

// fits fails on more bytes than a message can have.
func (s *stream) fits(count, size int64) {
	if size > 0 && count > mostCount/size {
		s.fail("%d elements of %d bytes", count, size)
	}
}

// comm reads a communicator (shim/handles.h). If no recorded call has made it, its size and rank follow, since
// the rest of the record depends on them.
func (s *stream) comm(e *event) {
	e.comm = int(s.number(int64(len(s.comms)))) - 1
	if e.comm < 0 {
		s.stranger = streamComm{size: int(s.number(mostRanks)), rank: int(s.number(mostRanks)),
			remote: int(s.number(mostRanks)), strange: true}
	}
	// How the fields behind it are read depends on both of these.
	c := s.commOf(e)
	e.strange, e.groups = c.strange, c.remote > 0
}

// window reads the number of a window (shim/windows.h), which has the communicator that it was made on.
func (s *stream) window(e *event) {
	e.window = int(s.number(int64(len(s.windows)))) - 1
	if e.strange = e.window < 0; e.strange {
		s.stranger = streamComm{strange: true}
		return
	}
	e.comm = s.windows[e.window]
	e.strange = s.commOf(e).strange
}

// commOf returns the properties of an event's communicator, of a stranger those in the record.
func (s *stream) commOf(e *event) *streamComm {
	if e.comm < 0 {
		return &s.stranger
	}
	return &s.comms[e.comm]
}

// peers returns the number of counts that a call has in a direction.
func (s *stream) peers(e *event, of side) int {
	c := s.commOf(e)
	switch {
	case e.proc.known().neighbourhood && of == sends:
		return c.destinations
	case e.proc.known().neighbourhood:
		return c.sources
	case e.proc.known().does == trace.CollReduceScatter:
		return c.size // of two groups, too
	case c.remote > 0:
		return c.remote
	}
	return c.size
}

// numbers reads n counts.
func (s *stream) numbers(n int) []int64 {
	return list(s, n, func() int64 { return s.number(mostCount) })
}

// ranks reads n ranks.
func (s *stream) ranks(n int) []int32 { return list(s, n, s.int32) }

// list reads n values. They take a byte each at least, which bounds the memory that a damaged record can ask for.
func list[E any](s *stream, n int, read func() E) []E {
	// This check comes before the allocation.
	if n > len(s.data)-s.at {
		s.fail("cut: %d numbers, %d bytes", n, len(s.data)-s.at)
		return nil
	}
	values := make([]E, n)
	for i := range values {
		values[i] = read()
	}
	return values
}

// status reads the status of a receive or a probe. Bit 0 of its first number says that source and tag follow, as the
// call left one of them open; bit 1 that the bytes follow, as they are fewer than there was room for.
func (s *stream) status(e *event) {
	e.status = status{bytes: -1}
	// Probes always have a source and a tag, and no bytes: the receive of the message tells its size.
	bytes := false
	switch e.proc {
	case procProbe, procMprobe:
		e.status.found, e.status.wild = true, true
	case procIprobe, procImprobe:
		e.status.found, e.status.wild = e.flag, e.flag
	default:
		bits := s.number(3)
		e.status.found, e.status.wild, bytes = true, bits&1 != 0, bits&2 != 0
	}
	if e.status.wild {
		e.status.source, e.status.tag = s.int32(), s.int32()
	}
	if e.status.found && (e.proc == procMprobe || e.proc == procImprobe) {
		s.matched++
		e.message = s.matched
	}
	if bytes {
		e.status.bytes = s.number(mostCount)
	}
}

// newComm reads a communicator that was made, and gives it the rank's next number. Members are in the record of the
// first member alone, which keeps recordings small.
func (s *stream) newComm(e *event) {
	if e.comm < 0 && !e.strange {
		e.comm = world // of a group, which may have any of the ranks
	}
	// A size of 0 says that the rank is in no new communicator; sizes are therefore one too large.
	m := &made{local: len(s.comms)}
	e.made = m
	size := s.number(mostRanks + 1)
	if m.none = size == 0; m.none {
		return
	}
	m.size = int(size - 1)
	m.rank, m.remote = int(s.number(mostRanks)), int(s.number(mostRanks))
	if s.number(1) == 1 {
		m.members = s.ranks(m.size)
		m.others = s.ranks(m.remote)
	}
	m.topology = topology(s.number(int64(grid)))
	sources, destinations := int(s.number(mostRanks)), int(s.number(mostRanks))
	m.sources, m.destinations = s.ranks(sources), s.ranks(destinations)
	if m.rank >= m.size {
		s.fail("rank %d of a communicator of %d", m.rank, m.size)
	}
	s.comms = append(s.comms, streamComm{m.size, m.rank, m.remote, sources, destinations, e.strange})
}

// completion reads the record of a call that is about requests, or of one that says little.
func (s *stream) completion(e *event) {
	switch e.proc {
	// One request, or a list of them behind its length. MPI_Test and its like say first whether all of them have ended.
	case procWait, procStart, procRequestfree, procCancel, procTest, procRequestgetstatus, procParrived, procWaitall,
		procStartall, procTestall:
		e.flag = e.proc.asks() && s.number(1) == 1
		n := 1
		if e.proc == procWaitall || e.proc == procStartall || e.proc == procTestall {
			n = s.length()
		}
		s.requests(e, n)
		for i := range e.requests {
			if e.flag || e.proc == procWait || e.proc == procWaitall {
				e.ended = append(e.ended, i)
			}
		}
	case procPready, procPreadyrange, procPreadylist:
		e.partitions = s.number(1 << 31)
		s.requests(e, 1)
	case procWinfree:
		s.window(e)
	// The place of the request that has ended counts from 1; 0 says that there is none.
	case procWaitany, procTestany:
		e.flag = e.proc == procWaitany || s.number(1) == 1
		n := s.length()
		chosen := int(s.number(int64(n)))
		s.requests(e, n)
		if chosen > 0 {
			e.ended = append(e.ended, chosen-1)
		}
	case procWaitsome, procTestsome:
		// Requests that have ended, with their places, and then all, among which those that have ended are none.
		n := s.length()
		found := int(s.number(int64(n) + 1)) // one more than have ended; 0 is MPI_UNDEFINED
		ended := map[int]request{}
		for k := 1; k < found && s.err == nil; k++ {
			i := int(s.number(int64(n) - 1))
			ended[i] = s.request()
			e.ended = append(e.ended, i)
		}
		s.requests(e, n)
		for i, r := range ended {
			if i < len(e.requests) {
				e.requests[i] = r
			}
		}
	case procSessioninit, procFileclose:
	// Levels of MPI_Pcontrol and exit codes may be negative. Codes of the others have no meaning.
	case procFinalize, procSessionfinalize, procAbort, procPcontrol:
		e.code = s.signed()
	case procCommfree, procCommdisconnect, procFileopen:
		s.comm(e)
	default:
		s.fail("a record of %v", e.called)
	}
}

// requests reads the n requests of a call.
func (s *stream) requests(e *event, n int) {
	for i := 0; i < n && s.err == nil; i++ {
		e.requests = append(e.requests, s.request())
	}
}

// request reads a request (shim/completions.h). The first number has four bits and, above them, the request's
// number, as an age if it is not persistent. Bit 0 says that a source and a tag follow, bit 1 that the request is
// persistent, bit 2 that it was cancelled, and bit 3 that bytes follow.
func (s *stream) request() request {
	v := s.uint()
	if v == 0 {
		return request{}
	}
	r := request{number: int64(v >> 4), persistent: v&2 != 0, cancelled: v&4 != 0, status: status{bytes: -1}}
	if !r.persistent {
		r.number = s.made + 1 - r.number
	}
	if v&1 != 0 {
		r.status.wild, r.status.source, r.status.tag = true, s.int32(), s.int32()
	}
	if v&8 != 0 {
		r.status.bytes = s.number(mostCount)
	}
	if r.number < 1 || r.persistent && r.number > s.persistent {
		s.fail("request %d was not made", r.number)
	}
	return r
}
