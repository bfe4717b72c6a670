package platforms

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRadical(t *testing.T) {
	for _, c := range []struct {
		radical string
		want    string // host names, in order
	}{
		{"0", "n0"},
		{"0-3", "n0 n1 n2 n3"},
		{"0-3,7,9-10", "n0 n1 n2 n3 n7 n9 n10"},
		{"3,1,7-8", "n3 n1 n7 n8"},
		{" 1 - 2 , 5", "n1 n2 n5"},
	} {
		p := parseCluster(t, c.radical, "")
		var names []string
		for i := range p.NumHosts() {
			names = append(names, p.Host(i).Name)
		}
		if diff := cmp.Diff(c.want, strings.Join(names, " ")); diff != "" {
			t.Errorf("radical %q (-want +got):\n%s", c.radical, diff)
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
	p := parseCluster(t, strings.TrimSuffix(radical.String(), ","), "")
	if name := p.Host(hosts - 1).Name; name != fmt.Sprintf("n%d", 3*(hosts-1)) {
		t.Errorf("last host %s", name)
	}
}

func TestBadRadical(t *testing.T) {
	for _, c := range []struct{ radical, want string }{
		{"", "is not a host number"},
		{"a", "is not a host number"},
		{"3-", "is not a host number"},
		{"-3", "is not a host number"},
		{"1-2-3", "is not a host number"},
		{"1,,2", "is not a host number"},
		{"5-3", "runs backwards"},
		{"0-4294967296", "is not a host number"},
		{"0-2147483647", "more than 1048576 hosts"},
		{"0-1048576", "more than 1048576 hosts"},
		{"0-1000000,2000000-3000000", "more than 1048576 hosts"},
	} {
		if _, _, err := parseRadical(c.radical, MaxHosts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("radical %q: %v; want an error with %q", c.radical, err, c.want)
		}
	}
}
