package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace/warning"
)

// machineDirectory returns a machine directory with the files given by name.
func machineDirectory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// makespan replays smallHPL on a machine.
func makespan(t *testing.T, spec replay.MachineSpec) float64 {
	t.Helper()
	tr, _ := smallHPL(t)
	m, o, _, err := replay.LoadMachine(spec, tr)
	if err != nil {
		t.Fatal(err)
	}
	res, err := replay.Run(t.Context(), tr, m, o)
	if err != nil {
		t.Fatal(err)
	}
	return res.Makespan
}

// TestMachineDirectory: a machine directory is its two files, whether it is one's own, built
// in, or a copy of what is built in.
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
}

// TestMachineDirectorySource: reports name the files.
func TestMachineDirectorySource(t *testing.T) {
	dir := machineDirectory(t, map[string]string{"platform.xml": star(4), "kernels.yaml": "version: 1\nunit: s\nkernels: {'*': 1.0e-6}\n"})
	file, _ := smallHPL(t)
	m, _, _, err := replay.LoadMachine(replay.MachineSpec{Machine: dir}, file)
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Source; s.Platform != filepath.Join(dir, "platform.xml") || s.Kernels != filepath.Join(dir, "kernels.yaml") {
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
	if err != nil {
		t.Fatal(err)
	}
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
