package netmodel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/platforms"
)

// TestFactorsAt: intervals are open on the left, and 1 below the first threshold.
func TestFactorsAt(t *testing.T) {
	table, err := ParseFactors("1000:0.5;10:0.25") // in any order
	noError(t, err)
	for _, c := range []struct{ z, want float64 }{
		{0, 1}, {10, 1}, {10.5, 0.25}, {11, 0.25}, {1000, 0.25}, {1001, 0.5}, {1e12, 0.5},
	} {
		if got := table.At(c.z); got != c.want {
			t.Errorf("At(%v) = %v, want %v", c.z, got, c.want)
		}
	}
	if got := Factors(nil).At(5); got != 1 {
		t.Errorf("empty table: %v, want 1", got)
	}
	constant, err := ParseFactors("0.75")
	if err != nil || constant.At(0) != 0.75 || constant.At(1e9) != 0.75 {
		t.Errorf("a single number is not a constant: %v, %v", constant, err)
	}
}

// TestOverheadsAt: entry i holds for th_i < s <= th_(i+1), the first one also below.
func TestOverheadsAt(t *testing.T) {
	table, err := ParseOverheads("0:3e-6:1e-10;4096:5e-6:2e-10")
	noError(t, err)
	for _, c := range []struct {
		size int64
		want float64
	}{
		{0, 3e-6}, {100, 3.01e-6}, {4096, 3e-6 + 4096*1e-10}, {4097, 5e-6 + 4097*2e-10}, {5000, 6e-6},
	} {
		if got := table.At(c.size); !near(got, c.want, 1e-14) {
			t.Errorf("At(%d) = %v, want %v", c.size, got, c.want)
		}
	}
	if got := Overheads(nil).At(1 << 40); got != 0 {
		t.Errorf("empty table: %v, want 0", got)
	}
}

// TestTableText: tables are written as they are read, thresholds without an exponent.
func TestTableText(t *testing.T) {
	for text, want := range map[string]string{
		"1000:0.5;10:0.25": "10:0.25;1000:0.5", "0.75": "0.75", "10000000:1e-7": "10000000:1e-07",
	} {
		table, err := ParseFactors(text)
		if got := table.String(); err != nil || got != want {
			t.Errorf("factors %s: %s (%v), want %s", text, got, err, want)
		}
		if again, err := ParseFactors(table.String()); err != nil || !slices.Equal(again, table) {
			t.Errorf("factors %s: %v when read again (%v), want %v", text, again, err, table)
		}
	}
	for text, want := range map[string]string{
		"4096:5e-6:2e-10;0:3e-6": "0:3e-06:0;4096:5e-06:2e-10", "10000000:1": "10000000:1:0",
	} {
		table, err := ParseOverheads(text)
		if got := table.String(); err != nil || got != want {
			t.Errorf("overheads %s: %s (%v), want %s", text, got, err, want)
		}
		if again, err := ParseOverheads(table.String()); err != nil || !slices.Equal(again, table) {
			t.Errorf("overheads %s: %v when read again (%v), want %v", text, again, err, table)
		}
	}
	if got := Factors(nil).String() + Overheads(nil).String(); got != "" {
		t.Errorf("empty tables: %q", got)
	}
}

const hostsXML = `<?xml version="1.0"?>
<platform version="4.1">
  <config><prop id="smpi/os" value="0:1e-5:1e-10"/><prop id="smpi/send-is-detached-thresh" value="1000"/></config>
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf"><prop id="smpi/os" value="0:2e-5:0"/><prop id="smpi/or" value="0:3e-5:2e-10"/></host>
    <link id="l" bandwidth="1GBps" latency="1us"/>
    <route src="a" dst="b"><link_ctn id="l"/></route>
  </zone>
</platform>`

// TestProtocol: options from the platform, properties of a host, and who pays what.
func TestProtocol(t *testing.T) {
	p, err := platforms.Parse(strings.NewReader(hostsXML), "hosts.xml")
	noError(t, err)
	o := DefaultOptions()
	applyConfig(t, &o, p)
	o.EagerBelow = 100
	pr, err := NewProtocol(p, o)
	noError(t, err)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"send 500 on a", pr.On(0).Send.At(500), 1e-5 + 500*1e-10},
		{"send 500 on b", pr.On(1).Send.At(500), 2e-5},
		{"isend on b", pr.On(1).Isend.At(1000), 0},
		{"recv on a", pr.On(0).Recv.At(500), 0},
		{"recv on b", pr.On(1).Recv.At(500), 3e-5 + 500*2e-10},
	} {
		if !near(c.got, c.want, 1e-14) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	if !pr.Eager(99) || pr.Eager(100) || !pr.Detached(999) || pr.Detached(1000) {
		t.Error("thresholds are strict: eager below 100, detached below 1000")
	}
}

// TestProtocolErrors: a bad property names the host and the place in the value.
func TestProtocolErrors(t *testing.T) {
	p, err := platforms.Parse(strings.NewReader(strings.Replace(hostsXML, "0:2e-5:0", "0:2e-5;x", 1)), "hosts.xml")
	noError(t, err)
	_, err = NewProtocol(p, DefaultOptions())
	if want := `host "b": property smpi/os: entry 2 "x"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestWindow: 4194304 bytes in flight on a route of 50 us there and 50 us back are
// 4.194304e10 byte/s, which a link of 1e11 byte/s does not give.
func TestWindow(t *testing.T) {
	o := DefaultOptions()
	if got := o.Window(50e-6); got != 4194304/1e-4 {
		t.Errorf("%g byte/s", got)
	}
	if got := o.Window(0); !math.IsInf(got, 1) {
		t.Errorf("without latency %g byte/s", got)
	}
	xml := func(bandwidth string) *platforms.Platform {
		p, err := platforms.Parse(strings.NewReader(fmt.Sprintf(`<platform version="4.1"><zone id="w" routing="Full">
			<host id="a" speed="1"/><host id="b" speed="1"/><host id="c" speed="1"/>
			<link id="l" bandwidth="%s" latency="50us"/><link id="m" bandwidth="%s" latency="1us"/>
			<route src="a" dst="b"><link_ctn id="l"/></route><route src="b" dst="c"><link_ctn id="m"/></route></zone></platform>`, bandwidth, bandwidth)), "p.xml")
		noError(t, err)
		return p
	}
	const want = "messages from host a to b get 4.194e+10 of the 1e+11 byte/s of their links, as the TCP window limits them: latency 5e-05 s, network/TCP-gamma 4194304, of which 0 is no window"
	for _, c := range []struct {
		bandwidth string
		gamma     float64
		hosts     []int32
		want      string
	}{
		{"1e11", 4194304, []int32{0, 1}, want},
		{"1e11", 4194304, []int32{2, 2, 0, 1}, want},
		{"1e11", 4194304, []int32{1, 2}, ""}, // 1 us: 2.1e12 byte/s
		{"1e11", 4194304, []int32{0, 0}, ""}, // the loopback has no latency
		{"1e11", 0, []int32{0, 1}, ""},
		{"4e10", 4194304, []int32{0, 1}, ""},
	} {
		o.TCPGamma = c.gamma
		got := ""
		for _, w := range Windowed(xml(c.bandwidth), &o, c.hosts) {
			got += w.String()
		}
		if got != c.want {
			t.Errorf("%s byte/s, %g bytes, hosts %v: %q, want %q", c.bandwidth, c.gamma, c.hosts, got, c.want)
		}
	}
}

// TestWindowOfManyHosts: of 100 hosts in a row, only the first and the last are far apart.
func TestWindowOfManyHosts(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<platform version="4.1"><zone id="w" routing="Full"><cluster id="c" prefix="n" suffix="" radical="0-98" speed="1" bw="1e11" lat="1us" router_id="r"/>
		<zone id="z" routing="Full"><host id="far" speed="1"/></zone><link id="l" bandwidth="1e11" latency="1ms"/>
		<zoneRoute src="c" dst="z" gw_src="r" gw_dst="far"><link_ctn id="l"/></zoneRoute></zone></platform>`)
	p, err := platforms.Parse(strings.NewReader(b.String()), "p.xml")
	noError(t, err)
	hosts := make([]int32, 100)
	for i := range hosts {
		hosts[i] = int32(i)
	}
	o := DefaultOptions()
	if list := Windowed(p, &o, hosts); len(list) != 1 || !strings.Contains(list[0].Text, "host far") {
		t.Errorf("warnings %v", list)
	}
}

// TestLoad: with bandwidth factors 0.5 up to 999 bytes and 2 from 1,000 on, envelope of
// 16 bytes included, a link gives 2 and 0.5 bytes for each that is carried; factors that
// bound shares load links with what is carried, of which they then carry a part.
func TestLoad(t *testing.T) {
	p, err := platforms.Parse(strings.NewReader(`<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us"/></platform>`), "two.xml")
	noError(t, err)
	o := DefaultOptions()
	o.BandwidthFactors = Factors{{0, 0.5}, {1000, 2}}
	o.LoopbackBandwidthFactors = Factors{{0, 4}}
	o.LoopbackBandwidth = 3e9
	o.BandwidthFactor = 0.97
	bound := o
	bound.FactorRule = FactorBound
	for _, c := range []struct {
		name      string
		o         *Options
		size      int64
		within    bool
		load      float64
		link      int32
		bandwidth float64
	}{
		{"small", &o, 900, false, 1 / 0.5, 1, 1e9},
		{"large", &o, 990, false, 1 / 2.0, 1, 1e9},
		{"within a host", &o, 900, true, 1 / 4.0, platforms.LoopbackLink, 3e9},
		{"bound", &bound, 900, false, 1, 1, 0.97 * 1e9},
	} {
		if got := loadOf(t, p, c.o, c.size, c.within); got != c.load {
			t.Errorf("%s: a load of %v for each byte, want %v", c.name, got, c.load)
		}
		if got := c.o.LinkCapacity(p, c.link); got != c.bandwidth {
			t.Errorf("%s: link %d carries %v byte/s, want %v", c.name, c.link, got, c.bandwidth)
		}
	}
}

// loadOf sends a message to the same host or another one, and returns its load.
func loadOf(t *testing.T, p *platforms.Platform, o *Options, size int64, within bool) float64 {
	t.Helper()
	n, err := New(p, *o)
	noError(t, err)
	n.Summarize()
	dst := 1
	if within {
		dst = 0
	}
	noError(t, n.Start(0, 0, dst, size, 0))
	for n.Active() > 0 {
		n.Advance(n.Next(), nil)
	}
	return 1 / n.Factor(0)
}
