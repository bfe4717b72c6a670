package simgrid

import (
	"fmt"
	"math"
	"strconv"

	"reprise/trace"
)

// fields splits a line at blanks and tabs.
type fields struct{ rest []byte }

// next returns the next field, nil at the end.
func (f *fields) next() []byte {
	i := 0
	for i < len(f.rest) && blank(f.rest[i]) {
		i++
	}
	from := i
	for i < len(f.rest) && !blank(f.rest[i]) {
		i++
	}
	field := f.rest[from:i]
	f.rest = f.rest[i:]
	if len(field) == 0 {
		return nil
	}
	return field
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// number parses the next field, a number that what names in errors.
func (f *fields) number(what string) (float64, error) {
	field := f.next()
	if field == nil {
		return 0, fmt.Errorf("%s is missing", what)
	}
	if n, ok := digits(field); ok {
		return float64(n), nil
	}
	v, err := strconv.ParseFloat(string(field), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s %q is not a number", what, field)
	}
	return v, nil
}

// digits parses a field of at most 15 digits, which is exact as a float64.
func digits(field []byte) (int64, bool) {
	if len(field) > 15 {
		return 0, false
	}
	n := int64(0)
	for _, c := range field {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(field) > 0
}

// integer parses the next field, a number in [least, most]; a fraction is cut off
// as SimGrid does.
func (f *fields) integer(what string, least, most int64) (int64, error) {
	rest := f.rest
	if n, ok := digits(f.next()); ok && n >= least && n <= most {
		return n, nil
	}
	f.rest = rest
	v, err := f.number(what)
	if err != nil {
		return 0, err
	}
	if v = math.Trunc(v); v < float64(least) || v > float64(most) {
		return 0, fmt.Errorf("%s %v out of [%d,%d]", what, v, least, most)
	}
	return int64(v), nil
}

// maxBytes bounds the size of a message, so that sums of sizes fit.
const maxBytes = 1 << 50

// typeSizes are the bytes of SimGrid's datatypes by number.
var typeSizes = [...]int64{8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8}

// packedType is the number of MPI_PACKED, of one byte.
const packedType = 57

// size turns a count into bytes by the datatype in the next field, or by the
// default if there is none.
func (f *fields) size(count, defaultSize int64) (int64, error) {
	size, err := f.itemSize(defaultSize)
	if err != nil {
		return 0, err
	}
	if count < 0 {
		return -1, nil
	}
	if count > maxBytes/size {
		return 0, fmt.Errorf("%d items of %d bytes are too many", count, size)
	}
	return count * size, nil
}

// itemSize returns the bytes of the datatype in the next field, or the default if
// there is none.
func (f *fields) itemSize(defaultSize int64) (int64, error) {
	field := f.next()
	if field == nil {
		return defaultSize, nil
	}
	n, ok := digits(field)
	switch {
	case ok && n < int64(len(typeSizes)):
		return typeSizes[n], nil
	case ok && n == packedType:
		return 1, nil
	}
	return 0, fmt.Errorf("datatype %q is not known", field)
}

// parse turns the fields behind the rank into an action; it is false for lines
// that mean nothing.
func (s *stream) parse(f *fields, t *Trace, a *trace.Action) (bool, error) {
	verb := f.next()
	*a = trace.Action{}
	switch string(verb) {
	case "compute":
		return true, amount(f, a, trace.KindFlops, "amount")
	case "sleep":
		return true, amount(f, a, trace.KindSleep, "duration")
	case "send":
		return true, s.message(f, t, a, trace.KindSend)
	case "isend":
		return true, s.message(f, t, a, trace.KindIsend)
	case "recv":
		return true, s.message(f, t, a, trace.KindRecv)
	case "irecv":
		return true, s.message(f, t, a, trace.KindIrecv)
	case "sendRecv":
		return true, s.sendrecv(f, t, a)
	case "wait":
		return s.wait(f, t, a, trace.KindWait)
	case "test":
		return s.wait(f, t, a, trace.KindTest)
	case "waitall":
		a.Kind = trace.KindWaitAll
		s.forgetAll()
		return true, nil
	case "init", "finalize", "comm_size", "comm_split", "comm_dup", "location":
		return false, nil
	case "":
		return false, fmt.Errorf("action is missing")
	}
	return true, s.collective(f, t, string(verb), a)
}

// amount parses a number >= 0 that is an action's only argument.
func amount(f *fields, a *trace.Action, k trace.Kind, what string) error {
	v, err := f.number(what)
	if err == nil && v < 0 {
		err = fmt.Errorf("%s %v is negative", what, v)
	}
	a.Kind, a.X[0] = k, trace.FloatArg(v)
	return err
}

// message parses "PEER TAG COUNT [TYPE]".
func (s *stream) message(f *fields, t *Trace, a *trace.Action, k trace.Kind) error {
	a.Kind = k
	receives, least := k == trace.KindRecv || k == trace.KindIrecv, int64(0)
	if receives {
		least = -1
	}
	if err := t.peerAndTag(f, a, receives); err != nil {
		return err
	}
	count, err := f.integer("count", least, maxBytes)
	if err != nil {
		return err
	}
	if a.X[0], err = f.size(count, t.defaultSize); err != nil {
		return err
	}
	switch k {
	case trace.KindIsend:
		a.Req, err = s.add(key{s.rank, a.Peer, a.Tag})
	case trace.KindIrecv:
		a.Req, err = s.add(key{a.Peer, s.rank, a.Tag})
	}
	return err
}

// Constants of SimGrid's text, for receives.
const (
	anySource     = -555
	anyTag        = -444
	anySourceWait = anySource - 1 // how a wait names a receive from any source
)

// peerAndTag parses "PEER TAG", which may be wildcards.
func (t *Trace) peerAndTag(f *fields, a *trace.Action, wild bool) error {
	if wild && f.takes("-555") {
		a.Peer = trace.AnySource
	} else {
		peer, err := f.integer("peer", 0, int64(t.ranks-1))
		if err != nil {
			return err
		}
		a.Peer = int32(peer)
	}
	tag, err := f.integer("tag", math.MinInt32+2, math.MaxInt32)
	if a.Tag = int32(tag); wild && tag == anyTag {
		a.Tag = trace.AnyTag
	}
	return err
}

// takes reads the next field if it is the given text.
func (f *fields) takes(text string) bool {
	after := *f
	if string(after.next()) != text {
		return false
	}
	*f = after
	return true
}

// sendrecv parses "SCOUNT DST RCOUNT SRC STYPE RTYPE"; its tag is 0.
func (s *stream) sendrecv(f *fields, t *Trace, a *trace.Action) error {
	var v [4]int64
	most := int64(t.ranks - 1)
	for i, what := range []string{"sent count", "destination", "received count", "source"} {
		limit := most
		if i%2 == 0 {
			limit = maxBytes
		}
		var err error
		if v[i], err = f.integer(what, 0, limit); err != nil {
			return err
		}
	}
	out, err := f.size(v[0], t.defaultSize)
	if err != nil {
		return err
	}
	in, err := f.size(v[2], t.defaultSize)
	a.Kind, a.Peer, a.X = trace.KindSendrecv, int32(v[1]), [4]int64{out, in, v[3]}
	return err
}

// wait parses "SRC DST TAG". It is false if no such request is pending.
func (s *stream) wait(f *fields, t *Trace, a *trace.Action, k trace.Kind) (bool, error) {
	source, err := f.integer("source", anySourceWait, int64(t.ranks-1))
	if err != nil {
		return false, err
	}
	switch {
	case source == anySourceWait:
		source = trace.AnySource
	case source < 0 && source != anySource:
		return false, fmt.Errorf("source %d out of [0,%d]", source, t.ranks-1)
	}
	destination, err := f.integer("destination", 0, int64(t.ranks-1))
	if err != nil {
		return false, err
	}
	tag, err := f.integer("tag", math.MinInt32+2, math.MaxInt32)
	if err != nil {
		return false, err
	}
	if tag == anyTag {
		tag = trace.AnyTag
	}
	take := s.requests.wait
	if k == trace.KindTest {
		take = s.requests.test
	}
	slot, ok := take(key{int32(source), int32(destination), int32(tag)})
	a.Kind, a.Req = k, slot
	return ok, nil
}
