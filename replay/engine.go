package replay

import (
	"errors"
	"fmt"

	"reprise/internal/bounds"
	"reprise/internal/eventqueue"
	"reprise/internal/textutil"
	"reprise/netmodel"
	"reprise/replay/eventlog"
	"reprise/smpi"
	"reprise/trace"
)

// engine plays the actions of all ranks on a network. engine.loop (loop.go) goes through the times at which something
// happens that more than one rank can notice; between these each rank runs ahead on its own clock (run, which plays
// each action by do), until it waits for a transfer. The state is in parts (costs, matcher, prober and others), which
// know nothing of each other. The methods of engine play what happens to ranks, and pass data from one part to another.
type engine struct {
	machine Machine
	options smpi.Options
	trace   *trace.Trace // of the source; nil if it has another one
	source  Source
	network *netmodel.Network

	// The ranks and when they run.
	now     float64 // time of the event loop, seconds
	ranks   []rank
	actions []trace.Action // bufferedActions per rank
	fetched float64        // without meaning: it keeps the compiler from leaving out the reads of fetch
	first   int32          // of the list of runnable ranks, -1: none
	last    int32
	live    int              // ranks that have actions left
	wakeups eventqueue.Queue // by rank: times at which they go on
	pauser  pauser

	// The parts that their actions use.
	costs       costs
	matcher     matcher
	prober      prober
	slots       requestSlots
	cpus        processors
	collectives collectives
	completions completions
	windows     windows
	files       files
	devices     devices
	asides      *asides  // nil: no action has gone on beside its rank
	commMask    uint16   // of families in labels
	changes     *changes // nil: the machine stays as it is
	repeats     *repeats // nil: all steps are played one by one
	meter       *meter   // nil: the platform says of nothing what it draws

	// For the result.
	accounts   timeAccounts
	progress   stepCounter
	numActions int64

	// Who observes (observe.go).
	observers     *observers     // nil: nobody
	log           *eventlog.Log  // nil: nobody asks for paths
	waitObservers []waitObserver // by rank, if there are observers
}

// newEngine returns an engine that lacks a source.
func newEngine(h *trace.Header, m Machine, o Options) (_ *engine, err error) {
	defer textutil.Stopped(&err)
	if h.Ranks < 1 {
		return nil, fmt.Errorf("%d ranks, want at least 1", h.Ranks)
	}
	textutil.Check(m.check(h.Ranks))
	textutil.Check(bounds.Factor.Check("scale of computations", o.ComputeScale))
	if o.FileBandwidth != 0 { // 0: accesses to files take no time
		textutil.Check(bounds.Bandwidth.Check("bandwidth of files", o.FileBandwidth))
	}
	// The parts are made in this order: costs need the protocol of the platform, ranks the costs of their
	// begin, processors the ranks, and changes, which may act at time 0, all of them.
	n := textutil.Must(netmodel.New(m.Platform, o.Network.Options))
	c := textutil.Must(newCosts(h, &m, &o))
	selector := textutil.Must(newSelector(&o.Network))
	e := &engine{
		machine: m, options: o.Network, network: n,
		actions: make([]trace.Action, h.Ranks*bufferedActions),
		first:   -1, live: h.Ranks, wakeups: eventqueue.New(h.Ranks),
		costs: c, matcher: matcher{free: -1, pending: eventqueue.New(0)},
		prober: newProber(&o.Network, h.Ranks), slots: requestSlots{overflow: make([][]request, 1)},
		collectives: collectives{selector: selector, families: h.CommFamilies, hosts: m.Hosts}, commMask: commMask(h),
		files:    files{bandwidth: o.FileBandwidth},
		accounts: newTimeAccounts(h),
		progress: stepCounter{ranks: h.Ranks, report: o.Progress},
	}
	e.collectives.nodes = e.collectives.nodesOf([]trace.Group{{Stride: 1, Count: int32(h.Ranks)}})
	e.devices = textutil.Must(newDevices(h, &e.machine))
	// All ranks are in MPI_Init first, for as long as the options say.
	e.ranks = make([]rank, h.Ranks)
	for r := range e.ranks {
		e.ranks[r] = rank{
			clock: e.costs.sleepTime(e.options.InitTime), lastMiss: noTime, awaitedPeer: noneAwaited,
			sends: postList{-1, -1}, recvs: postList{-1, -1},
		}
		e.charge(int32(r), TimeSleep)
	}
	e.shareCores()
	e.meter = newMeter(e)
	textutil.Check(e.prepareChanges(&o))
	// The begins of steps are summed up over the ranks as they come to them, in whatever order.
	if o.StepStarts {
		if o.To <= o.From || o.From < 0 {
			return nil, errors.New("begins of steps are known between two steps only")
		}
		e.progress.from = int64(o.From)
		e.progress.starts = make([]startSum, o.To-o.From)
		for i := range e.progress.starts {
			e.progress.starts[i].parts = make([]float64, e.numParts())
		}
	}
	return e, nil
}

// numParts returns how many parts StepStart has.
func (e *engine) numParts() int {
	if e.meter == nil {
		return e.accounts.width()
	}
	return e.accounts.width() + energyParts
}

// speed returns the flop/s of a core of a host, without the changes of a profile.
func (e *engine) speed(host int32) float64 {
	return e.machine.Platform.Host(int(host)).Speed * e.machine.factor(host)
}

// maxAhead is how many batches of actions a rank may run ahead of the event loop before it lets the others catch up. It
// bounds the messages of a rank that never waits, and how far ranks are apart in the trace.
const maxAhead = 4096

// maxStill is how many batches a rank may run while its clock stands still: then the event loop has a turn, in which
// the replay may be ended. A batch of one KindNone, from a loop without actions, counts as idleCount.
const (
	maxStill  = 1 << 20
	idleCount = 1 << 13
)

// run carries on rank r until it waits for something or its actions end.
func (e *engine) run(r int32) error {
	rk := &e.ranks[r]
	buf := e.actions[int(r)*bufferedActions:][:bufferedActions]
	batches, observers := 0, e.observers
	if observers != nil && !observers.mayAct.has(r) {
		observers = nil
	}
	for {
		// The next batch of actions. A rank that has run far ahead lets others catch up first.
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
				if observers != nil {
					observers.endAction(r)
				}
				return nil
			case 1:
				if buf[0].Kind == trace.KindNone {
					batches += idleCount
				}
			}
		}
		// The remainder spares the bounds check of the slice.
		a := &buf[rk.pos%bufferedActions]
		if observers != nil {
			observers.comesTo(r, a)
		}
		outcome, err := e.do(r, rk, a)
		if err != nil {
			return fmt.Errorf("rank %d: %v: %w", r, a.Kind, err)
		}
		if outcome != parkedHere {
			rk.pos++
		}
		if outcome == stepBegun {
			if stands, err := e.stand(r, a.X[0]); stands || err != nil {
				return err
			}
			continue
		}
		if outcome != goOn {
			if rk.clock > maxTime {
				return e.beyond(r)
			}
			return nil
		}
	}
}

// action returns a buffered action of rank r.
func (e *engine) action(r int32, pos int) *trace.Action {
	return &e.actions[int(r)*bufferedActions+pos]
}

// outcome says how a rank proceeds after an action.
type outcome uint8

const (
	goOn       outcome = iota
	blocked            // with the next action, once its transfers have ended
	parkedHere         // with the same action
	stepBegun          // with the next action, at the begin of a step that may repeat
)

// do executes action a of rank r. It is one switch over the kinds of actions,
// because nearly all the time of a rank is spent in it.
func (e *engine) do(r int32, rk *rank, a *trace.Action) (outcome, error) {
	switch a.Kind {
	case trace.KindCompute:
		if int(a.Sym) >= len(e.costs.kernelNames) {
			return goOn, fmt.Errorf("kernel %d out of [0,%d)", a.Sym, len(e.costs.kernelNames))
		}
		m := &e.costs.models[int(e.costs.rowOf[r])+int(a.Sym)]
		if !m.plain {
			return e.kernel(r, rk, m, a)
		}
		if seconds := m.Seconds(&a.X); seconds > 0 {
			rk.clock += seconds
			e.chargeKernel(r, rk, a.Sym)
		}
		return goOn, nil
	// Messages of which both sides are named, the most frequent first.
	case trace.KindExchange:
		return e.exchange(r, rk, a)
	case trace.KindSyncExchange:
		rk.serial = true // a nonblocking synchronous send, a blocking receive and the wait for the send
		return e.both(r, a, a.Peer, e.label(a), true)
	case trace.KindSend, trace.KindSsend:
		return e.send(r, rk, a)
	case trace.KindRecv:
		return e.recv(r, rk, a)
	case trace.KindIsend, trace.KindIssend, trace.KindStart:
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
		return e.waitAll(r, rk), nil
	// What looks at the state of others: the rank is called again until the event loop has come to its clock.
	case trace.KindPoll:
		over, err := e.poll(r, a)
		return parkedUnless(over), err
	case trace.KindIprobe:
		over, err := e.iprobe(r, a)
		return parkedUnless(over), err
	case trace.KindTest:
		return e.test(r, rk, a.Req)
	// What is made of several messages.
	case trace.KindCollective:
		return e.collective(r, rk, a)
	case trace.KindIcollective:
		return e.icollective(r, rk, a)
	case trace.KindComplete:
		return e.completeList(r, rk, a)
	case trace.KindAsk:
		return e.ask(r, rk, a)
	case trace.KindRound:
		return e.round(r, rk, a)
	case trace.KindProbe:
		id, err := e.lookFor(r, a)
		return parkedUnless(id >= 0), err
	// One-sided communication (window.go).
	case trace.KindAccess, trace.KindIaccess:
		return e.access(r, rk, a)
	case trace.KindSync:
		return e.sync(r, rk, a)
	// The rank's device (device.go).
	case trace.KindLaunch:
		return goOn, e.enqueue(r, rk, a)
	case trace.KindQueue:
		return goOn, e.queue(r, rk, a)
	// Actions beside the rank (beside.go).
	case trace.KindAfter:
		return goOn, e.after(r, a)
	case trace.KindBeside:
		return goOn, e.beside(r, rk, a)
	}
	return e.doLocal(r, rk, a)
}

// rank is the state of one rank, which has no goroutine and no stack: an action that cannot end at once leaves its
// stage here and is called again from its beginning. The 128 bytes are two cache lines, and messages with blocking
// calls need the first.
type rank struct {
	clock   float64 // seconds; a rank runs ahead of the event loop
	charged float64 // time up to which the accounts have its time: clock, unless it waits
	after   float64 // seconds to pay once waits is 0: the receive overhead of what it waited for

	// Unmatched posts addressed to this rank, oldest first: sends of others and its own receives.
	sends, recvs postList
	wild         int32 // receives with wildcards among recvs

	waits       int32 // transfers that must end before the rank goes on
	next        int32 // in the list of runnable ranks
	awaitedPeer int32 // whose message the rank is parked on, or trace.AnySource; noneAwaited: none

	pos    uint8 // next of the buffered actions
	filled uint8
	stage  stage    // of the action at pos
	charge TimeKind // of the time that passes while blocked
	serial bool     // receive overheads are paid as transfers end, not at the end
	over   bool     // no action is left
	shared bool     // on one of the processors (compute.go)

	collective bool // in a collective operation, or in the midst of what synchronises a window

	// The second line.

	spinning    bool   // in a busy wait that the event loop takes on (takeTurns)
	awaitedComm uint16 // of the message that the rank is parked on: its label
	awaitedTag  int32
	lastMiss    float64 // time of the last miss of a spinning poll; < 0: none
	between     float64 // seconds of a turn of a busy wait without the probe
	arrival     float64 // time from which on its probes see the message; +Inf: not yet known

	reqs     [inlineRequests]int32
	overflow int32 // index into requestSlots.overflow of further requests; 0: none
	calls    int64 // of collective operations that were begun
}

// await parks the rank on a message.
func (rk *rank) await(src int32, l label) {
	rk.awaitedPeer, rk.awaitedTag, rk.awaitedComm = src, l.tag, l.comm
}

// awaited returns the label of the message that the rank is parked on.
func (rk *rank) awaited() label { return label{rk.awaitedTag, rk.awaitedComm} }

// stage says how far the current action of a rank has got.
type stage uint8

const (
	stageFresh   stage = iota // not begun
	stageBegin                // the event loop has come to the rank's clock
	stageCompute              // computes, or probes, on a shared processor
	stageLook                 // has spent its time: a probe or test looks, a computation has ended
	stageTested               // a test that has found its request complete and has completed it
	stageAny                  // waits for one of several messages
	stageStands               // the rank stands before its first message of a step (repeats)
)

// noneAwaited is the awaitedPeer of a rank that is not parked on a message.
const noneAwaited = trace.AnySource - 1

// inlineRequests is the number of request slots in a rank itself.
const inlineRequests = 4

// bufferedActions is the number of actions that are decoded at once for a rank.
const bufferedActions = 8

// TimeKind is what the time of a rank is spent on.
type TimeKind uint8

// What time is spent on.
const (
	TimeCompute    TimeKind = iota // kernels and flops
	TimeSleep                      // recorded sleeps
	TimeSend                       // blocked in a send
	TimeRecv                       // blocked in a receive
	TimeExchange                   // blocked in an exchange or sendrecv
	TimeWait                       // blocked in wait or waitall
	TimeCollective                 // blocked in a collective operation
	TimePoll                       // probes and tests, and turns of busy waits
	TimeOverhead                   // os, ois and or of the protocol, and what launches cost
	TimeDevice                     // waits for its device
	numKinds
)

var kindNames = [numKinds]string{"compute", "sleep", "send", "recv", "exchange", "wait", "collective", "poll",
	"overhead", "device"}

// NumTimeKinds is the number of kinds of time.
const NumTimeKinds = int(numKinds)

// String returns the name that results give to k.
func (k TimeKind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "unknown"
}

// Waits reports whether a rank is blocked in such time, until a message releases it.
func (k TimeKind) Waits() bool { return k >= TimeSend && k <= TimeCollective }
