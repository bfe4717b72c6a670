package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/calibrate/table"
	"reprise/netmodel"
	"reprise/trace/warning"
)

func readMessages(m *Messages, text string, o MessageOptions) error {
	r, err := table.NewReader(strings.NewReader(text), "t.csv")
	if err != nil {
		return err
	}
	return m.Read(r, o)
}

func newMessages(t *testing.T, text string) *Messages {
	t.Helper()
	m := NewMessages()
	must(t, readMessages(m, text, MessageOptions{}))
	return m
}

// exactTable has timings by os = 1e-6 + 1e-10 s, ois = 5e-7, or = 2e-6 + 3e-10 s up to 60000
// bytes and nothing above, and a network of 1e-5 + 1e-9 s up to 60000 bytes, 3e-5 + 5e-10 s above.
func exactTable() string {
	var b strings.Builder
	b.WriteString("operation,bytes,seconds\n")
	for size := 10.0; size < 1e7; size *= 1.25 {
		s := float64(int64(size))
		os, or, net := 1e-6+1e-10*s, 2e-6+3e-10*s, 1e-5+1e-9*s
		send, recv := os, or
		if s > 60000 {
			os, or, net = 0, 0, 3e-5+5e-10*s
			send, recv = net, net // waiting for the other side
		}
		fmt.Fprintf(&b, "send,%g,%.17g\nisend,%g,5e-7\nrecv,%g,%.17g\npingpong,%g,%.17g\n", s, send, s, s, recv, s, 2*(os+net+or))
	}
	return b.String()
}

// TestExactNetwork: overheads and factors come back from exact timings, with learned breakpoints, which are the last
// size before 60000 bytes, with a given one, and the published way: with breakpoints at the detached threshold and
// above, and send and recv measured below it only. The time of the envelope's 16 bytes, 1.6e-8 and 0.8e-8 s, is no
// part of the latency.
func TestExactNetwork(t *testing.T) {
	var below strings.Builder
	for line := range strings.Lines(exactTable()) {
		fields := strings.Split(line, ",")
		size, err := strconv.ParseFloat(fields[1], 64)
		if blocking := fields[0] == "send" || fields[0] == "recv"; err != nil || !blocking || size <= 60000 {
			below.WriteString(line)
		}
	}
	for _, test := range []struct {
		table       string
		breakpoints []float64
	}{{exactTable(), nil}, {exactTable(), []float64{60000}}, {below.String(), []float64{1000, 60000, 1e6}}} {
		o := DefaultNetworkOptions()
		o.Breakpoints, o.Detached, o.Bandwidth, o.Latency = test.breakpoints, 60000, 2e9, 1e-5
		r := fitNetwork(t, newMessages(t, test.table), o)
		first, last := r.Transfers[0], r.Transfers[len(r.Transfers)-1]
		os, ois := r.fitOf(Send).Pieces, r.fitOf(Isend).Pieces
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"ois", ois[0].Intercept, 5e-7}, {"ois per byte", ois[0].Slope, 0},
			{"os", os[0].Intercept, 1e-6}, {"os per byte", os[0].Slope, 1e-10},
			{"bandwidth factor of small messages", first.BandwidthFactor, 0.5}, {"latency factor of small messages", first.LatencyFactor, 1 - 1.6e-8/1e-5},
			{"bandwidth factor of large messages", last.BandwidthFactor, 1}, {"latency factor of large messages", last.LatencyFactor, 3 - 0.8e-8/1e-5},
		} {
			if !near(c.got, c.want, 1e-6) {
				t.Errorf("breakpoints %v: %s: got %g, want %g", test.breakpoints, c.name, c.got, c.want)
			}
		}
	}
}

// TestDetachedCut: between the last size below the detached threshold and the threshold the
// overheads and the network are those below, not those of sends that wait: os =
// 1e-6 + 1e-10 s, or = 2e-6 + 3e-10 s, network 1e-5 + 1e-9 s.
func TestDetachedCut(t *testing.T) {
	var b strings.Builder
	b.WriteString("operation,bytes,seconds\n")
	for s := 8.0; s < 1<<24; s *= 2 {
		os, or, net := 1e-6+1e-10*s, 2e-6+3e-10*s, 1e-5+1e-9*s
		send, recv := os, or
		if s >= 65536 {
			os, or, net = 0, 0, 3e-5+5e-10*s
			send, recv = net, net
		}
		fmt.Fprintf(&b, "send,%g,%.17g\nrecv,%g,%.17g\npingpong,%g,%.17g\n", s, send, s, recv, s, 2*(os+net+or))
	}
	o := DefaultNetworkOptions()
	r := fitNetwork(t, newMessages(t, b.String()), o)
	for _, op := range []string{"send", "recv"} {
		if !slices.ContainsFunc(r.Warnings, func(w warning.Warning) bool {
			return strings.HasPrefix(w.Text, op+": timings of 65536 bytes and more count as overhead")
		}) {
			t.Errorf("without a threshold: warnings %q, want one of %s", r.Warnings, op)
		}
	}
	o.Detached = 65536
	r = fitNetwork(t, newMessages(t, b.String()), o)
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
	send, err1 := netmodel.ParseOverheads(property(t, r, "smpi/os"))
	recv, err2 := netmodel.ParseOverheads(property(t, r, "smpi/or"))
	bw, err3 := netmodel.ParseFactors(property(t, r, "smpi/bw-factor"))
	lat, err4 := netmodel.ParseFactors(property(t, r, "smpi/lat-factor"))
	must(t, errors.Join(err1, err2, err3, err4))
	short := strings.Join(slices.Collect(func(yield func(string) bool) {
		for line := range strings.Lines(b.String()) {
			if size := strings.Split(line, ",")[1]; len(size) < 6 && !yield(line) { // up to 65536
				return
			}
		}
	}), "")
	if r, err := FitNetwork(newMessages(t, short), o); err != nil || len(r.Warnings) != 3 || property(t, r, "smpi/os") == "" {
		t.Errorf("sizes up to the threshold: %v, warnings %q, want one for each operation", err, r.Warnings)
	} else if at, err := netmodel.ParseOverheads(property(t, r, "smpi/os")); err != nil || !near(at.At(40000), 1e-6+1e-10*40000, 1e-6) {
		t.Errorf("os %v, %v", at, err)
	}
	for s := 32768; s <= 65536; s += 4096 {
		x := float64(min(s, 65535))
		z := x + 16
		got := []float64{send.At(int64(x)), recv.At(int64(x)), r.Latency*lat.At(z) + z/(r.Bandwidth*bw.At(z))}
		for i, want := range []float64{1e-6 + 1e-10*x, 2e-6 + 3e-10*x, 1e-5 + 1e-9*x} {
			if !near(got[i], want, 1e-6) {
				t.Errorf("%g bytes: os, or, network %g, want %g as number %d", x, got, want, i)
			}
		}
	}
	if send.At(65536) != 0 || recv.At(65536) != 0 {
		t.Errorf("overheads %g and %g at the threshold, want none", send.At(65536), recv.At(65536))
	}
}

func property(t *testing.T, r *NetworkReport, name string) string {
	t.Helper()
	for _, p := range r.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	t.Fatalf("no property %s", name)
	return ""
}

func TestMessageErrors(t *testing.T) {
	for _, test := range []struct {
		text, want string
		o          MessageOptions
	}{
		{"operation,seconds\n", "t.csv:1: no column bytes", MessageOptions{}},
		{"operation,bytes\n", "t.csv:1: no column seconds", MessageOptions{}},
		{"bytes,seconds\n", "t.csv:1: no column operation", MessageOptions{}},
		{"bytes,seconds\n", `t.csv:1: no column "x" for the time`, MessageOptions{Operation: Send, Seconds: []string{"seconds", "x"}}},
		{"operation,bytes,seconds\nbcast,1,1\n", `t.csv:2: operation "bcast", want send, isend, recv or pingpong`, MessageOptions{}},
		{"operation,bytes,seconds\nsend,-1,1\n", "t.csv:2: bytes: want a whole number", MessageOptions{}},
		{"operation,bytes,seconds,between,pairs\nsend,1,1,moon,1\n", `t.csv:2: between "moon", want cores or nodes`, MessageOptions{}},
		{"operation,bytes,seconds,between,pairs\nsend,1,1,cores,0\n", "t.csv:2: 0 pairs at the same time, want 1 to 1048576", MessageOptions{}},
		{"operation,bytes,seconds\nsend,1,0\n", "t.csv:2: no meaningful fit: a time of 0 s", MessageOptions{}},
		{"operation,bytes,seconds\nsend,1,-1\n", "t.csv:2: no meaningful fit: a time below zero, -1 s", MessageOptions{}},
		{"operation,bytes,seconds\nsend,1,1e300\n", "t.csv:2: no meaningful fit: a time of 1e+300 s, want 0, or 1e-15 to 1e+09", MessageOptions{}},
	} {
		m := NewMessages()
		if err := readMessages(m, test.text, test.o); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.text, err, test.want)
		}
	}
}

func TestNetworkRefusals(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		breakpoints      []float64
	}{
		{"no rows", "operation,bytes,seconds\n", "no timings", nil},
		{"too few sizes", "operation,bytes,seconds\nsend,1,1\nsend,2,1\n", "send: no meaningful fit: too few points: 2 different sizes, want at least 4", nil},
		{"empty piece", exactTable(), "too few points: 0 sizes in piece 2", []float64{1e9}},
	} {
		o := DefaultNetworkOptions()
		o.Breakpoints = test.breakpoints
		_, err := FitNetwork(newMessages(t, test.text), o)
		if !errors.Is(err, ErrMeaningless) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

// TestDeterministic: the same timings in another order of operations give the same text.
func TestDeterministic(t *testing.T) {
	table := exactTable()
	head, rows, _ := strings.Cut(table, "\n")
	sorted := slices.SortedStableFunc(strings.Lines(rows), func(a, b string) int { return strings.Compare(b[:1], a[:1]) })
	var texts [2]strings.Builder
	for i, table := range []string{table, head + "\n" + strings.Join(sorted, "")} {
		must(t, fitNetwork(t, newMessages(t, table), DefaultNetworkOptions()).WriteText(&texts[i]))
	}
	if texts[0].String() != texts[1].String() {
		t.Errorf("%s\nand, sorted by operation,\n%s", &texts[0], &texts[1])
	}
}

func TestNetworkOptions(t *testing.T) {
	for _, change := range []func(*NetworkOptions){
		func(o *NetworkOptions) { o.Breakpoints = []float64{2, 1} },
		func(o *NetworkOptions) { o.Plain = true },
		func(o *NetworkOptions) { o.Transfer = "rtt" },
		func(o *NetworkOptions) { o.Latency = -1 },
		func(o *NetworkOptions) { o.Statistic = "mode" },
		func(o *NetworkOptions) { o.Statistic, o.Trim = Mean, 0.5 },
		func(o *NetworkOptions) { o.Statistic, o.Trim = Mean, -0.1 },
		func(o *NetworkOptions) { o.Statistic, o.Trim = Median, 0.1 },
	} {
		o := DefaultNetworkOptions()
		change(&o)
		if err := o.Validate(); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// FuzzNetwork: whatever a table says, there is a report whose factors the network
// model takes, or an error.
func FuzzNetwork(f *testing.F) {
	f.Add("operation,bytes,seconds\npingpong,1,1\npingpong,2,2\npingpong,3,4\npingpong,4,5\n")
	f.Add("operation,bytes,seconds,between,pairs\npingpong,1,1,cores,1\npingpong,2,2,cores,1\npingpong,40000,4,cores,1\npingpong,80000,5,cores,1\npingpong,40000,5,cores,2\nsend,1,1,cores,1\nsend,2,1,cores,1\nsend,3,1,cores,1\nsend,4,1,cores,1\nsend-late,1,9,cores,1\niprobe-hit,8,1,cores,1\n")
	f.Add("operation,bytes,seconds\nsend,0,1e-300\nsend,2,1e300\nsend,3,1\nsend,9e15,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		m := NewMessages()
		if readMessages(m, text, MessageOptions{}) != nil {
			return
		}
		r, err := FitNetwork(m, DefaultNetworkOptions())
		if err != nil {
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		must(t, r.WriteText(io.Discard))
		for _, p := range r.Properties {
			if p.Name == "smpi/bw-factor" {
				if _, err := netmodel.ParseFactors(p.Value); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestWindowOfReplays: the window that a platform is written against is that of replays.
func TestWindowOfReplays(t *testing.T) {
	if window := netmodel.DefaultOptions().TCPGamma; window != tcpWindow {
		t.Errorf("%v bytes, replays take %v", tcpWindow, window)
	}
}
