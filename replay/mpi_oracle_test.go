package replay_test

import (
	"archive/zip"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/testprogram"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

// TestProgramsOfMPI: each rank of each program ends when it does under smpirun, where it is a
// program in C; in cases whose names begin with near, to a thousandth.
func TestProgramsOfMPI(t *testing.T) {
	p, err := platforms.Load(filepath.Join(testprogram.Dir(), "platform.xml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range testprogram.Load(t, os.DirFS(testprogram.Dir())) {
		t.Run(c.Name, func(t *testing.T) {
			res := runProgram(t, p, c)
			for r, want := range c.Times {
				got := res.Ranks[r].End
				if strings.HasPrefix(c.Name, "near-") && math.Abs(got-want) < 1e-3*want {
					continue
				}
				if off(got, want) > 1 {
					t.Errorf("rank %d ends at %.12f s, SMPI has %.12f", r, got, want)
				}
			}
		})
	}
}

// TestCollectivesOfSMPI: each operation by each selection, on communicators of 2 to 13 ranks, with
// hosts in their order and in that of their names, and with several ranks on a host, of sizes
// around the thresholds, ends when it does under smpirun.
func TestCollectivesOfSMPI(t *testing.T) {
	dir, err := zip.OpenReader("../testdata/oracle/smpi-collectives.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	f, err := dir.Open("platform.xml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := platforms.Parse(f, "platform.xml")
	if err != nil {
		t.Fatal(err)
	}
	cases := testprogram.Load(t, dir)
	if len(cases) < 300 {
		t.Fatalf("%d cases", len(cases))
	}
	worst := 0.0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			res := runProgram(t, p, c)
			for r, want := range c.Times {
				got := res.Ranks[r].End
				if worst = max(worst, off(got, want)); off(got, want) > 1 {
					t.Errorf("rank %d ends at %.12f s, SMPI has %.12f", r, got, want)
				}
			}
		})
	}
	t.Logf("%d cases, worst %.2g of the tolerance", len(cases), worst)
}

// TestProgramsOfMPIResume: a replay that goes on from a checkpoint ends as if it had not
// stopped, whatever its ranks are in the midst of.
func TestProgramsOfMPIResume(t *testing.T) {
	p, err := platforms.Load(filepath.Join(testprogram.Dir(), "platform.xml"))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range testprogram.Load(t, os.DirFS(testprogram.Dir())) {
		if testing.Short() && i%8 > 0 && !strings.Contains(c.Name, "collective") && !strings.Contains(c.Name, "wild") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) { checkResumes(t, 9, programOf(t, p, c)) })
	}
}

// runProgram replays a program.
func runProgram(t testing.TB, p *platforms.Platform, c *testprogram.Case) *replay.Result {
	t.Helper()
	res, err := programOf(t, p, c)(func(*replay.Options) {})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// programOf returns the replay of a program, a rank on each host.
func programOf(t testing.TB, p *platforms.Platform, c *testprogram.Case) rerun {
	t.Helper()
	ctx := t.Context()
	file, err := c.Trace()
	if err != nil {
		t.Fatal(err)
	}
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
	for r, h := range c.Hosts {
		hosts[r] = int32(h)
	}
	return func(change func(*replay.Options)) (*replay.Result, error) {
		tr, err := trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), c.Name)
		if err != nil {
			return nil, err
		}
		o := o
		change(&o)
		return replay.Run(ctx, tr, replay.Machine{Platform: p, Hosts: hosts}, o)
	}
}
