package netmodel

import (
	"slices"
	"strings"
	"testing"

	"reprise/platforms"
)

// TestFactorsAt: intervals are open on the left, and 1 below the first threshold.
func TestFactorsAt(t *testing.T) {
	table, err := ParseFactors("1000:0.5;10:0.25") // in any order
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	applyConfig(t, &o, p)
	o.EagerBelow = 100
	pr, err := NewProtocol(p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"send 500 on a", pr.SendOverhead(0, 500), 1e-5 + 500*1e-10},
		{"send 500 on b", pr.SendOverhead(1, 500), 2e-5},
		{"isend on b", pr.IsendOverhead(1, 1000), 0},
		{"recv on a", pr.RecvOverhead(0, 500, true), 0},
		{"recv on b", pr.RecvOverhead(1, 500, true), 3e-5 + 500*2e-10},
		{"recv of rendezvous on b", pr.RecvOverhead(1, 500, false), 0},
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
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewProtocol(p, DefaultOptions())
	if want := `host "b": property smpi/os: entry 2 "x"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
