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

// waits keeps who has waited for a message, and for how long.
type waits struct {
	replay.Ignore
	posts map[int32]string // by number of the message
	list  []longWait
}

type longWait struct {
	seconds float64
	what    string
}

func (w *waits) SendPosted(message, src, dst, tag int32, bytes int64, at float64) {
	w.posts[message] = fmt.Sprintf("%d bytes from rank %d to rank %d", bytes, src, dst)
}

func (w *waits) Released(rank, message int32, since, at float64) {
	w.list = append(w.list, longWait{at - since, fmt.Sprintf("rank %d waits for %s", rank, w.posts[message])})
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
	w := &waits{posts: map[int32]string{}}
	o := replay.DefaultOptions()
	o.Observer = w
	_, err = replay.RunSource(context.Background(), &trace.Header{Ranks: 3}, replay.NewLists([][]trace.Action{
		{{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}, send(1), receive(2)},
		{receive(0), send(2)},
		{receive(1), send(0)},
	}), replay.Machine{Platform: p, Hosts: []int32{0, 1, 2}}, o)
	if err != nil {
		log.Fatal(err)
	}
	slices.SortFunc(w.list, func(a, b longWait) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, wait := range w.list[:3] {
		fmt.Printf("%.2f s: %s\n", wait.seconds, wait.what)
	}
	// Output:
	// 1.02 s: rank 2 waits for 1000000 bytes from rank 1 to rank 2
	// 1.01 s: rank 1 waits for 1000000 bytes from rank 0 to rank 1
	// 0.02 s: rank 0 waits for 1000000 bytes from rank 2 to rank 0
}
