package commandtest

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
)

// Examples checks that the description of each command of an application, which its help
// shows, has an example of that command: an indented line with its name. All examples there
// are must be command lines that the application takes. newApp makes the application.
func Examples(t *testing.T, newApp func() *cli.App) {
	t.Helper()
	app := newApp()
	check := func(path, description string) {
		own := false
		for _, line := range examplesIn(description, app.Name) {
			ran, err := parsed(newApp(), line)
			if err != nil {
				t.Errorf("%s --help: %s: %v", path, line, err)
			}
			own = own || ran == path
		}
		if !own {
			t.Errorf("%s --help has no example of %s", path, path)
		}
	}
	if len(app.Commands) == 0 || app.ArgsUsage != "" {
		check(app.Name, app.Description)
	} else if len(examplesIn(app.Description, app.Name)) == 0 {
		t.Errorf("%s --help has no example", app.Name)
	}
	eachCommand(app.Name, app.Commands, func(path string, c *cli.Command) {
		switch {
		case len(c.Subcommands) == 0 || c.ArgsUsage != "" || c.UsageText != "":
			check(path, c.Description)
		case !strings.Contains(c.Description, path+" "):
			t.Errorf("%s --help has no example of its commands", path)
		}
	})
}

// eachCommand visits all commands, those in others too.
func eachCommand(path string, list []*cli.Command, visit func(path string, c *cli.Command)) {
	for _, c := range list {
		path := path + " " + c.Name
		if c.Action != nil {
			visit(path, c)
		}
		eachCommand(path, c.Subcommands, visit)
	}
}

// examplesIn returns the indented lines of a text that call a program, without what follows in
// the same line: comments, pipes, and files for the output.
func examplesIn(text, program string) (list []string) {
	for line := range strings.SplitSeq(text, "\n") {
		line, indented := strings.CutPrefix(line, "   ")
		if line = strings.TrimSpace(line); indented && strings.HasPrefix(line, program+" ") {
			list = append(list, strings.TrimSpace(behind.ReplaceAllString(line, "")))
		}
	}
	return list
}

var behind = regexp.MustCompile(` +(#|\||<|>) .*$`)

// parsed has an application parse a command line and returns the name of the command that would
// run.
func parsed(app *cli.App, line string) (ran string, err error) {
	args, err := words(line)
	if err != nil {
		return "", err
	}
	app.Writer, app.ErrWriter = io.Discard, io.Discard
	idle := func(c *cli.Context) error {
		ran = c.Command.HelpName
		return nil
	}
	app.Action = idle
	stop(app.Commands, idle)
	return ran, app.Run(command.FlagsFirst(app, args))
}

// stop has commands do something else.
func stop(list []*cli.Command, action cli.ActionFunc) {
	for _, c := range list {
		c.Action = action
		stop(c.Subcommands, action)
	}
}

// words takes a command line apart as a shell does, as far as single quotes go.
func words(line string) (list []string, err error) {
	word, quoted, begun := "", false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
			if begun {
				list = append(list, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	if quoted {
		return nil, errors.New("a quote that does not end")
	}
	if begun {
		list = append(list, word)
	}
	return list, nil
}
