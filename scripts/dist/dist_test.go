// Package dist tests scripts/dist.sh.
package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestReproducible: two clones in different directories give the same archive, whose
// commands tell their commit.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("links the commands four times")
	}
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skip("not a clone of the repository")
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	var archives [2][]byte
	for i := range archives {
		dir := filepath.Join(t.TempDir(), strings.Repeat("deeper/", 1+2*i))
		run(t, "", "git", "clone", "-q", strings.TrimSpace(string(root)), dir)
		run(t, dir, "scripts/dist.sh", "out/dist", platform)
		run(t, filepath.Join(dir, "out/dist"), "sha256sum", "-c", "SHA256SUMS")
		names, err := filepath.Glob(filepath.Join(dir, "out/dist/reprise-*.tar.gz"))
		if err != nil || len(names) != 1 {
			t.Fatalf("archives %v, %v", names, err)
		}
		if archives[i], err = os.ReadFile(names[0]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two clones give different archives")
	}
	files := unpack(t, archives[0])
	commit := strings.TrimSpace(run(t, "", "git", "rev-parse", "HEAD"))
	for _, command := range []string{"calibrate", "replay", "study", "trace", "tracegen"} {
		if version := run(t, files, "bin/"+command, "--version"); !strings.Contains(version, "(commit "+commit+")") {
			t.Errorf("%s --version says %s, want commit %s", command, version, commit)
		}
		for _, name := range []string{"man/man1/" + command + ".1", "bash-completion/completions/" + command, "zsh/site-functions/_" + command, "fish/vendor_completions.d/" + command + ".fish"} {
			if info, err := os.Stat(filepath.Join(files, "share", name)); err != nil || info.Size() == 0 {
				t.Errorf("share/%s: empty or %v", name, err)
			}
		}
	}
	for _, name := range []string{"README.md", "LICENSE", "THIRD_PARTY_LICENSES.txt", "docs/commands.md"} {
		if _, err := os.Stat(filepath.Join(files, name)); err != nil {
			t.Error(err)
		}
	}
}

// run runs a program that must succeed, and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	if strings.Contains(name, "/") {
		name = filepath.Join(dir, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// unpack unpacks an archive, whose entries must be sorted and of one time, and returns the
// directory that they are in.
func unpack(t *testing.T, archive []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var headers []*tar.Header
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, h)
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		if !filepath.IsLocal(name) {
			t.Fatalf("entry %s", h.Name)
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, h.FileInfo().Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.IsSortedFunc(headers, func(a, b *tar.Header) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("entries are not sorted")
	}
	for _, h := range headers {
		if !h.ModTime.Equal(headers[0].ModTime) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s: of %v, %d:%d (%s:%s)", path.Base(h.Name), h.ModTime, h.Uid, h.Gid, h.Uname, h.Gname)
		}
	}
	return dir
}
