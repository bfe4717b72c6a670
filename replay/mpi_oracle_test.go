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
	"reprise/tracegen"
	"reprise/tracegen/simgrid"
)

// TestProgramsOfMPI: each rank of each program ends when it does under smpirun, where it is a
// program in C; in cases whose names begin with near, to a thousandth.
func TestProgramsOfMPI(t *testing.T) {
	p, err := platforms.Load(filepath.Join(testprogram.Dir(), "platform.xml"))
	noError(t, err)
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
	noError(t, err)
	defer dir.Close()
	f, err := dir.Open("platform.xml")
	noError(t, err)
	p, err := platforms.Parse(f, "platform.xml")
	noError(t, err)
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
	noError(t, err)
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
	noError(t, err)
	return res
}

// programOf returns the replay of a program, a rank on each host.
func programOf(t testing.TB, p *platforms.Platform, c *testprogram.Case) rerun {
	t.Helper()
	ctx := t.Context()
	file, err := c.Trace()
	noError(t, err)
	o := replay.DefaultOptions()
	for _, option := range c.Options {
		name, value, _ := strings.Cut(option, ":")
		noError(t, o.Network.Set(name, value))
	}
	hosts, err := replay.FillHosts(p, c.Ranks, 1)
	noError(t, err)
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

// TestProgramsOfMPIAsText: what SimGrid's text has no word for is written as messages that take
// as long, by the default selection and without the overheads of completions, whose order is
// another one. Probes and tests of operations are left out.
func TestProgramsOfMPIAsText(t *testing.T) {
	p, err := platforms.Load(filepath.Join(testprogram.Dir(), "platform.xml"))
	noError(t, err)
	played := 0
	for _, c := range testprogram.Load(t, os.DirFS(testprogram.Dir())) {
		file, err := c.Trace()
		noError(t, err)
		tr, err := trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), c.Name)
		noError(t, err)
		var text bytes.Buffer
		if _, err := simgrid.Export(t.Context(), &text, tr, tracegen.ExportOptions{Polls: trace.Hit{}}); err != nil {
			if !strings.Contains(err.Error(), "has no counterpart") && !strings.Contains(err.Error(), "with any tag") {
				t.Errorf("%s: %v", c.Name, err)
			}
			continue
		}
		if options := strings.Join(c.Options, " "); options != "" && options != "smpi/coll-selector:default" || strings.HasPrefix(c.Name, "probe") || strings.HasPrefix(c.Name, "test-") {
			continue
		}
		played++
		res := runText(t, p, c.Ranks, text.Bytes())
		for r, want := range c.Times {
			if got := res.Ranks[r].End; off(got, want) > 1 {
				t.Errorf("%s: rank %d ends at %.12f s, SMPI has %.12f", c.Name, r, got, want)
			}
		}
	}
	if played < 20 {
		t.Errorf("only %d programs played", played)
	}
}

// runText replays SimGrid's text of all ranks, one on each host.
func runText(t *testing.T, p *platforms.Platform, ranks int, text []byte) *replay.Result {
	t.Helper()
	dir := t.TempDir()
	index := filepath.Join(dir, "index")
	noError(t, os.WriteFile(filepath.Join(dir, "all"), text, 0o644))
	noError(t, os.WriteFile(index, []byte("all\n"), 0o644))
	source, err := simgrid.Open(index, dir)
	noError(t, err)
	defer source.Close()
	hosts, err := replay.FillHosts(p, ranks, 1)
	noError(t, err)
	res, err := replay.RunSource(t.Context(), &trace.Header{Ranks: ranks}, source, replay.Machine{Platform: p, Hosts: hosts}, replay.DefaultOptions())
	noError(t, err)
	return res
}
