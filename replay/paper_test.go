package replay_test

import (
	"strings"
	"testing"

	"reprise/platforms/compose"
	"reprise/trace"
)

// TestProtocols is a message in each protocol on a star, with the overheads
//
//	os   3e-6 + 1e-10 s    above 4096: 5e-6 + 2e-10 s
//	ois  2e-6 + 5e-11 s    above 4096: 4e-6 + 1e-10 s    above 65536: 7e-6
//	or   4e-6 + 2e-10 s    above 4096: 6e-6 + 1e-10 s
//
// eager below 4096 and detached below 65536 bytes. L is 1e-4 s and a message of s
// bytes takes L + (s+16)/125e6 seconds.
func TestProtocols(t *testing.T) {
	list := func(a ...trace.Action) []trace.Action { return a }
	transfer := func(bytes float64) float64 { return starLatency + (bytes+envelope)/starBandwidth }
	for _, c := range []struct {
		name                   string
		sender, receiver       []trace.Action
		wantSender, wantResult float64
	}{
		{
			// The data arrived long ago: only or = 4e-6 + 100*2e-10.
			"eager, late receiver", list(send(1, 7, 100)), list(sleep(5e-3), recv(0, 7, 100)),
			3e-6 + 100*1e-10, 5e-3 + 4e-6 + 100*2e-10,
		},
		{
			"eager, late sender", list(sleep(5e-3), send(1, 7, 100)), list(recv(0, 7, 100)),
			5e-3 + 3e-6 + 100*1e-10, 5e-3 + 3e-6 + 100*1e-10 + transfer(100) + 4e-6 + 100*2e-10,
		},
		{
			// Starts when both are there; the sender does not wait.
			"detached", list(send(1, 7, 5000)), list(sleep(5e-3), recv(0, 7, 5000)),
			5e-6 + 5000*2e-10, 5e-3 + transfer(5000) + 6e-6 + 5000*1e-10,
		},
		{
			"rendezvous", list(send(1, 7, 70000)), list(sleep(5e-3), recv(0, 7, 70000)),
			5e-3 + transfer(70000), 5e-3 + transfer(70000),
		},
		{
			// ois of 7e-6 is over before the receive is posted; the transfer ends at
			// 5.660128e-3, during the receiver's second sleep, and costs it nothing.
			"rendezvous, nonblocking", list(isend(0, 1, 7, 70000), sleep(1e-3), wait(0)),
			list(sleep(5e-3), irecv(0, 0, 7, 70000), sleep(2e-3), wait(0)),
			5e-3 + transfer(70000), 7e-3,
		},
		{
			"detached, nonblocking", list(isend(0, 1, 7, 5000), wait(0)),
			list(sleep(5e-3), irecv(0, 0, 7, 5000), sleep(2e-3), wait(0)),
			4e-6 + 5000*1e-10, 7e-3 + 6e-6 + 5000*1e-10,
		},
		{
			// A synchronous send pays os and waits, whatever the size; its receiver
			// pays nothing.
			"synchronous", list(trace.Action{Kind: trace.KindSsend, Peer: 1, Tag: 7, X: [4]int64{100}}), list(recv(0, 7, 100)),
			3e-6 + 100*1e-10 + transfer(100), 3e-6 + 100*1e-10 + transfer(100),
		},
		{
			"two tags out of order", list(send(1, 1, 100), send(1, 2, 200)), list(sleep(1), recv(0, 2, 200), recv(0, 1, 100)),
			6e-6 + 300*1e-10, 1 + 8e-6 + 300*2e-10,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, star(2), 2)
			b.set(t, "smpi/async-small-thresh:4096",
				"smpi/os:0:3e-6:1e-10;4096:5e-6:2e-10", "smpi/ois:0:2e-6:5e-11;4096:4e-6:1e-10;65536:7e-6:0", "smpi/or:0:4e-6:2e-10;4096:6e-6:1e-10")
			res := b.run(t, c.sender, c.receiver)
			near(t, "sender", res.Ranks[0].End, c.wantSender)
			near(t, "receiver", res.Ranks[1].End, c.wantResult)
		})
	}
}

// TestRing shifts 1e6 bytes around a ring of five, three times. Each host's two
// links carry one flow each way, alone without cross traffic; with it the flow
// that arrives sends 5 % back over the link that the other one leaves by, so each
// gets 1/1.05 of a link.
func TestRing(t *testing.T) {
	const ranks, rounds, bytes = 5, 3, 1000000
	for _, c := range []struct {
		cross  string
		weight float64
	}{{"no", 1}, {"yes", 1.05}} {
		b := newBench(t, star(ranks), ranks)
		b.set(t, "network/crosstraffic:"+c.cross)
		lists := make([][]trace.Action, ranks)
		for r := range lists {
			next, before := int32((r+1)%ranks), int64((r+ranks-1)%ranks)
			for range rounds {
				lists[r] = append(lists[r], trace.Action{Kind: trace.KindSendrecv, Peer: next, X: [4]int64{bytes, bytes, before}})
			}
		}
		res := b.run(t, lists...)
		want := rounds * (starLatency + (bytes+envelope)*c.weight/starBandwidth)
		for _, r := range res.Ranks {
			near(t, "cross traffic "+c.cross, r.End, want)
		}
	}
}

// TestSharedUplink sends from three hosts of one leaf switch to three of the
// other: the leaf has one cable up, so each flow gets a third of it. Four links,
// 4 x 1 us.
func TestSharedUplink(t *testing.T) {
	const bytes = 600000
	b := newBench(t, `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-7" speed="1Gf" bw="100MBps" lat="1us"
		topology="FAT_TREE" topo_parameters="2;4,2;1,1;1,1"/></platform>`, 8)
	lists := make([][]trace.Action, 8)
	for r := range int32(3) {
		lists[r] = []trace.Action{send(r+4, 0, bytes)}
		lists[r+4] = []trace.Action{recv(r, 0, bytes)}
	}
	res := b.run(t, lists...)
	for r := range 3 {
		near(t, "sender", res.Ranks[r].End, 4e-6+3*(bytes+envelope)/100e6)
		near(t, "receiver", res.Ranks[r+4].End, res.Ranks[r].End)
	}
}

// TestOneStepOfHPL is a step on a 2 x 2 grid, ranks by rows: 0 1 / 2 3. Column 0
// factors a panel: a kernel of 3 ms on rank 0 and 1 ms on rank 2, then each tells
// the other its candidate (1056 bytes) and does 0.5 ms more. Along the rows the
// panel, 1e6 bytes, goes to column 1. All swap rows with the other row of their column, 2e6 bytes, and
// update for 10 ms (row 0) or 8 ms (row 1). With L = 1e-4 and z = (s+16)/125e6:
//
//	rank 0: 3 ms; exchange L + z(1056); 0.5 ms           = F
//	rank 2: 1 ms, waits for rank 0's candidate           = F as well
//	panel:  0 -> 1 and 2 -> 3 on links of their own: F + L + z(1e6) for all four
//	swap:   0 <-> 2 and 1 <-> 3, full duplex: L + z(2e6) for all four
//	update: 10 ms or 8 ms
func TestOneStepOfHPL(t *testing.T) {
	const panel, rows = 1000000, 2000000
	b := newBench(t, star(4), 4)
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  work: {terms: {N: 1e-3}}\n", "work")
	b.header.Phases = []string{"factorization", "update"}
	begin := func(phase uint16) trace.Action { return trace.Action{Kind: trace.KindPhase, Sym: phase} }
	end := func(phase uint16) trace.Action {
		return trace.Action{Kind: trace.KindPhase, Sym: phase, Flags: trace.FlagEnd}
	}
	half := trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(0.5e6)}} // at 1 Gf
	exchange := func(peer int32) trace.Action {
		return trace.Action{Kind: trace.KindExchange, Peer: peer, Tag: 1, X: [4]int64{1056, 1056}}
	}
	swap := func(peer int32) trace.Action {
		return trace.Action{Kind: trace.KindSyncExchange, Peer: peer, Tag: 3, X: [4]int64{rows, rows}}
	}
	res := b.run(t,
		[]trace.Action{begin(0), compute(0, 3), exchange(2), half, end(0), send(1, 2, panel), begin(1), swap(2), compute(0, 10), end(1)},
		[]trace.Action{recv(0, 2, panel), begin(1), swap(3), compute(0, 10), end(1)},
		[]trace.Action{begin(0), compute(0, 1), exchange(0), half, end(0), send(3, 2, panel), begin(1), swap(0), compute(0, 8), end(1)},
		[]trace.Action{recv(2, 2, panel), begin(1), swap(1), compute(0, 8), end(1)})
	transfer := func(bytes float64) float64 { return starLatency + (bytes+envelope)/starBandwidth }
	factored := 3e-3 + transfer(1056) + 0.5e-3
	swapped := factored + transfer(panel) + transfer(rows)
	for r, want := range []float64{swapped + 10e-3, swapped + 10e-3, swapped + 8e-3, swapped + 8e-3} {
		near(t, "rank", res.Ranks[r].End, want)
	}
	near(t, "makespan", res.Makespan, swapped+10e-3)
	near(t, "factorization, mean of two ranks in four", res.Phases[0].Mean, factored/2)
	near(t, "update, largest", res.Phases[1].Max, transfer(rows)+10e-3)
	near(t, "kernel, mean", res.Kernels[0].Mean, (3+10+10+1+8+8)*1e-3/4)
	if res.Messages != 2+2+4 || res.Bytes != 2*1056+2*panel+4*rows {
		t.Errorf("%d messages of %d bytes", res.Messages, res.Bytes)
	}
	sum := 0.0
	for _, k := range res.Kinds {
		sum += k.Mean
	}
	near(t, "sum of the kinds", sum, swapped+9e-3)
}

// TestOneWay sends 100,000 messages of 1 byte that the sender does not wait for, at
// 1 us each. The receiver works 10 us after each, so it waits for the first one
// only, which arrives at 1 us + L + 17/125e6 s.
func TestOneWay(t *testing.T) {
	const messages = 100000
	b := newBench(t, star(2), 2)
	b.set(t, "smpi/async-small-thresh:4096", "smpi/os:0:1e-6")
	var lists [2][]trace.Action
	for range messages {
		lists[0] = append(lists[0], send(1, 0, 1))
		lists[1] = append(lists[1], recv(0, 0, 1), sleep(10e-6))
	}
	res := b.run(t, lists[:]...)
	if d := res.Ranks[0].End - messages*1e-6; d > 1e-9 || d < -1e-9 {
		t.Errorf("sender is %g s off", d)
	}
	if d := res.Ranks[1].End - (1e-6 + starLatency + (1+envelope)/starBandwidth + messages*10e-6); d > 1e-9 || d < -1e-9 {
		t.Errorf("receiver is %g s off", d)
	}
}

// TestOversubscription: all hosts of a leaf send 1e8 bytes to those of another at once, over
// 4 links of 1 us. Of s+16 bytes a message alone gets 100 Gbps, 12.5e9 byte/s; 16 of them share
// what the uplinks have together, whatever a cable has.
func TestOversubscription(t *testing.T) {
	const size, hosts = 1e8, 16
	for _, c := range []struct {
		tree string
		rate float64 // byte/s of a message
	}{
		{"leaf=16 up=8x200Gbps", 12.5e9},             // 16*100 <= 8*200
		{"leaf=16 up=4x200Gbps", 4 * 25e9 / hosts},   // 2 to 1
		{"leaf=16 up=1x400Gbps", 1 * 50e9 / hosts},   // 4 to 1
		{"leaf=16 up=64x50Gbps", 12.5e9},             // more than enough
		{"leaf=16 up=2x150Gbps", 2 * 18.75e9 / 16.0}, // no whole number of NICs
	} {
		spec := compose.DefaultSpec(64)
		spec.NIC.Latency = 1e-6
		tree, err := compose.ParseFatTree(c.tree, spec.NIC)
		noError(t, err)
		spec.Topology = tree
		var xml strings.Builder
		noError(t, spec.Write(&xml))
		b := newBench(t, xml.String(), 2*hosts)
		lists := make([][]trace.Action, 2*hosts)
		for r := range int32(hosts) {
			lists[r], lists[hosts+r] = []trace.Action{send(hosts+r, 1, size)}, []trace.Action{recv(r, 1, size)}
		}
		near(t, c.tree, b.run(t, lists...).Makespan, 4*1e-6+(size+envelope)/c.rate)
	}
}

// TestTwoFlowsOnOneLink sends 1e6 and 3e6 bytes to one host. Each flow gets half of its link until the small one is
// through; then the other has all of it, so that in the end 4e6 bytes (and two envelopes) have passed at full speed.
func TestTwoFlowsOnOneLink(t *testing.T) {
	b := newBench(t, star(3), 3)
	res := b.run(t,
		[]trace.Action{send(2, 0, 1000000)},
		[]trace.Action{send(2, 0, 3000000)},
		[]trace.Action{irecv(0, 0, 0, 1000000), irecv(1, 1, 0, 3000000), {Kind: trace.KindWaitAll}})
	near(t, "small", res.Ranks[0].End, starLatency+2*(1000000+envelope)/starBandwidth)
	near(t, "large", res.Ranks[1].End, starLatency+(4000000+2*envelope)/starBandwidth)
	near(t, "receiver", res.Ranks[2].End, res.Ranks[1].End)
}
