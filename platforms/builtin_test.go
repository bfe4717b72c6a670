package platforms

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// builtinMachine returns a built-in machine that must be there.
func builtinMachine(t testing.TB, name string, ranks int) *Platform {
	t.Helper()
	p, err := Builtin(name, ranks)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestStampede checks the machine against its published description: 6,400
// nodes, 320 leaf switches of 20 nodes, 8 core switches, two cables between each
// leaf and each core switch; 56 Gb/s, 5.2 us a link.
func TestStampede(t *testing.T) {
	p := builtinMachine(t, "stampede", 1)
	if got, want := p.NumHosts(), 6400; got != want {
		t.Errorf("%d hosts, want %d", got, want)
	}
	const cables = 6400 + 320*8*2
	if got, want := p.NumLinks(), 1+2*cables; got != want { // and the global loopback
		t.Errorf("%d links, want %d", got, want)
	}
	for i := int32(1); int(i) < p.NumLinks(); i++ {
		if bw, lat, policy := p.LinkCapacity(i); bw != 7e9 || lat != 5.2*1e-6 || policy != Shared {
			t.Fatalf("link %d: %v byte/s, %v s, %v", i, bw, lat, policy)
		}
	}
	// 20 hosts a leaf: 0 and 19 share one, 0 and 20 do not.
	checkRoutes(t, p, []routeCase{
		{"stampede-0", "stampede-19", "stampede-0_port_0_UP stampede-19_port_0_DOWN"},
		// 20 mod 16 = port 4 up; down: start 0, digit 1, cable 0: port 4 mod 8 of leaf 1.
		{"stampede-0", "stampede-20", "stampede-0_port_0_UP stampede_switch_1_0_port_4_UP " +
			"stampede_switch_1_1_port_4_DOWN stampede-20_port_0_DOWN"},
		// 6399 mod 16 = 15 up: core switch 7 by cable 1. Down from an odd host: cable 1.
		{"stampede-1", "stampede-6399", "stampede-1_port_0_UP stampede_switch_1_0_port_15_UP " +
			"stampede_switch_1_319_port_15_DOWN stampede-6399_port_0_DOWN"},
	})
	want := []Prop{{Name: "smpi/bw-factor", Value: "0:0.795"}, {Name: "smpi/lat-factor", Value: "0:1"}, {Name: "network/crosstraffic", Value: "no"}}
	if diff := cmp.Diff(want, p.Config(), cmpopts.IgnoreFields(Prop{}, "Line")); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// TestDahu checks the machine against its published description.
func TestDahu(t *testing.T) {
	p := builtinMachine(t, "dahu", 1)
	if got, want := p.NumHosts(), 32; got != want {
		t.Errorf("%d hosts, want %d", got, want)
	}
	for i := range p.NumHosts() {
		if got := p.Host(i); got.Cores != 32 {
			t.Errorf("host %+v, want 32 cores", got)
		}
	}
	checkRoutes(t, p, []routeCase{
		{"dahu-0", "dahu-31", "dahu_link_0_UP dahu_link_31_DOWN"},
		{"dahu-7", "dahu-7", "dahu_link_7_loopback"},
	})
	if got := latency(p, 0, 31); got != 1e-7 {
		t.Errorf("latency %v, want 2 links of 5e-8", got)
	}
	route, err := p.AppendRoute(nil, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := Link{"dahu_link_3_loopback", 18348422228.142746, 0, Fatpipe}
	if got := p.Link(route[0]); got != want {
		t.Errorf("loopback %+v, want %+v", got, want)
	}
	var names []string
	for _, o := range p.Config() {
		names = append(names, strings.TrimPrefix(o.Name, "smpi/"))
	}
	wantNames := []string{"os", "or", "ois", "bw-factor", "lat-factor", "async-small-thresh", "send-is-detached-thresh", "iprobe", "test"}
	if diff := cmp.Diff(wantNames, names); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// TestDefault: as many hosts as ranks under one switch up to 24; above, whole
// leaves of 24 under 12 switches, whose 12 cables per leaf give 24 + 12 cables a
// leaf of two directions.
func TestDefault(t *testing.T) {
	for _, c := range []struct{ ranks, hosts, links, hops int }{
		{1, 1, 1 + 1 + 2, 1},
		{2, 2, 1 + 2 + 4, 2},
		{24, 24, 1 + 24 + 48, 2},
		{25, 48, 1 + 48 + 2*(2*24+2*12), 4},
		{1024, 43 * 24, 1 + 43*24 + 2*43*(24+12), 4},
		{6006, 251 * 24, 1 + 251*24 + 2*251*(24+12), 4},
	} {
		p := builtinMachine(t, "default", c.ranks)
		if p.NumHosts() != c.hosts || p.NumLinks() != c.links {
			t.Errorf("%d ranks: %d hosts, %d links, want %d, %d", c.ranks, p.NumHosts(), p.NumLinks(), c.hosts, c.links)
		}
		route, err := p.AppendRoute(nil, 0, c.hosts-1)
		if err != nil || len(route) != c.hops {
			t.Errorf("%d ranks: a route of %d links, %v, want %d", c.ranks, len(route), err, c.hops)
		}
	}
}

func TestBadBuiltin(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		want  string
	}{
		{"roadrunner", 1, `no built-in platform "roadrunner": want dahu, default, stampede, or a file`},
		{"default", 0, "0 ranks, want [1,1048552]"},
		{"default", MaxHosts, "1048576 ranks, want [1,1048552]"},
	} {
		if _, err := Builtin(c.name, c.ranks); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %d ranks: %v, want %s", c.name, c.ranks, err, c.want)
		}
	}
}

func TestBuiltinNames(t *testing.T) {
	names := BuiltinNames()
	if !slices.IsSorted(names) {
		t.Errorf("%v are not sorted", names)
	}
	for _, name := range names {
		if p := builtinMachine(t, name, 4); p.Name() != name {
			t.Errorf("built-in %q is named %q", name, p.Name())
		}
	}
}
