package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/report/profile"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// pprofTop has go tool pprof list the functions of a profile: their cumulative seconds.
func pprofTop(t *testing.T, args ...string) map[string]float64 {
	t.Helper()
	args = append([]string{"tool", "pprof", "-top", "-cum", "-nodecount=1000", "-nodefraction=0", "-unit=ns"}, args...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	line := regexp.MustCompile(`(?m)^ +\S+ +\S+ +\S+ +(-?[0-9.]+)(?:ns)? +\S+ +(.*)$`)
	seconds := map[string]float64{}
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatalf("%s: %v", m[0], err)
		}
		seconds[m[2]] = v / 1e9
	}
	if len(seconds) == 0 {
		t.Fatalf("go %s lists nothing:\n%s", strings.Join(args, " "), out)
	}
	return seconds
}

// TestPprof: go tool pprof finds the totals of the report, by kind, kernel and phase, and the
// differences of two.
func TestPprof(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	results := map[string]*replay.Result{}
	for _, c := range []struct {
		name  string
		bcast hpl.Bcast
	}{{"ring", hpl.OneRing}, {"long", hpl.Long}} {
		params := hpl.DefaultParams(400, 2, 3)
		params.NB, params.Bcast = 32, c.bcast
		path := filepath.Join(dir, c.name+".pb.gz")
		out := played(t, "--quiet", "--platform", "dahu", "--ranks-per-host", "1", "--json", "--profile", path, hplOf(t, params))
		res := &replay.Result{}
		noError(t, json.Unmarshal(out, res))
		results[c.name] = res
	}
	ring, long := filepath.Join(dir, "ring.pb.gz"), filepath.Join(dir, "long.pb.gz")
	top, diff := pprofTop(t, ring), pprofTop(t, "-diff_base", ring, long)
	// Each of the samples is rounded to 1 ns: hosts, times kinds and kernels, times phases.
	tolerance := 1e3 * time.Nanosecond.Seconds()
	for i, table := range [][]replay.Share{results["ring"].Kinds, results["ring"].Kernels, results["ring"].Phases} {
		others := [][]replay.Share{results["long"].Kinds, results["long"].Kernels, results["long"].Phases}[i]
		for _, want := range table {
			name, total := want.Name, 6*want.Mean
			if got, ok := top[name]; !ok || math.Abs(got-total) > tolerance {
				t.Errorf("%s: %v s, want %v", name, got, total)
			}
			for _, other := range others {
				if other.Name == want.Name && math.Abs(diff[name]-6*(other.Mean-want.Mean)) > 2*tolerance {
					t.Errorf("%s: a difference of %v s, want %v", name, diff[name], 6*(other.Mean-want.Mean))
				}
			}
		}
	}
	ends, hosts := 0.0, 0.0
	for _, rank := range results["ring"].Ranks {
		ends += rank.End
		hosts += top[rank.Host]
	}
	if math.Abs(hosts-ends) > tolerance {
		t.Errorf("hosts of %v s, want %v", hosts, ends)
	}
}

// TestPprofNames: hosts whose names look like templates of C++, and kernels like its functions, keep them.
func TestPprofNames(t *testing.T) {
	h := &trace.Header{Ranks: 2, Kernels: []trace.Kernel{{Name: "a::b(int)"}, {Name: "a::b(long)"}}}
	r := profile.NewRecorder(h, profile.GroupsOf(h, []string{"n<0>", "n<1>"}))
	o := r.Observer()
	o.TimePasses(0, replay.TimeCompute, 0, 0, 0.0025)
	o.TimePasses(1, replay.TimeCompute, 1, 0, 0.005)
	file := saved(t, "names.pb.gz", func(w io.Writer) error { return r.Write(w) })
	want := map[string]float64{"compute": 0.0075, "n<0>": 0.0025, "n<1>": 0.005, "a::b(int)": 0.0025, "a::b(long)": 0.005}
	if diff := cmp.Diff(want, pprofTop(t, file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
