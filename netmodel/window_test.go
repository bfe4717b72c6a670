package netmodel

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/platforms"
)

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
		if err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	hosts := make([]int32, 100)
	for i := range hosts {
		hosts[i] = int32(i)
	}
	o := DefaultOptions()
	if list := Windowed(p, &o, hosts); len(list) != 1 || !strings.Contains(list[0].Text, "host far") {
		t.Errorf("warnings %v", list)
	}
}
