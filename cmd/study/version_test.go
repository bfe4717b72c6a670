package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"reprise/internal/command"
)

// TestVersion: a program whose version does not say which it is, as one of go test, is told apart by the
// hash of its executable.
func TestVersion(t *testing.T) {
	if v := command.Version(); v != "unknown" && !strings.HasSuffix(v, "dirty") {
		t.Fatalf("version %q of a test", v)
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if want := command.Version() + " (executable " + hex.EncodeToString(sum[:6]) + ")"; version() != want {
		t.Errorf("%q, want %q", version(), want)
	}
}
