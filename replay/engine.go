package replay

import (
	"fmt"
	"math"
	"sync/atomic"

	"reprise/internal/eventqueue"
	"reprise/netmodel"
	"reprise/replay/collective"
	"reprise/smpi"
	"reprise/trace"
)

// engine plays the actions of all ranks on a network. It is one loop over the
// times at which something happens that more than one rank can notice; between
// these a rank runs ahead on its own clock, until it waits for a transfer.
type engine struct {
	options  smpi.Options
	network  *netmodel.Network
	protocol *netmodel.Protocol
	source   Source
	trace    *trace.Trace // of the source; nil if it has another one
	machine  Machine
	pause    func() error // called between events; nil: nobody asks
	asked    *atomic.Bool // whether to call it; nil: always

	now       float64 // time of the event loop, seconds
	precision float64 // shortest positive sleep, seconds

	ranks    []rank
	actions  []trace.Action // bufferedActions per rank
	first    int32          // of the list of runnable ranks, -1: none
	last     int32
	overflow [][]request
	live     int // ranks that have actions left

	messages []message
	after    []int32 // by message: the next in a list of posts, or of free messages
	free     int32   // list of free messages, -1: none

	wakeups        eventqueue.Queue // times at which ranks go on
	pendingMatches eventqueue.Queue // times of sends to ranks that wait for any of several
	cpus           processors

	orderedProbes bool  // probes grow more expensive, so all ranks' are in one order
	probeFactor   int64 // of the cost of the next probe
	testFactor    int64

	selector    *collective.Selector
	collectives []collectiveRun // by rank; nil before the first
	sums        rankSums

	accounts    timeAccounts
	models      []kernelModel
	rowOf       []int32     // by rank: its row of models
	kernelNames []string    // of each model of a row
	random      *randomness // nil: nothing is random
	progress    stepCounter

	numMessages, numBytes, numPolls, numActions int64
	numTruncated                                int64 // messages longer than their receive

	changes   *changes // nil: the machine stays as it is
	agreement int64    // of collective operations: 0 once all ranks have made all their calls, if these agree
	watch     *watch   // nil: nobody looks
}

// loop plays everything that is left.
func (e *engine) loop() error {
	var done []int32
	for {
		if err := e.runAll(); err != nil {
			return err
		}
		flows, matches := e.network.Next(), e.pendingMatches.Next()
		if e.pause != nil && (e.asked == nil || e.asked.Load()) {
			if err := e.pause(); err != nil {
				return err
			}
		}
		others := earlier(flows, matches)
		if e.changes != nil {
			others = earlier(others, e.changes.pending())
		}
		if others > maxTime {
			if !math.IsInf(others, 1) {
				return errTooLate
			}
			if e.stuck() && (e.changes == nil || !e.revives()) {
				return e.checkComplete()
			}
		}
		if e.changes != nil {
			others = earlier(others, e.changes.next())
		}
		if e.takeTurns(others) {
			continue
		}
		parked := e.wakeups.Next()
		if e.changes != nil {
			if changed, err := e.change(earlier(earlier(flows, matches), parked)); changed || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		if matches <= flows && matches <= parked && !math.IsInf(matches, 1) {
			e.now = later(e.now, matches)
			if err := e.match(e.pendingMatches.Pop()); err != nil {
				return err
			}
			continue
		}
		e.now = later(e.now, earlier(flows, parked))
		if flows <= parked {
			done = e.network.Advance(e.now, done[:0])
			if e.watch != nil {
				e.watch.end(done)
				continue
			}
			for _, id := range done {
				e.end(id, e.now)
			}
			continue
		}
		e.unpark(e.wakeups.Pop())
	}
}

// earlier and later are min and max of times, which are never NaN: to look for it takes
// those of the language several times as long.
func earlier(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func later(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// unpark lets a parked rank go on: the event loop has come to its time.
func (e *engine) unpark(r int32) {
	rk := &e.ranks[r]
	if rk.stage == stageCompute {
		rk.clock = e.now
		rk.stage = stageLook
		e.computed(r, e.now)
	}
	e.wake(r)
}

// wake appends a rank to the list of runnable ones.
func (e *engine) wake(r int32) {
	e.ranks[r].next = -1
	if e.first < 0 {
		e.first = r
	} else {
		e.ranks[e.last].next = r
	}
	e.last = r
}

// runAll runs every runnable rank until it blocks.
func (e *engine) runAll() error {
	for e.first >= 0 {
		r := e.first
		e.first = e.ranks[r].next
		if err := e.run(r); err != nil {
			return err
		}
	}
	return nil
}

// maxAhead is how many batches of actions a rank may run ahead of the event loop
// before it lets the others catch up. It bounds the messages of a rank that
// never waits, and how far ranks are apart in the trace.
const maxAhead = 4096

// maxStill is how many batches a rank may run while its clock stands still: then the
// event loop looks up, as someone may want to end the replay. A batch that only says that
// the rank runs in a loop counts for many.
const (
	maxStill  = 1 << 20
	idleCount = 1 << 13
)

// run carries on rank r until it waits for something or its actions end.
func (e *engine) run(r int32) error {
	rk := &e.ranks[r]
	buf := e.actions[int(r)*bufferedActions:][:bufferedActions]
	batches := 0
	for {
		if rk.pos == rk.filled {
			if rk.clock > maxTime {
				return e.beyond(r)
			}
			if batches++; batches > maxAhead && (rk.clock > e.now || batches > maxStill) {
				e.wakeups.Set(r, max(rk.clock, e.now))
				return nil
			}
			n, err := e.source.Fill(r, buf)
			if err != nil {
				return err
			}
			e.numActions += int64(n)
			rk.pos, rk.filled = 0, uint8(n)
			switch n {
			case 0:
				rk.over = true
				e.live--
				if e.watch != nil {
					e.watch.endAction(r)
				}
				return nil
			case 1:
				if buf[0].Kind == trace.KindNone {
					batches += idleCount
				}
			}
		}
		a := &buf[rk.pos%bufferedActions]
		if e.watch != nil {
			e.watch.comesTo(r, a)
		}
		outcome, err := e.do(r, rk, a)
		if err != nil {
			return fmt.Errorf("rank %d: %v: %w", r, a.Kind, err)
		}
		if outcome != parkedHere {
			rk.pos++
		}
		if outcome != goOn {
			if rk.clock > maxTime {
				return e.beyond(r)
			}
			return nil
		}
	}
}

// outcome says how a rank proceeds after an action.
type outcome uint8

const (
	goOn       outcome = iota
	blocked            // with the next action, once its transfers have ended
	parkedHere         // with the same action
)

// do executes action a of rank r. It is one switch over the kinds of actions,
// because nearly all the time of a rank is spent in it.
func (e *engine) do(r int32, rk *rank, a *trace.Action) (outcome, error) {
	switch a.Kind {
	case trace.KindCompute:
		if int(a.Sym) >= len(e.kernelNames) {
			return goOn, fmt.Errorf("kernel %d out of [0,%d)", a.Sym, len(e.kernelNames))
		}
		m := &e.models[int(e.rowOf[r])+int(a.Sym)]
		if !m.plain {
			return e.kernel(r, rk, m, a)
		}
		if seconds := m.Seconds(&a.X); seconds > 0 {
			rk.clock += seconds
			e.chargeKernel(r, rk, a.Sym)
		}
		return goOn, nil
	case trace.KindExchange:
		return e.exchange(r, rk, a)
	case trace.KindSyncExchange:
		return e.syncExchange(r, rk, a)
	case trace.KindSend, trace.KindSsend:
		return e.send(r, rk, a)
	case trace.KindRecv:
		return e.recv(r, rk, a)
	case trace.KindIsend, trace.KindIssend:
		return goOn, e.isend(r, a)
	case trace.KindIrecv:
		return e.irecv(r, a)
	case trace.KindSendrecv:
		return e.sendrecv(r, rk, a)
	case trace.KindWait:
		return e.wait(r, rk, a.Req)
	case trace.KindFree:
		return goOn, e.freeRequest(r, a.Req)
	case trace.KindWaitAll:
		rk.serial = true
		e.finishAll(r)
		return e.settled(r, TimeWait), nil
	case trace.KindPoll:
		over, err := e.poll(r, a)
		return parkedUnless(over), err
	case trace.KindIprobe:
		over, err := e.iprobe(r, a)
		return parkedUnless(over), err
	case trace.KindTest:
		return e.test(r, rk, a.Req)
	case trace.KindCollective:
		return e.collective(r, rk, a)
	}
	return e.doLocal(r, rk, a)
}
