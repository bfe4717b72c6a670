package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/replay"
)

// rack is hosts n08 to n11, g-1.ib to g-3.ib, r0c0 to r1c1, and names that look like something else.
func rack(t testing.TB) *platforms.Platform {
	t.Helper()
	var b strings.Builder
	b.WriteString(`<platform version="4.1"><zone id="z" routing="Full">`)
	for _, name := range []string{"n08", "n09", "n10", "n11", "g-1.ib", "g-2.ib", "g-3.ib", "r0c0", "r0c1", "r1c0", "r1c1", "x[1-2]", "y#1", "w:3", "n8"} {
		fmt.Fprintf(&b, `<host id="%s" speed="1Gf" core="4"/>`, name)
	}
	b.WriteString(`</zone></platform>`)
	p, err := platforms.Parse(strings.NewReader(b.String()), "rack.xml")
	noError(t, err)
	return p
}

// TestHostfiles: hostfiles as their launchers document them.
func TestHostfiles(t *testing.T) {
	p := rack(t)
	for _, c := range []struct {
		name, file string
		ranks      int
		want       string // hosts, or an error
	}{
		{"Open MPI", "# ours\nn08 slots=2 max_slots=4\n\nn09 slots = 1 # the old one\r\nn10\n", 5, "n08 n08 n09 n10 n08"},
		{"Open MPI, spelled otherwise", "n08 cpu=2\nn09 max-slots=2 slots=2 user=me\n", 4, "n08 n08 n09 n09"},
		{"Open MPI, too many for max_slots", "n08 slots=1 max_slots=2\nn09 slots=1\n", 5, `hosts:1: 5 ranks need more than max_slots=2 of host "n08"`},
		{"Open MPI, with what its other programs need", "// ours\nme@n08 slots=2 sockets=2 cores-per-socket=4 // the new one\nn09 max-cpu=3 cpu_set=0,1\n", 3, "n08 n08 n09"},
		{"MPICH", "n08:2 binding=user:0,1\nn09:1 ifname=ib0 # a comment\nn10#another\n", 4, "n08 n08 n09 n10"},
		{"Slurm", "n[08-10]\n", 3, "n08 n09 n10"},
		{"Slurm, a list", "n[08-09,11],g-[1-2].ib,r0c1", 6, "n08 n09 n11 g-1.ib g-2.ib r0c1"},
		{"Slurm, blanks behind commas", "n[08, 11], g-3.ib", 3, "n08 n11 g-3.ib"},
		{"Slurm, dimensions", "r[0-1]c[0-1]\n", 4, "r0c0 r0c1 r1c0 r1c1"},
		{"Slurm, without zeros", "n[10-11]\nn[8]", 3, "n10 n11 n8"},
		{"ranges with counts", "n[08-09]:2,n10\nn11 slots=1\n", 6, "n08 n08 n09 n09 n10 n11"},
		{"a range with slots", "n[08-09] slots=2 max_slots=2\n", 4, "n08 n08 n09 n09"},
		{"smpirun", "\ufeffn08\r\n\r\n# none\r\n n09 : 2 \r\n", 4, "n08 n09 n09 n08"},
		{"names that look like something else", "x[1-2]\ny#1:2\nw:3\nw:3:2\n", 6, "x[1-2] y#1 y#1 w:3 w:3 w:3"},

		{"no such host in a range", "n08\nn[10-12]", 2, `hosts:2: host "n12" is not in platform rack.xml`},
		{"zeros that are not there", "r[00-01]c0", 2, `hosts:1: host "r00c0" is not in platform rack.xml`},
		{"an endless range", "n[08-99999999999999]", 2, `hosts:1: host "n12" is not in platform rack.xml`},
		{"no number", "n[08-x]", 2, `hosts:1: "n[08-x]": "08-x" in brackets, want a number, or a range as 0-7`},
		{"backwards", "n[11-08]", 2, `hosts:1: "n[11-08]": "11-08" in brackets, want a number, or a range as 0-7`},
		{"nothing in brackets", "n[]", 2, `hosts:1: "n[]": "" in brackets, want a number, or a range as 0-7`},
		{"not closed", "n[08", 2, `hosts:1: "n[08": a bracket is not closed`},
		{"not open", "n08]", 2, `hosts:1: "n08]": a bracket is closed that is not open`},
		{"many brackets", "n[1][1][1][1][1][1]", 2, `hosts:1: "n[1][1][1][1][1][1]" has more than 5 brackets`},
		{"no name", "n08,,n09", 2, `hosts:1: "", want the name of a host, NAME:K or NAME slots=K for K ranks, or several with commas between`},
		{"two names", "n08 n09", 2, `hosts:1: "n08 n09", want the name of a host, NAME:K or NAME slots=K for K ranks, or several with commas between`},
		{"no slots", "n08 slots=0", 2, `hosts:1: "slots=0": "0" ranks, want a positive number`},
		{"slots twice", "n08:2 slots=3", 2, `hosts:1: "n08:2" has both :2 and slots=3`},
		{"a slip", "n08 slts=2", 2, `hosts:1: "slts=2", known behind a host are slots=K and max_slots=K`},
		{"too many places", "n[08-11]:9999999\n", 2, `hosts:1: more than 16777216 places`},
		{"too many hosts", "r[" + strings.Repeat("0,", 1<<11) + "0]c[" + strings.Repeat("0,", 1<<11) + "1]", 2, `hosts:1: more than 1048576 hosts`},
		{"a byte order mark behind the first line", "n08\n\ufeffn09\n", 2, `hosts:2: host "\ufeffn09" is not in platform rack.xml`},
		{"no ranks", "n08:0\n", 2, `hosts:1: "n08:0": "0" ranks, want a positive number`},
		{"comments only", "# n08\n  # n09\n", 2, "hosts: no hosts"},
	} {
		hosts, err := replay.ParseHostfile(strings.NewReader(c.file), "hosts", p, c.ranks)
		var names []string
		for _, h := range hosts {
			names = append(names, p.Host(int(h)).Name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func FuzzHostfile(f *testing.F) {
	p := rack(f)
	for _, text := range []string{"n08\nn09:2\n", "n08:16777216", "n[08-10,11],g-[1-3].ib", "r[0-1]c[0-1]:2 slots = 2 max_slots=3 # all\r\n", "x[1-2]\ny#1:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := replay.ParseHostfile(strings.NewReader(text), "hosts", p, 5)
		if (err == nil) != (len(hosts) == 5) {
			t.Fatalf("%d hosts, error %v", len(hosts), err)
		}
		for _, h := range hosts {
			if h < 0 || int(h) >= p.NumHosts() {
				t.Fatalf("host %d", h)
			}
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "hosts:") || len(err.Error()) > 1000) {
			t.Fatalf("error %q", err)
		}
	})
}

// uneven has hosts of 2, 1 and 4 cores.
const uneven = `<platform version="4.1"><zone id="z" routing="Full">
	<host id="a" speed="1Gf" core="2"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf" core="4"/>
	</zone></platform>`

// TestCrowded: the first host with more ranks than its 2, 1 and 4 cores.
func TestCrowded(t *testing.T) {
	p, err := platforms.Parse(strings.NewReader(uneven), "uneven.xml")
	noError(t, err)
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
	noError(t, err)
	for _, c := range []struct {
		ranks, perHost int
		want           string // hosts by index, or an error
	}{
		{ranks: 3, want: "[0 0 1]"},
		{ranks: 4, want: "[0 0 1 2]"},
		{ranks: 5, want: "[0 0 1 2 2]"},
		{ranks: 7, want: "[0 0 1 2 2 2 2]"},
		{ranks: 8, want: "uneven.xml: more ranks than places: 8 ranks, and room for 7 on 3 hosts (one per core)"},
		{ranks: 5, perHost: 2, want: "[0 0 1 1 2]"},
		{ranks: 7, perHost: 2, want: "uneven.xml: more ranks than places: 7 ranks, and room for 6 on 3 hosts (2 per host)"},
		{ranks: 5, perHost: -1, want: "-1 ranks per host, want a positive number"},
	} {
		hosts, err := replay.FillHosts(p, c.ranks, c.perHost)
		got := fmt.Sprint(hosts)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d ranks, %d per host:\ngot  %s\nwant %s", c.ranks, c.perHost, got, c.want)
		}
	}
	// Texts of SimGrid: as few on each as fit.
	for ranks, want := range map[int]string{3: "[0 1 2]", 4: "[0 0 1 2]", 5: "[0 0 1 2 2]", 7: "[0 0 1 2 2 2 2]"} {
		if hosts, err := replay.SpreadHosts(p, ranks); err != nil || fmt.Sprint(hosts) != want {
			t.Errorf("%d ranks of a text: %v, %v, want %s", ranks, hosts, err, want)
		}
	}
	if _, err := replay.SpreadHosts(p, 8); !errors.Is(err, replay.ErrTooManyRanks) {
		t.Error(err)
	}
	if _, err := replay.FillHosts(p, 100, 0); !errors.Is(err, replay.ErrTooManyRanks) {
		t.Error(err)
	}
}
