package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// awkward is a command whose texts have all that shells and man could take for theirs.
func awkward() Command {
	const texts = `'single' "double" $(false) $HOME [brackets] a:b \back {x,y} *?#;&|<>~^` + "\n"
	return Of(&cli.App{
		Name: "x", Usage: "does " + strings.TrimSpace(texts), Version: "1 (commit 2)",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "top", Usage: ".request at the beginning"}},
		Commands: []*cli.Command{
			{Name: "sub", Usage: strings.TrimSpace(texts), ArgsUsage: "FILE", Description: ".SH none\n" + texts, Flags: []cli.Flag{
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, " + strings.TrimSpace(texts)},
				&cli.StringFlag{Name: "per", Usage: "take `host|cpu`"},
				&cli.StringFlag{Name: "terms", Usage: "`F=T,T,...|none`"},
				&cli.StringSliceFlag{Name: "more", Usage: "`N:V`, may be repeated"},
				&cli.StringFlag{Name: "dir", Usage: "into `DIR`"}}},
			{Name: "nest", Usage: "has others", Subcommands: []*cli.Command{{Name: "inner", Flags: []cli.Flag{&cli.BoolFlag{Name: "deep"}}}}},
			{Name: "worker", Hidden: true},
		},
	})
}

// write writes one kind of awkward into a file.
func write(t *testing.T, kind string) string {
	t.Helper()
	text, err := Text(kind, awkward())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x."+kind)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// complain runs a program that should have nothing to say, where it is installed.
func complain(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
}

// TestAwkward: shells and man read whatever help says.
func TestAwkward(t *testing.T) {
	t.Run("bash", func(t *testing.T) { complain(t, "bash", "-n", write(t, "bash")) })
	t.Run("zsh", func(t *testing.T) { complain(t, "zsh", "-n", write(t, "zsh")) })
	t.Run("fish", func(t *testing.T) { complain(t, "fish", "--no-execute", write(t, "fish")) })
	t.Run("groff", func(t *testing.T) { complain(t, "groff", "-man", "-ww", "-z", write(t, "man")) })
}

// TestManShowsTexts: what help says comes out of man as it is.
func TestManShowsTexts(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	out, err := exec.Command("groff", "-man", "-Tascii", "-P-cbou", "-rLL=400n", write(t, "man")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`'single' "double" $(false) $HOME [brackets] a:b \back {x,y} *?#;&|<>~^`, ".request at the beginning", ".SH none", "--output FILE, -o FILE", "--top", "x nest inner", "--deep"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "worker") {
		t.Error("shows a hidden command")
	}
}

// TestBash: bash offers what may stand at the cursor.
func TestBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	path := write(t, "bash")
	for _, c := range []struct{ line, want string }{
		{"x ", "nest sub"}, {"x s", "sub"}, {"x --t", "--top"}, {"x nest ", "inner"}, {"x nest inner --d", "--deep"},
		{"x sub --per ", "cpu host"}, {"x sub --per = c", "cpu"}, {"x sub --per =", "cpu host"}, {"x sub --terms ", ""}, {"x sub --output ", ""},
		{"x sub -", "--dir --help --more --output --per --terms -h -o"}, {"x sub --output nest --m", "--more"},
	} {
		words := strings.Split(c.line, " ")
		script := `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _x; printf '%s\n' "${COMPREPLY[@]}"`
		out, err := exec.Command("bash", append([]string{"-c", script, "bash", path}, words...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", c.line, err, out)
		}
		got := strings.Fields(string(out))
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %s", c.line, got, c.want)
		}
	}
}

// TestTools: the commands that refer to each other are all that there are.
func TestTools(t *testing.T) {
	dirs, err := os.ReadDir("../../cmd")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range dirs {
		names = append(names, d.Name())
	}
	if !slices.Equal(tools, names) {
		t.Errorf("%v, want %v", tools, names)
	}
}

func TestUnknownKind(t *testing.T) {
	if _, err := Text("tcsh", awkward()); err == nil || err.Error() != `"tcsh", want bash, zsh, fish or man` {
		t.Error(err)
	}
}
