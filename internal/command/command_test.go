package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestExitCode: mistakes in the command line end with 2, however they are wrapped,
// everything else with 1 (docs/replay.md).
func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("x"), 1}, {Usagef("x %d", 1), 2}, {fmt.Errorf("part: %w", Usage(errors.New("x"))), 2}, {Silent, 1},
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
		app := App("x", "does nothing", "1", strings.NewReader(""), io.Discard, io.Discard)
		Subcommands(app, "command", &cli.Command{Name: "sub"}, &cli.Command{Name: "other"}, &cli.Command{Name: "hidden", Hidden: true})
		if err := app.Run(strings.Fields(args)); ExitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
