package atomicfile_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reprise/internal/atomicfile"
)

// writer names what a process of its own writes; see TestMain.
const writer = "ATOMICFILE_TEST_WRITES"

// TestMain is, in a process that begin starts, one that has begun to write, and goes on
// when it gets a line.
func TestMain(m *testing.M) {
	path := os.Getenv(writer)
	if path == "" {
		os.Exit(m.Run())
	}
	wait := func() error {
		fmt.Println("begun")
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if line == "abandon\n" {
			atomicfile.Abandon()
			os.Exit(3)
		}
		return err
	}
	var err error
	if name, ok := strings.CutSuffix(path, "/"); ok {
		err = atomicfile.WriteDir(name, func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "f"), nil, 0o666), wait())
		})
	} else {
		err = atomicfile.Write(path, func(w io.Writer) error { return wait() })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// begin starts a process that writes path.
func begin(t *testing.T, path string) (p *exec.Cmd, in io.Writer) {
	t.Helper()
	p = exec.CommandContext(t.Context(), os.Args[0])
	p.Env = append(os.Environ(), writer+"="+path)
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	noError(t, err)
	out, err := p.StdoutPipe()
	noError(t, err)
	noError(t, p.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
		t.Fatalf("%q, error %v", line, err)
	}
	return p, in
}

// TestLeftovers: the next process that writes the same output removes the hidden files of killed
// processes, and keeps those of living ones.
func TestLeftovers(t *testing.T) {
	for _, slash := range []string{"", "/"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out") + slash
		var killed []*exec.Cmd
		for range 3 {
			p, _ := begin(t, path)
			killed = append(killed, p)
		}
		living, in := begin(t, path)
		for _, p := range killed {
			noError(t, p.Process.Kill())
			_ = p.Wait() // killed
		}
		if got := len(strings.Fields(names(t, dir))); got != 4 {
			t.Errorf("%d hidden ones, want 4: %s", got, names(t, dir))
		}
		noError(t, atomicfile.Check(filepath.Join(dir, "out")))
		if got := len(strings.Fields(names(t, dir))); got != 1 {
			t.Errorf("%d hidden ones, want that of the living process: %s", got, names(t, dir))
		}
		if _, err := io.WriteString(in, "go on\n"); err != nil {
			t.Fatal(err)
		}
		if err := living.Wait(); err != nil {
			t.Error(err)
		}
		if got := names(t, dir); got != "out" {
			t.Errorf("at the end: %s", got)
		}
	}
}

// TestAbandon: a process that ends in an orderly way leaves nothing.
func TestAbandon(t *testing.T) {
	for _, slash := range []string{"", "/"} {
		dir := t.TempDir()
		p, in := begin(t, filepath.Join(dir, "out")+slash)
		if _, err := io.WriteString(in, "abandon\n"); err != nil {
			t.Fatal(err)
		}
		if _ = p.Wait(); p.ProcessState.ExitCode() != 3 || names(t, dir) != "" {
			t.Errorf("%v, left %s", p.ProcessState, names(t, dir))
		}
	}
}

// TestTwoWriters: each of two that write the same output at once has its own file; the
// last one to be complete stays.
func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	err := atomicfile.Write(path, func(w io.Writer) error {
		if err := atomicfile.Write(path, text("inner", nil)); err != nil {
			return err
		}
		return text("outer", nil)(w)
	})
	if got, rerr := os.ReadFile(path); err != nil || rerr != nil || string(got) != "outer" {
		t.Errorf("%q, errors %v, %v", got, err, rerr)
	}
}

// TestLongNames: every name that the file system takes is good.
func TestLongNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("n", 250), strings.Repeat("n", 255), strings.Repeat("é", 127), "a\nb", "-", ".hidden"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := errors.Join(atomicfile.Write(path, text("x", nil)), atomicfile.Write(path, text("y", nil)), os.Remove(path)); err != nil {
			t.Error(err)
		}
		if err := atomicfile.WriteDir(path, func(string) error { return nil }); err != nil || names(t, dir) != name {
			t.Errorf("%v, left %q", err, names(t, dir))
		}
	}
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 256))
	for _, err := range []error{atomicfile.Check(path), atomicfile.Write(path, text("", nil))} {
		if want := "open " + path + ": file name too long"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestHiddenPermissions: nobody else may read the hidden file or directory that is to replace one
// that only its owner may read.
func TestHiddenPermissions(t *testing.T) {
	dir := t.TempDir()
	path, inner := filepath.Join(dir, "secret"), filepath.Join(dir, "private")
	noError(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Mkdir(inner, 0o700)))
	hidden := func(want string) {
		list, _ := os.ReadDir(dir)
		i := slices.IndexFunc(list, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".part") })
		if i < 0 {
			t.Fatalf("nothing hidden in %s", names(t, dir))
		}
		if info, err := list[i].Info(); err != nil || info.Mode().String() != want {
			t.Errorf("%s has %v, error %v, want %s", list[i].Name(), info.Mode(), err, want)
		}
	}
	err := atomicfile.Write(path, func(io.Writer) error { hidden("-rw-------"); return nil })
	if err := errors.Join(err, atomicfile.WriteDir(inner, func(string) error { hidden("drwx------"); return nil })); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(inner); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, error %v", info.Mode(), err)
	}
}

// TestKeepsTheGroup: a new file has the group of the one that it replaces.
func TestKeepsTheGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared")
	noError(t, os.WriteFile(path, nil, 0o640))
	const group = 12345
	if err := os.Chown(path, -1, group); err != nil {
		t.Skip(err)
	}
	noError(t, atomicfile.Write(path, text("x", nil)))
	info, err := os.Stat(path)
	noError(t, err)
	if is := info.Sys().(*syscall.Stat_t).Gid; is != group || info.Mode().Perm() != 0o640 {
		t.Errorf("group %d, %v, want %d, 0640", is, info.Mode(), group)
	}
}

// TestErrorsOfDirectories: errors of files in the hidden directory name the output, however they
// are wrapped.
func TestErrorsOfDirectories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	err := atomicfile.WriteDir(path+"/", func(dir string) error {
		return fmt.Errorf("rank 3: %w", &os.PathError{Op: "write", Path: filepath.Join(dir, "f"), Err: syscall.ENOSPC})
	})
	if want := "rank 3: write " + path + "/f: no space left on device"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v is no full disk", err)
	}
}

// TestSyncs: the content is on the disk before the name, and then the name is.
func TestSyncs(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	for slash, content := range map[string]string{"": "fsync", "/": "syncfs"} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		noError(t, err)
		p := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-y", "-e", "trace=fsync,syncfs,rename,renameat,renameat2", os.Args[0])
		p.Env = append(os.Environ(), writer+"="+filepath.Join(dir, "out")+slash)
		p.Stdin = strings.NewReader("go on\n")
		var calls strings.Builder
		p.Stderr = &calls
		if err := p.Run(); err != nil {
			t.Skipf("no strace here: %v %s", err, calls.String())
		}
		var got []string
		for line := range strings.Lines(calls.String()) {
			for _, call := range []string{"fsync(", "syncfs(", "rename"} {
				if i := strings.Index(line, call); i >= 0 {
					what := strings.TrimRight(call, "(")
					if strings.Contains(line, "<"+dir+">") {
						what += " of the directory"
					}
					got = append(got, what)
				}
			}
		}
		if want := []string{content, "rename", "fsync of the directory"}; !slices.Equal(got, want) {
			t.Errorf("calls %q, want %q:\n%s", got, want, calls.String())
		}
	}
}
