package capture

import (
	"fmt"

	"reprise/trace"
)

// step is an action of a rank in the trace: what its block is, and the arguments of that.
type step struct {
	form
	args  [numArgs]int64
	lists [2]int32 // counts by rank that are sent and received, as numbers of lists; 0: none
}

// form is what steps of one block share.
type form struct {
	kind               trace.Kind
	collective         trace.CollectiveKind
	operator           trace.Operator
	family             int32
	request            int32 // slot
	sendSize, recvSize int64 // bytes of an element
	marker             int32 // or the kernel
	dims               int32 // of the kernel
	spread             bool  // of a computation: it has one
	completion         trace.Completion
	slots              int32 // of a completion: the number of the list of its requests
	access             trace.AccessKind
	sync               trace.SyncKind
	file               trace.FileKind
	together           bool // of a file: all ranks of the family's group access it
}

// Arguments of a step, by its kind.
const (
	argPeer     = 0 // of a message; amount: of a computation; root
	argTag      = 1 // span: of a collective operation; window
	argBytes    = 2 // or the count that is sent, or assertions
	argReceived = 3 // or the count that is received
	argSource   = 4 // of a sendrecv
	argSent     = 5 // tag of what it receives
	argSpread   = 1 // of a computation
	numArgs     = 6
)

// bytes returns how many a step takes in a block of the trace, at most.
func (s *step) bytes(t *table) int {
	n := 46 + 5*len(t.lists[s.slots]) // five for a slot, two for an argument of 0, eleven for a large one
	for _, a := range s.args {
		if a == 0 {
			n += 2
		} else {
			n += 11
		}
	}
	return n
}

// table numbers steps and lists, those that are the same once.
type table struct {
	steps   []step
	numbers map[step]int32
	lists   [][]int64 // from 1
	named   map[string]int32
}

func newTable() *table {
	return &table{numbers: map[step]int32{}, lists: make([][]int64, 1), named: map[string]int32{}}
}

func (t *table) number(s step) int32 {
	n, ok := t.numbers[s]
	if !ok {
		n = int32(len(t.steps))
		t.steps = append(t.steps, s)
		t.numbers[s] = n
	}
	return n
}

func (t *table) list(values []int64) int32 {
	name := fmt.Sprint(values)
	n, ok := t.named[name]
	if !ok {
		n = int32(len(t.lists))
		t.lists = append(t.lists, values)
		t.named[name] = n
	}
	return n
}
