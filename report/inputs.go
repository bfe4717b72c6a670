package report

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"

	"reprise/internal/regular"
	"reprise/replay"
	"reprise/trace"
)

// NewInputs says what a report was made from: p is its provenance, t the trace, m the machine,
// and command the command line.
func NewInputs(p *replay.Provenance, t replay.Traced, m *replay.Machine, command string) Inputs {
	platform, source := m.Platform.Hash(), &m.Source
	in := Inputs{Command: command, Tool: p.Tool, Parameters: []Column{}, Files: []Input{
		{What: "trace", Name: p.Trace, Hash: traceHash(t)},
		{What: "platform", Name: p.Platform, Hash: hex.EncodeToString(platform[:])},
	}}
	for _, f := range []struct{ what, name string }{
		{"kernel models", p.KernelFile}, {"network noise", p.NetworkNoise}, {"hostfile", source.Hostfile},
	} {
		if f.name != "" {
			in.Files = append(in.Files, Input{What: f.what, Name: f.name, Hash: fileHash(f.name)})
		}
	}
	if len(p.HostSpeeds) > 0 {
		in.Files = append(in.Files, Input{What: "speeds of hosts", Name: strings.Join(p.HostSpeeds, ", ")})
	}
	for _, x := range t.Header().Params {
		in.Parameters = append(in.Parameters, Column{x.Name, x.Value})
	}
	return in
}

// traceHash names a trace by its content: one of our own by the hash of its index, which is
// there once all of it was read.
func traceHash(t replay.Traced) string {
	switch t := t.(type) {
	case *trace.Trace:
		if hash, ok := t.Hash(); ok {
			return hex.EncodeToString(hash[:])
		}
	case interface {
		Hash() ([sha256.Size]byte, error)
	}:
		if hash, err := t.Hash(); err == nil {
			return hex.EncodeToString(hash[:])
		}
	}
	return ""
}

// fileHash names a file by its content. What is built in has none: its name and the version of
// the program say what it is. Neither has a file that is not there any more, or cannot be
// read twice.
func fileHash(name string) string {
	if info, err := os.Stat(name); !regular.IsFile(name) || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
