package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"sync"

	"reprise/internal/command"
)

// version returns the version of the program, by which runs are named. Where that does not say
// which program it is, as that of a working copy with changes or without a history, the hash of the
// executable stands behind it.
var version = sync.OnceValue(func() string {
	v := command.Version()
	if v != "unknown" && !strings.HasSuffix(v, "dirty") {
		return v
	}
	hash, err := executableHash()
	if err != nil {
		return v // whoever can run it but not read it has to tell builds apart
	}
	return v + " (executable " + hash + ")"
})

// executableHash returns the first digits of the SHA-256 of this program.
func executableHash() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}
