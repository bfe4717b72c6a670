package record

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/report/typedarray"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bench is a machine with options and what to play on it.
type bench struct {
	Options
	play func(t testing.TB, o replay.Options) (*replay.Result, error)
}

// newBench returns a bench of a platform, whose hosts take so many ranks each. All factors
// are 1, nothing costs the ranks time, and flows do not load the way back.
func newBench(t testing.TB, xml string, ranks, perHost int, options ...string) *bench {
	t.Helper()
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	noError(t, err)
	b := &bench{Options: Options{Header: &trace.Header{Ranks: ranks}, Machine: replay.Machine{Platform: p}, Replay: replay.DefaultOptions()}}
	b.Machine.Hosts, err = replay.FillHosts(p, ranks, perHost)
	noError(t, err)
	plain := []string{"smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "smpi/iprobe:0", "smpi/test:0", "smpi/grow-injected-times:no", "network/crosstraffic:no"}
	for _, option := range append(plain, options...) {
		name, value, _ := strings.Cut(option, ":")
		noError(t, b.Replay.Network.Set(name, value))
	}
	return b
}

// lists has the bench play lists of actions.
func (b *bench) lists(lists ...[]trace.Action) *bench {
	b.play = func(t testing.TB, o replay.Options) (*replay.Result, error) {
		return replay.RunSource(t.Context(), b.Header, replay.NewLists(lists), b.Machine, o)
	}
	return b
}

// file has the bench play a trace.
func (b *bench) file(t testing.TB, file []byte) *bench {
	t.Helper()
	open := func() (*trace.Trace, error) {
		return trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), "test")
	}
	tr, err := open()
	noError(t, err)
	defer tr.Close()
	b.Header = tr.Header()
	b.play = func(t testing.TB, o replay.Options) (*replay.Result, error) {
		tr, err := open()
		if err != nil {
			return nil, err
		}
		defer tr.Close()
		return replay.Run(t.Context(), tr, b.Machine, o)
	}
	return b
}

// cluster is one switch with n hosts, 125 MB/s and 50 us a link.
func cluster(n int) string {
	return fmt.Sprintf(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="%gBps" lat="%gs"/></platform>`,
		n-1, bandwidth, latency/2)
}

const (
	latency   = 1e-4 // of a route of two links, seconds
	bandwidth = 125e6
	envelope  = 16 // bytes that a message carries besides its own
)

// hplBench returns a bench with HPL for 16 ranks, in 16 steps.
func hplBench(t testing.TB, perHost int, options ...string) *bench {
	t.Helper()
	p := hpl.DefaultParams(600, 4, 4)
	p.NB, p.Depth, p.Bcast = 40, 1, hpl.TwoRing
	var file bytes.Buffer
	noError(t, hpl.Generate(t.Context(), &file, p, hpl.Options{}))
	b := newBench(t, cluster(16/perHost), 16, perHost, options...)
	b.kernels(t, "dgemm: {terms: {M*N*K: 1e-9}}", "dtrsm: {terms: {M*N*N: 1e-9}}", `"*": free`)
	return b.file(t, file.Bytes())
}

// kernels gives the bench models of kernels.
func (b *bench) kernels(t testing.TB, models ...string) {
	t.Helper()
	set, err := kernels.Parse(strings.NewReader("version: 1\nunit: s\nkernels:\n  "+strings.Join(models, "\n  ")), "test.yaml")
	noError(t, err)
	b.Machine.Kernels = set
}

// recorder returns a recorder of what the bench plays.
func (b *bench) recorder() *Recorder { return New(b.Options) }

// record plays and records, with other observers if there are some.
func (b *bench) record(t testing.TB, others ...replay.Observer) (*replay.Result, *Recorder, *Data) {
	t.Helper()
	r := b.recorder()
	b.Replay.Observers = append([]replay.Observer{r.Observer()}, others...)
	res, err := b.play(t, b.Replay)
	noError(t, err)
	return res, r, dataOf(t, r)
}

func dataOf(t testing.TB, r *Recorder) *Data {
	t.Helper()
	d, err := r.Data()
	noError(t, err)
	return d
}

// checkSums compares what a recorder has summed up with a result.
func checkSums(t *testing.T, r *Recorder, d *Data, res *replay.Result) {
	t.Helper()
	names := r.sums.names(r.header)
	got := make([]map[string]float64, 3)
	for i := range got {
		got[i] = map[string]float64{}
	}
	for row, name := range names {
		for _, c := range r.columns.list {
			got[groupOf(r, row)][name] += c.rows[row].sum / float64(len(r.ranks))
		}
	}
	for i, want := range [][]replay.Share{res.Kinds, res.Kernels, res.Phases} {
		for _, s := range want {
			if diff := math.Abs(got[i][s.Name] - s.Mean); !(diff <= 1e-9*res.Makespan) {
				t.Errorf("%s: %v s in all columns, want %v", s.Name, got[i][s.Name], s.Mean)
			}
			delete(got[i], s.Name)
		}
		for name, v := range got[i] {
			if v != 0 {
				t.Errorf("%s: %v s in all columns, want none", name, v)
			}
		}
	}
	checkSeries(t, d, res)
}

func groupOf(r *Recorder, row int) int {
	switch {
	case row < numKinds:
		return 0
	case row < numKinds+r.sums.kernels:
		return 1
	}
	return 2
}

// checkSeries compares the curves, which are of 24 bits, with a result.
func checkSeries(t *testing.T, d *Data, res *replay.Result) {
	t.Helper()
	values := float32sOf(t, d.Series.Values)
	names := append(append(append([]string{}, d.Series.Kinds...), d.Series.Kernels...), d.Series.Phases...)
	if len(values) != 3*len(names)*d.Columns.Count {
		t.Fatalf("%d values of %d rows of %d columns", len(values), len(names), d.Columns.Count)
	}
	shares := append(append(append([]replay.Share{}, res.Kinds...), res.Kernels...), res.Phases...)
	if len(shares) != len(names) {
		t.Fatalf("rows %q, want %d", names, len(shares))
	}
	for row, name := range names {
		sum, n := 0.0, d.Columns.Count
		for i := range n {
			mean, least, most := values[3*row*n+i], values[(3*row+1)*n+i], values[(3*row+2)*n+i]
			if sum += float64(mean); least > mean*(1+1e-6) || mean > most*(1+1e-6) {
				t.Errorf("%s in column %d: mean %v, least %v, most %v s", name, i, mean, least, most)
			}
		}
		if want := shares[row]; name != want.Name || math.Abs(sum-want.Mean) > 1e-6*res.Makespan {
			t.Errorf("row %d is %s with %v s, want %s with %v s", row, name, sum, want.Name, want.Mean)
		}
	}
}

// arrivals counts the messages that arrive.
type arrivals struct {
	sizes           map[int32]int64 // by message
	carried         map[int32]bool  // what no network carries, as the grant of a lock on a rank's own memory, is no message
	messages, bytes int64
}

// all are the messages of a replay that has come to its end.
func all(res *replay.Result) *arrivals { return &arrivals{messages: res.Messages, bytes: res.Bytes} }

func newArrivals() *arrivals { return &arrivals{sizes: map[int32]int64{}, carried: map[int32]bool{}} }

func (a *arrivals) observer() replay.Observer {
	return replay.Observer{
		SendPosted: func(message, src, dst, tag int32, bytes int64, at float64) {
			a.sizes[message] = bytes
			delete(a.carried, message)
		},
		Carried: func(message int32, from, to, rate, alone float64, link int32) { a.carried[message] = true },
		Ended: func(message int32, at float64) {
			if a.carried[message] {
				a.messages++
				a.bytes += a.sizes[message]
			}
		},
	}
}

// checkTraffic compares who has sent what to whom with what has arrived.
func checkTraffic(t *testing.T, d *Data, arrived *arrivals) {
	t.Helper()
	for _, m := range d.Communication {
		bytes, messages := 0.0, 0.0
		for i, v := range float32sOf(t, m.Bytes) {
			bytes += float64(v)
			messages += float64(float32sOf(t, m.Number)[i])
		}
		if messages != float64(arrived.messages) || math.Abs(bytes-float64(arrived.bytes)) > 1e-6*bytes {
			t.Errorf("by %s: %v messages with %v bytes, want %d with %d", m.By, messages, bytes, arrived.messages, arrived.bytes)
		}
	}
}

func float64sOf(b typedarray.Bytes) []float64 {
	values, err := typedarray.Values[float64](b)
	if err != nil {
		panic(err)
	}
	return values
}

func float32sOf(t testing.TB, b typedarray.Bytes) []float32 {
	t.Helper()
	values, err := typedarray.Values[float32](b)
	noError(t, err)
	return values
}

// near fails unless got is want but for a part in so many.
func near(t testing.TB, what string, got, want, part float64) {
	t.Helper()
	if !(math.Abs(got-want) <= part*math.Abs(want)) {
		t.Errorf("%s: %.9g, want %.9g", what, got, want)
	}
}

// Actions.

func send(peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindSend, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func recv(peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindRecv, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func irecv(req, peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindIrecv, Req: req, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func wait(req int32) trace.Action { return trace.Action{Kind: trace.KindWait, Req: req} }

func sleep(seconds float64) trace.Action {
	return trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(seconds)}}
}

func flops(seconds float64) trace.Action {
	return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9 * seconds)}}
}

func step(number int64) trace.Action {
	return trace.Action{Kind: trace.KindStep, X: [4]int64{number}}
}

func phase(number uint16, end bool) trace.Action {
	a := trace.Action{Kind: trace.KindPhase, Sym: number}
	if end {
		a.Flags = trace.FlagEnd
	}
	return a
}
