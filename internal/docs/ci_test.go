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
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(root, ciExample))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(s.dir, "predict.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.mustRun(t, "./predict.sh --accept", 0)
	for _, script := range []string{githubScript(t), gitlabScript(t)} {
		if out := s.mustRun(t, script, 0); strings.Count(out, "**not worse: ") != 2 {
			t.Errorf("%s prints\n%s", script, out)
		}
	}
	input := filepath.Join(s.dir, "small", "HPL.dat")
	text, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte("\n64           NBs"), []byte("\n8            NBs"), 1)
	if bytes.Equal(changed, text) {
		t.Fatalf("%s has no line of NBs to change", input)
	}
	if err := os.WriteFile(input, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	out := s.mustRun(t, "./predict.sh", 1)
	for _, want := range []string{"**WORSE: ", "**not worse: ", "| NB | 64 | 8 |"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for input, failures := range map[string]int{"small": 1, "large": 0} {
		if got := s.failures(t, "out/"+input+".xml"); got != failures {
			t.Errorf("out/%s.xml has %d failures, want %d", input, got, failures)
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

// failures returns how many checks of a JUnit file fail.
func (s *shell) failures(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Suite struct {
			Failures int `xml:"failures,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatal(err)
	}
	return suites.Suite.Failures
}

// githubScript returns the script of the step "predict" of the workflow.
func githubScript(t *testing.T) string {
	t.Helper()
	var flow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	readYAML(t, ".github/workflows/predict.yml", &flow)
	for _, step := range flow.Jobs["predict"].Steps {
		if step.Name == "predict" {
			return step.Run
		}
	}
	t.Fatal("the workflow has no step predict")
	return ""
}

// gitlabScript returns the script of the job "predict".
func gitlabScript(t *testing.T) string {
	t.Helper()
	var jobs struct {
		Predict struct {
			Script []string
		}
	}
	readYAML(t, ".gitlab-ci.yml", &jobs)
	if len(jobs.Predict.Script) != 1 {
		t.Fatalf("the job has %d lines of script, want 1", len(jobs.Predict.Script))
	}
	return jobs.Predict.Script[0]
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ciExample, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
