package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/stat"
	"reprise/tracegen/hpl"
)

// recordedRun is one of the recorded runs of real HPL in testdata/oracle/hpl.
type recordedRun struct {
	N, NB, P, Q, NBMin, NDiv, Depth, Align int
	PMap, PFact, RFact, L1, U              string
	Bcast                                  int  `json:"bcast_code"`
	Swap                                   int  `json:"swap_code"`
	Threshold                              int  `json:"swap_threshold"`
	CopyL                                  bool `json:"copy_l"`
	Equil                                  bool
	Modes                                  map[string]recordedMode // real, hit, late

	pivots []byte
	ranks  map[string][]string // texts of the rank files, by mode
}

// recordedMode holds the totals of a run that its recorder counted.
type recordedMode struct {
	Messages int64
	Bytes    int64 `json:"message_bytes"`
	Hits     int64 `json:"iprobe_hits"`
	Misses   int64 `json:"iprobe_misses"`
}

// recordedRuns opens all runs, by name.
func recordedRuns(t *testing.T) map[string]*recordedRun {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/oracle/hpl/*.zip")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded runs: %v", err)
	}
	runs := map[string]*recordedRun{}
	for _, path := range paths {
		runs[strings.TrimSuffix(filepath.Base(path), ".zip")] = openRun(t, path)
	}
	return runs
}

func openRun(t *testing.T, path string) *recordedRun {
	t.Helper()
	z := tracetest.Must(zip.OpenReader(path))
	defer z.Close()
	read := func(name string) []byte {
		f := tracetest.Must(z.Open(name))
		defer f.Close()
		return tracetest.Must(io.ReadAll(f))
	}
	r := &recordedRun{ranks: map[string][]string{}, pivots: read("pivots.txt")}
	tracetest.Check(t, json.Unmarshal(read("case.json"), r))
	for mode := range r.Modes {
		for rank := range r.P * r.Q {
			r.ranks[mode] = append(r.ranks[mode], string(read(fmt.Sprintf("%s/rank-%d.txt", mode, rank))))
		}
	}
	return r
}

// generate writes the trace of the run, with its pivots.
func (r *recordedRun) generate(t *testing.T) []byte {
	t.Helper()
	p := hpl.Params{N: r.N, NB: r.NB, P: r.P, Q: r.Q, NBMin: r.NBMin, NDiv: r.NDiv, Bcast: hpl.Bcast(r.Bcast), Depth: r.Depth,
		Swap: hpl.Swap(r.Swap), SwapThreshold: r.Threshold, Equil: r.Equil, Align: r.Align, CopyL: r.CopyL}
	for name, value := range map[string]string{"PMAP": r.PMap, "PFACT": r.PFact, "RFACT": r.RFact, "L1": r.L1, "U": r.U} {
		tracetest.Check(t, p.Set(name, value))
	}
	p.Pivots = hpl.Pivots{Kind: hpl.GivenPivots, Name: "pivots.txt"}
	p.Pivots.Rows = tracetest.Must(hpl.ReadPivots(bytes.NewReader(r.pivots), "pivots.txt", r.N))
	var buf bytes.Buffer
	tracetest.Check(t, hpl.Generate(context.Background(), &buf, p, hpl.Options{}))
	return buf.Bytes()
}

// verbCounts counts the recorded lines by verb, failed polls as often as they were
// made. Markers are left out, and so is dcopy: inside of pivot exchanges pivots do
// not decide it.
func verbCounts(ranks []string) map[string]int64 {
	counts := map[string]int64{}
	for _, text := range ranks {
		for line := range strings.Lines(text) {
			f := strings.Fields(line)
			switch f[0] {
			case "#", "begin", "end", "panel", "bwait", "dcopy":
			case "miss":
				n, _ := strconv.ParseInt(f[4][1:], 10, 64)
				counts["miss"] += n
			default:
				counts[f[0]]++
			}
		}
	}
	return counts
}

// TestStatOracle compares the counts from structure with what real HPL did: all
// verbs and kernels, and the recorder's own totals. Real runs count where no poll
// was made; where some were, those whose polls are decided by the rules.
func TestStatOracle(t *testing.T) {
	compared := 0
	for name, r := range recordedRuns(t) {
		data := r.generate(t)
		for mode, want := range r.Modes {
			if mode == "real" && want.Hits+want.Misses > 0 {
				continue
			}
			compared++
			tr := tracetest.Must(trace.NewReaderAt(bytes.NewReader(data), int64(len(data)), name))
			s := tracetest.Must(stat.Of(tr, stat.Options{Late: mode == "late"}))
			got := map[string]int64{}
			for _, k := range s.Kinds {
				got[k.Kind] += k.Actions
			}
			for _, k := range s.Kernels {
				got[strings.Fields(k.Kernel)[0]] += k.Calls
			}
			totals := recordedMode{s.Totals.Messages, s.Totals.Bytes, got["iprobe"], got["miss"]}
			if diff := cmp.Diff(want, totals); diff != "" {
				t.Errorf("%s %s: totals (-recorded +trace):\n%s", name, mode, diff)
			}
			delete(got, "compute")
			delete(got, "dcopy")
			if diff := cmp.Diff(verbCounts(r.ranks[mode]), got); diff != "" {
				t.Errorf("%s %s (-recorded +trace):\n%s", name, mode, diff)
			}
		}
	}
	// 21 cases ran in the modes hit and late, 14 real runs polled nothing.
	if want := 21 + 21 + 14; compared != want {
		t.Errorf("%d runs compared, want %d", compared, want)
	}
}

// TestCatOracle runs the command as the users of the recorded runs do: rank by
// rank, with polls by rule or from a file.
func TestCatOracle(t *testing.T) {
	runs := recordedRuns(t)
	for _, name := range []string{"pub-10", "pub-19", "pub-33"} { // ring and spins; P = 1; long broadcast and spread-roll
		r := runs[name]
		dir := t.TempDir()
		path, polls := filepath.Join(dir, "t.trace.zst"), filepath.Join(dir, "polls")
		tracetest.Check(t, os.WriteFile(path, r.generate(t), 0o644))
		for mode, ranks := range r.ranks {
			for rank, text := range ranks {
				want, outcomes := compared(text)
				arg := mode
				if mode == "real" {
					arg = polls
					tracetest.Check(t, os.WriteFile(polls, []byte(outcomes), 0o644))
				}
				var out, errs bytes.Buffer
				args := []string{"trace", "cat", "--rank", strconv.Itoa(rank), "--polls", arg, path}
				tracetest.Check(t, run(context.Background(), args, nil, &out, &errs))
				if got, _ := compared(out.String()); got != want {
					t.Errorf("%s %s rank %d: %s", name, mode, rank, cmp.Diff(want, got))
				}
			}
		}
	}
}

// compared returns the lines that are compared, without the header line and the
// copies inside of pivot exchanges, and those among them that tell how polls came
// out.
func compared(text string) (lines, outcomes string) {
	var all, polls strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "begin pdmxswp"):
			inside = true
		case strings.HasPrefix(line, "end pdmxswp"):
			inside = false
		case inside && strings.HasPrefix(line, "dcopy"):
			continue
		case strings.HasPrefix(line, "miss ") || strings.HasPrefix(line, "iprobe "):
			polls.WriteString(line)
		}
		all.WriteString(line)
	}
	return all.String(), polls.String()
}
