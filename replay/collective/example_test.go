package collective_test

import (
	"fmt"

	"reprise/replay/collective"
	"reprise/trace"
)

// Rank 2 of 5 in a broadcast of 1000 bytes from rank 0, by a binomial tree.
func Example() {
	selector, err := collective.NewSelector("default")
	if err != nil {
		fmt.Println(err)
		return
	}
	call := trace.Collective{Kind: trace.CollBcast, Send: 1000, SendSize: 1}
	var s collective.Schedule
	s.Start(selector, &call, 5, 2, nil)
	for steps := s.Next(); len(steps) > 0; steps = s.Next() {
		for _, step := range steps {
			switch step.Op {
			case collective.Send:
				fmt.Println("send", step.Bytes, "bytes to rank", step.Peer)
			case collective.Recv:
				fmt.Println("receive", step.Bytes, "bytes from rank", step.Peer)
			}
		}
	}
	// Output:
	// receive 1000 bytes from rank 0
	// send 1000 bytes to rank 3
}
