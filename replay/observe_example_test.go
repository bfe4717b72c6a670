package replay_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

type longWait struct {
	seconds float64
	what    string
}

// The longest waits of a replay: rank 0 computes for a second, then sends 1 MB around a ring
// of three hosts with 100 MB/s.
func ExampleObserver() {
	p, err := platforms.Parse(strings.NewReader(`<platform version="4.1">
		<cluster id="c" prefix="node-" suffix="" radical="0-2" speed="1Gf" bw="100MBps" lat="1us"/></platform>`), "three.xml")
	if err != nil {
		log.Fatal(err)
	}
	send := func(to int32) trace.Action {
		return trace.Action{Kind: trace.KindSend, Peer: to, X: [4]int64{1e6}}
	}
	receive := func(from int32) trace.Action {
		return trace.Action{Kind: trace.KindRecv, Peer: from, X: [4]int64{1e6}}
	}
	posts, list := map[int32]string{}, []longWait{} // posts by number of the message
	o := replay.DefaultOptions()
	o.Observers = []replay.Observer{{
		SendPosted: func(message, src, dst, tag int32, bytes int64, at float64) {
			posts[message] = fmt.Sprintf("%d bytes from rank %d to rank %d", bytes, src, dst)
		},
		Released: func(rank, message int32, since, at float64) {
			list = append(list, longWait{at - since, fmt.Sprintf("rank %d waits for %s", rank, posts[message])})
		},
	}}
	_, err = replay.RunSource(context.Background(), &trace.Header{Ranks: 3}, replay.NewLists([][]trace.Action{
		{{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}, send(1), receive(2)},
		{receive(0), send(2)},
		{receive(1), send(0)},
	}), replay.Machine{Platform: p, Hosts: []int32{0, 1, 2}}, o)
	if err != nil {
		log.Fatal(err)
	}
	slices.SortFunc(list, func(a, b longWait) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, wait := range list[:3] {
		fmt.Printf("%.2f s: %s\n", wait.seconds, wait.what)
	}
	// Output:
	// 1.02 s: rank 2 waits for 1000000 bytes from rank 1 to rank 2
	// 1.01 s: rank 1 waits for 1000000 bytes from rank 0 to rank 1
	// 0.02 s: rank 0 waits for 1000000 bytes from rank 2 to rank 0
}
