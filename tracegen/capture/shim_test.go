package capture_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/tracegen/capture"
)

// TestRecorderIsKept: the recorder is compiled once, also for users whose home is of no use, as services have it; nobody
// else's directory is trusted, and no home is made.
func TestRecorderIsKept(t *testing.T) {
	compiler := filepath.Join(t.TempDir(), "compiler")
	script := "#!/bin/sh\necho compiled >> $COMPILED\nwhile test $# -gt 1; do test $1 = -o && echo library > $2; shift; done\n"
	if err := os.WriteFile(compiler, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", compiler)
	home, file := t.TempDir(), compiler
	for _, c := range []struct {
		name, home, cache string
		mode              os.FileMode // of the directory beside temporary files that is there already
		compiled          int
	}{
		{"a home", home, "", 0, 1},
		{"a cache", "/nonexistent", filepath.Join(home, "cache"), 0, 1},
		{"no home", "", "", 0, 1},
		{"a home that does not exist", filepath.Join(home, "no", "home"), "", 0, 1},
		{"a home that cannot be written to", "/proc", "", 0, 1},
		{"a home that is a file", file, "", 0, 1},
		{"a cache that cannot be written to", home, "/proc/cache", 0, 1},
		{"everybody's directory", "", "", 0o777, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			compiled := filepath.Join(dir, "compiled")
			for name, value := range map[string]string{"HOME": c.home, "XDG_CACHE_HOME": c.cache, "TMPDIR": dir, "COMPILED": compiled} {
				t.Setenv(name, value)
			}
			if c.mode != 0 {
				own := filepath.Join(dir, fmt.Sprintf("reprise-%d", os.Geteuid()))
				if err := errors.Join(os.Mkdir(own, 0o700), os.Chmod(own, c.mode)); err != nil {
					t.Fatal(err)
				}
			}
			told := 0
			for range 2 {
				err := capture.Record(t.Context(), t.TempDir(), capture.Command{Args: []string{"true"}, Compiling: func() { told++ }})
				if err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(compiled)
			if n := strings.Count(string(text), "compiled"); err != nil || n != c.compiled || told != n {
				t.Errorf("compiled %d times and told of %d, want %d (%v)", n, told, c.compiled, err)
			}
			if _, err := os.Stat(filepath.Join(home, "no")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a home was made: %v", err)
			}
		})
	}
}

// TestFailure: of a launcher that fails before there is a rank, the error has its exit status, and the last line in which there are words.
func TestFailure(t *testing.T) {
	launcher := filepath.Join(t.TempDir(), "mpirun-of-mine")
	if err := os.WriteFile(launcher, []byte("#!/bin/sh\ntest \"$1\" = --version && exit\necho first >&2\necho 'no \033such option' >&2\necho '-----' >&2\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	err := capture.Record(t.Context(), t.TempDir(), capture.Command{Args: []string{launcher, "x"}, Stderr: &errs})
	var failure *capture.Failure
	if !errors.As(err, &failure) || failure.Exit.ExitCode() != 7 || errs.String() != "first\nno \033such option\n-----\n" {
		t.Fatalf("%v, printed %q", err, errs.String())
	}
	if want := launcher + `: exit status 7, before any rank recorded anything; its last line: no \x1bsuch option`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
