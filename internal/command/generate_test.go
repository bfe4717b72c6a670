package command

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
func awkward() *cli.App {
	const texts = `'single' "double" $(false) $HOME [brackets] a:b \back {x,y} *?#;&|<>~^` + "\n"
	return &cli.App{
		Name: "x", Usage: "does " + strings.TrimSpace(texts), Version: "1 (commit 2)",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "top", Usage: ".request at the beginning"}},
		Commands: []*cli.Command{
			{Name: "sub", Usage: strings.TrimSpace(texts), ArgsUsage: "FILE", Description: ".SH none\n" + texts, Flags: []cli.Flag{
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, " + strings.TrimSpace(texts)},
				&cli.StringFlag{Name: "per", Usage: "take `host|cpu`"},
				&cli.StringFlag{Name: "terms", Usage: "`F=T,T,...|none`"}}},
			{Name: "nest", Usage: "has others", Subcommands: []*cli.Command{{Name: "inner", Flags: []cli.Flag{&cli.BoolFlag{Name: "deep"}}}}},
			{Name: "worker", Hidden: true},
		},
	}
}

// TestMan: groff has nothing to complain of, and help's texts come out as they are.
func TestMan(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	path := filepath.Join(t.TempDir(), "x.man")
	if err := os.WriteFile(path, []byte(man(awkward())), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("groff", "-man", "-ww", "-z", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
	out, err := exec.Command("groff", "-man", "-Tascii", "-P-cbou", "-rLL=400n", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`'single' "double" $(false) $HOME [brackets] a:b \back {x,y} *?#;&|<>~^`, ".request at the beginning",
		".SH none", "--output FILE, -o FILE", "--top", "x nest inner", "--deep"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "worker") {
		t.Error("shows a hidden command")
	}
}

// TestWords: what may stand at the cursor; "/" for names of files.
func TestWords(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"", "nest sub"}, {"s", "sub"}, {"--t", "--top"}, {"nest ", "inner"}, {"nest inner --d", "--deep"}, {"nest inner ", "/"},
		{"sub --per ", "cpu host"}, {"sub --per = c", "cpu"}, {"sub --per =", "cpu host"}, {"sub --per=c", "--per=cpu"}, {"sub --per x", ""},
		{"sub --terms ", "/"}, {"sub --output ", "/"}, {"sub a", "/"},
		{"sub -", "--help --output --per --terms -h -o"}, {"sub --output nest --p", "--per"},
	} {
		var got []string
		for _, word := range words(awkward(), strings.Split(c.line, " ")) {
			name, _, _ := strings.Cut(word, "\t")
			got = append(got, name)
		}
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
