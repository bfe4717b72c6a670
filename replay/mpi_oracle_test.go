package replay_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/mpiscript"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

// TestProgramsOfMPI: each rank of each program ends when it does under smpirun, where it is a
// program in C.
func TestProgramsOfMPI(t *testing.T) {
	p, err := platforms.Load(filepath.Join(mpiscript.Dir(), "platform.xml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range mpiscript.Load(t) {
		t.Run(c.Name, func(t *testing.T) {
			res := runProgram(t, p, c)
			for r, want := range c.Times {
				if got := res.Ranks[r].End; off(got, want) > 1 {
					t.Errorf("rank %d ends at %.12f s, SMPI has %.12f", r, got, want)
				}
			}
		})
	}
}

// runProgram replays a program, a rank on each host.
func runProgram(t testing.TB, p *platforms.Platform, c *mpiscript.Case) *replay.Result {
	t.Helper()
	tr, err := trace.NewReader(bytes.NewReader(c.Trace(t)), c.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	o := replay.DefaultOptions()
	for _, option := range c.Options {
		name, value, _ := strings.Cut(option, ":")
		if err := o.Network.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	hosts, err := replay.FillHosts(p, c.Ranks, 1)
	if err != nil {
		t.Fatal(err)
	}
	res, err := replay.Run(t.Context(), tr, replay.Machine{Platform: p, Hosts: hosts}, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
