package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/trace/warning"
)

// fourHosts is a platform of n0 to n3, of 4 cores of 2 Gf, with options and properties of its hosts.
func fourHosts(t *testing.T, config, props string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "four.xml")
	text := `<platform version="4.1"><config>` + config + `</config><cluster id="c" prefix="n" suffix="" radical="0-3" speed="2Gf" core="4" bw="1GBps" lat="1us">` +
		props + `</cluster></platform>`
	noError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// recordedBy is the header of a program of so many ranks that tracegen mpi has recorded on the host "laptop".
func recordedBy(mpi string, ranks int) *trace.Header {
	return &trace.Header{Program: "app", Ranks: ranks, Params: []trace.Param{
		{Name: trace.ParamMPI, Value: mpi}, {Name: trace.ParamRate, Value: "1e+09"}, {Name: trace.ParamHosts, Value: "laptop"}}}
}

// TestSelection: which selection carries out collective operations: that of the options, else the platform's, else that
// of the MPI of the recording, else ompi; for texts of SimGrid, SMPI's.
func TestSelection(t *testing.T) {
	const own = `<prop id="smpi/coll_selector" value="mpich"/>` // by its old name
	text, generated := &trace.Header{Program: trace.SimGridText, Ranks: 4}, &trace.Header{Program: "hpcg", Ranks: 4}
	for _, c := range []struct {
		header         *trace.Header
		config         string
		settings       string // NAME=VALUE, with blanks between
		value, because string
	}{
		{generated, "", "", "ompi", "the default"},
		{text, "", "", "default", "SMPI's, for texts of SimGrid"},
		{recordedBy("Open MPI v5.0.7, package: Debian OpenMPI", 4), "", "", "ompi", "recorded with Open MPI v5.0.7"},
		{recordedBy("MPICH Version: 4.3.0", 4), "", "", "mpich", "recorded with MPICH Version: 4.3.0"},
		{recordedBy("Intel(R) MPI Library 2021.5", 4), "", "", "mpich", "recorded with Intel(R) MPI Library 2021.5"},
		{recordedBy("Another MPI", 4), "", "", "ompi", "the default; of the MPI of the recording no decisions are known"},
		{generated, own, "", "mpich", "the platform"},
		{text, own, "", "mpich", "the platform"},
		{recordedBy("Open MPI v5.0.7", 4), own, "smpi/coll-selector=default", "default", "--cfg"},
		{generated, own, "smpi/coll-selector=ompi smpi/allreduce=rdb", "ompi, allreduce rdb", "--cfg"},
		{generated, "", "smpi/bcast=default", "ompi, bcast default", "the default"},
	} {
		spec := replay.MachineSpec{Platform: fourHosts(t, c.config, "")}
		for _, s := range strings.Fields(c.settings) {
			name, value, _ := strings.Cut(s, "=")
			spec.SetOption(name, value)
		}
		m, o, _, err := replay.LoadMachine(spec, headerOnly{c.header})
		noError(t, err)
		if got := m.Choices.Collectives; got != (replay.Choice{Value: c.value, Because: c.because}) ||
			!strings.HasPrefix(c.value, o.Network.CollSelector) {
			t.Errorf("%s, platform %s, options %s: %+v, %s, want %s (%s)", c.header.Program, c.config, c.settings, got, o.Network.CollSelector, c.value, c.because)
		}
	}
}

// TestRecordedTime: 3e9 flop of a recording at 1e9 a second are 3 s on any host, times what is set and what the machine
// says of the recording host; a host that is made slower takes longer. Of a text they are amounts of flop.
func TestRecordedTime(t *testing.T) {
	const prop = `<prop id="recording_scale" value="other=9 lap*=0.5"/>`
	recorded := recordedBy("MPICH Version: 4.3.0", 2)
	for _, c := range []struct {
		name    string
		header  *trace.Header
		props   string
		spec    replay.MachineSpec
		want    float64 // seconds of rank 0
		because string
	}{
		{"as recorded", recorded, "", replay.MachineSpec{}, 3, "as recorded"},
		{"--compute-scale", recorded, "", replay.MachineSpec{ComputeScale: 2}, 6, "--compute-scale"},
		{"of the machine", recorded, prop, replay.MachineSpec{}, 1.5, "recording_scale of the machine"},
		{"both", recorded, prop, replay.MachineSpec{ComputeScale: 4}, 6, "--compute-scale and recording_scale of the machine"},
		{"a slower host", recorded, "", replay.MachineSpec{HostSpeeds: []replay.HostSpeed{{Pattern: "n0", Factor: 0.75}}}, 4, "as recorded"},
		{"a text", &trace.Header{Program: trace.SimGridText, Ranks: 2}, prop, replay.MachineSpec{}, 1.5, ""},
	} {
		c.spec.Platform = fourHosts(t, "", c.props)
		m, o, _, err := replay.LoadMachine(c.spec, headerOnly{c.header})
		noError(t, err)
		res, err := replay.RunSource(t.Context(), c.header, replay.NewLists([][]trace.Action{{flops(3e9)}, {}}), m, o)
		noError(t, err)
		near(t, c.name, res.Ranks[0].End, c.want)
		switch r := m.Choices.Recording; {
		case c.because == "" && r != nil:
			t.Errorf("%s: %+v", c.name, r)
		case c.because != "" && (r == nil || r.Hosts != "laptop" || r.Host != "n0" || r.Because != c.because || r.MPI != "MPICH Version: 4.3.0"):
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	slow := filepath.Join(t.TempDir(), "slow.xml") // half of its speed from the beginning on: 6 s
	noError(t, os.WriteFile(slow, []byte(`<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="2Gf"/>
<trace id="s" periodicity="-1">0 0.5</trace><trace_connect kind="SPEED" trace="s" element="a"/></zone></platform>`), 0o600))
	h := recordedBy("MPICH", 1)
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: slow}, headerOnly{h})
	noError(t, err)
	res, err := replay.RunSource(t.Context(), h, replay.NewLists([][]trace.Action{{flops(3e9)}}), m, o)
	noError(t, err)
	near(t, "a slow node", res.Makespan, 6)
}

// TestPlacement: hosts are filled, or have the ranks that the machine states; texts of SimGrid are spread.
func TestPlacement(t *testing.T) {
	generated, text := &trace.Header{Program: "hpl", Ranks: 6}, &trace.Header{Program: trace.SimGridText, Ranks: 6}
	for _, c := range []struct {
		header  *trace.Header
		props   string
		perHost int
		want    string
	}{
		{generated, "", 0, "[0 0 0 0 1 1] hosts are filled"},
		{generated, `<prop id="ranks_per_host" value="2"/>`, 0, "[0 0 1 1 2 2] hosts are filled"},
		{generated, `<prop id="ranks_per_host" value="2"/>`, 3, "[0 0 0 1 1 1] 3 ranks a host"},
		{generated, `<prop id="ranks_per_host" value="6"/>`, 0, "[0 0 0 0 0 0] hosts are filled"},
		{generated, `<prop id="ranks_per_host" value="1"/>`, 0, "four.xml: more ranks than places: 6 ranks, and room for 4 on 4 hosts (ranks_per_host 1; --ranks-per-host N for more)"},
		{generated, `<prop id="ranks_per_host" value="none"/>`, 0, `four.xml:1: ranks_per_host "none", want a number of 1 to 16777216`},
		{text, `<prop id="ranks_per_host" value="4"/>`, 0, "[0 0 1 1 2 2] as few ranks a host as fit"},
	} {
		m, _, _, err := replay.LoadMachine(replay.MachineSpec{Platform: fourHosts(t, "", c.props), RanksPerHost: c.perHost}, headerOnly{c.header})
		got := fmt.Sprintf("%v %s", m.Hosts, m.Choices.Placement.Value)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%s, %s, %d per host: %s, want %s", c.header.Program, c.props, c.perHost, got, c.want)
		}
	}
	stampede, _, _, err := replay.LoadMachine(replay.MachineSpec{Machine: "stampede"}, headerOnly{generated})
	noError(t, err)
	if got := fmt.Sprint(stampede.Hosts); got != "[0 1 2 3 4 5]" {
		t.Errorf("stampede, whose kernels are of nodes: %s", got)
	}
}

// TestLinearWarning: linear operations of three ranks and more that take over 5 % of the time are told; others are not.
func TestLinearWarning(t *testing.T) {
	for _, c := range []struct {
		selection string
		ranks     int
		compute   float64 // flop
		kind      trace.CollectiveKind
		want      bool
	}{
		{"default", 4, 0, trace.CollAllreduce, true},
		{"ompi", 4, 0, trace.CollAllreduce, false},
		{"default", 4, 1e12, trace.CollAllreduce, false},
		{"default", 2, 0, trace.CollAllreduce, false},
		{"default", 4, 0, trace.CollBcast, false}, // a tree
	} {
		b := newBench(t, star(4), c.ranks)
		b.set(t, "smpi/coll-selector:"+c.selection)
		var lists [][]trace.Action
		for range c.ranks {
			lists = append(lists, []trace.Action{flops(c.compute), bytesCall(c.kind, 1000, 0)})
		}
		res := b.run(t, lists...)
		told := false
		for _, w := range res.Warnings {
			told = told || w.Kind == warning.Oddity && strings.Contains(w.Text, "algorithms of allreduce are linear")
		}
		if told != c.want {
			t.Errorf("%s, %d ranks, %g flop, %v: warnings %v", c.selection, c.ranks, c.compute, c.kind, res.Warnings)
		}
	}
}
