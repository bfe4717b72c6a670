package timeline_test

import (
	"context"
	"fmt"
	"log"

	"reprise/platforms"
	"reprise/replay"
	"reprise/report/timeline"
	"reprise/trace"
)

// A rank that computes 1 Gflop and then sleeps.
func ExampleCollector() {
	p, err := platforms.Builtin("default", 1)
	if err != nil {
		log.Fatal(err)
	}
	h := &trace.Header{Ranks: 1}
	window, err := timeline.NewWindow(h, timeline.Span{}, true)
	if err != nil {
		log.Fatal(err)
	}
	o := replay.DefaultOptions()
	o.Observers = []replay.Observer{window.Observer()}
	actions := replay.NewLists([][]trace.Action{{
		{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}},
		{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(0.5)}},
	}})
	if _, err := replay.RunSource(context.Background(), h, actions, replay.Machine{Platform: p, Hosts: []int32{0}}, o); err != nil {
		log.Fatal(err)
	}
	w := window.Window()
	fmt.Println(w.Title, w.Slices, w.Names)
	// Output: the whole run 2 [flops sleep]
}
