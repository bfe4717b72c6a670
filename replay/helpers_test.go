package replay_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

// star is one switch with n hosts, 125 MB/s and 50 us a link, so 100 us between
// two hosts.
func star(n int) string {
	return fmt.Sprintf(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="125MBps" lat="50us"/></platform>`, n-1)
}

const (
	starLatency   = 1e-4
	starBandwidth = 125e6
	envelope      = 16 // bytes that a message carries besides its own
)

// bench is a machine with options, on which tests put lists of actions.
type bench struct {
	replay.Machine
	replay.Options
	header trace.Header
}

// newBench returns a bench of the given platform, one rank per host, where all
// factors are 1, nothing costs the ranks time, and flows do not load the way back.
func newBench(t testing.TB, xml string, ranks int) *bench {
	t.Helper()
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	noError(t, err)
	b := &bench{Machine: replay.Machine{Platform: p}, Options: replay.DefaultOptions(), header: trace.Header{Ranks: ranks}}
	b.Hosts, err = replay.FillHosts(p, ranks, 1)
	noError(t, err)
	b.set(t, "smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "smpi/iprobe:0", "smpi/test:0", "smpi/grow-injected-times:no", "network/crosstraffic:no")
	return b
}

func (b *bench) set(t testing.TB, options ...string) {
	t.Helper()
	for _, o := range options {
		name, value, _ := strings.Cut(o, ":")
		noError(t, b.Network.Set(name, value))
	}
}

// setKernels gives the bench kernels by name, each with the dimension N.
func (b *bench) setKernels(t testing.TB, yaml string, names ...string) {
	t.Helper()
	set, err := kernels.Parse(strings.NewReader(yaml), "test.yaml")
	noError(t, err)
	b.Kernels = set
	for _, n := range names {
		b.header.Kernels = append(b.header.Kernels, trace.Kernel{Name: n, Dims: []trace.Dim{{Name: "N"}}})
	}
}

func (b *bench) run(t testing.TB, lists ...[]trace.Action) *replay.Result {
	t.Helper()
	res, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, b.Options)
	noError(t, err)
	return res
}

// Actions.

func send(peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindSend, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func recv(peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindRecv, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func isend(req, peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindIsend, Req: req, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func irecv(req, peer, tag int32, bytes int64) trace.Action {
	return trace.Action{Kind: trace.KindIrecv, Req: req, Peer: peer, Tag: tag, X: [4]int64{bytes}}
}

func wait(req int32) trace.Action { return trace.Action{Kind: trace.KindWait, Req: req} }

func sleep(seconds float64) trace.Action {
	return trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(seconds)}}
}

func compute(kernel uint16, n int64) trace.Action {
	return trace.Action{Kind: trace.KindCompute, Sym: kernel, X: [4]int64{n}}
}

func poll(peer, tag int32, spin bool) trace.Action {
	a := trace.Action{Kind: trace.KindPoll, Peer: peer, Tag: tag}
	if spin {
		a.Flags = trace.FlagSpin
	}
	return a
}

// near fails unless got is want to 12 digits: what arithmetic in another order
// may change.
func near(t testing.TB, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12*math.Abs(want) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	noError(t, err)
	return string(text)
}

// noError ends a test at an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
