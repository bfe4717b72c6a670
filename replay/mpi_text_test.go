package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/testprogram"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

// TestProgramsOfMPIAsText: what SimGrid's text has no word for is written as messages that take
// as long, by the default selection and without the overheads of completions, whose order is
// another one. Probes and tests of operations are left out.
func TestProgramsOfMPIAsText(t *testing.T) {
	p, err := platforms.Load(filepath.Join(testprogram.Dir(), "platform.xml"))
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, c := range testprogram.Load(t, os.DirFS(testprogram.Dir())) {
		file, err := c.Trace()
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), c.Name)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := simgrid.Export(t.Context(), &text, tr, simgrid.ExportOptions{Polls: trace.Hit{}}); err != nil {
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
	if err := os.WriteFile(filepath.Join(dir, "all"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, []byte("all\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	source, err := simgrid.Open(index, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	hosts, err := replay.FillHosts(p, ranks, 1)
	if err != nil {
		t.Fatal(err)
	}
	res, err := replay.RunSource(t.Context(), &trace.Header{Ranks: ranks}, source, replay.Machine{Platform: p, Hosts: hosts}, replay.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return res
}
