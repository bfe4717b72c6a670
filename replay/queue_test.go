package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// Kernels of the tests below: work of N seconds on the device, a copy of N/2 seconds, and N seconds of the rank itself. A
// launch costs the rank 1/8 s.
const queueKernels = `version: 1
unit: s
kernels:
  work: {terms: {N: 1}}
  copy: {terms: {N: 0.5}}
  own: {terms: {N: 1}}
  launch: {terms: {1: 0.125}}
`

func onDevice(kernel uint16, queue int32, n int64) trace.Action {
	return trace.Action{Kind: trace.KindLaunch, Sym: kernel, Tag: queue, X: [4]int64{n}}
}

func onQueue(v trace.QueueVerb, queue int32, event uint16) trace.Action {
	return trace.Action{Kind: trace.KindQueue, Sym: event, Tag: queue, X: [4]int64{int64(v)}}
}

// queued returns a bench of ranks with two queues and two events each.
func queued(t *testing.T, ranks int) *bench {
	b := newBench(t, star(ranks), ranks)
	b.setKernels(t, queueKernels, "work", "copy", "own")
	b.header.Queues, b.header.Events = []string{"compute", "data"}, []string{"first", "second"}
	return b
}

// TestQueuesOnPaper is queues whose times are worked out here: launch n of a rank that does nothing else is paid by
// n/8 s, and a kernel begins then, or when what is before it in its queue has ended.
func TestQueuesOnPaper(t *testing.T) {
	const work, cp, own = 0, 1, 2
	blocking := onDevice(work, 0, 2)
	blocking.Flags = trace.FlagBlocking
	leaf := onDevice(work, 0, 3)
	leaf.Flags, leaf.X[3] = trace.FlagParts, 3
	take, give := onQueue(trace.QueueTake, 0, 0), onQueue(trace.QueueGive, 0, 0)
	all := onQueue(trace.QueueSyncAll, 0, 0)
	for _, c := range []struct {
		name string
		list []trace.Action
		want float64
	}{
		{"the device is longer", []trace.Action{onDevice(work, 0, 4), compute(own, 3), all}, 0.125 + 4},
		{"the rank is longer", []trace.Action{onDevice(work, 0, 2), compute(own, 5), all}, 0.125 + 5},
		{"one after the other", []trace.Action{onDevice(work, 0, 2), onDevice(work, 0, 3), all}, 0.125 + 2 + 3},
		{"a queue that stood", []trace.Action{onDevice(work, 0, 1), compute(own, 3), onDevice(work, 0, 2), all}, 0.125 + 3 + 0.125 + 2},
		{"two queues", []trace.Action{onDevice(work, 0, 2), onDevice(work, 1, 3), all}, 0.25 + 3},
		{"a copy beside a kernel", []trace.Action{onDevice(work, 0, 4), onDevice(cp, 1, 4), compute(own, 1), onQueue(trace.QueueSync, 1, 0)},
			0.25 + 2},
		{"a chain of events", []trace.Action{onDevice(work, 0, 2), onQueue(trace.QueueRecord, 0, 0), onQueue(trace.QueueWait, 1, 0),
			onDevice(work, 1, 3), onQueue(trace.QueueRecord, 1, 1), onQueue(trace.QueueWait, 0, 1), onDevice(cp, 0, 2),
			onQueue(trace.QueueSync, 0, 0)}, 0.125 + 2 + 3 + 1},
		{"an event before later work", []trace.Action{onDevice(work, 0, 2), onQueue(trace.QueueRecord, 0, 0), onDevice(work, 0, 9),
			onQueue(trace.QueueSyncEvent, 0, 0)}, 0.125 + 2},
		{"an event that is recorded again", []trace.Action{onDevice(work, 0, 2), onQueue(trace.QueueRecord, 0, 0), onDevice(work, 0, 1),
			onQueue(trace.QueueRecord, 0, 0), onQueue(trace.QueueSyncEvent, 0, 0)}, 0.125 + 2 + 1},
		{"an event that never was", []trace.Action{onQueue(trace.QueueSyncEvent, 0, 1), compute(own, 1)}, 1},
		{"a launch that blocks", []trace.Action{blocking, compute(own, 1)}, 0.125 + 2 + 1},
		// Each part is 1 s, the next one begins when the rank has done its half.
		{"a leaf", []trace.Action{leaf, take, compute(own, 1), give, take, compute(own, 1), give, take, give, onDevice(work, 0, 2), all},
			0.125 + 1 + 1 + 1 + 1 + 1 + 0.125 + 2},
	} {
		t.Run(c.name, func(t *testing.T) { near(t, "end", queued(t, 1).run(t, c.list).Makespan, c.want) })
	}
}

// TestQueuesAndMessages: a message leaves when the device has ended, and the accounts say who waited: the sender 2 s for
// its device, whose queue ran as long, and 1/8 s of overhead; the kernel is no part of what the rank computed.
func TestQueuesAndMessages(t *testing.T) {
	b := queued(t, 2)
	res := b.run(t, []trace.Action{onDevice(0, 0, 2), onQueue(trace.QueueSync, 0, 0), send(1, 7, 1e6)}, []trace.Action{recv(0, 7, 1e6)})
	near(t, "receiver", res.Ranks[1].End, 0.125+2+starLatency+(1e6+envelope)/starBandwidth)
	shares := map[string]replay.Share{}
	for _, list := range [][]replay.Share{res.Kinds, res.Kernels, res.Queues} {
		for _, s := range list {
			shares[s.Name] = s
		}
	}
	near(t, "device", shares["device"].Max, 2)
	near(t, "overhead", shares["overhead"].Max, 0.125)
	near(t, "work", shares["work"].Max, 2)
	near(t, "queue", shares["compute"].Max, 2) // the queue of that name: no rank has computed
	if len(res.Queues) != 2 || shares["data"].Max != 0 {
		t.Errorf("%+v", res.Queues)
	}
}

// TestNoDevice: a trace with queues needs a device for each rank of a host.
func TestNoDevice(t *testing.T) {
	for _, c := range []struct{ gpus, want string }{
		{"", "the trace has queues of a device for each rank, and host n0 has 2 ranks and 0 devices"},
		{`<prop id="gpus" value="1"/>`, "host n0 has 2 ranks and 1 devices"},
		{`<prop id="gpus" value="two"/>`, `gpus "two", want a number above 0`},
		{`<prop id="gpus" value="2"/>`, ""},
	} {
		xml := `<platform version="4.1"><zone id="z" routing="Full"><host id="n0" speed="1Gf" core="2">` + c.gpus + `</host></zone></platform>`
		file := filepath.Join(t.TempDir(), "m.xml")
		noError(t, os.WriteFile(file, []byte(xml), 0o666))
		h := &trace.Header{Ranks: 2, Queues: []string{"compute"}}
		_, _, _, err := replay.LoadMachine(replay.MachineSpec{Platform: file}, headerOnly{h})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.gpus, err, c.want)
		}
	}
}
