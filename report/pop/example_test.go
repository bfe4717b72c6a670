package pop_test

import (
	"context"
	"fmt"
	"strings"

	"reprise/platforms"
	"reprise/replay"
	"reprise/report/pop"
	"reprise/trace"
)

// Rank 0 computes 1 Gflop at 1 Gflop/s and sends 125 MB over 125 MB/s to rank 1, which then
// computes 3 Gflop.
func Example() {
	p, err := platforms.Parse(strings.NewReader(star), "star.xml")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, o := replay.Machine{Platform: p, Hosts: []int32{0, 1}}, replay.DefaultOptions()
	header := trace.Header{Ranks: 2}
	play := func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
		lists := [][]trace.Action{{compute(1), send(1, 125e6)}, {recv(0, 125e6), compute(3)}}
		return replay.RunSource(ctx, &header, replay.NewLists(lists), m, o)
	}
	result, err := play(context.Background(), m, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := pop.Of(context.Background(), result, m, o, play)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("load balance %.3f, serialisation %.3f, transfer %.2f\n", d.LoadBalance, d.Serialisation, d.Transfer)
	// Output: load balance 0.667, serialisation 0.750, transfer 0.79
}
