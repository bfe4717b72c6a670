package replay_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

const hplOracle = "../testdata/oracle/smpi-hpl"

// hplCase is a run of HPL inside SMPI: see the README of the cases.
type hplCase struct {
	Case        string
	P, Q        int
	Platform    string
	KernelModel string    `json:"kernel_model"`
	Config      []string  `json:"smpi_config"`
	Makespan    float64   `json:"makespan_seconds"`
	RankEnds    []float64 `json:"rank_end_seconds"`
	Messages    int64
	Bytes       int64 `json:"message_bytes"`
	N, NB       int
	NBMin, NDiv int
	PMap        string
	PFact       string
	RFact       string
	Bcast       int `json:"bcast_code"`
	Depth       int
	Swap        int `json:"swap_code"`
	Threshold   int `json:"swap_threshold"`
	L1, U       string
	Equil       bool
	Align       int
	Hits        int64 `json:"iprobe_hits"`
	Misses      int64 `json:"iprobe_misses"`
	Trace       string
}

func hplCases(t *testing.T) []hplCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(hplOracle, "smpi-[0-9]*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	if testing.Short() {
		files = files[10:13] // the small ones
	}
	cases := make([]hplCase, len(files))
	for i, file := range files {
		if err := json.Unmarshal([]byte(readFile(t, file)), &cases[i]); err != nil {
			t.Fatal(file, err)
		}
	}
	return cases
}

// machine returns the machine and the options of a case; rank r is on host node-r.
func (c *hplCase) machine(t *testing.T) (replay.Machine, replay.Options) {
	t.Helper()
	p, err := platforms.Load(filepath.Join(hplOracle, "platforms", c.Platform))
	if err != nil {
		t.Fatal(err)
	}
	set, err := kernels.Load(filepath.Join("../testdata/kernels", c.KernelModel+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m := replay.Machine{Platform: p, Kernels: set}
	for r := range c.P * c.Q {
		h, ok := p.HostIndex(fmt.Sprintf("node-%d", r))
		if !ok {
			t.Fatal("no host for rank", r)
		}
		m.Hosts = append(m.Hosts, int32(h))
	}
	o := replay.DefaultOptions()
	for _, text := range c.Config {
		name, value, _ := strings.Cut(text, ":")
		if err := o.Network.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return m, o
}

// replayRecorded replays the actions that the ranks of a case did.
func (c *hplCase) replayRecorded(t *testing.T, spin bool) *replay.Result {
	t.Helper()
	dir := t.TempDir()
	unzip(t, filepath.Join(hplOracle, c.Trace), dir)
	l := listing{spin: spin}
	lists := make([][]trace.Action, c.P*c.Q)
	for r := range lists {
		var err error
		if lists[r], err = l.read(readFile(t, filepath.Join(dir, fmt.Sprintf("rank-%d.txt", r)))); err != nil {
			t.Fatal(err)
		}
	}
	l.header.Ranks = len(lists)
	m, o := c.machine(t)
	res, err := replay.RunSource(t.Context(), &l.header, replay.NewLists(lists), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// check compares the makespan and the ends of the ranks with the case.
func (c *hplCase) check(t *testing.T, res *replay.Result, tolerance float64) {
	t.Helper()
	if res.Messages != c.Messages || res.Bytes != c.Bytes {
		t.Errorf("%d messages of %d bytes, want %d of %d", res.Messages, res.Bytes, c.Messages, c.Bytes)
	}
	worst := 0.0
	for r, want := range c.RankEnds {
		worst = max(worst, math.Abs(res.Ranks[r].End/want-1))
	}
	t.Logf("makespan %.9f, want %.9f: %+.1e; worst rank %.1e", res.Makespan, c.Makespan, res.Makespan/c.Makespan-1, worst)
	if worst > tolerance || len(c.RankEnds) != len(res.Ranks) {
		t.Errorf("ends differ by %.1e", worst)
	}
}

// TestRecordedHPL replays what the ranks did in the very simulation, failed
// probes included. What remains are the nanoseconds by which SimGrid shifts
// events that nearly coincide.
func TestRecordedHPL(t *testing.T) {
	for _, c := range hplCases(t) {
		if c.Trace != "" {
			t.Run(c.Case, func(t *testing.T) { c.check(t, c.replayRecorded(t, false), 1e-5) })
		}
	}
}

// TestBusyWaits replays the same where all failed probes are turns of busy waits
// (DEPTH 0), and lets the replay find out how many there were.
func TestBusyWaits(t *testing.T) {
	for _, c := range hplCases(t) {
		if c.Trace == "" || c.Depth > 0 || c.Misses == 0 {
			continue
		}
		t.Run(c.Case, func(t *testing.T) {
			res := c.replayRecorded(t, true)
			c.check(t, res, 1e-5)
			if d := math.Abs(float64(res.Polls)/float64(c.Hits+c.Misses) - 1); d > 1e-4 {
				t.Errorf("%d polls, want %d", res.Polls, c.Hits+c.Misses)
			}
		})
	}
}
