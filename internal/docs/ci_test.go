package docs

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// ciExample is a repository with predictions in CI.
const ciExample = "examples/ci"

// TestCI runs the scripts of the example's jobs: it passes as it stands, and fails once the
// blocks of an input are so small that dgemm has hardly anything to do.
func TestCI(t *testing.T) {
	t.Parallel()
	s := &shell{build(t), t.TempDir()}
	must(t, os.CopyFS(s.dir, os.DirFS(filepath.Join(root, ciExample))))
	must(t, os.Chmod(filepath.Join(s.dir, "predict.sh"), 0o755))
	s.mustRun(t, "./predict.sh --accept", 0)
	// The scripts of the step "predict" of GitHub's workflow, and of the job of that name of GitLab.
	var flow struct {
		Jobs struct {
			Predict struct {
				Steps []struct{ Name, Run string }
			}
		}
	}
	var jobs struct{ Predict struct{ Script []string } }
	for file, into := range map[string]any{".github/workflows/predict.yml": &flow, ".gitlab-ci.yml": &jobs} {
		text, err := os.ReadFile(filepath.Join(s.dir, file))
		must(t, err)
		must(t, yaml.Unmarshal(text, into))
	}
	scripts := jobs.Predict.Script
	for _, step := range flow.Jobs.Predict.Steps {
		if step.Name == "predict" {
			scripts = append(scripts, step.Run)
		}
	}
	if len(scripts) != 2 {
		t.Fatalf("scripts %q, want one of each", scripts)
	}
	for _, script := range scripts {
		if out := s.mustRun(t, script, 0); strings.Count(out, "**not worse: ") != 2 {
			t.Errorf("%s prints\n%s", script, out)
		}
	}
	input := filepath.Join(s.dir, "small", "HPL.dat")
	text, err := os.ReadFile(input)
	must(t, err)
	changed := bytes.Replace(text, []byte("\n64           NBs"), []byte("\n8            NBs"), 1)
	if bytes.Equal(changed, text) {
		t.Fatalf("%s has no line of NBs to change", input)
	}
	must(t, os.WriteFile(input, changed, 0o600))
	out := s.mustRun(t, "./predict.sh", 1)
	for _, want := range []string{"**WORSE: ", "**not worse: ", "| NB | 64 | 8 |"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for input, failures := range map[string]int{"small": 1, "large": 0} {
		var suites struct {
			Suite struct {
				Failures int `xml:"failures,attr"`
			} `xml:"testsuite"`
		}
		text, err := os.ReadFile(filepath.Join(s.dir, "out", input+".xml"))
		must(t, err)
		must(t, xml.Unmarshal(text, &suites))
		if suites.Suite.Failures != failures {
			t.Errorf("out/%s.xml has %d failures, want %d", input, suites.Suite.Failures, failures)
		}
	}
	s.mustRun(t, "./predict.sh --nonsense", 2)
}

// TestCIBaseline: the baseline of the example can be compared with.
func TestCIBaseline(t *testing.T) {
	s := &shell{build(t), filepath.Join(root, ciExample)}
	for _, input := range []string{"small", "large"} {
		path := "baseline/" + input + ".json"
		s.mustRun(t, "replay compare --threshold 0 "+path+" "+path, 0)
	}
}
