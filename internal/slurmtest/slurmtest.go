// Package slurmtest gives tests a Slurm of two nodes on this machine, which they may break: scripts/slurm.sh, as make
// slurmtest has installed it. The nodes are node0 and node1, with two processors each; the partitions are work and,
// before which that gives way, urgent. The tests of study/slurm know how to break it.
package slurmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// variable of the environment without which there is no Slurm.
const variable = "REPRISE_SLURM"

// Start starts a Slurm until the test ends, has its commands find it, and returns its directory.
// Without make slurmtest the test is skipped.
func Start(t *testing.T) (dir string) {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skip("needs a Slurm: make slurmtest installs it and runs this test")
	}
	dir, err := os.MkdirTemp("", "slurm") // a socket's name has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Script(t, "stop", dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	Script(t, "start", dir)
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	return dir
}

// Script runs scripts/slurm.sh on the Slurm in a directory.
func Script(t testing.TB, command, dir string, args ...string) {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(file), "..", "..", "scripts", "slurm.sh")
	cmd := exec.Command(path, append([]string{command, dir}, args...)...)
	cmd.Env = append(os.Environ(), "SLURM_CONF=")
	said, err := os.Create(filepath.Join(dir, "said")) // a pipe would be held open by the daemons
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(said.Name())
		t.Fatalf("slurm.sh %s %v: %v\n%s", command, args, err, text)
	}
}
