package sniff_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"reprise/internal/sniff"
	"reprise/internal/sniff/snifftest"
)

// TestSamples: each sample is what it is called, also behind a byte order mark, but where a file
// of that kind is wanted.
func TestSamples(t *testing.T) {
	failed := errors.New("x:1: failed")
	for _, s := range snifftest.Samples {
		err := sniff.Instead(failed, "x", []byte(s.Text), sniff.Hostfile)
		if !strings.Contains(err.Error(), s.What) || !errors.Is(err, failed) {
			t.Errorf("%s: %v, want %s", s.Name, err, s.What)
		}
	}
	for want, names := range map[sniff.Kind]string{
		sniff.Trace: "trace", sniff.Platform: "platform", sniff.YAML: "kernels json", sniff.Dat: "hpl-dat", sniff.HPCGDat: "hpcg-dat",
		sniff.Table: "table", sniff.Checkpoint: "checkpoint", sniff.Actions: "actions", sniff.Index: "index", sniff.Result: "report",
	} {
		for _, s := range snifftest.Samples {
			err := sniff.Instead(failed, "x", []byte(s.Text), want)
			if own := strings.Contains(" "+names+" ", " "+s.Name+" "); own != (err == failed) {
				t.Errorf("%s as %v: %v", s.Name, names, err)
			}
		}
	}
}

// TestUnknown: the error stays where the head is that of nothing, or there is none.
func TestUnknown(t *testing.T) {
	failed := errors.New("failed")
	for _, text := range []string{"", "\n", "node-0\nnode-1\n", "node-0:2\n", "node-0 slots=2\n", "hello world\n", "\x00\x01\x02", "iprobe 3\n", "rank-0\nrank-1\n", "12\n5\n"} {
		if err := sniff.Instead(failed, "x", []byte(text), sniff.Trace); err != failed {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := sniff.Instead(nil, "x", []byte("#!"), sniff.Trace); err != nil {
		t.Error(err)
	}
}

// TestGuessedOnce: where a reader within a reader asks too, the guess is told once.
func TestGuessedOnce(t *testing.T) {
	for _, s := range snifftest.Samples {
		err := sniff.Instead(errors.New("failed"), "x", []byte(s.Text), sniff.Hostfile)
		err = sniff.Instead(fmt.Errorf("x: %w", err), "x", []byte(s.Text), sniff.Hostfile)
		if text := err.Error(); strings.Count(text, "this is")+strings.Count(text, "it looks like") != 1 {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

// TestHead: a stream is recognised by what was read of it, and by one more read if that was
// little; nothing is lost on the way.
func TestHead(t *testing.T) {
	failed := errors.New("failed")
	for _, s := range snifftest.Samples {
		h := sniff.Remember(iotest.HalfReader(strings.NewReader(s.Text)))
		if _, err := io.ReadFull(h, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if s.Name == "goal" || s.Name == "otf2" {
			if err := h.Instead(failed, "x", sniff.Trace); !strings.Contains(err.Error(), s.What) {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
	long := strings.Repeat("num_ranks 3\n", 1000)
	h := sniff.Remember(strings.NewReader(long))
	text, err := io.ReadAll(h)
	if err != nil || string(text) != long || len(h.Bytes()) != sniff.HeadSize {
		t.Errorf("%v, %d bytes read, %d kept", err, len(text), len(h.Bytes()))
	}
}

// TestInFile: only regular files are opened.
func TestInFile(t *testing.T) {
	failed := fmt.Errorf("failed")
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("num_ranks 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sniff.InFile(failed, name, sniff.Trace); !strings.Contains(err.Error(), "GOAL") {
		t.Error(err)
	}
	for _, name := range []string{filepath.Dir(name), name + "2"} {
		if err := sniff.InFile(failed, name, sniff.Trace); err != failed {
			t.Error(err)
		}
	}
}

// TestShortHeads: a file of one or two bytes is recognised or not, and breaks nothing.
func TestShortHeads(t *testing.T) {
	for first := range 256 {
		for _, second := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			for n := range 3 {
				_ = sniff.Instead(io.EOF, "file", []byte{byte(first), second}[:n], sniff.Trace)
			}
		}
	}
}
