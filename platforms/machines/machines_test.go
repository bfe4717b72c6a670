package machines

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBuiltin: each built-in machine is a whole machine directory, so that it can be copied
// and changed.
func TestBuiltin(t *testing.T) {
	t.Chdir(t.TempDir()) // where no directory has the name of a built-in machine
	for _, name := range Names() {
		for _, file := range []string{PlatformFile, KernelsFile, "machine.md"} {
			if text, err := builtin.ReadFile(name + "/" + file); err != nil || len(text) == 0 {
				t.Errorf("%s/%s: %d bytes, %v", name, file, len(text), err)
			}
		}
		if _, err := Kernels(name); err != nil {
			t.Error(err)
		}
		if platform, kernels, err := Find(name); platform != name || kernels != name || err != nil {
			t.Errorf("%s: found %q, %q, %v", name, platform, kernels, err)
		}
	}
	want := []string{"dahu", "dahu-a1", "dahu-c1", "default", "stampede", "stampede-constants"}
	if got := KernelSets(); !slices.Equal(got, want) {
		t.Errorf("sets %q, want %q", got, want)
	}
	for _, name := range []string{"dahu-", "dahu-c1.yaml", "../machines/dahu", "ahu", ""} {
		if _, err := Kernels(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Kernels(%q): %v", name, err)
		}
		if _, err := Platform(name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Platform(%q): %v", name, err)
		}
	}
}

// TestFind: a directory goes before what is built in, and errors say what is missing.
func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"empty", "dahu", "stampede"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"dahu/platform.xml", "dahu/kernels.yaml", "file"} {
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	platform, kernels, err := Find("dahu")
	if platform != filepath.Join("dahu", PlatformFile) || kernels != filepath.Join("dahu", KernelsFile) || err != nil {
		t.Errorf("dahu: found %q, %q, %v", platform, kernels, err)
	}
	for name, want := range map[string]string{
		"empty":    "empty is no machine directory: it has no platform.xml",
		"file":     "file is a file, want a machine directory",
		"stampede": "stampede is no machine directory: it has no platform.xml; a directory goes before what is built in: call it something else",
		// As a study finds it beside its file.
		"./stampede": "./stampede is no machine directory: it has no platform.xml; a directory goes before what is built in: call it something else for the built-in machine stampede",
		"nowhere":    `no machine directory and no built-in machine "nowhere": want a directory`,
	} {
		if _, _, err := Find(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
