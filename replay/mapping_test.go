package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/replay"
)

// uneven has hosts of 2, 1 and 4 cores.
const uneven = `<platform version="4.1"><zone id="z" routing="Full">
	<host id="a" speed="1Gf" core="2"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf" core="4"/>
	</zone></platform>`

// TestCrowded: the first host with more ranks than its 2, 1 and 4 cores.
func TestCrowded(t *testing.T) {
	p, err := platforms.Parse(strings.NewReader(uneven), "uneven.xml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		hosts []int32
		want  string // host, ranks, ok
	}{
		{[]int32{0, 0, 1, 2, 2, 2, 2}, "0 0 false"}, {[]int32{2, 1, 0, 1}, "1 2 true"}, {[]int32{0, 1, 1, 0, 0}, "0 3 true"},
	} {
		m := replay.Machine{Platform: p, Hosts: c.hosts}
		if host, ranks, ok := m.Oversubscribed(); fmt.Sprint(host, ranks, ok) != c.want {
			t.Errorf("%v: %v %v %v, want %s", c.hosts, host, ranks, ok, c.want)
		}
	}
}

func TestMapping(t *testing.T) {
	p, err := platforms.Parse(strings.NewReader(uneven), "uneven.xml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ranks, perHost int
		hostfile       string
		want           string // hosts by index, or an error
	}{
		{ranks: 3, want: "[0 1 2]"},
		{ranks: 4, want: "[0 0 1 2]"}, // two on each that has two cores
		{ranks: 5, want: "[0 0 1 2 2]"},
		{ranks: 7, want: "[0 0 1 2 2 2 2]"},
		{ranks: 8, want: "uneven.xml: more ranks than places: 8 ranks, and room for 7 on 3 hosts (one per core)"},
		{ranks: 5, perHost: 2, want: "[0 0 1 1 2]"},
		{ranks: 7, perHost: 2, want: "uneven.xml: more ranks than places: 7 ranks, and room for 6 on 3 hosts (2 per host)"},
		{ranks: 5, perHost: -1, want: "-1 ranks per host, want a positive number"},
		{ranks: 5, hostfile: "c\n\n b:2 \n", want: "[2 1 1 2 1]"}, // in turn
		{ranks: 1, hostfile: "c\nd\n", want: `hosts:2: host "d" is not in platform uneven.xml`},
		{ranks: 1, hostfile: "c:0\n", want: `hosts:1: "c:0": "0" ranks, want a positive number`},
		{ranks: 1, hostfile: "a:9999999\nc:99999999999\n", want: `hosts:2: more than 16777216 places`},
		{ranks: 1, hostfile: "\n", want: "hosts: no hosts"},
		{ranks: 2, hostfile: "\ufeffc\na\n", want: "[2 0]"}, // behind a byte order mark
		{ranks: 1, hostfile: "\ufeff# comment\nb\n", want: "[1]"},
		{ranks: 1, hostfile: "c\n\ufeffa\n", want: `hosts:2: host "\ufeffa" is not in platform uneven.xml`},
	} {
		var hosts []int32
		if c.hostfile != "" {
			hosts, err = replay.ParseHostfile(strings.NewReader(c.hostfile), "hosts", p, c.ranks)
		} else {
			hosts, err = replay.FillHosts(p, c.ranks, c.perHost)
		}
		got := fmt.Sprint(hosts)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d ranks, %d per host, hostfile %q:\ngot  %s\nwant %s", c.ranks, c.perHost, c.hostfile, got, c.want)
		}
	}
	if _, err := replay.FillHosts(p, 100, 0); !errors.Is(err, replay.ErrTooManyRanks) {
		t.Error(err)
	}
}
