package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/command"
	"reprise/internal/command/commandtest"
)

// executable returns the path of this program, and what is there.
func executable(t *testing.T) (path string, text []byte) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, text
}

// TestVersion: a program whose version does not say which it is, as one of go test, is told apart
// by the hash of its executable.
func TestVersion(t *testing.T) {
	if v := command.Version(); v != "unknown" && !strings.HasSuffix(v, "dirty") {
		t.Fatalf("version %q of a test", v)
	}
	_, text := executable(t)
	sum := sha256.Sum256(text)
	if want := command.Version() + " (executable " + hex.EncodeToString(sum[:6]) + ")"; version() != want {
		t.Errorf("%q, want %q", version(), want)
	}
}

// TestOtherBuild: what another executable of the same version found out is not taken for what
// this one would. A byte behind its end makes it another one that does the same.
func TestOtherBuild(t *testing.T) {
	path, text := executable(t)
	other := filepath.Join(t.TempDir(), "study")
	if err := os.WriteFile(other, append(text, 0), 0o777); err != nil {
		t.Fatal(err)
	}
	file := write(t, "nb.yaml", "program: hpl\nparameters: {N: 256, P: 1, Q: 2}\nfactors: {NB: [16, 32]}\n")
	dir := filepath.Join(t.TempDir(), "tuned")
	for _, of := range []struct {
		path  string
		known bool
	}{{path, false}, {other, false}, {path, true}} {
		p := commandtest.Command(t, "study", "tune", file, "-o", dir)
		p.Path = of.path
		out, err := p.CombinedOutput()
		if known := strings.Contains(string(out), "known from before"); err != nil || known != of.known {
			t.Errorf("known from before: %v, want %v; %v: %s", known, of.known, err, out)
		}
	}
}
