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

// Modules that show how to use Reprise as a library, and how to write a generator.
const (
	libraryExample   = "examples/hpl-on-a-cluster"
	generatorExample = "examples/stencil"
)

// TestExamplePages: pages show the files of the examples as they stand.
func TestExamplePages(t *testing.T) {
	for page, files := range map[string][]string{
		"docs/library.md":    {libraryExample + "/main.go"},
		"docs/generators.md": {generatorExample + "/main.go"},
		"docs/ci.md":         {ciExample + "/predict.sh", ciExample + "/.github/workflows/predict.yml", ciExample + "/.gitlab-ci.yml"},
	} {
		text := readPages(t, page)[0].text
		for _, file := range files {
			if code := readPages(t, file)[0].text; !strings.Contains(text, "\n"+code+"```\n") {
				t.Errorf("%s does not show %s", page, file)
			}
		}
	}
}

// TestGPUs: the script predicts the three runs of a sheet, and refuses one that is not there.
func TestGPUs(t *testing.T) {
	t.Parallel()
	s := &shell{build(t), t.TempDir()}
	must(t, os.CopyFS(s.dir, os.DirFS(filepath.Join(root, "examples/gpus"))))
	if out := s.mustRun(t, "env DRAWS=3 sh predict.sh mi300a", 0); strings.Count(out, "\nGflops ") != 3 {
		t.Errorf("not three predictions:\n%s", out)
	}
	s.mustRun(t, "sh predict.sh a100", 2)
}

// runExample vets, builds and runs an example, and returns its standard output.
func runExample(t *testing.T, dir string) []byte {
	t.Helper()
	program := filepath.Join(t.TempDir(), "example")
	var out []byte
	for _, args := range [][]string{{"go", "vet", "."}, {"go", "build", "-o", program, "."}, {program}} {
		var stderr strings.Builder
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Stderr = filepath.Join(root, dir), &stderr
		var err error
		if out, err = cmd.Output(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
		}
	}
	return out
}

// TestLibraryExample: the example and the commands predict the same.
func TestLibraryExample(t *testing.T) {
	t.Parallel()
	got := string(runExample(t, libraryExample))
	s := &shell{build(t), t.TempDir()}
	must(t, os.CopyFS(s.dir, os.DirFS(filepath.Join(root, libraryExample))))
	var res struct {
		Makespan float64 `json:"makespan_s"`
		Gflops   float64
		Warnings []string
	}
	out := s.mustRun(t, "tracegen hpl --quiet -N 10000 -P 4 -Q 8 | replay --quiet --json --platform cluster.xml --kernels kernels.yaml -", 0)
	must(t, json.Unmarshal([]byte(out), &res))
	if want := fmt.Sprintf("%.9g s, %.9g Gflops\n", res.Makespan, res.Gflops); got != want || len(res.Warnings) > 0 {
		t.Errorf("the example prints %q, the commands say %q and %q", got, want, res.Warnings)
	}
}

// TestGeneratorExample: the trace is right, and can be replayed. On a grid of 4 by 8 ranks
// 3*8 + 4*7 = 52 pairs are neighbours, who send each other 8*512 bytes in each of 100 steps; a
// sweep of 512^2 points is 6 flop a point.
func TestGeneratorExample(t *testing.T) {
	t.Parallel()
	s := &shell{build(t), t.TempDir()}
	must(t, os.CopyFS(s.dir, os.DirFS(filepath.Join(root, generatorExample))))
	must(t, os.WriteFile(filepath.Join(s.dir, "t"), runExample(t, generatorExample), 0o644))
	s.mustRun(t, "trace verify --quiet t", 0)
	s.mustRun(t, "replay --quiet --kernels kernels.yaml t", 0)
	var stat struct {
		Totals struct {
			Messages, Bytes int64
			Flops           float64
		}
	}
	must(t, json.Unmarshal([]byte(s.mustRun(t, "trace stat --json t", 0)), &stat))
	const messages, flops = 2 * 52 * 100, 6 * 512 * 512 * 32 * 100
	if got := stat.Totals; got.Messages != messages || got.Bytes != messages*8*512 || got.Flops != flops {
		t.Errorf("%+v, want %d messages of %d bytes, %d flop", got, messages, 8*512, flops)
	}
}
