package eventlog_test

import (
	"fmt"

	"reprise/replay/eventlog"
	"reprise/trace"
)

// oneLevel has all transfers on one level of links.
type oneLevel struct{}

func (oneLevel) NumLevels() int                 { return 1 }
func (oneLevel) Level(*eventlog.Transfer) int32 { return 0 }

func Example() {
	const compute, poll, message = 0, 1, 0
	header := &trace.Header{Ranks: 2}
	t := eventlog.New(header, 2, poll, oneLevel{})

	t.Post(message, 1)           // rank 1 waits
	t.Spend(0, compute, 0, 1e-3) // for what rank 0 computes
	t.Post(message, 0)           // and sends: after a latency of 1 us 1 MB at 500 MB/s, half of what there was.
	t.End(message, 1.001e-3, 3.001e-3).Set(0, 1, -1, 1e6, 1e9)
	t.Release(1, message, 0, 3.001e-3)

	rank, end := t.Last()
	parts, _ := t.Path(rank)
	fmt.Printf("rank %d ends at %g s\n", rank, end)
	for _, p := range parts {
		fmt.Printf("%v: %.6f s, %g\n", p.Kind, p.Seconds, p.Amount)
	}
	// Output:
	// rank 1 ends at 0.003001 s
	// on an account: 0.001000 s, 1
	// latency: 0.000001 s, 1
	// on the wire: 0.001000 s, 1e+06
	// contention: 0.001000 s, 0
}
