package trace

import "fmt"

// Completion is how an operation completes several requests.
type Completion uint8

// The completions. Which requests there are, those that are pending, is found where the
// operation is played; which of them are completed is decided there, and nothing that follows
// depends on it.
const (
	CompleteAll  Completion = iota // waits for all
	CompleteAny                    // waits for one
	CompleteSome                   // waits for one and takes what else is complete
	TestAll                        // tests each, one after the other
	TestAny                        // takes one that is complete, if there is one
	TestSome                       // as TestAll
	numCompletions
)

// NumCompletions is the number of completions.
const NumCompletions = int(numCompletions)

var completionNames = [numCompletions]string{"waitall", "waitany", "waitsome", "testall", "testany", "testsome"}

// String returns MPI's name in small letters.
func (m Completion) String() string {
	if m < numCompletions {
		return completionNames[m]
	}
	return fmt.Sprintf("completion %d", uint8(m))
}

// maxCompleted bounds the requests that one operation completes.
const maxCompleted = 1 << 16

// Complete completes some of the requests in slots, as m says.
func (b *Builder) Complete(m Completion, slots ...int32) {
	it := Item{Op: OpComplete, Sym: int(m)}
	for _, s := range slots {
		it.Coefs = append(it.Coefs, int64(s))
	}
	b.add(it)
}

// Probe waits for a message of a peer, which may be AnySource, with a tag, which may be AnyTag.
func (b *Builder) Probe(family int, peer, tag Operand) {
	b.add(Item{Op: OpProbe, Sym: family, Args: []Operand{peer, tag}})
}

// checkSlots checks those of an OpComplete.
func checkSlots(it *Item) error {
	if n := len(it.Coefs); n == 0 || n > maxCompleted {
		return fmt.Errorf("%d requests, allowed 1 to %d", n, maxCompleted)
	}
	seen := map[int64]bool{}
	for _, s := range it.Coefs {
		if s < 0 || s >= MaxRequests {
			return fmt.Errorf("request %d out of [0,%d)", s, MaxRequests)
		}
		if seen[s] {
			return fmt.Errorf("request %d twice", s)
		}
		seen[s] = true
	}
	return nil
}

// complete translates an OpComplete: its list of slots is one of the code's.
func (l *linker) complete(it *Item) {
	slots := make([]int32, len(it.Coefs))
	for i, s := range it.Coefs {
		slots[i] = int32(s)
	}
	l.emit(instr{op: opComplete, flags: uint8(it.Sym), w: int32(len(l.code.slots))})
	l.code.slots = append(l.code.slots, slots)
}

// Requests returns the request slots that a KindComplete action names by their number X[0];
// nil if there are none of that number. They stay as they are.
func (c *Cursor) Requests(list int64) []int32 {
	if uint64(list) >= uint64(len(c.set.code.slots)) {
		return nil
	}
	return c.set.code.slots[list]
}
