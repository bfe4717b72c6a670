package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/hpl"
)

// smallHPL is a trace of HPL on four ranks that polls, as a file and as a stream.
func smallHPL(t testing.TB) (file, stream *trace.Trace) {
	t.Helper()
	var text bytes.Buffer
	p := hpl.DefaultParams(300, 2, 2)
	p.NB = 32
	noError(t, hpl.Generate(t.Context(), &text, p, hpl.Options{}))
	file, err := trace.NewReaderAt(bytes.NewReader(text.Bytes()), int64(text.Len()), "small")
	noError(t, err)
	stream, err = trace.NewReader(&text, "small")
	noError(t, err)
	return file, stream
}

// TestLoadMachineDefault: what nothing is said of is the built-in machine, and what was chosen
// is told; it is the machine that is put together by hand from the same parts.
func TestLoadMachineDefault(t *testing.T) {
	tr, _ := smallHPL(t)
	m, o, warnings, err := replay.LoadMachine(replay.MachineSpec{}, tr)
	noError(t, err)
	if len(warnings) != 1 || warnings[0].Kind != warning.Choice || !strings.HasPrefix(warnings[0].Text, "no platform is given") {
		t.Errorf("warnings %v", warnings)
	}
	if m.Source.Platform != "default" || m.Source.Kernels != "default" {
		t.Errorf("loaded %+v", m.Source)
	}
	hand, own := generic(t, 4), replay.DefaultOptions()
	noError(t, own.Network.ApplyConfig(hand.Platform))
	want, err := replay.Run(t.Context(), tr, hand, own)
	noError(t, err)
	got, err := replay.Run(t.Context(), tr, m, o)
	noError(t, err)
	if got.Makespan != want.Makespan {
		t.Errorf("makespan %v, by hand %v", got.Makespan, want.Makespan)
	}
}

// TestLoadMachineWarns: what a file leaves open, and what may end a replay, is told before it;
// of a stream it is not known what it calls.
func TestLoadMachineWarns(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	platform := path("star.xml", star(2))
	few := path("few.yaml", "version: 1\nunit: s\nkernels: {dgemm: free}\nhosts: [{host: other, kernels: {dgemm: 1.0}}]\n")
	file, stream := smallHPL(t)
	for _, c := range []struct {
		name string
		t    replay.Traced
		spec replay.MachineSpec
		want map[string]warning.Kind
	}{
		{"a file", file, replay.MachineSpec{Platform: platform, RanksPerHost: 2}, map[string]warning.Kind{
			"no kernel models are given": warning.Choice, "a poll costs SimGrid's default": warning.Choice, "host n0 runs 2 ranks on 1 core": warning.Oddity}},
		{"what a poll costs is set", file, replay.MachineSpec{Platform: platform, Kernels: "default", RanksPerHost: 2, Settings: []replay.Property{{Name: "smpi/iprobe", Value: "1e-7"}}},
			map[string]warning.Kind{"host n0 runs 2 ranks on 1 core": warning.Oddity}},
		{"a stream", stream, replay.MachineSpec{Kernels: few}, map[string]warning.Kind{
			"no platform is given": warning.Choice, "none is a host of default": warning.Oddity, "has no model for kernel": warning.Risk}},
	} {
		_, _, list, err := replay.LoadMachine(c.spec, c.t)
		noError(t, err)
		for want, kind := range c.want {
			found := false
			for _, w := range list {
				found = found || strings.Contains(w.Text, want) && w.Kind == kind
			}
			if !found {
				t.Errorf("%s: no %q of kind %d in %v", c.name, want, kind, list)
			}
		}
		if len(list) != len(c.want) {
			t.Errorf("%s: %v", c.name, list)
		}
	}
}

// TestPollCostInResult: of a header alone it is not known whether ranks poll; then the result
// tells what that costs.
func TestPollCostInResult(t *testing.T) {
	dir := t.TempDir()
	platform := filepath.Join(dir, "star.xml")
	noError(t, os.WriteFile(platform, []byte(star(2)), 0o600))
	for _, polls := range []bool{false, true} {
		lists := [][]trace.Action{{send(1, 3, 10)}, {recv(0, 3, 10)}}
		if polls {
			lists[1] = []trace.Action{poll(0, 3, true), recv(0, 3, 10)}
		}
		h := &trace.Header{Ranks: 2}
		m, o, warnings, err := replay.LoadMachine(replay.MachineSpec{Platform: platform}, headerOnly{h})
		if err != nil || len(warnings) > 0 {
			t.Fatal(warnings, err)
		}
		res, err := replay.RunSource(t.Context(), h, replay.NewLists(lists), m, o)
		noError(t, err)
		if told := len(res.Warnings) == 1 && strings.HasPrefix(res.Warnings[0].Text, "a poll costs"); told != polls {
			t.Errorf("polls %v: %v", polls, res.Warnings)
		}
	}
}

// headerOnly is a trace of which nothing but the header is known.
type headerOnly struct{ h *trace.Header }

func (t headerOnly) Header() *trace.Header { return t.h }

// TestLoadMachineRefuses: an error names what there is instead, is told from one of the
// settings, and carries what was odd before it.
func TestLoadMachineRefuses(t *testing.T) {
	tr, _ := smallHPL(t)
	old := filepath.Join(t.TempDir(), "old.xml")
	noError(t, os.WriteFile(old, []byte(strings.Replace(star(4), "<cluster", `<config><prop id="network/TCP_gamma" value="20000"/></config><cluster`, 1)), 0o600))
	setting := func(name, value string) []replay.Property { return []replay.Property{{Name: name, Value: value}} }
	for _, c := range []struct {
		name    string
		spec    replay.MachineSpec
		want    string
		setting bool
		odd     int
	}{
		{"a file that is not there", replay.MachineSpec{Platform: "none.xml"}, `none.xml: file does not exist; no built-in platform "none.xml": want dahu, default, stampede, or a file`, false, 0},
		{"no such kernels", replay.MachineSpec{Platform: old, Kernels: "none"}, `no built-in kernel models "none"`, false, 1},
		{"no hostfile", replay.MachineSpec{Platform: old, Hostfile: "none"}, "none: no such file", false, 1},
		{"an unknown option", replay.MachineSpec{Settings: setting("smpi/iprob", "1")}, "smpi/iprob", true, 0},
		{"a bad value", replay.MachineSpec{Settings: setting("smpi/iprobe", "fast")}, "fast", true, 0},
		{"an unknown algorithm by an old name", replay.MachineSpec{Settings: setting("smpi/reduce-scatter", "quick")}, `algorithm "quick" of reduce_scatter, known are`, true, 0},
		{"an unknown algorithm", replay.MachineSpec{Settings: setting("smpi/bcast", "quick")}, `algorithm "quick" of bcast, known are`, true, 0},
	} {
		_, _, _, err := replay.LoadMachine(c.spec, tr)
		var s *replay.SettingError
		switch {
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		case errors.As(err, &s) != c.setting || len(warning.Of(err)) != c.odd:
			t.Errorf("%s: %v: of a setting: %v, warnings %v", c.name, err, errors.As(err, &s), warning.Of(err))
		}
	}
	if _, _, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "none.xml"}, tr); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

// TestOwnNetworkModel: a platform that asks for another network model than smpirun would play is played as it asks, and the result names
// both. smpirun puts network/model:SMPI on SimGrid's command line, which wins over network/model, but not over host/model:default
// (which is LV08), in a platform. Recorded of SimGrid 3.32: 1e8 bytes over two links of 125 MB/s and 50 us take 0.851600 s whether the
// platform says CM02, LV08 or nothing, and 0.826043 s where it says host/model:default, as that does here.
func TestOwnNetworkModel(t *testing.T) {
	file, _ := smallHPL(t)
	for _, c := range []struct {
		config   string
		settings []replay.Property
		want     string
	}{
		{"", nil, ""},
		{"network/model:SMPI", nil, ""},
		{"network/model:CM02", nil, "asks for the network model CM02, which is played: smpirun would play SMPI, whatever a platform asks for; network/model:SMPI (replay --network smpi) does that here"},
		{"network/model:LV08", nil, "asks for the network model LV08, which is played: smpirun would play SMPI"},
		{"host/model:default", nil, ""},
		{"network/model:CM02 host/model:default", nil, ""},
		{"network/model:CM02", []replay.Property{{Name: "network/model", Value: "SMPI"}}, ""},
		{"network/model:CM02", []replay.Property{{Name: "network/model", Value: "CM02"}}, ""},
		{"network/model:CM02", []replay.Property{{Name: "reprise/contention", Value: "no"}}, "asks for the network model CM02"},
	} {
		config := ""
		for _, o := range strings.Fields(c.config) {
			name, value, _ := strings.Cut(o, ":")
			config += fmt.Sprintf("<prop id=%q value=%q/>", name, value)
		}
		path := filepath.Join(t.TempDir(), "own.xml")
		text := strings.Replace(star(4), `<platform version="4.1">`, `<platform version="4.1"><config id="General">`+config+`</config>`, 1)
		noError(t, os.WriteFile(path, []byte(text), 0o600))
		_, _, list, err := replay.LoadMachine(replay.MachineSpec{Platform: path, Settings: c.settings}, file)
		noError(t, err)
		got := ""
		for _, w := range list {
			if strings.Contains(w.Text, "network model") {
				got += w.Text
			}
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s, %v: %q, want %q", c.config, c.settings, got, c.want)
		}
	}
}

// TestSettingErrors: what a parameter cannot be for this trace or this machine names the parameter, once.
func TestSettingErrors(t *testing.T) {
	tr, _ := smallHPL(t)
	for _, c := range []struct{ name, value, want string }{
		{"bandwidth", "nowhere=2", "bandwidth: no level of links is called \"nowhere\"; there are "},
		{"latency", "nowhere=2", "latency: no level of links is called \"nowhere\"; there are "},
		{"kernel-noise", "dgem=4%", "kernel-noise: the program calls no kernel \"dgem\", but kernel "},
		{"without", "node-1", "without: dahu has no host \"node-1\"; its first is \"dahu-0\""},
		{"without", "slowest 32", "without: the slowest 32: dahu has 32 hosts"},
	} {
		spec := replay.MachineSpec{Machine: "dahu"}
		noError(t, replay.FindParameter(c.name).Set(&spec, c.value))
		_, _, _, err := replay.LoadMachine(spec, tr)
		var s *replay.SettingError
		if !errors.As(err, &s) || s.Name != c.name || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("--%s %s: %v, want the setting's %s", c.name, c.value, err, c.want)
		}
	}
}

// TestWithout: patterns and the slowest go together, however they are ordered; none is alone.
func TestWithout(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{"none", "", ""},
		{"slowest 2", "slowest 2", ""},
		{"dahu-7 dahu-[1,2]", "dahu-7; dahu-[1,2]", ""},
		{"slowest 2 dahu-7", "dahu-7; slowest 2", ""},
		{"dahu-7 slowest 2 dahu-9", "dahu-7; dahu-9; slowest 2", ""},
		{"none dahu-7", "", `"none dahu-7", want none alone, or hosts`},
		{"slowest 2 none", "", `"slowest 2 none", want none alone, or hosts`},
		{"slowest 2 slowest 3", "", `"slowest 2 slowest 3", want one number of the slowest`},
		{"slowest dahu-7", "", `slowest "dahu-7", want a number of hosts`},
		{"slowest -1", "", `slowest "-1", want a number of hosts`},
		{"dahu-[7", "", `pattern "dahu-[7": [ without ]`},
	} {
		p, spec := replay.FindParameter("without"), replay.MachineSpec{Without: []string{"old"}}
		switch err := p.Set(&spec, c.text); {
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("%s: %v, want %s", c.text, err, c.err)
		case c.err == "" && (err != nil || strings.Join(p.Get(&spec), "; ") != c.want):
			t.Errorf("%s: %v, %v, want %s", c.text, p.Get(&spec), err, c.want)
		}
	}
}

// TestFileNamedAsPlatform: a file goes before what its name would describe, whether that is possible or not.
func TestFileNamedAsPlatform(t *testing.T) {
	t.Chdir(t.TempDir())
	tr, _ := smallHPL(t)
	for _, name := range []string{"new --nodes 8", "new", "new one.xml"} {
		noError(t, os.WriteFile(name, []byte(star(5)), 0o600))
		var spec replay.MachineSpec
		if err := replay.FindParameter("platform").Set(&spec, name); err != nil {
			t.Error(err)
			continue
		}
		if p, err := replay.FindPlatform(name, 1); err != nil || p.NumHosts() != 5 {
			t.Errorf("%s: %v", name, err)
		}
		if m, _, _, err := replay.LoadMachine(spec, tr); err != nil || m.Platform.NumHosts() != 5 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := replay.FindPlatform("new --nodes 7", 1); err != nil || p.NumHosts() != 7 {
		t.Error(err)
	}
	if _, err := replay.FindPlatform("new --nodes x", 1); err == nil || !strings.HasPrefix(err.Error(), "platform new --nodes x: ") {
		t.Error(err)
	}
}

// machineDirectory returns a machine directory with the files given by name.
func machineDirectory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// makespan replays smallHPL on a machine.
func makespan(t *testing.T, spec replay.MachineSpec) float64 {
	t.Helper()
	tr, _ := smallHPL(t)
	m, o, _, err := replay.LoadMachine(spec, tr)
	noError(t, err)
	res, err := replay.Run(t.Context(), tr, m, o)
	noError(t, err)
	return res.Makespan
}

// TestMachineDirectory: a machine directory is its two files, whether it is one's own, built
// in, or a copy of what is built in. Reports name the files.
func TestMachineDirectory(t *testing.T) {
	own := machineDirectory(t, map[string]string{"platform.xml": star(4), "kernels.yaml": "version: 1\nunit: s\nkernels: {dgemm: 1.0e-6, '*': free}\n"})
	for _, c := range []struct{ machine, parts replay.MachineSpec }{
		{replay.MachineSpec{Machine: own}, replay.MachineSpec{Platform: filepath.Join(own, "platform.xml"), Kernels: filepath.Join(own, "kernels.yaml")}},
		{replay.MachineSpec{Machine: "dahu"}, replay.MachineSpec{Platform: "dahu", Kernels: "dahu"}},
		{replay.MachineSpec{Machine: "../platforms/machines/dahu"}, replay.MachineSpec{Platform: "dahu"}},
		{replay.MachineSpec{Machine: "default"}, replay.MachineSpec{}},
	} {
		if got, want := makespan(t, c.machine), makespan(t, c.parts); got != want {
			t.Errorf("machine %s: makespan %v, by its parts %v", c.machine.Machine, got, want)
		}
	}
	file, _ := smallHPL(t)
	m, _, _, err := replay.LoadMachine(replay.MachineSpec{Machine: own}, file)
	noError(t, err)
	if s := m.Source; s.Platform != filepath.Join(own, "platform.xml") || s.Kernels != filepath.Join(own, "kernels.yaml") {
		t.Errorf("loaded %+v", s)
	}
}

// TestMachineDirectoryErrors: what is missing is said at once, but of a stream, of which it is
// not known what it calls.
func TestMachineDirectoryErrors(t *testing.T) {
	plain := machineDirectory(t, map[string]string{"platform.xml": star(4)})
	empty := machineDirectory(t, nil)
	file, stream := smallHPL(t)
	for _, c := range []struct {
		spec replay.MachineSpec
		want string
	}{
		{replay.MachineSpec{Machine: plain}, plain + " has no kernels.yaml, and the trace calls kernel "},
		{replay.MachineSpec{Machine: empty}, empty + " is no machine directory: it has no platform.xml"},
		{replay.MachineSpec{Machine: filepath.Join(plain, "platform.xml")}, "is a file, want a machine directory"},
		{replay.MachineSpec{Machine: "nowhere"}, `no machine directory and no built-in machine "nowhere"`},
		{replay.MachineSpec{Machine: "dahu", Kernels: "dahu-c1"}, "machine dahu has its own platform and kernel models"},
		{replay.MachineSpec{Machine: "dahu", Platform: "dahu"}, "machine dahu has its own platform and kernel models"},
	} {
		if _, _, _, err := replay.LoadMachine(c.spec, file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.spec, err, c.want)
		}
	}
	m, o, list, err := replay.LoadMachine(replay.MachineSpec{Machine: plain}, stream)
	noError(t, err)
	found := false
	for _, w := range list {
		found = found || w.Kind == warning.Risk && strings.Contains(w.Text, "has no kernels.yaml: the replay ends where a kernel is called")
	}
	if !found {
		t.Errorf("warnings %v", list)
	}
	if _, err := replay.Run(t.Context(), stream, m, o); err == nil || !strings.Contains(err.Error(), "no kernel file was given") {
		t.Errorf("played: %v", err)
	}
}
