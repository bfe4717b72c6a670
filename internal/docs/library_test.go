package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// example is the module that shows how to use Reprise as a library.
const example = "examples/hpl-on-a-cluster"

// TestLibraryPage: docs/library.md shows the example as it stands, in no more lines than it
// promises.
func TestLibraryPage(t *testing.T) {
	code := readPages(t, example+"/main.go")[0].text
	if page := readPages(t, "docs/library.md")[0].text; !strings.Contains(page, "\n```go\n"+code+"```\n") {
		t.Errorf("docs/library.md does not show %s/main.go", example)
	}
	if lines := strings.Count(code, "\n"); lines > 40 {
		t.Errorf("%s/main.go has %d lines, want at most 40", example, lines)
	}
}

// TestLibraryExample: the example is a module that compiles as it is, and predicts what the
// commands do.
func TestLibraryExample(t *testing.T) {
	program := filepath.Join(t.TempDir(), "example")
	for _, args := range [][]string{{"go", "vet", "."}, {"go", "build", "-o", program, "."}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = filepath.Join(root, example)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	cmd := exec.Command(program)
	cmd.Dir = filepath.Join(root, example)
	got, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	s := &shell{build(t), t.TempDir()}
	if err := os.CopyFS(s.dir, os.DirFS(cmd.Dir)); err != nil {
		t.Fatal(err)
	}
	var res struct {
		Makespan float64 `json:"makespan_s"`
		Gflops   float64
		Warnings []string
	}
	out := s.mustRun(t, "tracegen hpl --quiet -N 10000 -P 4 -Q 8 | replay --quiet --json --platform cluster.xml --kernels kernels.yaml -", 0)
	if err := json.Unmarshal([]byte(out), &res); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%.9g s, %.9g Gflops\n", res.Makespan, res.Gflops); string(got) != want || len(res.Warnings) > 0 {
		t.Errorf("the example prints %q, the commands say %q and %q", got, want, res.Warnings)
	}
}
