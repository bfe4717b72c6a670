package docs

import (
	"bytes"
	"context"
	"fmt"
	"io"
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(root, "testdata/docs"))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(s.dir, "studies"), os.DirFS(filepath.Join(root, "studies"))); err != nil {
		t.Fatal(err)
	}
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
	var stderr together
	stages := strings.Split(pipeline, " | ")
	codes, err := s.run(ctx, stages, &stdout, &stderr)
	if err != nil {
		t.Fatalf("%s: %v", pipeline, err)
	}
	for i, code := range codes {
		want := 0
		if i == len(codes)-1 {
			want = exit
		}
		if code != want {
			t.Errorf("%s: exit %d, want %d\n%s", stages[i], code, want, stderr.String())
		}
	}
	return stdout.String()
}

// together collects what several processes write at once.
type together struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *together) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *together) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// run starts the stages of a pipeline and returns their exit codes, -1 for one
// that was killed.
func (s *shell) run(ctx context.Context, stages []string, stdout, stderr io.Writer) ([]int, error) {
	cmds := make([]*exec.Cmd, len(stages))
	var in *os.File // the output of the stage before
	for i, stage := range stages {
		cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+stage)
		cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, stdout, stderr
		cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		cmd.Env = append(cmd.Env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
		if in != nil {
			cmd.Stdin = in
			defer in.Close()
		}
		if i < len(stages)-1 {
			r, w, err := os.Pipe()
			if err != nil {
				return nil, err
			}
			defer w.Close()
			in, cmd.Stdout = r, w
		}
		cmds[i] = cmd
	}
	return finish(cmds)
}

// finish starts the commands, gives up this process's ends of their pipes, and
// waits.
func finish(cmds []*exec.Cmd) ([]int, error) {
	for _, cmd := range cmds {
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		for _, end := range []any{cmd.Stdin, cmd.Stdout} {
			if f, ok := end.(*os.File); ok {
				f.Close()
			}
		}
	}
	codes := make([]int, len(cmds))
	for i, cmd := range cmds {
		_ = cmd.Wait() // the code tells enough of its error
		codes[i] = cmd.ProcessState.ExitCode()
	}
	return codes, nil
}
