package platforms

import (
	"fmt"
	"strings"
	"testing"
)

// TestErrors: each has file and line, says what was found, and what is allowed
// where that is short.
func TestErrors(t *testing.T) {
	cluster := func(attrs string) string {
		return "<platform version=\"4.1\">\n<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-7\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" " +
			attrs + "/>\n</platform>"
	}
	full := func(lines ...string) string {
		return "<platform version=\"4.1\">\n<zone id=\"w\" routing=\"Full\">\n" + strings.Join(lines, "\n") + "\n</zone></platform>"
	}
	const (
		ab    = `<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>`
		l     = `<link id="l" bandwidth="1"/>`
		split = `<link id="s" bandwidth="1" sharing_policy="SPLITDUPLEX"/>`
		sub   = `<zone id="s" routing="Full"><host id="c" speed="1f"/></zone><zone id="t" routing="Full"><host id="d" speed="1f"/></zone>`
	)
	for _, c := range []struct{ text, want string }{
		{"", "x.xml:1: want one <platform> element"},
		{"<machine/>", "x.xml:1: want a <platform>, found <machine>"},
		{"<platform version='4.1'>\n<zone", "x.xml:2: bad XML"},
		{"<platform version='4.1'>\nhello</platform>", `x.xml:2: text "hello" in <platform> is not supported`},
		{"\ufeff\ufeff<platform/>", `x.xml:1: text "\ufeff" in <the document> is not supported`},
		{"<platform/>", "x.xml:1: <platform> needs the attribute version"},
		{"<platform version='2'/>", `x.xml:1: <platform>: version: "2" is not supported: want 4.1, 4, 4.0, 3, 3.0`},
		{"<platform version='4.1'>\n</platform>", "x.xml:1: <platform>: a platform without hosts"},
		{"<platform version='4.1'>\n<process host='a'/></platform>", "x.xml:2: element <process> in <platform> is not supported: want config, zone, cluster, random"},
		{full(`<peer id="p" speed="1Gf" bw_in="1" bw_out="1" coordinates="0 0 0"/>`), `x.xml:3: <peer "p">: only a zone of routing Vivaldi has any`},
		{strings.Replace(full(`<peer id="p" speed="1Gf" bw_in="1" bw_out="1"/>`), "Full", "Cluster", 1), `x.xml:3: <peer "p">: only a zone of routing Vivaldi has any`},
		{strings.Replace(full(`<peer id="p" speed="1Gf" bw_in="1"/>`), "Full", "Vivaldi", 1), `x.xml:3: <peer "p"> needs the attribute bw_out`},
		{strings.Replace(full(`<peer id="p" speed="1Gf" bw_in="1" bw_out="1" coordinates="1 2"/>`), "Full", "Vivaldi", 1), `x.xml:3: <peer "p">: coordinates: "1 2": want 3 numbers`},
		{strings.Replace(full(`<host id="p" speed="1Gf" coordinates="1 2 NaN"/>`), "Full", "Vivaldi", 1), `x.xml:3: <host "p">: coordinates: "1 2 NaN": "NaN" is not a number of ms of [-1e+09,1e+09]`},
		{strings.Replace(full(ab, l, `<host_link id="a" up="l" down="l"/>`), "Full", "Vivaldi", 1), `x.xml:5: <host_link "a">: only a zone of routing Cluster has any`},
		{strings.Replace(full(ab, l, `<route src="a" dst="b"><link_ctn id="l"/></route>`), "Full", "Vivaldi", 1), `x.xml:5: <route>: a zone of routing Vivaldi has none but from a host to itself`},
		{strings.Replace(full(ab, `<link id="l" bandwidth="54Mbps,36Mbps" sharing_policy="WIFI"/>`), "Full", "Wifi", 1), `x.xml:2: <zone "w">: routing: "Wifi" is not supported`},
		{strings.Replace(cluster(""), "0-7", "0\u22127", 1), "radical \"0\u22127\": the character U+2212 '\u2212' is none of a radical: want digits, commas and ASCII hyphens (-)"},
		{full(`<host id="a" speed="1Gf">`, `<disk id="d"/></host>`), `x.xml:4: <disk "d"> needs the attribute read_bw`},
		{full(`<host id="a" speed="1Gf">`, `<tape id="d"/></host>`), `x.xml:4: element <tape "d"> in <host "a"> is not supported: want prop, disk`},
		{full(ab, `<link id="l" bandwidth="1" bandwidth_file="f"/>`), `x.xml:4: <link "l">: bandwidth_file: there is no file "f" in the working directory or that of the description`},
		{full(`<host id="a" speed="1f" state="ON.0"/>`), `x.xml:3: attribute state of <host "a">: value "ON.0" is not supported: want "ON"`},
		{full(ab, `<link id="l"/>`), `x.xml:4: <link "l"> needs the attribute bandwidth`},
		{full(ab, `<link id="l" id="m" bandwidth="1"/>`), `attribute id of <link "l"> is there twice`},
		{full(ab, `<link id="l" bandwidth="1" sharing_policy="WIFI"/>`), `x.xml:4: <link "l">: sharing_policy: "WIFI" is not supported: want SHARED, FATPIPE, SPLITDUPLEX`},
		{full(ab, `<link id="l" bandwidth="1" latency="-1s"/>`), `x.xml:4: <link "l">: latency: latency -1 s, want 0 to 1e+09 s`},
		{full(ab, `<link id="l" bandwidth=""/>`), `x.xml:4: <link "l">: bandwidth: want a bandwidth`},
		{full(ab, l, l), `x.xml:5: <link "l">: there is a link "l" already`},
		{full(`<host id="a" speed="1f" core="0"/>`), `x.xml:3: <host "a">: core: "0" is not a whole number of [1,1048576]`},
		{full(`<host id="a" speed="1f">`, `<prop id="wattage_per_state" value="100"/></host>`), `x.xml:4: <host "a">: wattage_per_state "100": 1 power, want Idle:AllCores or Idle:Epsilon:AllCores`},
		{full(`<host id="a" speed="1f"><prop id="wattage_per_state" value="1:2:3:4"/></host>`), `x.xml:3: <host "a">: wattage_per_state "1:2:3:4": 4 powers, want`},
		{full(`<host id="a" speed="1f,2f"><prop id="wattage_per_state" value="1:2"/></host>`), `powers of 1 state, want those of 2, one for each speed`},
		{full(`<host id="a" speed="1f"><prop id="wattage_per_state" value="1:-2"/></host>`), `wattage_per_state "1:-2": power -2 W, want 0 to 1e+12 W`},
		{full(`<host id="a" speed="1f"><prop id="wattage_per_state" value="1:2W"/></host>`), `"2W" is not a number of watts`},
		{full(`<host id="a" speed="1f"><prop id="wattage_off" value="none"/></host>`), `x.xml:3: <host "a">: wattage_off "none": "none" is not a number of watts`},
		{full(ab, `<link id="l" bandwidth="1"><prop id="wattage_range" value="1:2:3"/></link>`), `x.xml:4: <link "l">: wattage_range "1:2:3": 3 powers, want IDLE:BUSY`},
		{full(ab, `<link id="l" bandwidth="1"><prop id="wattage_range" value="1:nan"/></link>`), `x.xml:4: <link "l">: wattage_range "1:nan": power is not a number`},
		{full(`<host id="a" speed="1f,2f" pstate="2"/>`), `x.xml:3: <host "a">: pstate: "2" is not a whole number of [0,1]`},
		{full(`<host id="a" speed="1f,-2f"/>`), `x.xml:3: <host "a">: speed: speed -2 flop/s, want 0 to 1e+27 flop/s`},
		{full(ab, `<link id="l" bandwidth="1e-320"/>`), `x.xml:4: <link "l">: bandwidth: bandwidth 1e-320 byte/s, want 1e-06 to 1e+60 byte/s`},
		{full(ab, `<route src="a" dst="b"><link_ctn id="l"/></route>`), `x.xml:4: <link_ctn "l">: no such link`},
		{full(ab, l, `<route src="a" dst="z"><link_ctn id="l"/></route>`), `x.xml:5: <route>: dst: zone "w" has no "z"`},
		{full(ab, split, `<route src="a" dst="b"><link_ctn id="s"/></route>`), `x.xml:5: <link_ctn "s">: link "s" is split into two directions: say direction="UP" or "DOWN", or s_UP or s_DOWN`},
		{full(sub, split, `<zoneRoute src="s" dst="t" gw_src="c" gw_dst="d"><link_ctn id="s"/></zoneRoute>`), `x.xml:5: <link_ctn "s">: link "s" is split`},
		{strings.Replace(full(ab, split, `<host_link id="a" up="s_UP" down="s"/>`), "Full", "Cluster", 1), `x.xml:5: <host_link "a">: down: link "s" is split`},
		{full(ab, split, `<route src="a" dst="b"><link_ctn id="s_UP" direction="UP"/></route>`), `x.xml:5: <link_ctn "s_UP">: link "s_UP" has no directions`},
		{full(ab, l, `<route src="a" dst="b"><link_ctn id="l" direction="DOWN"/></route>`), `x.xml:5: <link_ctn "l">: link "l" has no directions: leave direction="DOWN" out`},
		{full(ab, `<route src="a" dst="b"/>`), `x.xml:4: <route>: a route without links`},
		{full(ab, l, `<route src="a" dst="b"><link_ctn id="l"/></route>`, `<route src="b" dst="a"><link_ctn id="l"/></route>`), `x.xml:6: <route>: a second route from "a" to "b"`},
		{full(sub, l, `<zoneRoute src="s" dst="t" gw_src="c" gw_dst="d"><link_ctn id="l"/></zoneRoute>`, `<zoneRoute src="s" dst="t" gw_src="c" gw_dst="d" symmetrical="NO"><link_ctn id="l"/></zoneRoute>`), `x.xml:6: <zoneRoute>: a second route from "s" to "t"`},
		{full(sub, l, `<route src="s" dst="t"><link_ctn id="l"/></route>`), `x.xml:5: <route>: src: "s" is not a host or router`},
		{full(ab, sub, l, `<zoneRoute src="a" dst="t" gw_src="a" gw_dst="d"><link_ctn id="l"/></zoneRoute>`), `x.xml:6: <zoneRoute>: src: "a" is not a zone`},
		{full(sub, l, `<zoneRoute src="s" dst="t" gw_src="d" gw_dst="d"><link_ctn id="l"/></zoneRoute>`), `x.xml:5: <zoneRoute>: gw_src: no host or router "d" in zone "s"`},
		{full(ab, `<cabinet id="x" prefix="x" suffix="" radical="1" speed="1" bw="1" lat="1"/>`), `x.xml:4: <cabinet "x">: only a zone of routing Cluster has any`},
		{full(ab, l, `<bypassRoute src="a" dst="z"><link_ctn id="l"/></bypassRoute>`), `x.xml:5: <bypassRoute>: dst: zone "w" has no host or router "z"`},
		{full(ab, sub, l, `<bypassZoneRoute src="s" dst="a" gw_src="c" gw_dst="a"><link_ctn id="l"/></bypassZoneRoute>`), `x.xml:6: <bypassZoneRoute>: dst: no zone "a" in zone "w"`},
		{full(ab, sub, l, `<bypassZoneRoute src="s" dst="s" gw_src="c" gw_dst="c"><link_ctn id="l"/></bypassZoneRoute>`), `x.xml:6: <bypassZoneRoute>: from a zone to itself`},
		{full(ab, l, `<bypassRoute src="a" dst="b"><link_ctn id="l"/></bypassRoute>`, `<bypassRoute src="a" dst="b"><link_ctn id="l"/></bypassRoute>`), `x.xml:6: <bypassRoute>: a second bypass from "a" to "b"`},
		{strings.Replace(full(ab, l, `<host_link id="z" up="l" down="l"/>`), "Full", "Cluster", 1), `x.xml:5: <host_link "z">: no such host in zone "w"`},
		{strings.Replace(full(ab, l, `<host_link id="a" up="l" down="k"/>`), "Full", "Cluster", 1), `x.xml:5: <host_link "a">: down: no link "k"`},
		{strings.Replace(full(ab, l, `<route src="a" dst="b"><link_ctn id="l"/></route>`), "Full", "Cluster", 1), `x.xml:5: <route>: a zone of routing Cluster has none`},
		{strings.Replace(full(ab, l, `<route src="a" dst="b"><link_ctn id="l"/></route>`), "Full", "None", 1), `x.xml:5: <route>: a zone of routing None has none`},
		{strings.Replace(cluster(""), "</platform>", "<zone id='w' routing='Full'/></platform>", 1), `x.xml:3: <zone "w">: a second zone at the top`},
		{cluster(`topology="HYPERCUBE"`), `x.xml:2: <cluster "c">: topology: "HYPERCUBE" is not supported: want FLAT, FAT_TREE, TORUS, DRAGONFLY`},
		{cluster(`topo_parameters="2"`), `topo_parameters "2" without a topology`},
		{cluster(`topology="FAT_TREE" topo_parameters="2;4,2;1,2;1"`), `2 levels need 2 numbers in each group, found 1`},
		{cluster(`topology="FAT_TREE" topo_parameters="2,2;4,2;1,2;1,1"`), `want one number of levels`},
		{cluster(`topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,1"`), `a tree of 16 hosts, but the radical has 8`},
		{cluster(`topology="FAT_TREE" topo_parameters="2;4,0;1,2;1,1"`), `"0" is not a number of [1,16777216]`},
		{cluster(`topology="FAT_TREE" topo_parameters="2;16777216,16777216;1,2;1,1"`), `a tree of too many hosts`},
		{cluster(`topology="FAT_TREE" topo_parameters="2;4,2;16777216,16777216;16777216,16777216"`), `x.xml:2: <cluster "c">: more than 16777216 links`},
		{cluster(`topology="FAT_TREE" topo_parameters="1;8;1;1" bb_bw="1GBps"`), `bb_bw: topology FAT_TREE has no backbone`},
		{cluster(`topology="TORUS" topo_parameters="2,2"`), `a torus of 4 hosts, but the radical has 8`},
		{cluster(`topology="TORUS" topo_parameters="8;1"`), `want SIZE,SIZE,..`},
		{cluster(`topology="DRAGONFLY" topo_parameters="1,1;1,1;4;2"`), `want GROUPS,CABLES;CHASSIS,CABLES;BLADES,CABLES;NODES`},
		{cluster(`topology="DRAGONFLY" topo_parameters="1,1;1,1;4,1;4"`), `a dragonfly of 16 hosts, but the radical has 8`},
		{cluster(`topology="DRAGONFLY" topo_parameters="4,1;1,1;2,1;1"`), `4 groups need as many blades in a chassis to be joined, found 2`},
		{cluster(`loopback_lat="1us"`), `loopback_lat without loopback_bw`},
		{cluster(`bb_lat="1us"`), `bb_lat without bb_bw`},
		{cluster(`limiter_link="fast"`), `limiter_link: "fast" is not a number with a unit`},
		{strings.Replace(cluster(""), "0-7", "0-7,3", 1), `there is a host, router or zone "n3" already`},
		{`<platform version="4.1">` + strings.Repeat(`<zone id="z" routing="Full">`, 100000), "x.xml:1: elements nest deeper than 100"},
		{strings.Replace(cluster(""), "0-7", "0-99999999", 1), `x.xml:2: <cluster "c">: radical "0-99999999": more than 1048576 hosts`},
	} {
		refuses(t, c.text, c.want)
		if _, err := Parse(strings.NewReader(c.text), "x.xml"); err != nil && !strings.HasPrefix(err.Error(), "x.xml:") {
			t.Errorf("error %q does not begin with the position", err)
		}
	}
}

// TestLongText: a text that does not end is refused, whatever it is in the middle of.
func TestLongText(t *testing.T) {
	lim := defaultLimits
	lim.text = 5000
	const begin = "<?xml version='1.0'?>\n<platform version='4.1'>\n"
	for _, more := range []string{"<!--", "<host id='", "<prop id='a' value='b'/>", " "} {
		_, err := parseWithin(strings.NewReader(begin+strings.Repeat(more, 10)+strings.Repeat(" ", 10000)), "x.xml", lim)
		if err == nil || !strings.HasPrefix(err.Error(), "x.xml:") {
			t.Errorf("%q: %v, want an error with its place", more, err)
		}
	}
	_, err := parseWithin(strings.NewReader(begin+"<!--"+strings.Repeat(" ", 10000)), "x.xml", lim)
	if want := "x.xml:3: longer than 128 MiB"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestComments: whatever is in a comment counts for nothing but lines, two hyphens too.
func TestComments(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a<!-- b -- c --->d", "a                d"},
		{"<!---->", "       "},
		{"<!--\n<x>\n-->y<!- z -->", "    \n   \n   y<!- z -->"},
		{"--> <! --", "--> <! --"},
	} {
		got := []byte(c.text)
		if at := blankComments(got); string(got) != c.want || at >= 0 {
			t.Errorf("%q: %q, without an end at %d, want %q", c.text, got, at, c.want)
		}
	}
	refuses(t, "<platform version=\"4.1\"/>\n<!-- a -->\n<!-- b\n\n", "the comment that begins in line 3 has no end")
	p := parse("<!-- a -- b -->\n" + zoneXML("full", points("a", "")+"<!-- --option -->"))
	if p.NumHosts() != 1 {
		t.Errorf("%d hosts", p.NumHosts())
	}
}

// TestRadical: the names of the hosts in order, or the error.
func TestRadical(t *testing.T) {
	for _, c := range []struct{ radical, names, err string }{
		{"0", "n0", ""},
		{"0-3", "n0 n1 n2 n3", ""},
		{"0-3,7,9-10", "n0 n1 n2 n3 n7 n9 n10", ""},
		{"3,1,7-8", "n3 n1 n7 n8", ""},
		{" 1 - 2 , 5", "n1 n2 n5", ""},
		{"", "", "is not a host number"},
		{"a", "", "is not a host number"},
		{"3-", "", "is not a host number"},
		{"-3", "", "is not a host number"},
		{"1-2-3", "", "is not a host number"},
		{"1,,2", "", "is not a host number"},
		{"5-3", "", "runs backwards"},
		{"0-4294967296", "", "is not a host number"},
		{"0-2147483647", "", "more than 1048576 hosts"},
		{"0-1048576", "", "more than 1048576 hosts"},
		{"0-1000000,2000000-3000000", "", "more than 1048576 hosts"},
	} {
		if c.err != "" {
			if _, _, err := parseRadical(c.radical, MaxHosts); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("radical %q: %v; want an error with %q", c.radical, err, c.err)
			}
			continue
		}
		p := parseCluster(c.radical, "")
		var names []string
		for i := range p.NumHosts() {
			names = append(names, p.Host(i).Name)
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("radical %q: %s, want %s", c.radical, got, c.names)
		}
	}
}

// TestLongRadical: the time that a radical of many numbers takes goes with their number, not with
// its square: by that this one takes minutes.
func TestLongRadical(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million hosts")
	}
	const hosts = 1 << 19
	var radical strings.Builder
	for i := range hosts {
		fmt.Fprintf(&radical, "%d,", 3*i)
	}
	p := parseCluster(strings.TrimSuffix(radical.String(), ","), "")
	if name := p.Host(hosts - 1).Name; name != fmt.Sprintf("n%d", 3*(hosts-1)) {
		t.Errorf("last host %s", name)
	}
}

// TestUnits: values, or what is wrong with a text.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		parse func(string) (float64, error)
		text  string
		want  float64
		err   string
	}{
		{ParseBandwidth, "12.5GBps", 12.5e9, ""},
		{ParseBandwidth, "56Gbps", 7e9, ""}, // 56e9 bits, 8 in a byte
		{ParseBandwidth, "125000000", 125e6, ""},
		{ParseBandwidth, "125e6", 125e6, ""},
		{ParseBandwidth, "1e9Bps", 1e9, ""},
		{ParseBandwidth, "10kBps", 10e3, ""},
		{ParseBandwidth, "10 MBps", 10e6, ""},
		{ParseBandwidth, "100Mibps", 100 * 1024 * 1024 / 8, ""},
		{ParseBandwidth, "2GiBps", 2 * 1024 * 1024 * 1024, ""},
		{ParseBandwidth, "3KiBps", 3 * 1024, ""},
		{ParseBandwidth, "1EBps", 1e18, ""},
		{ParseBandwidth, "1EiBps", 1 << 60, ""},
		{ParseBandwidth, "8bps", 1, ""},
		{ParseBandwidth, "18.348422228142724GBps", 18348422228.142724, ""},
		{ParseLatency, "0.10us", 0.10 * 1e-6, ""},
		{ParseLatency, "5.2us", 5.2 * 1e-6, ""},
		{ParseLatency, "5e-8", 5e-8, ""},
		{ParseLatency, "5e-8s", 5e-8, ""},
		{ParseLatency, "0", 0, ""},
		{ParseLatency, "20000ns", 20000 * 1e-9, ""},
		{ParseLatency, "3ms", 3 * 1e-3, ""},
		{ParseLatency, "7ps", 7 * 1e-12, ""},
		{ParseLatency, "2m", 120, ""},
		{ParseLatency, "1h", 3600, ""},
		{ParseLatency, "1d", 86400, ""},
		{ParseLatency, "1w", 604800, ""},
		{ParseSpeed, "1Gf", 1e9, ""},
		{ParseSpeed, "1000Mf", 1e9, ""},
		{ParseSpeed, "0.002Tf", 2e9, ""},
		{ParseSpeed, "1E9", 1e9, ""},
		{ParseSpeed, "2megaflops", 2e6, ""},
		{ParseSpeed, "5flops", 5, ""},
		{ParseSpeed, "1Pf", 1e15, ""},
		{ParseSpeed, "1Zf", 1e21, ""},
		{ParseSpeed, "1Yf", 1e24, ""},
		{ParseBandwidth, "1YiBps", 1 << 80, ""},
		{ParseBandwidth, "", 0, "not a number"},
		{ParseBandwidth, "GBps", 0, "not a number"},
		{ParseBandwidth, "1.2.3GBps", 0, "not a number"},
		{ParseBandwidth, "1QBps", 0, `unit "QBps"`},
		{ParseBandwidth, "1us", 0, `unit "us"`},
		{ParseBandwidth, "1KBps", 0, `unit "KBps" of "1KBps" is not a bandwidth: want Bps or bps, alone or with a prefix k M G T P E Z Y or Ki Mi Gi Ti Pi Ei Zi Yi`},
		{ParseSpeed, "1Kf", 0, `unit "Kf" of "1Kf" is not a speed: want f, alone or with a prefix k M G T P E Z Y or Ki Mi Gi Ti Pi Ei Zi Yi`},
		{ParseBandwidth, "1gBps", 0, `unit "gBps"`},
		{ParseBandwidth, "0GBps", 0, "want 1e-06 to 1e+60 byte/s"},
		{ParseBandwidth, "-1GBps", 0, "want 1e-06 to 1e+60 byte/s"},
		{ParseBandwidth, "1e308YBps", 0, "want 1e-06 to 1e+60 byte/s"},
		{ParseBandwidth, "1e999", 0, "not a number"},
		{ParseBandwidth, "NaN", 0, "not a number"},
		{ParseBandwidth, "Inf", 0, "not a number"},
		{ParseLatency, "-1us", 0, "want 0 to 1e+09 s"},
		{ParseLatency, "1Gf", 0, `unit "Gf"`},
		{ParseSpeed, "0f", 0, "want 1e-06 to 1e+27 flop/s"},
		{ParseSpeed, "1GBps", 0, `unit "GBps"`},
		{ParseSpeed, "1kiloGflops", 0, "is not a speed"},
	} {
		got, err := c.parse(c.text)
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %v, %v; want %v, %s", c.text, got, err, c.want, c.err)
		}
	}
}
