package replay_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

const profilesOracle = "../testdata/oracle/profiles/cases.zip"

// TestProfilesAgreeWithSimGrid: the times of all actions of all recorded cases whose
// machines change with time are SimGrid's to the last digits. What is left is the rounding
// of sums, and of the phases that times come from.
func TestProfilesAgreeWithSimGrid(t *testing.T) {
	const tolerance = 1e-12
	dir := t.TempDir()
	names := unzip(t, profilesOracle, dir)
	if len(names) < 30 {
		t.Fatalf("%d cases, want at least 30", len(names))
	}
	same := func(got, want float64) bool { return math.Abs(got-want) <= tolerance*(1+want) }
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(dir, name)
			res, got := dateCase(t, folder)
			for r, want := range expected(t, folder) {
				if end := res.Ranks[r].End; !same(end, want.Finish) {
					t.Errorf("rank %d ends at %v, want %v", r, end, want.Finish)
				}
				for i, at := range want.Ends {
					if !math.IsNaN(got[r][i]) && !same(got[r][i], at) {
						t.Errorf("rank %d: line %d ends at %v, want %v", r, i+1, got[r][i], at)
					}
				}
			}
		})
	}
}

// TestProfilesBothSolvers: changes reach the reference's solver as they do the local one.
func TestProfilesBothSolvers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range unzip(t, profilesOracle, dir) {
		folder := filepath.Join(dir, name)
		rerun := rerunCase(t, folder, false)
		res, err := rerun(func(o *replay.Options) { o.Network.Solver = netmodel.SolverReference })
		noError(t, err)
		for r, want := range expected(t, folder) {
			if end := res.Ranks[r].End; math.Abs(end-want.Finish) > 1e-12*(1+want.Finish) {
				t.Errorf("%s: rank %d ends at %v, want %v", name, r, end, want.Finish)
			}
		}
	}
}

// TestResumeProfiles: replays on machines that change go on from a checkpoint to the same
// bits.
func TestResumeProfiles(t *testing.T) {
	dir, points := t.TempDir(), 12
	if testing.Short() {
		points = 2
	}
	for _, name := range unzip(t, profilesOracle, dir) {
		t.Run(name, func(t *testing.T) {
			checkResumes(t, points, rerunCase(t, filepath.Join(dir, name), false))
		})
	}
}

// changingMachine returns two hosts of 1 Gf and a link of 100 MB/s and 1 ms with a profile.
func changingMachine(t *testing.T, kind, element, values string, hosts ...int32) replay.Machine {
	t.Helper()
	xml := `<platform version="4.1"><zone id="z" routing="Full">
<host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/><link id="l" bandwidth="100MBps" latency="1ms"/>
<route src="h0" dst="h1"><link_ctn id="l"/></route></zone>
<trace id="t" periodicity="-1">` + values + `</trace><trace_connect kind="` + kind + `" trace="t" element="` + element + `"/></platform>`
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	noError(t, err)
	if hosts == nil {
		hosts = []int32{0, 1}
	}
	return replay.Machine{Platform: p, Hosts: hosts}
}

// twoComputations and oneMessage are actions of two ranks: 0.1 and 0.2 s of computation, and 10 MB.
var (
	twoComputations = [][]trace.Action{
		{{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e8)}}},
		{{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(2e8)}}},
	}
	oneMessage = [][]trace.Action{
		{{Kind: trace.KindSend, Peer: 1, X: [4]int64{1e7}}},
		{{Kind: trace.KindRecv, Peer: 0, X: [4]int64{1e7}}},
	}
)

// TestChangesEndReplays: what no program survives, or waits for in vain.
func TestChangesEndReplays(t *testing.T) {
	late := [][]trace.Action{
		append([]trace.Action{{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(0.5)}}}, oneMessage[0]...), oneMessage[1],
	}
	unmatched := [][]trace.Action{nil, oneMessage[1]}
	for _, c := range []struct {
		name, kind, element, values string
		actions                     [][]trace.Action
		want                        string // "": it does not end the replay
	}{
		{"host off", "HOST_AVAIL", "h0", "0.05 0", twoComputations, `at 0.05 s host "h0" is switched off (profile "t") under rank 0`},
		{"host off, and on at once", "HOST_AVAIL", "h1", "0.15 0\n0.16 1", twoComputations, `at 0.15 s host "h1" is switched off (profile "t") under rank 1`},
		{"host off after its rank", "HOST_AVAIL", "h0", "0.15 0", twoComputations, ""},
		{"host off at the end of its rank", "HOST_AVAIL", "h0", "0.1 0", twoComputations, `at 0.1 s host "h0" is switched off (profile "t") under rank 0`},
		{"host off at first", "HOST_AVAIL", "h0", "0 0\n0.01 1", twoComputations, `at 0 s host "h0" is switched off (profile "t") under rank 0`},
		{"host off while its rank is blocked", "HOST_AVAIL", "h1", "0.05 0", oneMessage, `at 0.05 s host "h1" is switched off (profile "t") under rank 1`},
		{"link off", "LINK_AVAIL", "l", "0.05 0", oneMessage, `at 0.05 s link "l" is switched off (profile "t") under a message of rank 0 to rank 1`},
		{"link off in the latency phase", "LINK_AVAIL", "l", "0.0005 0", oneMessage, `at 0.0005 s link "l" is switched off (profile "t") under a message of rank 0 to rank 1`},
		{"link off before", "LINK_AVAIL", "l", "0.05 0", late, `message of rank 0 to rank 1: at 0.5 s link "l" is off (profile "t")`},
		{"link on again", "LINK_AVAIL", "l", "0.05 0\n0.4 1", late, ""},
		{"below 0, which says nothing", "LINK_AVAIL", "l", "0.05 -1", oneMessage, ""},
		{"no bandwidth for good", "BANDWIDTH", "l", "0.05 0", oneMessage, `nothing goes on after 0.05 s: the bandwidth of link "l" is 0 for good (profile "t")`},
		{"no bandwidth for a while", "BANDWIDTH", "l", "0.05 0\n0.1 1e8", oneMessage, ""},
		{"no speed for good", "SPEED", "h0", "0 0", twoComputations, `nothing goes on after 0 s: the speed of host "h0" is 0 for good (profile "t")`},
		{"a deadlock on a machine that changes for ever", "BANDWIDTH", "l", "0.05 1e7\n0.06 1e8\nLOOPAFTER 0.1", unmatched, "deadlock at 0 s: 1 rank waits for messages that never come"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := changingMachine(t, c.kind, c.element, c.values)
			_, err := replay.RunSource(t.Context(), &trace.Header{Ranks: 2}, replay.NewLists(c.actions), m, replay.DefaultOptions())
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestScaledLinks: factors of links hold for what profiles say, and for the global loopback, of
// which options say what it has. A message of 10 MB takes 11.6436 L + 10000016/(0.940694 B), and
// 1.05 times the latter where it loads its own way back.
func TestScaledLinks(t *testing.T) {
	const bandwidth, latency, z = 4.0, 3.0, 10000016
	for _, c := range []struct {
		name, kind, value string
		hosts             []int32
		want              float64
	}{
		{"bandwidth", "BANDWIDTH", "0 50e6", nil, 11.6436*latency*1e-3 + z/(0.940694*bandwidth*50e6/1.05)},
		{"latency", "LATENCY", "0 1.5e-3", nil, 11.6436*latency*1.5e-3 + z/(0.940694*bandwidth*100e6/1.05)},
		{"loopback", "LATENCY", "0 2e-3", []int32{0, 0}, 11.6436*latency*5e-4 + z/(0.940694*bandwidth*25e6)},
	} {
		m, o := changingMachine(t, c.kind, "l", c.value, c.hosts...), replay.DefaultOptions()
		m.Platform = m.Platform.Scaled(func(int32) (float64, float64) { return bandwidth, latency })
		o.Network.LoopbackBandwidth, o.Network.LoopbackLatency = 25e6, 5e-4
		res, err := replay.RunSource(t.Context(), &trace.Header{Ranks: 2}, replay.NewLists(oneMessage), m, o)
		noError(t, err)
		if math.Abs(res.Makespan-c.want) > 1e-12 {
			t.Errorf("%s: %v s, want %v", c.name, res.Makespan, c.want)
		}
	}
}

// TestStepsNeedSteadyMachines: a part of a trace is refused where profiles have times.
func TestStepsNeedSteadyMachines(t *testing.T) {
	m := changingMachine(t, "SPEED", "h0", "0 1\n1 0.5")
	o := replay.DefaultOptions()
	o.From = 1
	_, err := replay.RunSource(t.Context(), &trace.Header{Ranks: 2, Steps: 3}, replay.NewLists(twoComputations), m, o)
	if err == nil || !strings.Contains(err.Error(), "all steps must be played") {
		t.Errorf("got %v", err)
	}
}

// TestStandstill: at bandwidth 0 a message stands still, so that one that takes 0.1232634976 s (SimGrid, recorded case
// bandwidth-halved-smpi without its change) ends later by the 0.05 s without bandwidth.
func TestStandstill(t *testing.T) {
	const alone = 0.12326349765003285 // 11.6436*1e-3 + 10000016/(0.940694*1e8/1.05)
	for values, want := range map[string]float64{"5 1e8": alone, "0.05 0\n0.1 1e8": alone + 0.05} {
		m := changingMachine(t, "BANDWIDTH", "l", values)
		res, err := replay.RunSource(t.Context(), &trace.Header{Ranks: 2}, replay.NewLists(oneMessage), m, replay.DefaultOptions())
		noError(t, err)
		if math.Abs(res.Makespan-want) > 1e-12 {
			t.Errorf("bandwidth %q: %v s, want %v", values, res.Makespan, want)
		}
	}
}
