package trace

import "fmt"

// This file holds what a rank does with its device: computations that are put into queues and go on beside it
// (Builder.Launch), what orders queues and rank (Builder.Queue), and where buffers of messages lie (Builder.In). Actions
// of the rank itself go on beside it, too (Builder.Beside), in an order of their own (Builder.After).

// QueueVerb says what an action on a queue of the rank's device does.
type QueueVerb uint8

// What an action on a queue does. An event that has not been recorded is over.
const (
	QueueRecord    QueueVerb = iota // the event is over when all that is in the queue now is
	QueueWait                       // what is put into the queue from now on begins after the event
	QueueSyncEvent                  // the rank waits for the event
	QueueSync                       // the rank waits for all that is in the queue
	QueueSyncAll                    // the rank waits for all queues
	QueueTake                       // the rank waits for the end of a part of the launch in parts that runs in the queue
	QueueGive                       // the next part may begin
	numQueueVerbs
)

// queueVerbNames are the verbs in listings: those of the recordings of rocHPL.
var queueVerbNames = [numQueueVerbs]string{"record", "wait-event", "sync-event", "sync-stream", "sync-device",
	"leaf-to-host", "leaf-to-device"}

// String returns the verb of a listing.
func (v QueueVerb) String() string { return nameOf(queueVerbNames[:], uint8(v), "queue verb") }

// Named reports whether the action names an event.
func (v QueueVerb) Named() bool { return v <= QueueSyncEvent }

// Memory says where the buffer of a message lies.
type Memory uint8

// Memories. A trace without devices says nothing.
const (
	MemoryUnsaid   Memory = iota
	MemoryDevice          // memory of the device
	MemoryHost            // of the host, which the device may reach directly
	MemoryPageable        // of the host
	numMemories
)

// String returns the word of a listing.
func (m Memory) String() string {
	return nameOf([]string{"", "dev", "host", "pageable"}, uint8(m), "memory")
}

// MaxQueues bounds the queues of a rank.
const MaxQueues = 1 << queueBits

// The Slot of an OpLaunch is the number of the queue and flags, that of an OpQueue the verb and, above it, the number
// of the queue.
const (
	queueBits       = 4
	launchQueueMask = MaxQueues - 1
)

// Flags of a KindLaunch action, and of the Slot of an OpLaunch.
const (
	FlagBlocking uint8 = MaxQueues << iota // the rank waits for the end
	FlagParts                              // it runs in X[3] parts, each of which ends with a QueueTake
)

// Launch puts a computation into a queue; the rank goes on. One that blocks ends for the rank when it has run.
func (b *Builder) Launch(queue, kernel int, blocking bool, dims ...Operand) {
	it := Item{Op: OpLaunch, Slot: uint8(queue), Sym: kernel, Args: dims}
	if blocking {
		it.Slot |= FlagBlocking
	}
	b.Add(it)
}

// LaunchParts puts a computation into a queue that runs in parts, of at most three dimensions. At the end of each it
// waits for the rank, which comes with QueueTake and QueueGive.
func (b *Builder) LaunchParts(queue, kernel int, parts Operand, dims ...Operand) {
	b.Add(Item{Op: OpLaunch, Slot: uint8(queue) | FlagParts, Sym: kernel, Args: append(dims, parts)})
}

// Queue appends an action on a queue, or on all, which are queue 0 then; event is 0 for verbs that name none.
func (b *Builder) Queue(v QueueVerb, queue, event int) {
	b.Add(Item{Op: OpQueue, Slot: QueueSlot(v, queue), Sym: event})
}

// QueueSlot returns the Slot of an OpQueue.
func QueueSlot(v QueueVerb, queue int) uint8 { return uint8(v) | uint8(queue)<<queueBits }

// In says where the buffers of the messages lie that are appended from now on.
func (b *Builder) In(m Memory) { b.memory = m }

// Beside lets the next action go on beside the rank. The rank goes on at once; a WaitAll waits for all that is beside it.
// Actions of a processor other than 0 compute one after the other, in the order of the times at which they may begin.
func (b *Builder) Beside(processor int) { b.Add(Item{Op: OpBeside, Slot: uint8(processor)}) }

// After has the action that the next Beside lets go wait for another one, as many of them before as the distance says: for
// its end, or for its begin only.
func (b *Builder) After(distance Operand, begin bool) {
	it := Item{Op: OpAfter, Args: []Operand{distance}}
	if begin {
		it.Slot = 1
	}
	b.Add(it)
}

// GoesBeside reports whether an action of the kind may go on beside its rank.
func (k Kind) GoesBeside() bool {
	switch k {
	case KindSend, KindSsend, KindRecv, KindCollective, KindFlops, KindSleep:
		return true
	}
	return false
}

// LaunchQueue returns the queue of an OpLaunch, and its flags.
func (it *Item) LaunchQueue() (queue int, flags uint8) {
	return int(it.Slot & launchQueueMask), it.Slot &^ launchQueueMask
}

// QueueVerb returns the verb of an OpQueue, and its queue.
func (it *Item) QueueVerb() (v QueueVerb, queue int) {
	return QueueVerb(it.Slot & (1<<queueBits - 1)), int(it.Slot >> queueBits)
}

// QueueVerb returns the verb of a KindQueue action.
func (a *Action) QueueVerb() QueueVerb { return QueueVerb(a.X[0]) }

// Memory returns where the buffer of a message lies.
func (a *Action) Memory() Memory { return Memory(a.Flags) }

// queue checks an item that concerns queues or memories, and notes that they are used.
func (c *checker) queue(it *Item) error {
	h := c.program.header
	queue := 0
	switch it.Op {
	case OpLaunch:
		n, flags := it.LaunchQueue()
		if queue = n; flags&FlagParts != 0 && (flags&FlagBlocking != 0 || len(it.Args) > maxDims) {
			return fmt.Errorf("in parts, with %d arguments and flags %#x", len(it.Args), flags)
		}
		if flags&^(FlagParts|FlagBlocking) != 0 {
			return fmt.Errorf("unknown flags %#x", flags)
		}
	case OpQueue:
		v, n := it.QueueVerb()
		switch queue = n; {
		case v >= numQueueVerbs:
			return fmt.Errorf("verb %d out of [0,%d)", v, numQueueVerbs)
		case v.Named() && it.Sym >= len(h.Events) || !v.Named() && it.Sym != 0:
			return fmt.Errorf("%v of event %d, there are %d", v, it.Sym, len(h.Events))
		case (v == QueueSyncEvent || v == QueueSyncAll) && queue != 0:
			return fmt.Errorf("%v with queue %d", v, queue)
		}
	default: // a message whose memory is said
		c.features.add(featureQueues)
		return nil
	}
	if queue >= len(h.Queues) {
		return fmt.Errorf("queue %d out of [0,%d)", queue, len(h.Queues))
	}
	return nil
}

// launch stores the action of a launch; it fails on one that cannot be.
func (c *Cursor) launch(a *Action, in *instr, r *registers) bool {
	a.set(KindLaunch, in.sym, 0, int64(in.flags&launchQueueMask), 0)
	a.Flags = in.flags &^ launchQueueMask
	a.X = [4]int64{r[in.a] + int64(in.x), r[in.b] + int64(in.y), r[in.c] + int64(in.z), r[in.d] + int64(in.w)}
	if a.X[0]|a.X[1]|a.X[2]|a.X[3] < 0 {
		c.fail("launch of %q with dimensions or parts %v", c.set.trace.Header().Kernels[in.sym].Name, a.X)
		return false
	}
	return true
}
