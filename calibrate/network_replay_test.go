package calibrate_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/calibrate"
	"reprise/calibrate/table"
	"reprise/replay"
	"reprise/tracegen/simgrid"
)

// trueMachine is two hosts of four cores whose messages are eager below 4096 bytes and wait from 16384 bytes on.
const trueMachine = `<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config id="General">
    <prop id="smpi/async-small-thresh" value="4096"/>
    <prop id="smpi/send-is-detached-thresh" value="16384"/>
    <prop id="smpi/os" value="0:2e-7:2e-11;16383:0:0"/>
    <prop id="smpi/ois" value="0:1.5e-7:1e-12"/>
    <prop id="smpi/or" value="0:3e-7:3e-11;16383:0:0"/>
    <prop id="smpi/bw-factor" value="0:0.4;16399:0.8"/>
    <prop id="smpi/lat-factor" value="0:1;16399:3"/>
    <prop id="network/crosstraffic" value="no"/>
    <prop id="network/weight-S" value="0"/>
  </config>
  <cluster id="node" prefix="node-" suffix="" radical="0-1" speed="1Gf" core="4" bw="3e9Bps" lat="1us"
           bb_bw="1e9Bps" bb_lat="0s" bb_sharing_policy="FATPIPE"/>
</platform>
`

// played is what a benchmark measures: each rank's actions, the rank whose end is looked at, and from when on.
type played struct {
	actions [][]string
	rank    int
	since   float64
}

// operationsOn returns what calibrate measure network does with messages of so many bytes.
func operationsOn(bytes int64) map[calibrate.Operation]played {
	late := 5e-5 + 4*(1e-5+float64(bytes)/2e8)
	sleep := fmt.Sprintf("sleep %g", late)
	send, recv, isend, irecv := fmt.Sprintf("send 1 0 %d", bytes), fmt.Sprintf("recv 0 0 %d", bytes), fmt.Sprintf("isend 1 0 %d", bytes), fmt.Sprintf("irecv 0 0 %d", bytes)
	back, answer := fmt.Sprintf("send 0 0 %d", bytes), fmt.Sprintf("recv 1 0 %d", bytes)
	list := map[calibrate.Operation]played{
		calibrate.Send:     {actions: [][]string{{send}, {irecv, "waitall"}}},
		calibrate.SendLate: {actions: [][]string{{send}, {sleep, recv}}},
		calibrate.Recv:     {actions: [][]string{{send}, {sleep, recv}}, rank: 1, since: late},
		calibrate.PingPong: {actions: [][]string{{send, answer}, {recv, back}}},
		calibrate.Exchange: {actions: [][]string{{fmt.Sprintf("irecv 1 0 %d", bytes), isend, "waitall"}, {irecv, fmt.Sprintf("isend 0 0 %d", bytes), "waitall"}}},
	}
	if bytes < 16384 { // or the end is that of the transfer
		list[calibrate.Isend] = played{actions: [][]string{{isend}, {irecv, "waitall"}}}
	}
	return list
}

// play returns the time of an operation that so many pairs of ranks on two hosts do at the same time.
func play(t *testing.T, platform string, p played, pairs int) float64 {
	t.Helper()
	return playBetween(t, platform, p, pairs, "nodes")
}

// playBetween plays an operation between ranks on two hosts (nodes) or on one (cores).
func playBetween(t *testing.T, platform string, p played, pairs int, between string) float64 {
	t.Helper()
	dir := t.TempDir()
	var index, hosts strings.Builder
	for side, actions := range p.actions {
		for i := range pairs {
			rank, peer := side*pairs+i, (1-side)*pairs+i
			var text strings.Builder
			fmt.Fprintf(&text, "%d init\n", rank)
			for _, a := range actions {
				if fields := strings.Fields(a); len(fields) == 4 {
					a = fmt.Sprintf("%s %d %s %s", fields[0], peer, fields[2], fields[3])
				}
				fmt.Fprintf(&text, "%d %s\n", rank, a)
			}
			fmt.Fprintf(&text, "%d finalize\n", rank)
			name := fmt.Sprintf("rank-%d.txt", rank)
			write(t, filepath.Join(dir, name), text.String())
			fmt.Fprintln(&index, filepath.Join(dir, name))
			host := side
			if between == "cores" {
				host = 0
			}
			fmt.Fprintf(&hosts, "node-%d\n", host)
		}
	}
	write(t, filepath.Join(dir, "index"), index.String())
	write(t, filepath.Join(dir, "hosts"), hosts.String())
	source, err := simgrid.Open(filepath.Join(dir, "index"), "")
	must(t, err)
	machine, options, _, err := replay.LoadMachine(replay.MachineSpec{Platform: platform, Hostfile: filepath.Join(dir, "hosts")}, source)
	must(t, err)
	result, err := replay.RunSource(context.Background(), source.Header(), source, machine, options)
	must(t, err)
	return result.Ranks[p.rank*pairs].End - p.since
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// benchmarkSizes are 60 sizes up to 4 MiB, uniform in their logarithm.
func benchmarkSizes() (list []int64) {
	for i := range 60 {
		list = append(list, int64(math.Round(math.Exp(float64(i)/59*math.Log(4<<20)))))
	}
	return slices.Compact(list)
}

// TestReplayedBenchmark: of a machine on which the replay plays what calibrate measure network does, with
// noise of 2 % on each timing, the model comes back: coefficients within four of their standard errors,
// thresholds between the sizes about them, and the platform that is written takes as long for all of it.
func TestReplayedBenchmark(t *testing.T) {
	if testing.Short() {
		t.Skip("some thousand replays")
	}
	platform := filepath.Join(t.TempDir(), "true.xml")
	write(t, platform, trueMachine)
	noise := rand.New(rand.NewPCG(35, 2))
	var text strings.Builder
	text.WriteString("operation,bytes,seconds,between,pairs\n")
	for _, bytes := range benchmarkSizes() {
		list := operationsOn(bytes)
		for _, op := range calibrate.Operations() {
			for _, pairs := range []int{1, 2, 4} {
				p, ok := list[op]
				if !ok || pairs > 1 && (op != calibrate.PingPong || bytes < 32768) {
					continue
				}
				seconds := play(t, platform, p, pairs)
				for range 10 {
					fmt.Fprintf(&text, "%s,%d,%.17g,nodes,%d\n", op, bytes, seconds*math.Exp(0.02*noise.NormFloat64()), pairs)
				}
			}
		}
	}
	report := fitTable(t, text.String())
	checkReplayed(t, report)
	var file bytes.Buffer
	must(t, report.WriteXML(&file, calibrate.Machine{Name: "node", Hosts: 2, Cores: 4, Speed: "1Gf"}))
	// What no timing can say: a rule of sharing that is no part of a calibration.
	fitted := strings.Replace(file.String(), `<config id="General">`, `<config id="General"><prop id="network/weight-S" value="0"/>`, 1)
	again := filepath.Join(t.TempDir(), "fitted.xml")
	write(t, again, fitted)
	worst := 0.0
	for i, bytes := range benchmarkSizes() {
		if i%3 > 0 || bytes > 3300 && bytes < 4097 || bytes > 13000 && bytes < 16385 { // between a threshold and the size before it
			continue
		}
		for op, p := range operationsOn(bytes) {
			want, got := play(t, platform, p, 1), play(t, again, p, 1)
			if worst = max(worst, math.Abs(got/want-1)); math.Abs(got/want-1) > 0.02 {
				t.Errorf("%s of %d bytes: %g s on the fitted machine, %g on the true one", op, bytes, got, want)
			}
		}
	}
	t.Logf("largest relative difference of an operation on the fitted machine: %.4f", worst)
}

func newTable(t *testing.T, text string) *table.Reader {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), "t.csv")
	must(t, err)
	return r
}

func fitTable(t *testing.T, text string) *calibrate.NetworkReport {
	t.Helper()
	m := calibrate.NewMessages()
	must(t, m.Read(newTable(t, text), calibrate.MessageOptions{}))
	report, err := calibrate.FitNetwork(m, calibrate.DefaultNetworkOptions())
	must(t, err)
	return report
}

// checkReplayed compares a report with trueMachine.
func checkReplayed(t *testing.T, r *calibrate.NetworkReport) {
	t.Helper()
	for _, th := range r.Thresholds {
		want := map[string]float64{"smpi/async-small-thresh": 4096, "smpi/send-is-detached-thresh": 16384}[th.Name]
		if !th.Found || th.Below >= want || th.Above < want {
			t.Errorf("%+v, want one between sizes about %g", th, want)
		}
	}
	within := func(what string, got, deviation, want float64) {
		t.Helper()
		if math.Abs(got-want) > 4*deviation || deviation > 0.05*want {
			t.Errorf("%s: %g with a standard error of %g, want %g", what, got, deviation, want)
		}
	}
	for _, op := range r.Operations {
		p := op.Pieces[0]
		switch op.Operation {
		case calibrate.Send:
			within("os", p.Intercept, p.InterceptError, 2e-7)
			within("os per byte", p.Slope, p.SlopeError, 2e-11)
		case calibrate.Isend:
			within("ois", p.Intercept, p.InterceptError, 1.5e-7)
		}
	}
	first, last := r.Transfers[0], r.Transfers[len(r.Transfers)-1]
	within("latency of small messages", first.Intercept, first.InterceptError, 2e-6)
	within("seconds per byte of small messages", first.Slope, first.SlopeError, 1/0.4e9)
	within("latency of large messages", last.Intercept, last.InterceptError, 6e-6)
	within("seconds per byte of large messages", last.Slope, last.SlopeError, 1/0.8e9)
	if len(r.Sharing) != 1 || !r.Sharing[0].Shared || !r.Sharing[0].Duplex {
		t.Fatalf("sharing %+v, want a shared cable of two ways", r.Sharing)
	}
	// Four messages of 1e9 byte/s share 3e9; bandwidths are relative to 0.8e9, that of large messages.
	s := r.Sharing[0]
	within("capacity", s.Capacity, s.Error+0.01*s.Capacity, 3e9*0.8*s.Single/0.8e9)
}

// TestReplayedPingPong: a ping-pong takes in a replay what was timed, 2(L + (s+16)/B), on a network of more
// bandwidth times latency than the window of a replay's TCP, and where messages that cross share a cable or a
// memory: what the acknowledgements take is in the timings. An exchange then takes as long as a ping-pong.
// Pairs that take so many times as long as one take as long in a replay.
func TestReplayedPingPong(t *testing.T) {
	for _, test := range []struct {
		name               string
		between            string
		latency, bandwidth float64
		crossing           float64 // how many times as long an exchange takes as a message; 0: it was not timed
		pairs              float64 // the same of the bytes of eight pairs
	}{
		{"far away", "nodes", 5e-3, 1.25e9, 0, 0},
		{"one cable for both ways", "nodes", 1e-5, 1e9, 2, 0},
		{"a cable for each way", "nodes", 1e-5, 1e9, 1, 8},
		{"a cable that eight do not fill", "nodes", 1e-5, 1e9, 1, 1},
		{"a cable that carries four", "nodes", 1e-5, 1e9, 1, 2},
		{"memory that all share", "cores", 1e-6, 1e9, 2, 0},
		{"memory of which each has its own", "cores", 1e-6, 1e9, 1, 1},
	} {
		oneWay := func(s int64) float64 { return test.latency + float64(s+16)/test.bandwidth }
		var text strings.Builder
		together := func(s int64, times float64) float64 {
			return test.latency + times*float64(s+16)/test.bandwidth
		}
		text.WriteString("operation,bytes,seconds,between,pairs\n")
		for _, s := range benchmarkSizes() {
			fmt.Fprintf(&text, "pingpong,%d,%.17g,%s,1\n", s, 2*oneWay(s), test.between)
			if test.crossing > 0 {
				fmt.Fprintf(&text, "exchange,%d,%.17g,%s,1\n", s, together(s, test.crossing), test.between)
			}
			if test.pairs > 0 {
				fmt.Fprintf(&text, "pingpong,%d,%.17g,%s,8\n", s, 2*together(s, test.pairs), test.between)
			}
		}
		report, path := fitTable(t, text.String()), filepath.Join(t.TempDir(), "fitted.xml")
		machine := calibrate.Machine{Name: "node", Hosts: 2, Cores: 16, Speed: "1Gf"}
		if test.between == "cores" {
			machine.Hosts = 1
		}
		var file bytes.Buffer
		must(t, report.WriteXML(&file, machine))
		write(t, path, file.String())
		for _, s := range []int64{1000, 100_000, 4_000_000} {
			list := operationsOn(s)
			check := func(op calibrate.Operation, pairs int, want float64) {
				if got := playBetween(t, path, list[op], pairs, test.between); math.Abs(got/want-1) > 1e-3 {
					t.Errorf("%s: %s of %d bytes of %d pairs takes %g s, want %g", test.name, op, s, pairs, got, want)
				}
			}
			check(calibrate.PingPong, 1, 2*oneWay(s))
			if test.crossing > 0 {
				check(calibrate.Exchange, 1, together(s, test.crossing))
			}
			if test.pairs > 0 {
				check(calibrate.PingPong, 8, 2*together(s, test.pairs))
			}
		}
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
