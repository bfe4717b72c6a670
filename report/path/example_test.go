package path_test

import (
	"context"
	"fmt"
	"log"

	"reprise/platforms"
	"reprise/replay"
	"reprise/report/path"
	"reprise/trace"
)

// Rank 0 computes 1e9 flop, a second, and sends 1 MB to rank 1, which has nothing to do: the
// path goes along rank 0, and with the message.
func Example() {
	p, err := platforms.Builtin("default", 2)
	if err != nil {
		log.Fatal(err)
	}
	lists := replay.NewLists([][]trace.Action{
		{{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}, {Kind: trace.KindSend, Peer: 1, X: [4]int64{1e6}}},
		{{Kind: trace.KindRecv, Peer: 0, X: [4]int64{1e6}}},
	})
	h, m, o := &trace.Header{Ranks: 2}, replay.Machine{Platform: p, Hosts: []int32{0, 1}}, replay.DefaultOptions()
	critical := path.New(h, m, o)
	o.Observers = []replay.Observer{critical.Observer()}
	res, err := replay.RunSource(context.Background(), h, lists, m, o)
	if err != nil {
		log.Fatal(err)
	}
	d := critical.Data()
	fmt.Println(d.Seconds == res.Makespan, len(d.Parts))
	fmt.Println(d.WhatIfs[0].What)
	// Output:
	// true 3
	// all computation 1 % quicker
}
