package trace

// This file holds actions that complete several requests (Completion), and blocking probes.

// Completion is how an operation completes several requests.
type Completion uint8

// The completions. The replay finds which of the requests are pending, and decides which are completed; nothing that
// follows depends on that.
const (
	CompleteAll  Completion = iota // waits for all
	CompleteAny                    // waits for one
	CompleteSome                   // waits for one and takes what else is complete
	TestAll                        // tests each, one after the other
	TestAny                        // takes one that is complete, if there is one
	TestSome                       // as TestAll
	numCompletions
)

// completionNames are MPI's names of the completions, as listings have them.
var completionNames = [numCompletions]string{"waitall", "waitany", "waitsome", "testall", "testany", "testsome"}

// String returns MPI's name in small letters.
func (m Completion) String() string { return nameOf(completionNames[:], uint8(m), "completion") }

// maxCompleted bounds the requests that one operation completes.
const maxCompleted = 1 << 16

// Complete completes some of the requests in slots, as m says.
func (b *Builder) Complete(m Completion, slots ...int32) {
	it := Item{Op: OpComplete, Sym: int(m)}
	for _, s := range slots {
		it.Coefs = append(it.Coefs, int64(s))
	}
	b.Add(it)
}

// Probe waits for a message of a peer, which may be AnySource, with a tag, which may be AnyTag.
func (b *Builder) Probe(family int, peer, tag Operand) {
	b.Add(Item{Op: OpProbe, Sym: family, Args: []Operand{peer, tag}})
}

// Requests returns the request slots that a KindComplete action names by their number X[0];
// nil if there are none of that number. They stay as they are.
func (c *Cursor) Requests(list int64) []int32 {
	if uint64(list) >= uint64(len(c.set.code.slots)) {
		return nil
	}
	return c.set.code.slots[list]
}
