package timeline_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"reprise/platforms"
	"reprise/replay"
	"reprise/report/timeline"
	"reprise/trace"
)

// lines is a Sink that prints what ranks do.
type lines struct{ names []string }

func (l lines) Slice(s *timeline.Slice) {
	fmt.Printf("rank %d from %.1f to %.1f s: %s\n", s.Rank, s.Begin, s.End, l.names[s.Name])
}

func (lines) PhaseBegins(rank int32, phase int, at float64) {}

func (lines) PhaseEnds(rank int32, at float64) {}

func (lines) Message(m *timeline.Message) {}

func (lines) Label(text string, at float64) { fmt.Printf("%s at %g s\n", text, at) }

func (lines) Close() error { return nil }

// A rank that computes 1 Gflop and then sleeps.
func ExampleRecorder() {
	p, err := platforms.Parse(strings.NewReader(`<platform version="4.1"><zone id="z" routing="Full"><host id="node" speed="1Gf"/></zone></platform>`), "one.xml")
	if err != nil {
		log.Fatal(err)
	}
	h := &trace.Header{Ranks: 1}
	r := timeline.NewRecorder(h, timeline.Span{}, lines{timeline.Names(h)})
	o := replay.DefaultOptions()
	o.Observers = []replay.Observer{r.Observer()}
	actions := replay.NewLists([][]trace.Action{{
		{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}},
		{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(0.5)}},
	}})
	if _, err := replay.RunSource(context.Background(), h, actions, replay.Machine{Platform: p, Hosts: []int32{0}}, o); err != nil {
		log.Fatal(err)
	}
	r.End()
	// Output:
	// rank 0 from 0.0 to 1.0 s: flops
	// rank 0 from 1.0 to 1.5 s: sleep
}
