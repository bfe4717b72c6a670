package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"reprise/internal/textutil"
)

// TestExitCode: mistakes in the command line end with 2, however they are wrapped,
// everything else with 1 (docs/replay.md).
func TestExitCode(t *testing.T) {
	var failed *exec.ExitError
	if ended := exec.Command("sh", "-c", "exit 2").Run(); !errors.As(ended, &failed) {
		t.Fatal(ended)
	}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("x"), 1}, {Usagef("x %d", 1), 2}, {fmt.Errorf("part: %w", Usage(errors.New("x"))), 2}, {Silent, 1},
		{fmt.Errorf("launcher: %w", failed), 1}, {Code(failed, 2), 2}, {cli.Exit("No help topic", 3), 2}, {Code(errors.New("x"), 7), 7},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

// TestApp: a flag or a command that is not there comes back as a mistake in the command
// line, and nothing ends the process.
func TestApp(t *testing.T) {
	for args, want := range map[string]string{
		"x --nonsense": "nonsense", "x sub --nonsense": "nonsense", "x hide": `unknown command "hide", want sub or other`,
	} {
		app := App("x", "does nothing", strings.NewReader(""), io.Discard, io.Discard)
		Subcommands(app, "command", &cli.Command{Name: "sub"}, &cli.Command{Name: "other"}, &cli.Command{Name: "hidden", Hidden: true})
		if err := Execute(context.Background(), app, strings.Fields(args)); ExitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestBadValues: a value of another type than the flag's is told with what is wanted.
func TestBadValues(t *testing.T) {
	for args, want := range map[string]string{
		"x --time 3": `--time "3", want a time with its unit, such as 90s or 10m`, "x -t 3": `--time "3", want a time with its unit, such as 90s or 10m`,
		"x --seed=-1": `--seed "-1", want a whole number of at least 0`, "x sub --size 4KiB": `--size "4KiB", want a number without unit`,
		"x sub --count 1.5": `--count "1.5", want a whole number`, "x sub --count 99999999999999999999": `--count "99999999999999999999", want a whole number, not that large`,
		"x --seed 99999999999999999999": `--seed "99999999999999999999", want a whole number of at least 0, not that large`, "x sub --size 1e999": `--size "1e999", want a number without unit, not that large`,
		"x sub --yes=maybe": `--yes "maybe", want true, false, or no value`,
	} {
		app := App("x", "does nothing", strings.NewReader(""), io.Discard, io.Discard)
		app.Flags = []cli.Flag{&cli.DurationFlag{Name: "time", Aliases: []string{"t"}}, &cli.Uint64Flag{Name: "seed"}}
		Subcommands(app, "command", &cli.Command{Name: "sub", Flags: []cli.Flag{&cli.Float64Flag{Name: "size"}, &cli.IntFlag{Name: "count"}, &cli.BoolFlag{Name: "yes"}}})
		if err := Execute(context.Background(), app, strings.Fields(args)); ExitCode(err) != 2 || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// TestHelp: the word help does what --help does, for the command and for those in it.
func TestHelp(t *testing.T) {
	run := func(args string) (string, error) {
		var out bytes.Buffer
		app := App("x", "does nothing", strings.NewReader(""), &out, &out)
		inner := &cli.Command{Name: "inner", Flags: []cli.Flag{&cli.BoolFlag{Name: "flag"}}}
		Subcommands(app, "command", &cli.Command{Name: "sub"}, Nest(&cli.Command{Name: "nest"}, "part", inner, &cli.Command{Name: "other"}))
		err := Execute(context.Background(), app, strings.Fields(args))
		return out.String(), err
	}
	for word, flag := range map[string]string{
		"x help": "x --help", "x help sub": "x sub --help", "x nest help": "x nest --help", "x help nest": "x nest --help", "x nest help inner": "x nest inner --help", "x help nest inner": "x nest inner --help", "x help sub file": "x sub --help",
	} {
		got, err := run(word)
		if err != nil {
			t.Errorf("%s: %v", word, err)
		}
		if want, _ := run(flag); got != want || want == "" {
			t.Errorf("%s:\n%s\nwant that of %s:\n%s", word, got, flag, want)
		}
	}
	for args, want := range map[string]string{
		"x help none": `unknown command "none", want sub or nest`, "x nest help none": `unknown part "none", want inner or other`,
	} {
		if _, err := run(args); ExitCode(err) != 2 || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// TestEmpty: an empty text is a mistake, of flags of the application and of a command,
// but where any text will do; a flag that is not there is none.
func TestEmpty(t *testing.T) {
	flags := func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-", Usage: "write to `FILE`"},
			&cli.StringFlag{Name: "model", Usage: "write to `FILE`; -: to standard output"},
			&cli.StringFlag{Name: "plots", Usage: "write to `DIR`"},
			&cli.StringFlag{Name: "per", Value: "host", Usage: "`host|cpu`"},
			&cli.StringFlag{Name: "bare", Usage: "no placeholder"},
			TextFlag{&cli.StringFlag{Name: "source", Usage: "`TEXT` about it"}},
		}
	}
	for args, want := range map[string]string{
		"x -o=": `--output "", want the name of a file, or -`, "x --bare=": `--bare "", want a value`,
		"x sub -o=": `sub: --output "", want the name of a file, or -`, "x sub --model=": `sub: --model "", want the name of a file, or -`,
		"x sub --plots=": `sub: --plots "", want the name of a directory`, "x sub --per=": `sub: --per "", want host|cpu`,
		"x sub --source=": "", "x sub": "", "x sub -o=a": "",
	} {
		app := App("x", "does nothing", strings.NewReader(""), io.Discard, io.Discard)
		Subcommands(app, "command", &cli.Command{Name: "sub", Flags: flags(), Action: func(*cli.Context) error { return nil }})
		app.Flags = flags()
		switch err := Execute(context.Background(), app, strings.Fields(args)); {
		case want == "" && err != nil || want != "" && (ExitCode(err) != 2 || err.Error() != want):
			t.Errorf("%s: %v, want %q and code 2", args, err, want)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestGenerate: --generate prints instead of what the command does, and nothing else may
// be asked for at once.
func TestGenerate(t *testing.T) {
	run := func(args string) (string, error) {
		var out bytes.Buffer
		app := App("x", "does nothing", strings.NewReader(""), &out, io.Discard)
		Subcommands(app, "command", &cli.Command{Name: "sub", Action: func(*cli.Context) error { return errors.New("ran") }})
		err := Execute(context.Background(), app, strings.Fields(args))
		return out.String(), err
	}
	for _, kind := range []string{"bash", "zsh", "fish", "man"} {
		if text, err := run("x --generate " + kind); err != nil || !strings.Contains(text, "Written by \"x --generate "+kind+"\".") {
			t.Errorf("%s: %v\n%s", kind, err, text)
		}
	}
	for args, want := range map[string]string{
		"x --generate tcsh":    `--generate "tcsh", want bash, zsh, fish or man`,
		"x --generate=":        `--generate "", want bash|zsh|fish|man`,
		"x --generate man sub": `--generate prints and stops: unexpected argument "sub"`,
	} {
		if _, err := run(args); ExitCode(err) != 2 || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	app := App("x", "does nothing", strings.NewReader(""), full{}, io.Discard)
	if err := Execute(context.Background(), app, []string{"x", "--generate", "man"}); ExitCode(err) != 1 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v, code %d", err, ExitCode(err))
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		text     string
		from, to int
		ok       bool
	}{
		{"", 0, 0, true}, {"2:5", 2, 5, true}, {"3:", 3, 0, true}, {":4", 0, 4, true}, {":", 0, 0, true},
		{"5", 0, 0, false}, {"5:5", 0, 0, false}, {"-1:2", 0, 0, false}, {"a:b", 0, 0, false}, {"0:0", 0, 0, false},
	} {
		from, to, err := Steps(c.text)
		if from != c.from || to != c.to || (err == nil) != c.ok {
			t.Errorf("%q: %d, %d, %v", c.text, from, to, err)
		}
	}
}

// TestQuoted: a shell takes a command line apart as it was put together.
func TestQuoted(t *testing.T) {
	args := []string{"plain", "", "two words", "it's", "$HOME `id` \\ \"x\"", "a*?[b]{c}", "#;&|<>()~!"}
	out, err := exec.Command("sh", "-c", "printf '%s\\n' "+Quoted(args...)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); !slices.Equal(got, args) {
		t.Errorf("%q, want %q", got, args)
	}
	if got := Quoted("trace", "cat", "a b"); got != "trace cat 'a b'" {
		t.Error(got)
	}
}

// FuzzSteps: what --steps says is a range, or an error of use that can be read.
func FuzzSteps(f *testing.F) {
	for _, text := range []string{"", ":", "1:2", "3:", ":4", "2:1", "-1:3", "1:99999999999999999999", "a:b", "1:2:3", " 1:2", "+1:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		from, to, err := Steps(text)
		var usage coded
		switch {
		case err == nil && (from < 0 || to < 0 || to > 0 && to <= from):
			t.Errorf("%q: from %d to %d", text, from, to)
		case err != nil && (!errors.As(err, &usage) || usage.code != 2 || len(textutil.Brief(err).Error()) > 4000):
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestFlagsFirst: flags may stand anywhere, and nothing else moves.
func TestFlagsFirst(t *testing.T) {
	flags := func() []cli.Flag {
		return []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}}, &cli.BoolFlag{Name: "json"}, &cli.IntFlag{Name: "seed"}, &TextFlag{&cli.StringFlag{Name: "name"}}}
	}
	app := App("app", "", strings.NewReader(""), io.Discard, io.Discard)
	app.Flags = flags()
	Subcommands(app, "command",
		&cli.Command{Name: "plain", Flags: flags()},
		&cli.Command{Name: "starts", Flags: flags(), UsageText: "app starts -o FILE -- PROGRAM [arguments]"},
		&cli.Command{Name: "fills", Flags: flags(), UsageText: "app fills DIR -o FILE -- PROGRAM [arguments]"},
		&cli.Command{Name: "own", SkipFlagParsing: true},
	)
	for _, c := range []struct{ given, want string }{
		{"", ""},
		{"app", "app"},
		{"app FILE --json", "app --json FILE"},
		{"app A -o B C --seed -5 D", "app -o B --seed -5 A C D"},
		{"app A --output=B --json=false C", "app --output=B --json=false A C"},
		{"app - --name - B", "app --name - - B"},
		{"app A --unknown B", "app --unknown A B"},
		{"app A -o", "app -o"}, // which lacks its value
		{"app A --json -- -o B", "app --json -- A -o B"},
		{"app --json plain A -o B --json", "app --json plain -o B --json A"},
		{"app plain own --json", "app plain --json own"},
		{"app A plain --json", "app --json A plain"},
		{"app fills DIR -o B -- mpirun -o C", "app fills -o B -- DIR mpirun -o C"},
		{"app fills DIR mpirun -o C -- A", "app fills DIR mpirun -o C -- A"},
		{"app starts -o B -- mpirun -o C", "app starts -o B -- mpirun -o C"},
		{"app starts -o B run.sh -o C A -- -x", "app starts -o B run.sh -o C A -- -x"},
		{"app starts -o B mpirun --json", "app starts -o B mpirun --json"},
		{"app own A --json B", "app own A --json B"},
		{"app plain A -o B --help C", "app plain --help"},
		{"app plain A -h", "app plain --help"},
		{"app plain -o --help", "app plain -o --help"}, // which is a value
		{"app --help", "app --help"},
		{"app none --help", "app none"}, // which is no command
		{"app --help plain A", "app --help plain --help"},
		{"app fills DIR --help -- mpirun -o C", "app fills --help"},
		{"app starts --help mpirun", "app starts --help"},
		{"app starts mpirun --help", "app starts mpirun --help"}, // of the program
	} {
		if got := FlagsFirst(app, strings.Fields(c.given)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q: got %q, want %q", c.given, got, c.want)
		}
	}
}
