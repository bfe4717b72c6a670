package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stencil is the module that shows how to write a generator.
const stencil = "examples/stencil"

// TestGeneratorsPage: docs/generators.md shows the example as it stands, in at most 60 lines.
func TestGeneratorsPage(t *testing.T) {
	code := readPages(t, stencil+"/main.go")[0].text
	if page := readPages(t, "docs/generators.md")[0].text; !strings.Contains(page, "\n```go\n"+code+"```\n") {
		t.Errorf("docs/generators.md does not show %s/main.go", stencil)
	}
	if lines := strings.Count(code, "\n"); lines > 60 {
		t.Errorf("%s/main.go has %d lines, want at most 60", stencil, lines)
	}
}

// TestGeneratorsExample: the example compiles as it is, its trace is right, and can be
// replayed. On a grid of 4 by 8 ranks 3*8 + 4*7 = 52 pairs are neighbours, who send each other
// 8*512 bytes in each of 100 steps; a sweep of 512^2 points is 6 flop a point.
func TestGeneratorsExample(t *testing.T) {
	program := filepath.Join(t.TempDir(), "stencil")
	dir := filepath.Join(root, stencil)
	for _, args := range [][]string{{"go", "vet", "."}, {"go", "build", "-o", program, "."}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	var failures bytes.Buffer
	cmd := exec.Command(program)
	cmd.Stderr = &failures
	file, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &failures)
	}
	s := &shell{build(t), t.TempDir()}
	if err := os.CopyFS(s.dir, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "t"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	s.mustRun(t, "trace verify --quiet t", 0)
	s.mustRun(t, "replay --quiet --kernels kernels.yaml t", 0)
	var stat struct {
		Totals struct {
			Messages, Bytes int64
			Flops           float64
		}
	}
	if err := json.Unmarshal([]byte(s.mustRun(t, "trace stat --json t", 0)), &stat); err != nil {
		t.Fatal(err)
	}
	const messages, flops = 2 * 52 * 100, 6 * 512 * 512 * 32 * 100
	if got := stat.Totals; got.Messages != messages || got.Bytes != messages*8*512 || got.Flops != flops {
		t.Errorf("%+v, want %d messages of %d bytes, %d flop", got, messages, 8*512, flops)
	}
}
