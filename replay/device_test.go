package replay_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/internal/tracetest"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen"
	"reprise/tracegen/hpl"
)

// withDevices gives each host of a star a device whose launches cost a rank 1 ms, and hand-overs 0.25 ms each way.
func withDevices(xml string) string {
	return strings.Replace(xml, `lat="50us"/>`, `lat="50us"><prop id="device_launch" value="1ms"/>
<prop id="device_latency" value="250us"/></cluster>`, 1)
}

// Actions on queues 0 and 1, and event 0. Kernel k runs N seconds, in queue q.
func launched(q int32, n int64) trace.Action {
	return trace.Action{Kind: trace.KindLaunch, Tag: q, X: [4]int64{n}}
}

func flagged(a trace.Action, flag uint8, parts int64) trace.Action {
	a.Flags, a.X[3] = flag, parts
	return a
}

func verb(v trace.QueueVerb, q int32) trace.Action {
	return trace.Action{Kind: trace.KindQueue, Tag: q, X: [4]int64{int64(v)}}
}

// TestQueues has queues by hand: a launch costs 1 ms of the rank, a kernel of N runs N seconds, a hand-over takes 0.25 ms
// each way, a message of s bytes 100 us + (s+16)/125e6 seconds.
func TestQueues(t *testing.T) {
	record, wait := verb(trace.QueueRecord, 0), verb(trace.QueueWait, 1)
	syncEvent, sync0, sync1 := verb(trace.QueueSyncEvent, 0), verb(trace.QueueSync, 0), verb(trace.QueueSync, 1)
	all, take, give := verb(trace.QueueSyncAll, 0), verb(trace.QueueTake, 0), verb(trace.QueueGive, 0)
	parts := flagged(launched(0, 3), trace.FlagParts, 3)
	transfer := func(bytes float64) float64 { return starLatency + (bytes+envelope)/starBandwidth }
	for _, c := range []struct {
		name          string
		list, other   []trace.Action // of two ranks
		end, otherEnd float64
	}{
		{"the host goes on", []trace.Action{launched(0, 5)}, nil, 1e-3, 0},
		// The second launch is there at 2 ms; the first one ends at 0.001 + 5.
		{"in order", []trace.Action{launched(0, 5), launched(0, 2), sync0}, nil, 0.001 + 7, 0},
		// The host sleeps beside the queue, which is idle from 1.001 to 3.002.
		{"overlap", []trace.Action{launched(0, 1), sleep(3), launched(0, 1), sync0}, nil, 3.002 + 1, 0},
		{"two queues at once", []trace.Action{launched(0, 5), launched(1, 4), all}, nil, 0.001 + 5, 0},
		{"a copy beside a kernel", []trace.Action{launched(0, 5), launched(1, 4), sync1}, nil, 0.002 + 4, 0},
		// Queue 1 begins its 2 s when the 5 s of queue 0 are over.
		{"a chain of events", []trace.Action{launched(0, 5), record, wait, launched(1, 2), sync1}, nil, 5.001 + 2, 0},
		// The event is behind the first launch alone.
		{"the host waits for an event", []trace.Action{launched(0, 5), record, launched(0, 9), syncEvent}, nil, 5.001, 0},
		{"nothing recorded", []trace.Action{syncEvent, sync0, all}, nil, 0, 0},
		{"a size of 0, and blocking", []trace.Action{launched(0, 0), sync0, flagged(launched(0, 2), trace.FlagBlocking, 0)}, nil,
			0.002 + 2, 0},
		// Each part of 1 s is seen 0.25 ms later; the host works 2 s, and the device goes on 0.25 ms later. The kernel behind
		// begins behind the last hand-over.
		{"parts", []trace.Action{parts, take, sleep(2), give, take, give, take, give, launched(0, 1), sync0}, nil,
			0.001 + 3 + 6*0.00025 + 2 + 1 + (0.001 - 0.00025), 0},
		// A message is sent when the queue is empty; the other rank's kernel runs meanwhile, and longer.
		{"communication beside kernels", []trace.Action{launched(0, 2), sync0, send(1, 7, 1e6)},
			[]trace.Action{launched(0, 3), recv(0, 7, 1e6), sync0}, 2.001 + transfer(1e6), 3.001},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, withDevices(star(2)), 2)
			b.setKernels(t, "version: 1\nunit: s\nkernels: {k: {terms: {N: 1}}}\n", "k")
			b.header.Queues, b.header.Events = []string{"a", "b"}, []string{"e"}
			res := b.run(t, c.list, c.other)
			near(t, "rank 0", res.Ranks[0].End, c.end)
			near(t, "rank 1", res.Ranks[1].End, c.otherEnd)
		})
	}
}

// TestHandOverDrawn: an error of the network of 50 % is one of hand-overs, too: of 10,000 s of them, the logarithm of the
// draws' times has that deviation.
func TestHandOverDrawn(t *testing.T) {
	const n = 1000
	b := newBench(t, strings.Replace(withDevices(star(1)), "250us", "5000s", 1), 1)
	b.setKernels(t, "version: 1\nunit: s\nnetwork_error: 50%\nkernels: {k: {terms: {N: 1}}}\n", "k")
	b.header.Queues = []string{"a"}
	list := []trace.Action{flagged(launched(0, 1), trace.FlagParts, 1), verb(trace.QueueTake, 0), verb(trace.QueueGive, 0)}
	squares := 0.0
	for seed := range uint64(n) {
		m, o := replay.Drawn(b.Machine, replay.DefaultOptions(), seed)
		r, err := replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{append(list, verb(trace.QueueSync, 0))}), m, o)
		noError(t, err)
		log := math.Log((r.Makespan - 1.001) / 10000)
		squares += log * log
	}
	if sd := math.Sqrt(squares / n); math.Abs(sd/0.5-1) > 6/math.Sqrt(2*n) {
		t.Errorf("a deviation of %g, want 0.5", sd)
	}
}

// TestDeviceStates: two launches that overlap, the first 1 ms later than the rank's begin, run for 4.001 s; then the rank
// waits for a message, which comes 0.999 s and its transfer later, launches once more and ends.
func TestDeviceStates(t *testing.T) {
	b := newBench(t, withDevices(star(2)), 2)
	b.setKernels(t, "version: 1\nunit: s\nkernels: {k: {terms: {N: 1}}}\n", "k")
	b.header.Queues = []string{"a", "b"}
	res := b.run(t, []trace.Action{launched(0, 2), sleep(1), launched(1, 3), verb(trace.QueueSyncAll, 0), recv(1, 7, 1e6), launched(0, 9)},
		[]trace.Action{sleep(5), send(0, 7, 1e6)})
	arrived := 5 + starLatency + (1e6+envelope)/starBandwidth
	for i, want := range []replay.Share{{Name: "busy", Max: 4.001}, {Name: "waits for messages", Max: arrived - 4.002}, {Name: "waits for the host", Max: 5}} {
		got := res.DeviceStates[i]
		if i == 2 { // of rank 1, which has no kernels; rank 0 has launched twice without anything that runs
			near(t, "launches", got.Min, 0.002)
		}
		if got.Name != want.Name {
			t.Errorf("state %d: %s, want %s", i, got.Name, want.Name)
		}
		near(t, want.Name, got.Max, want.Max)
	}
	sum, end := 0.0, 0.0
	for _, s := range res.DeviceStates {
		sum += s.Mean
	}
	for _, s := range res.Kinds {
		end += s.Mean
	}
	near(t, "all", sum, end)
	near(t, "all kinds", end, (res.Ranks[0].End+res.Ranks[1].End)/2)
}

// TestQueued: observers are told of what runs in queues, parts of kernels one by one.
func TestQueued(t *testing.T) {
	b := newBench(t, withDevices(star(1)), 1)
	b.setKernels(t, "version: 1\nunit: s\nkernels: {k: {terms: {N: 1}}}\n", "k")
	b.header.Queues, b.header.Events = []string{"a", "b"}, []string{"e"}
	take, give := verb(trace.QueueTake, 0), verb(trace.QueueGive, 0)
	var got []string
	b.Options.Observers = []replay.Observer{{Queued: func(rank, queue, kernel int32, from, to float64) {
		got = append(got, fmt.Sprintf("%d %d %d %.5f %.5f", rank, queue, kernel, from, to))
	}}}
	// Launches are there at 1, 2 and 3 ms. The parts begin behind the 7 s of queue 0; the second one when the host, which
	// sees the end of the first at 8.00125, has said so 0.25 ms later.
	b.run(t, []trace.Action{launched(0, 5), launched(1, 4), launched(0, 2), flagged(launched(0, 2), trace.FlagParts, 2), take, give, take, give})
	want := []string{"0 0 0 0.00100 5.00100", "0 1 0 0.00200 4.00200", "0 0 0 5.00100 7.00100", "0 0 0 7.00100 8.00100", "0 0 0 8.00150 9.00150"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Actions that a device cannot do are errors, and so is a machine without devices.
func TestQueueErrors(t *testing.T) {
	const seconds, flop = "version: 1\nunit: s\nkernels: {k: {terms: {N: 1}}}\n", "version: 1\nunit: flop\nkernels: {k: {terms: {N: 1}}}\n"
	parts := flagged(launched(0, 3), trace.FlagParts, 3)
	for _, c := range []struct {
		xml, kernels, want string
		list               []trace.Action
	}{
		{star(1), seconds, "host n0 has no device, and the trace puts kernels into queues of one: want the properties device_launch and device_latency", nil},
		{strings.Replace(withDevices(star(1)), "1ms", "fast", 1), seconds, `test.xml:1: device_launch "fast"`, nil},
		{withDevices(star(1)), flop, "the model of k is in flop", []trace.Action{launched(0, 1)}},
		{withDevices(star(1)), seconds, "behind a launch of which 3 parts have not ended", []trace.Action{parts, launched(0, 1)}},
		{withDevices(star(1)), seconds, "no launch in parts runs", []trace.Action{verb(trace.QueueTake, 0)}},
		{withDevices(star(1)), seconds, "leaf-to-device without leaf-to-host before it", []trace.Action{parts, verb(trace.QueueGive, 0)}},
	} {
		b := newBench(t, c.xml, 1)
		b.setKernels(t, c.kernels, "k")
		b.header.Queues, b.header.Events = []string{"a", "b"}, []string{"e"}
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{c.list}), b.Machine, b.Options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

// deviceKernels gives each kernel a time of its own; deviceSeconds is the same for lines of recordings.
const deviceKernels = `version: 1
unit: s
kernels: {"*": 5e-4, dgemm: 3.1e-3, dtrsm: 1.7e-3, "dlaswp*": 9e-4, "pdpan*": 5e-3, "copy*": 2e-4, "host *": 4e-4}
`

func deviceSeconds(kernel string) float64 {
	for _, k := range []struct {
		prefix  string
		seconds float64
	}{{"dgemm", 3.1e-3}, {"dtrsm", 1.7e-3}, {"dlaswp", 9e-4}, {"pdpan", 5e-3}, {"copy", 2e-4}} {
		if strings.HasPrefix(kernel, k.prefix) {
			return k.seconds
		}
	}
	return 5e-4
}

// plainRank is a rank of the plain implementation, which goes through the lines of its recording.
type plainRank struct {
	lines    []string
	clock    float64
	queues   map[string]float64
	events   map[string]float64
	parts    float64 // seconds of a part
	left     int64
	expected map[string][]int // receives begun, by peer, tag and communicator: their numbers in the channel
}

// plainRun plays recorded lines by list scheduling, on a network that takes no time, and returns when each rank ends.
// Its rules are those of docs/trace-format.md 4.5.
func plainRun(t *testing.T, files []string) []float64 {
	const launch, latency = 1e-3, 0.25e-3
	sent := map[string][]float64{} // by sender, receiver, tag and communicator
	taken := map[string]int{}
	ranks := make([]*plainRank, len(files))
	for r, text := range files {
		ranks[r] = &plainRank{lines: strings.Split(strings.TrimSpace(text), "\n"), queues: map[string]float64{},
			events: map[string]float64{}, expected: map[string][]int{}}
	}
	number := func(s string) int64 { return tracetest.Must(strconv.ParseInt(s, 10, 64)) }
	for moved := true; moved; {
		moved = false
		for r, rk := range ranks {
			send := func(peer, tag, comm string) {
				key := fmt.Sprint(r, ">", peer, tag, comm)
				sent[key] = append(sent[key], rk.clock)
			}
			// receive takes message n of a channel, or reports that it is not there yet.
			key := func(peer, tag, comm string) string { return fmt.Sprint(peer, ">", r, tag, comm) }
			receive := func(key string, n int) bool {
				if n >= len(sent[key]) {
					return false
				}
				rk.clock = max(rk.clock, sent[key][n])
				return true
			}
			for len(rk.lines) > 0 {
				f := strings.Fields(rk.lines[0])
				over := true
				switch f[0] {
				case "launch", "copy":
					rk.clock += launch
					name, sizes := "copy", f[2:]
					if f[0] == "launch" {
						name, sizes = f[2], f[3:]
					}
					if slices.Contains(sizes, "0") {
						break
					}
					seconds, q := deviceSeconds(name), f[1]
					if strings.HasPrefix(name, "pdpan") {
						rk.left = number(f[len(f)-1])
						rk.parts = seconds / float64(rk.left)
						seconds = rk.parts
					}
					rk.queues[q] = max(rk.queues[q], rk.clock) + seconds
				case "record":
					rk.events[f[1]] = rk.queues[f[2]]
				case "sync-event":
					rk.clock = max(rk.clock, rk.events[f[1]])
				case "sync-stream":
					rk.clock = max(rk.clock, rk.queues[f[1]])
				case "sync-device":
					rk.clock = max(rk.clock, rk.queues["compute"], rk.queues["data"])
				case "leaf-to-host":
					rk.clock = max(rk.clock, rk.queues["compute"]+latency)
				case "leaf-to-device":
					rk.queues["compute"] = rk.clock + latency
					if rk.left--; rk.left > 0 {
						rk.queues["compute"] += rk.parts
					}
				case "send", "isend":
					send(f[1], f[3], f[4])
				case "recv":
					k := key(f[1], f[3], f[4])
					if over = receive(k, taken[k]); over {
						taken[k]++
					}
				case "sendrecv": // the half that sends is done once
					k := key(f[1], f[4], f[5])
					if rk.expected["sendrecv"] == nil {
						send(f[1], f[4], f[5])
						rk.expected["sendrecv"] = []int{0}
					}
					if over = receive(k, taken[k]); over {
						taken[k]++
						rk.expected["sendrecv"] = nil
					}
				case "irecv":
					k := key(f[1], f[3], f[4])
					rk.expected[k] = append(rk.expected[k], taken[k])
					taken[k]++
				case "wait", "waitany":
					if f[1] == "recv" {
						k := key(f[2], f[4], f[5])
						if over = receive(k, rk.expected[k][0]); over {
							rk.expected[k] = rk.expected[k][1:]
						}
					}
				case "bcast": // all but the root have it from there
					if strconv.Itoa(r) == f[1] {
						send("all", "", "")
					} else {
						over = receive(f[1]+">all", 0)
					}
				case "waitall", "begin", "end", "panel", "#":
				default:
					t.Fatalf("line %q", rk.lines[0])
				}
				if !over {
					break
				}
				rk.lines, moved = rk.lines[1:], true
			}
		}
	}
	var ends []float64
	for r, rk := range ranks {
		if len(rk.lines) > 0 {
			t.Fatalf("rank %d waits at %q", r, rk.lines[0])
		}
		ends = append(ends, rk.clock)
	}
	return ends
}

// Replays of rocHPL, in which each kernel has a given time and messages take none, end as the plain implementation
// says of the recorded lines.
func TestQueuesOfRocHPL(t *testing.T) {
	names, err := filepath.Glob("../testdata/oracle/rochpl/*.zip")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recorded runs: %v", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			z := tracetest.Must(zip.OpenReader(name))
			defer z.Close()
			var c struct {
				N, NB, P, Q, NBMin, NDiv int
				PMap, PFact, RFact, L1   string
				Bcast                    int `json:"bcast_code"`
				Frac                     float64
				NodeGrid                 [2]int `json:"node_grid"`
			}
			noError(t, json.Unmarshal(tracetest.Must(fs.ReadFile(z, "case.json")), &c))
			p := hpl.DefaultParams(c.N, c.P, c.Q)
			p.UseVariant(hpl.RocHPL)
			p.NB, p.NBMin, p.NDiv, p.Frac, p.Node = c.NB, c.NBMin, c.NDiv, c.Frac, tracegen.Pair{Rows: c.NodeGrid[0], Cols: c.NodeGrid[1]}
			for name, value := range map[string]string{"PMAP": c.PMap, "PFACT": c.PFact, "RFACT": c.RFact, "L1": c.L1,
				"BCAST": hpl.RocHPL.Known("BCAST", strconv.Itoa(c.Bcast))} {
				noError(t, p.Set(name, value))
			}
			rows := tracetest.Must(hpl.ReadPivots(bytes.NewReader(tracetest.Must(fs.ReadFile(z, "pivots.txt"))), "pivots.txt", c.N))
			p.Pivots = hpl.Pivots{Kind: hpl.GivenPivots, Rows: rows}
			var text bytes.Buffer
			noError(t, hpl.Generate(t.Context(), &text, p, hpl.Options{}))

			ranks := c.P * c.Q
			var files []string
			for r := range ranks {
				files = append(files, string(tracetest.Must(fs.ReadFile(z, fmt.Sprintf("rank-%d.txt", r)))))
			}
			want := plainRun(t, files)
			xml := strings.NewReplacer("125MBps", "1e12GBps", `lat="50us"`, `lat="0"`).Replace(withDevices(star(ranks)))
			b := newBench(t, xml, ranks)
			b.set(t, "smpi/async-small-thresh:1000000000", "smpi/send-is-detached-thresh:1000000000")
			b.setKernels(t, deviceKernels)
			res, err := replay.Run(t.Context(), tracetest.Open(t, text.Bytes()), b.Machine, b.Options)
			noError(t, err)
			for r, end := range want {
				if got := res.Ranks[r].End; math.Abs(got-end) > 1e-9*end {
					t.Errorf("rank %d ends at %.12g, want %.12g", r, got, end)
				}
			}
		})
	}
}
