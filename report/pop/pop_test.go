package pop_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/replay"
	"reprise/report/pop"
	"reprise/smpi"
	"reprise/trace"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run is a list of actions for each rank, on a platform.
type run struct {
	xml     string
	perHost int
	options []string // besides factors of 1 and no load on the way back
	lists   [][]trace.Action
}

// efficiencies replays the run and returns its result and its efficiencies.
func (r *run) efficiencies(t *testing.T) (*replay.Result, *pop.Data, error) {
	t.Helper()
	p, err := platforms.Parse(strings.NewReader(r.xml), "test.xml")
	noError(t, err)
	m, o := replay.Machine{Platform: p}, replay.DefaultOptions()
	m.Hosts, err = replay.FillHosts(p, len(r.lists), r.perHost)
	noError(t, err)
	set(t, &o.Network, append([]string{"smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "network/crosstraffic:no"}, r.options...)...)
	header := trace.Header{Ranks: len(r.lists)}
	play := func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
		return replay.RunSource(ctx, &header, replay.NewLists(r.lists), m, o)
	}
	res, err := play(t.Context(), m, o)
	noError(t, err)
	d, err := pop.Of(t.Context(), res, m, o, play)
	return res, d, err
}

func set(t *testing.T, o *smpi.Options, options ...string) {
	t.Helper()
	for _, option := range options {
		name, value, _ := strings.Cut(option, ":")
		noError(t, o.Set(name, value))
	}
}

// star has 125 MB/s and 50 us a link, so 100 us between two hosts, which compute 1 Gflop/s.
const (
	star      = `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="125MBps" lat="50us"/></platform>`
	latency   = 1e-4
	bandwidth = 125e6
	envelope  = 16 // bytes that a message carries besides its own
)

func compute(seconds float64) trace.Action {
	return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(seconds * 1e9)}}
}

func send(peer int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindSend, Peer: peer, X: [4]int64{bytes}}
}

func recv(peer int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindRecv, Peer: peer, X: [4]int64{bytes}}
}

// unbalanced: rank 0 computes for 1 s, rank 1 for 3 s and then sends it 125 MB less an
// envelope, which takes 1 s and the latency.
func unbalanced() *run {
	const bytes = 125e6 - envelope
	return &run{xml: star, perHost: 1, lists: [][]trace.Action{{compute(1), recv(1, bytes)}, {compute(3), send(0, bytes)}}}
}

// ring: eight ranks compute for 1 s, then each sends 25 MB, which alone take 0.25 s, to the next of
// the ring 0 4 1 5 2 6 3 7. Ranks 0 to 3 are on one leaf of a tree and 4 to 7 on the other, each with
// one cable up, so that all go through four links of 1 us, and four share a cable each way: 1 s.
func ring() *run {
	const bytes = 25e6 - envelope
	order := []int32{0, 4, 1, 5, 2, 6, 3, 7}
	lists := make([][]trace.Action, len(order))
	for i, r := range order {
		next, before := order[(i+1)%8], order[(i+7)%8]
		lists[r] = []trace.Action{compute(1), {Kind: trace.KindSendrecv, Peer: next, X: [4]int64{bytes, bytes, int64(before)}}}
	}
	return &run{xml: `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-7" speed="1Gf" bw="100MBps" lat="1us"
		topology="FAT_TREE" topo_parameters="2;4,2;1,1;1,1"/></platform>`, perHost: 1, lists: lists}
}

// chain: four ranks compute for 1 s, one after the other, and hand on 984 bytes, which take 8 us
// and the latency. Sender and receiver spend 10 and 20 us on it.
func chain() *run {
	const bytes = 1000 - envelope
	lists := [][]trace.Action{{compute(1), send(1, bytes)}}
	for r := int32(1); r < 4; r++ {
		lists = append(lists, []trace.Action{recv(r-1, bytes), compute(1)})
		if r < 3 {
			lists[r] = append(lists[r], send(r+1, bytes))
		}
	}
	return &run{xml: star, perHost: 1, lists: lists, options: []string{"smpi/os:0:1e-5:0", "smpi/or:0:2e-5:0"}}
}

// TestPaper: efficiencies that follow from what the ranks do.
func TestPaper(t *testing.T) {
	const handing = 1e-5 + latency + 1000/bandwidth + 2e-5 // of the chain, from one rank to the next
	for _, c := range []struct {
		name                                        string
		run                                         *run
		balance, serialisation, ideal, alone, whole float64
	}{
		// 1 s and 3 s are 2 s on average; the busier rank waits for nobody.
		{"unbalanced", unbalanced(), 2. / 3, 1, 3, 3 + latency + 1, 3 + latency + 1},
		{"ring", ring(), 1, 1, 1, 1 + 4e-6 + 0.25, 1 + 4e-6 + 1},
		// Three wait for one at any time.
		{"chain", chain(), 1, 1. / 4, 4, 4 + 3*handing, 4 + 3*handing},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, d, err := c.run.efficiencies(t)
			noError(t, err)
			near(t, "load balance", d.LoadBalance, c.balance)
			near(t, "serialisation", d.Serialisation, c.serialisation)
			near(t, "ideal runtime", d.Ideal, c.ideal)
			near(t, "uncontended runtime", d.Uncontended, c.alone)
			near(t, "runtime", d.Runtime, c.whole)
			near(t, "wire", d.Wire, c.ideal/c.alone)
			near(t, "contention", d.Contention, c.alone/c.whole)
			near(t, "transfer", d.Transfer, c.ideal/c.whole)
			near(t, "communication", d.Communication, c.serialisation*c.ideal/c.whole)
			near(t, "parallel", d.Parallel, d.MeanUseful/c.whole)
			if product := d.LoadBalance * d.Serialisation * d.Transfer; math.Abs(product-d.Parallel) > 4e-16 {
				t.Errorf("the parts multiply to %v, parallel is %v", product, d.Parallel)
			}
			if len(d.Notes) != 0 {
				t.Errorf("notes %q", d.Notes)
			}
		})
	}
}

// near fails unless got is want but for what a network costs that is a thousand million times
// as quick.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 2e-9*math.Abs(want) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}

// TestIdealNetwork: whatever the model of the network, between hosts and within one, a
// message of 1 MB on an ideal network takes less than the network's precision, 1 ns.
func TestIdealNetwork(t *testing.T) {
	for _, options := range [][]string{
		nil, {"network/model:LV08"}, {"network/model:CM02"}, {"reprise/bw-factor:bound"}, {"reprise/loopback-bw-factor:0:0.1", "reprise/loopback-lat-factor:0:7", "network/loopback-lat:1e-3"},
		{"smpi/os:0:1:1e-6", "smpi/ois:0:1:1e-6", "smpi/or:0:1:1e-6"}, {"smpi/async-small-thresh:4000000", "smpi/send-is-detached-thresh:4000000"},
	} {
		for _, perHost := range []int{1, 2} {
			x := star
			if perHost == 2 {
				x = strings.Replace(star, `speed="1Gf"`, `speed="1Gf" core="2"`, 1)
			}
			r := &run{xml: x, perHost: perHost, options: options, lists: [][]trace.Action{{compute(1), send(1, 1e6)}, {recv(0, 1e6)}}}
			_, d, err := r.efficiencies(t)
			noError(t, err)
			if d.Ideal < 1 || d.Ideal > 1+1e-9 {
				t.Errorf("%v, %d ranks a host: %.12g s, want 1 s", options, perHost, d.Ideal)
			}
		}
	}
}

// TestNothingToTell: of a run without computation, and of one that was stopped.
func TestNothingToTell(t *testing.T) {
	r := &run{xml: star, perHost: 1, lists: [][]trace.Action{{send(1, 1)}, {recv(0, 1)}}}
	if _, _, err := r.efficiencies(t); !errors.Is(err, pop.ErrIdle) {
		t.Error(err)
	}
	at := 2.5
	if _, err := pop.Of(t.Context(), &replay.Result{StoppedAt: &at}, replay.Machine{}, replay.Options{}, nil); err == nil || !strings.Contains(err.Error(), "stopped at 2.5 s") {
		t.Error(err)
	}
}

// TestText: the lines of the unbalanced run, T = 4.0001 s: 2/4.0001 is 49.9988 %, and 3/4.0001
// is 74.9981 %.
func TestText(t *testing.T) {
	_, d, err := unbalanced().efficiencies(t)
	noError(t, err)
	var b bytes.Buffer
	noError(t, d.WriteText(&b))
	want := `
POP efficiency        share
parallel             50.00%  a rank computes 2 s of 4.0001 s
  load balance       66.67%  the busiest rank computes 3 s
  serialisation     100.00%  of 3 s on a network that takes no time
  transfer           75.00%
    wire             75.00%  of 4.0001 s where no message slows another
    contention      100.00%  of 4.0001 s
`
	if b.String() != want {
		t.Errorf("%s\nwant%s", &b, want)
	}
}
