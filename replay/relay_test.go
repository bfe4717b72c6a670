package replay_test

import (
	"bytes"
	"testing"

	"reprise/internal/tracetest"
	"reprise/replay"
	"reprise/trace"
)

// TestRelays has relays, rings and work until a message is there by hand. A row of work takes 0.3 s, one of the rest
// 1 s; a message of s bytes takes 100 us + (s+16)/125e6 seconds, and polls nothing.
func TestRelays(t *testing.T) {
	n := trace.Const
	sleep := func(b *trace.Builder, seconds float64) { b.Sleep(n(trace.FloatArg(seconds))) }
	transfer := func(bytes float64) float64 { return starLatency + (bytes+envelope)/starBandwidth }
	work := func(b *trace.Builder) { b.Compute(0, b.Param(0)) }
	relay := func(b *trace.Builder, bytes int64) { b.Relay(0, 0, 0, n(bytes), n(0), 1024, 100, 256) }
	either := func(b *trace.Builder) {
		b.Advance(trace.RelayEither, 0)
		b.Advance(trace.RelayFinish, 0)
	}
	for _, c := range []struct {
		name  string
		ranks []func(b *trace.Builder, work int)
		want  []float64
	}{
		{
			// Polls at 0, 0.3, 0.6 and 0.9 s miss, that at 1.2 s finds the message: 4 of 10 rows are done by then.
			"until a request is complete", []func(*trace.Builder, int){
				func(b *trace.Builder, _ int) {
					sleep(b, 1)
					b.Message(trace.OpSend, 0, 0, n(1), n(5), n(1000))
				},
				func(b *trace.Builder, work int) {
					b.Message(trace.OpIrecv, 0, 0, n(0), n(5), n(1000))
					b.Compute(1, b.UntilComplete([]int32{0}, n(10), n(1), work))
				},
			}, []float64{1, 1.2 + 6},
		},
		{
			// Two rows are all: the rank waits then.
			"no row left", []func(*trace.Builder, int){
				func(b *trace.Builder, _ int) {
					sleep(b, 1)
					b.Message(trace.OpSend, 0, 0, n(1), n(5), n(1000))
				},
				func(b *trace.Builder, work int) {
					b.Message(trace.OpIrecv, 0, 0, n(0), n(5), n(1000))
					b.Compute(1, b.UntilComplete([]int32{0}, n(2), n(1), work))
				},
			}, []float64{1, 1 + transfer(1000)},
		},
		{
			// Ranks 1 and 3 get the chunk of the root, which comes to it at 1 s. Rank 1 computes a slice of 3 rows from 0.9 s on
			// before it looks again and passes the chunk on: after 1.8 s, with which all its 10 rows but 4 are done. The two
			// messages of the root share its cable.
			"a rank that computes passes nothing on", []func(*trace.Builder, int){
				func(b *trace.Builder, _ int) {
					sleep(b, 1)
					relay(b, 1000)
					either(b)
				},
				func(b *trace.Builder, work int) {
					relay(b, 1000)
					left := b.UntilDone(0, n(10), n(3), work)
					either(b)
					b.Compute(1, left)
				},
				func(b *trace.Builder, _ int) {
					relay(b, 1000)
					either(b)
				},
				func(b *trace.Builder, _ int) {
					relay(b, 1000)
					either(b)
				},
			}, []float64{1, 1.8 + 4, 1.8 + transfer(1000), 1 + starLatency + 2*(1000+envelope)/starBandwidth},
		},
		{
			// Chunks of 100,000 and 50,000 bytes: the second is sent when the first is complete. It is below 64 KiB and leaves
			// the root's buffer at once.
			"a ring", []func(*trace.Builder, int){
				func(b *trace.Builder, _ int) { b.Ring(0, 0, n(150000), n(0), 100000, false, false) },
				func(b *trace.Builder, _ int) { b.Ring(0, 0, n(150000), n(0), 100000, false, false) },
			}, []float64{transfer(100000), transfer(100000) + transfer(50000)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranks := len(c.ranks)
			bench := newBench(t, star(ranks), ranks)
			bench.setKernels(t, "version: 1\nunit: s\nkernels: {work: {terms: {N: 0.3}}, rest: {terms: {N: 1}}}\n",
				"work", "rest")
			h := bench.header
			h.Program, h.Steps = "test", 1
			h.CommFamilies = []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(ranks)}}}}
			h.Axes = []trace.Axis{{Name: "rank", Kind: trace.AxisRank}}
			h.CallSites = []trace.CallSite{{Name: "calls", Counts: trace.NoAxis, Block: 0}}
			var file bytes.Buffer
			w := tracetest.Must(trace.NewWriter(&file, &h, trace.WriterOptions{}))
			strip := trace.NewBuilder("work", 1)
			work(strip)
			block := tracetest.Must(w.Program().Add(strip))
			call := trace.Call{}
			for _, build := range c.ranks {
				b := trace.NewBuilder("rank", 0)
				build(b, block)
				call.Blocks = append(call.Blocks, int64(tracetest.Must(w.Program().Add(b))))
			}
			noError(t, w.Step(0))
			noError(t, w.Call(&call))
			noError(t, w.Close())
			res, err := replay.Run(t.Context(), tracetest.Open(t, file.Bytes()), bench.Machine, bench.Options)
			noError(t, err)
			for r, want := range c.want {
				near(t, c.name, res.Ranks[r].End, want)
			}
		})
	}
}
