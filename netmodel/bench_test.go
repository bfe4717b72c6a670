package netmodel

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/internal/invariants"
	"reprise/platforms"
)

// shifts is a workload in steps: in step k rank r sends to to(r, k) and receives from
// from(r, k), and goes on when both have ended, after a computation of up to pause
// seconds. A transfer starts when both sides are there. Rank r is on host r.
type shifts struct {
	ranks    int
	size     int64
	pause    float64
	to, from func(r, k int) int
}

// runner drives a Network through a workload.
type runner struct {
	shifts
	n       *Network
	step    []int32   // by rank
	pending []int8    // by rank: ends to wait for
	posted  [][]int8  // by sender and step modulo posts: sides that are there
	ready   []float64 // by rank: time at which it entered its step
	stepOf  []int32   // by sender: of the message that it sends
	done    []int32
	ended   int // messages
}

// posts is how many steps a sender and those who wait for it may be apart.
const posts = 64

func newRunner(tb testing.TB, p *platforms.Platform, o Options, w shifts) *runner {
	n, err := New(p, o)
	noError(tb, err)
	r := &runner{shifts: w, n: n,
		step: make([]int32, w.ranks), pending: make([]int8, w.ranks), ready: make([]float64, w.ranks),
		posted: make([][]int8, w.ranks), stepOf: make([]int32, w.ranks)}
	for i := range r.posted {
		r.posted[i] = make([]int8, posts)
	}
	for i := range w.ranks {
		r.enter(int32(i), 0)
	}
	return r
}

// enter posts both sides of rank's step, from time now and a pause that depends on
// rank and step alone.
func (r *runner) enter(rank int32, now float64) {
	k := int(r.step[rank])
	x := uint32(rank)*2654435761 ^ uint32(k)*2246822519
	x ^= x >> 15
	x *= 2246822519
	x ^= x >> 13
	r.ready[rank] = now + r.pause*float64(x>>8)/(1<<24)
	r.pending[rank] = 2
	r.post(rank, k)
	r.post(int32(r.from(int(rank), k)), k)
}

func (r *runner) post(sender int32, k int) {
	p := &r.posted[sender][k%posts]
	if *p++; *p < 2 {
		return
	}
	*p = 0
	to := r.to(int(sender), k)
	if err := r.n.Start(sender, int(sender), to, r.size, max(r.ready[sender], r.ready[to])); err != nil {
		panic(err)
	}
	r.stepOf[sender] = int32(k)
}

// run goes on until messages more have ended.
func (r *runner) run(messages int) {
	for end := r.ended + messages; r.ended < end; {
		r.advance()
	}
}

func (r *runner) advance() {
	now := r.n.Next()
	if math.IsInf(now, 1) {
		panic("the workload waits for itself")
	}
	r.done = r.n.Advance(now, r.done[:0])
	r.ended += len(r.done)
	for _, rank := range r.done {
		to := r.to(int(rank), int(r.stepOf[rank]))
		r.complete(rank, now)
		r.complete(int32(to), now)
	}
}

func (r *runner) complete(rank int32, now float64) {
	if r.pending[rank]--; r.pending[rank] == 0 {
		r.step[rank]++
		r.enter(rank, now)
	}
}

func ring(ranks, stride int, size int64, pause float64) shifts {
	return shifts{ranks: ranks, size: size, pause: pause,
		to:   func(r, k int) int { return (r + stride) % ranks },
		from: func(r, k int) int { return (r + ranks - stride) % ranks }}
}

func exchange(ranks int, size int64, pause float64, partner func(r, k int) int) shifts {
	return shifts{ranks: ranks, size: size, pause: pause, to: partner, from: partner}
}

// fatTree returns a platform of two levels, 16 hosts to a leaf switch.
func fatTree(tb testing.TB, hosts int) *platforms.Platform {
	xml := fmt.Sprintf(`<?xml version="1.0"?>
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="12.5GBps" lat="1us"
           topology="FAT_TREE" topo_parameters="2;16,%d;1,8;1,1"/>
</platform>`, hosts-1, hosts/16)
	p, err := platforms.Parse(strings.NewReader(xml), "bench")
	noError(tb, err)
	return p
}

// backbone returns a platform of hosts on one wide link.
func backbone(tb testing.TB, hosts int) *platforms.Platform {
	xml := fmt.Sprintf(`<?xml version="1.0"?>
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="12.5GBps" lat="1us" bb_bw="100TBps" bb_lat="1us"/>
</platform>`, hosts-1)
	p, err := platforms.Parse(strings.NewReader(xml), "bench")
	noError(tb, err)
	return p
}

// BenchmarkNetwork measures messages per second of the network alone, one message
// per operation.
func BenchmarkNetwork(b *testing.B) {
	for _, ranks := range []int{64, 256, 1024} {
		steps := 1
		for 1<<steps < ranks {
			steps++
		}
		p := fatTree(b, ranks)
		for _, w := range []struct {
			name string
			shifts
		}{
			{"ring", ring(ranks, 1, 256<<10, 10e-6)},
			{"pairwise", exchange(ranks, 256<<10, 10e-6, func(r, k int) int { return r ^ (1 + k%(ranks-1)) })},
			{"binary", exchange(ranks, 256<<10, 10e-6, func(r, k int) int { return r ^ 1<<(k%steps) })},
		} {
			b.Run(fmt.Sprintf("%s=%d", w.name, ranks), func(b *testing.B) {
				benchmark(b, p, DefaultOptions(), w.shifts)
			})
		}
	}
	// A backbone that all messages cross and that is never full.
	b.Run("backbone=1024", func(b *testing.B) {
		benchmark(b, backbone(b, 1024), DefaultOptions(), exchange(1024, 256<<10, 10e-6, func(r, k int) int { return r ^ (1 + k%1023) }))
	})
	p, err := platforms.Builtin("stampede", 6006)
	noError(b, err)
	o := DefaultOptions()
	applyConfig(b, &o, p)
	// 77 rows by 78 columns, ranks by columns: the roll of a broadcast along the
	// rows, pieces of 5 MB, and an exchange within the columns.
	b.Run("roll=6006", func(b *testing.B) { benchmark(b, p, o, ring(6006, 77, 5<<20, 1e-3)) })
	b.Run("column=4096", func(b *testing.B) {
		benchmark(b, p, o, exchange(4096, 16<<10, 10e-6, func(r, k int) int { return r ^ 1<<(k%6) }))
	})
}

func benchmark(b *testing.B, p *platforms.Platform, o Options, w shifts) {
	r := newRunner(b, p, o, w)
	r.run(4 * w.ranks) // warm
	before := r.n.Stats()
	b.ReportAllocs()
	b.ResetTimer()
	r.run(b.N)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	s := r.n.Stats()
	b.ReportMetric(float64(s.Solves-before.Solves)/float64(b.N), "solves/op")
	b.ReportMetric(float64(s.SolvedFlows-before.SolvedFlows)/float64(s.Solves-before.Solves), "flows/solve")
}

// TestSteadyStateAllocatesNothing replays a warm ring shift.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	for _, solver := range []string{"local", "reference"} {
		r := newRunner(t, fatTree(t, 64), with(DefaultOptions(), "reprise/solver", solver), ring(64, 1, 256<<10, 10e-6))
		r.run(2000)
		if allocs := testing.AllocsPerRun(3, func() { r.run(500) }); allocs != 0 {
			t.Errorf("%s: %v allocations in 500 messages, want 0", solver, allocs)
		}
	}
}
