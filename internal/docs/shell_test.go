package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long one command of a page may take on a busy machine.
const patience = 2 * time.Minute

// shell runs command lines in a directory of its own.
type shell struct {
	bin string // directory of the commands
	dir string
}

// bin has the commands, once build has compiled them.
var bin struct {
	sync.Mutex
	dir string
}

// TestMain removes the commands at the end.
func TestMain(m *testing.M) {
	code := m.Run()
	if bin.dir != "" {
		os.RemoveAll(bin.dir)
	}
	os.Exit(code)
}

// build compiles the commands once and returns the directory that holds them.
func build(t *testing.T) string {
	t.Helper()
	bin.Lock()
	defer bin.Unlock()
	if bin.dir != "" {
		return bin.dir
	}
	dir, err := os.MkdirTemp("", "docs")
	must(t, err)
	bin.dir = dir
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./cmd/...")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return dir
}

// newShell returns a shell in a fresh directory with the files of testdata/docs, with the studies
// that come with Reprise, and with small traces under the names that the pages use.
func newShell(t *testing.T, bin string) *shell {
	t.Helper()
	s := &shell{bin, t.TempDir()}
	must(t, os.CopyFS(s.dir, os.DirFS(filepath.Join(root, "testdata/docs"))))
	must(t, os.CopyFS(filepath.Join(s.dir, "studies"), os.DirFS(filepath.Join(root, "studies"))))
	for name, flags := range map[string]string{"run": "", "base": "--BCAST 1ring", "new": "--BCAST long"} {
		s.mustRun(t, fmt.Sprintf("tracegen hpl --quiet -N 500 --NB 32 -P 2 -Q 3 %s -o %s.trace.zst", flags, name), 0)
	}
	return s
}

// mustRun runs a pipeline, whose last stage must exit with the given code and all
// others with 0, and returns its standard output.
func (s *shell) mustRun(t *testing.T, pipeline string, exit int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout bytes.Buffer
	stages := strings.Split(pipeline, " | ")
	cmds, errs := make([]*exec.Cmd, len(stages)), make([]bytes.Buffer, len(stages))
	for i, stage := range stages {
		cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+stage)
		cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &stdout, &errs[i]
		cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		cmd.Env = append(cmd.Env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
		cmds[i] = cmd
		if i > 0 {
			r, w, err := os.Pipe()
			must(t, err)
			cmds[i-1].Stdout, cmd.Stdin = w, r
		}
	}
	// Each stage has ends of the pipes of its own: this process gives up both, so that readers come to the end.
	for _, cmd := range cmds {
		must(t, cmd.Start())
		for _, end := range []any{cmd.Stdin, cmd.Stdout} {
			if f, ok := end.(*os.File); ok {
				f.Close()
			}
		}
	}
	for i, cmd := range cmds {
		_ = cmd.Wait() // the code tells enough of its error: -1 of a stage that was killed
		want := 0
		if i == len(cmds)-1 {
			want = exit
		}
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: exit %d, want %d\n%s", stages[i], code, want, errs[i].String())
		}
	}
	return stdout.String()
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
