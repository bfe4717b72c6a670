package simgrid

import (
	"fmt"
	"math"

	"reprise/trace"
)

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

// sendrecvArgs are the first arguments of a sendRecv.
var sendrecvArgs = [4]string{"sent count", "destination", "received count", "source"}

// sendrecv parses "SCOUNT DST RCOUNT SRC STYPE RTYPE"; its tag is 0.
func (s *stream) sendrecv(f *fields, t *Trace, a *trace.Action) error {
	var v [4]int64
	most := int64(t.ranks - 1)
	for i, what := range sendrecvArgs {
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
	a.Kind = k
	message, ok := key{int32(source), int32(destination), int32(tag)}, false
	if k == trace.KindTest {
		a.Req, ok = s.requests.test(message)
	} else {
		a.Req, ok = s.requests.wait(message)
	}
	return ok, nil
}
