package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/command/commandtest"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"study": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

// TestExamples: the help of each command has examples, which the command takes.
func TestExamples(t *testing.T) {
	commandtest.Examples(t, func() *cli.App { return newApp(strings.NewReader(""), io.Discard, io.Discard) })
}

// write writes a file of the test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	noError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// endless is a study of runs that take hours.
const endless = "program: hpl\nparameters: {N: 2000000, NB: 32, P: 16, Q: 16}\nmachine: dahu\nfactors: {DEPTH: [0, 1]}\n"

// TestInterrupted: the first signal ends the command, with the leases given back.
func TestInterrupted(t *testing.T) {
	file := write(t, "long.yaml", endless)
	dir := filepath.Join(t.TempDir(), "long")
	if out, err := commandtest.Command(t, "study", "plan", file, "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		commandtest.Interrupt(t, sig, 1, "study", "run", file, "-o", dir)
		commandtest.Interrupt(t, sig, 1, "study", "worker", dir)
		out, err := commandtest.Command(t, "study", "status", dir).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "0 of 2 runs done, 0 running, 2 waiting") {
			t.Errorf("%v: %s", err, out)
		}
	}
	commandtest.Interrupt(t, syscall.SIGTERM, 1, "study", "run", commandtest.Pipe(t), "-o", dir)
}

// TestFullOutput: whatever is printed on a full disk has failed.
func TestFullOutput(t *testing.T) {
	file := write(t, "s.yaml", "program: hpl\nparameters: {N: 100, P: 1, Q: 1}\n")
	dir := filepath.Join(t.TempDir(), "s")
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"run", file, "--dry-run"}, {"run", file, "-o", dir}, {"worker", dir}, {"status", dir}, {"status", dir, "--json"}} {
		commandtest.Full(t, 1, "study", args...)
	}
}

// executable returns the path of this program, and what is there.
func executable(t *testing.T) (path string, text []byte) {
	t.Helper()
	path, err := os.Executable()
	noError(t, err)
	text, err = os.ReadFile(path)
	noError(t, err)
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
	noError(t, os.WriteFile(other, append(text, 0), 0o777))
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
