package command

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

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
