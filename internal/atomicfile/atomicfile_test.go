package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/atomicfile"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var errContent = errors.New("no more")

func text(s string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		io.WriteString(w, s)
		return err
	}
}

// TestCheck: Check returns the error with which Write would begin, and leaves nothing.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	noError(t, os.WriteFile(old, []byte("text"), 0o600))
	for path, want := range map[string]string{
		"": "", "-": "", os.DevNull: "", old: "", filepath.Join(dir, "new"): "",
		dir:           "open " + dir + ": is a directory",
		dir + "/new/": "open " + dir + "/new/: want the name of a file, not of a directory",
		dir + "/no/x": "open " + dir + "/no/x: no such file or directory",
	} {
		got := ""
		if err := atomicfile.Check(path); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: error %q, want %q", path, got, want)
		}
		if want == "" {
			continue
		}
		if err := atomicfile.Write(path, text("", nil)); err == nil || err.Error() != want {
			t.Errorf("%q: Write: error %v, want %q", path, err, want)
		}
	}
	if got := names(t, dir); got != "old" {
		t.Errorf("left: %s", got)
	}
}

// names returns what a directory holds.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	for _, c := range []struct {
		text string
		err  error
		want string
	}{{"first", nil, "first"}, {"second", errContent, "first"}, {"third", nil, "third"}} {
		if err := atomicfile.Write(path, text(c.text, c.err)); !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.text, err, c.err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != c.want {
			t.Errorf("after %s: %q, error %v", c.text, got, err)
		}
	}
	if got := names(t, dir); got != "a.txt" {
		t.Errorf("directory holds %s", got)
	}
	if err := atomicfile.Write(os.DevNull, text("nothing", nil)); err != nil {
		t.Errorf("a device: %v", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "none", "b"), text("", nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: error %v", err)
	}
}

// TestPermissions: a new file or directory has the permissions that the umask leaves, and one
// that replaces another one has that one's.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	mode := func(name string) os.FileMode {
		info, err := os.Stat(at(name))
		noError(t, err)
		return info.Mode()
	}
	if err := errors.Join(os.WriteFile(at("plain"), nil, 0o666), os.Mkdir(at("plain dir"), 0o777),
		atomicfile.Write(at("a"), text("new", nil)), atomicfile.WriteDir(at("d"), func(string) error { return nil })); err != nil {
		t.Fatal(err)
	}
	if got, want := mode("a"), mode("plain"); got != want {
		t.Errorf("a new file has %v, want %v", got, want)
	}
	if got, want := mode("d"), mode("plain dir"); got != want {
		t.Errorf("a new directory has %v, want %v", got, want)
	}
	if err := errors.Join(os.Chmod(at("a"), 0o604), atomicfile.Write(at("a"), text("old", nil))); err != nil || mode("a") != 0o604 {
		t.Errorf("a file that is replaced has %v, error %v", mode("a"), err)
	}
}

func TestFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	at := func(name string) string { return filepath.Join(dir, name) }
	for link, to := range map[string]string{"one": "two", "two": "d/target", "loop": "loop"} {
		noError(t, os.Symlink(to, at(link)))
	}
	for _, s := range []string{"not there", "there"} { // dangling, then not
		noError(t, atomicfile.Write(at("one"), text(s, nil)))
		if got, err := os.ReadFile(at("d/target")); err != nil || string(got) != s {
			t.Errorf("the target holds %q, error %v", got, err)
		}
	}
	if to, err := os.Readlink(at("one")); err != nil || to != "two" {
		t.Errorf("the link leads to %s, error %v", to, err)
	}
	if err := atomicfile.Write(at("loop"), text("", nil)); err == nil {
		t.Error("a link to itself was followed")
	}
	if got := names(t, dir); got != "d loop one two" {
		t.Errorf("left: %s", got)
	}
}

// TestFollowsLinksOfDirectories: what a link leads to becomes the directory, be it there
// yet or not, and the link stays.
func TestFollowsLinksOfDirectories(t *testing.T) {
	for _, there := range []bool{false, true} {
		for _, to := range []string{"scratch/d", "scratch/d/", "scratch/./d/.", "two"} {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			noError(t, errors.Join(os.Mkdir(at("scratch"), 0o777), os.Symlink("scratch/d/", at("two")), os.Symlink(to, at("link"))))
			if there {
				noError(t, os.Mkdir(at("scratch/d"), 0o777))
			}
			err := atomicfile.WriteDir(at("link")+"/", func(dir string) error {
				return os.WriteFile(filepath.Join(dir, "f"), nil, 0o666)
			})
			if err != nil {
				t.Errorf("link to %s: %v", to, err)
				continue
			}
			if got := names(t, dir) + ": " + names(t, at("scratch")) + ": " + names(t, at("scratch/d")); got != "link scratch two: d: f" {
				t.Errorf("link to %s: %s", to, got)
			}
			if got, err := os.Readlink(at("link")); err != nil || got != to {
				t.Errorf("the link leads to %s, error %v, want %s", got, err, to)
			}
		}
	}
	t.Chdir(t.TempDir())
	noError(t, os.Symlink("loop/", "loop"))
	for _, path := range []string{".", "./", "..", "/", "loop"} {
		if err := atomicfile.WriteDir(path, func(string) error { return nil }); err == nil {
			t.Errorf("%s was replaced", path)
		}
	}
	if err := errors.Join(os.Symlink("plots", "link"), atomicfile.MakeDir("link")); err != nil || names(t, ".") != "link loop plots" {
		t.Errorf("%v, there are %s", err, names(t, "."))
	}
}

func TestErrorsNameThePath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	taken := func(io.Writer) error { // a directory takes the file's name meanwhile
		return os.Mkdir(path, 0o755)
	}
	for path, content := range map[string]func(io.Writer) error{path: taken, filepath.Join(dir, "none", "b"): text("", nil)} {
		err := atomicfile.Write(path, content)
		var of *os.PathError
		if !errors.As(err, &of) || of.Path != path {
			t.Errorf("error %v, want one of %s", err, path)
		}
	}
}

func TestWriteDir(t *testing.T) {
	outer := t.TempDir()
	path := filepath.Join(outer, "d")
	fill := func(err error) func(string) error {
		return func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "f"), nil, 0o644), err)
		}
	}
	if err := atomicfile.WriteDir(path, fill(errContent)); !errors.Is(err, errContent) || names(t, outer) != "" {
		t.Errorf("error %v, left %s", err, names(t, outer))
	}
	if err := os.Mkdir(path, 0o755); err != nil { // an empty one is in nobody's way
		t.Fatal(err)
	}
	noError(t, atomicfile.WriteDir(path+"/", fill(nil)))
	if got := names(t, outer) + ": " + names(t, path); got != "d: f" {
		t.Error(got)
	}
	err := atomicfile.WriteDir(path, fill(nil))
	if err == nil || !strings.Contains(err.Error(), "d: it exists and is not empty") {
		t.Errorf("error %v", err)
	}
	if err := atomicfile.WriteDir(filepath.Join(path, "f"), fill(nil)); err == nil {
		t.Error("a file was replaced by a directory")
	}
}

func TestCheckOverwrite(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b", "-"} {
		noError(t, os.WriteFile(name, nil, 0o644))
	}
	noError(t, os.Symlink("a", "link"))
	noError(t, os.Link("a", "hard"))
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	var err error
	if os.Stdin, err = os.Open("b"); err != nil {
		t.Fatal(err)
	}
	defer os.Stdin.Close()
	for _, c := range []struct {
		output string
		inputs []string
		want   string
	}{
		{"a", []string{"b", "a"}, "a would replace the input a: name another file"},
		{"./a", []string{"a"}, "./a would replace the input a: name another file"},
		{"link", []string{"a"}, "link would replace the input a: name another file"},
		{"hard", []string{"link"}, "hard would replace the input link: name another file"},
		{"a", []string{"b", "", "-", "none"}, ""},
		{"b", []string{"a", "-"}, "b would replace the input -: name another file"},
		{"-", []string{"b", "-"}, ""},
		{"none", []string{"none", "a"}, ""},
		{"", []string{""}, ""},
		{os.DevNull, []string{os.DevNull}, ""},
	} {
		got := ""
		if err := atomicfile.CheckOverwrite(c.output, c.inputs...); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s from %q: %q, want %q", c.output, c.inputs, got, c.want)
		}
	}
}

// TestDistinct: two outputs are the same file if one is a link to the other, or by
// their paths where they are not there yet.
func TestDistinct(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b"} {
		noError(t, os.WriteFile(name, nil, 0o666))
	}
	noError(t, os.Mkdir("d", 0o777))
	for link, to := range map[string]string{"link": "a", "dangling": "new", "e": "d"} {
		noError(t, os.Symlink(to, link))
	}
	noError(t, os.Link("a", "hard"))
	for _, c := range []struct{ outputs, want string }{
		{"a b", ""}, {"a ./a", "a and ./a"}, {"b a link", "a and link"}, {"hard link", "hard and link"},
		{"new ./d/../new", "new and ./d/../new"}, {"new other", ""}, {"dangling new", "dangling and new"},
		{"d/new e/new", "d/new and e/new"}, {"new d/new", ""}, {"missing/x ./missing/x", "missing/x and ./missing/x"},
		{"- -", ""}, {os.DevNull + " " + os.DevNull, ""},
	} {
		got, want := "", c.want
		if err := atomicfile.Distinct(append(strings.Fields(c.outputs), "", "")...); err != nil {
			got = err.Error()
		}
		if want != "" {
			want += " are the same file: name another one"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", c.outputs, got, want)
		}
	}
}

// TestHiddenDir: the directory is beside the path, holds what is put there, and goes.
func TestHiddenDir(t *testing.T) {
	dir := t.TempDir()
	hidden, remove, err := atomicfile.HiddenDir(filepath.Join(dir, "out"))
	noError(t, err)
	if filepath.Dir(hidden) != dir || !strings.HasPrefix(filepath.Base(hidden), ".out.") {
		t.Errorf("hidden %s in %s", hidden, dir)
	}
	noError(t, os.WriteFile(filepath.Join(hidden, "0"), nil, 0o600))
	if err := remove(); err != nil || names(t, dir) != "" {
		t.Errorf("left %q, error %v", names(t, dir), err)
	}
	if _, _, err := atomicfile.HiddenDir(filepath.Join(dir, "none", "out")); err == nil || strings.Contains(err.Error(), ".out.") {
		t.Errorf("in no directory: %v", err)
	}
}
