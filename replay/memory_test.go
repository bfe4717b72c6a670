package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// TestMemory: a matrix of 8 N^2 bytes and 715 bytes a point of HPCG, against two hosts of 1 GB, in line 2.
func TestMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "two.xml")
	noError(t, os.WriteFile(file, []byte(`<platform version="4.1">
<cluster id="c" prefix="h" suffix="" radical="0-1" speed="1Gf" core="2" bw="1GBps" lat="1us"><prop id="memory" value="1e9"/>
</cluster></platform>`), 0o600))
	hpcg := func(nx string) []trace.Param {
		return []trace.Param{{Name: "nx", Value: nx}, {Name: "ny", Value: "64"}, {Name: "nz", Value: "64"}}
	}
	for _, c := range []struct {
		program string
		params  []trace.Param
		want    string // "": no warning
	}{
		{"hpl", []trace.Param{{Name: "N", Value: "15811"}}, ""}, // 1.9999 GB
		{"hpl", []trace.Param{{Name: "N", Value: "15812"}}, ":2: memory: the matrix of N = 15812 takes 2 GB, and 2 hosts have 2 GB in all: it does not fit"},
		{"hpcg", hpcg("32"), ":2: memory: HPCG with 131072 points a rank takes 0.3749 GB, and 2 hosts have 2 GB in all: it takes less than the quarter"},
		{"hpcg", hpcg("64"), ""},
		{"hpcg", hpcg("176"), ":2: memory: HPCG with 720896 points a rank takes 2.062 GB, and 2 hosts have 2 GB in all: it does not fit"},
		{"other", nil, ""},
	} {
		h := &trace.Header{Program: c.program, Ranks: 4, Params: c.params}
		_, _, warnings, err := replay.LoadMachine(replay.MachineSpec{Platform: file}, headerOnly{h})
		noError(t, err)
		got := ""
		for _, w := range warnings {
			if strings.Contains(w.String(), "memory:") {
				got += w.String()
			}
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s %v: %q, want %q", c.program, c.params, got, c.want)
		}
	}
}
