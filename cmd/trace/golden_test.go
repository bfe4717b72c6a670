package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// The golden files are written anew by
//
//	go test ./cmd/trace -run Golden -update
//
// as after a change of the compressor. Their listings are not: these were written by hand.
var update = flag.Bool("update", false, "write the golden files of testdata/format anew")

const goldenDir = "../../testdata/format"

func (g *golden) path() string { return filepath.Join(goldenDir, g.name+".trace.zst") }

// listing returns the actions that the file must have.
func (g *golden) listing(t *testing.T) string {
	text := tracetest.Must(os.ReadFile(filepath.Join(goldenDir, g.name+".txt")))
	return string(text)
}

// Golden files are written as ever, byte for byte.
func TestGoldenFilesAreWritten(t *testing.T) {
	for i := range goldens {
		g := &goldens[i]
		got := g.bytes(t)
		if *update {
			tracetest.Check(t, os.WriteFile(g.path(), got, 0o644))
			continue
		}
		want := tracetest.Must(os.ReadFile(g.path()))
		if !bytes.Equal(want, got) {
			t.Errorf("%s: %d bytes, want the %d of the file", g.path(), len(got), len(want))
		}
	}
	files, err := filepath.Glob(filepath.Join(goldenDir, "*.trace.zst"))
	if err != nil || len(files) != len(goldens) {
		t.Errorf("%d golden files of %d programs (%v)", len(files), len(goldens), err)
	}
}

// Golden files use the features that their names say, all that there are in all, and
// hold the actions of their listings, without a fault.
func TestGoldenFilesAreRead(t *testing.T) {
	for i := range goldens {
		g := &goldens[i]
		tr := tracetest.Must(trace.Open(g.path()))
		if diff := cmp.Diff(g.features, tr.Features()); diff != "" {
			t.Errorf("%s: features\n%s", g.name, diff)
		}
		tr.Close()
		for _, way := range []string{g.path(), "-"} {
			if diff := cmp.Diff(g.listing(t), printed(t, g.path(), "cat", way)); diff != "" {
				t.Errorf("%s of %s\n%s", g.name, way, diff)
			}
		}
		printed(t, g.path(), "verify", "-")
	}
}

// printed returns what a command prints that has a file on standard input; it must succeed.
func printed(t *testing.T, stdin string, args ...string) string {
	in := tracetest.Must(os.Open(stdin))
	defer in.Close()
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), append([]string{"trace"}, args...), in, &stdout, &stderr); err != nil {
		t.Fatalf("trace %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// reader is the reader that was written from docs/trace-format.md.
const reader = "../../scripts/read_trace.py"

// The other reader lists what trace cat lists: of the golden files, and of a trace of HPL
// in several chunks.
func TestOtherReader(t *testing.T) {
	if testing.Short() {
		t.Skip("in make nightly")
	}
	needPython(t)
	var files []string
	for i := range goldens {
		files = append(files, goldens[i].path())
	}
	for _, file := range append(files, hplGolden(t)) {
		out, err := exec.Command("python3", reader, file).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
			continue
		}
		if diff := cmp.Diff(printed(t, file, "cat", file), string(out)); diff != "" {
			t.Errorf("%s: trace cat (-), %s (+)\n%s", file, reader, diff)
		}
	}
}

// hplGolden writes a run of HPL with ring broadcasts, look-ahead, lists and pivots.
func hplGolden(t *testing.T) string {
	p := hpl.DefaultParams(530, 2, 3)
	p.NB = 8 // 67 panels: two chunks
	path := filepath.Join(t.TempDir(), "hpl.trace.zst")
	f := tracetest.Must(os.Create(path))
	defer f.Close()
	tracetest.Check(t, hpl.Generate(t.Context(), f, p, hpl.Options{}))
	return path
}

func needPython(t *testing.T) {
	if err := exec.Command("python3", "-c", "").Run(); err != nil {
		t.Skip("python3: ", err)
	}
}

// Both readers refuse a feature that they do not know, by its name.
func TestUnknownFeature(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.trace.zst")
	tracetest.Check(t, os.WriteFile(path, renamed(t, goldens[5].bytes(t), "requests", "rendered"), 0o644))
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"trace", "cat", path}, strings.NewReader(""), &stdout, &stderr)
	want := path + `: offset 24: header: unknown feature "rendered": made by a newer tracegen ("golden_test.go") than this program: use one as new`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	needPython(t)
	out, err := exec.Command("python3", reader, path).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `unknown feature "rendered"`) {
		t.Errorf("%s: %v, %s", reader, err, out)
	}
}

// renamed returns the beginning of a file, with something else in its header.
func renamed(t *testing.T, file []byte, from, to string) []byte {
	const at, size = 24, 88 // of the record's header
	le, castagnoli := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	dec := tracetest.Must(zstd.NewReader(nil))
	defer dec.Close()
	enc := tracetest.Must(zstd.NewWriter(nil))
	head := slices.Clone(file[at : at+size])
	plain := tracetest.Must(dec.DecodeAll(file[at+size:at+size+int(le.Uint32(head[32:]))], nil))
	plain = bytes.ReplaceAll(plain, []byte(from), []byte(to))
	packed := enc.EncodeAll(plain, nil)
	hash := sha256.Sum256(plain)
	le.PutUint32(head[28:], uint32(len(plain)))
	le.PutUint32(head[32:], uint32(len(packed)))
	copy(head[48:], hash[:])
	le.PutUint32(head[80:], crc32.Checksum(packed, castagnoli))
	le.PutUint32(head[84:], crc32.Checksum(head[:84], castagnoli))
	return slices.Concat(file[:at], head, packed)
}
