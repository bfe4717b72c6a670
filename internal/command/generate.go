package command

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/manual"
)

// generateFlag has a command print what it is installed with.
var generateFlag = &cli.StringFlag{
	Name:  "generate",
	Usage: "print `bash|zsh|fish|man`: the completion for a shell, or the manual page, and stop",
}

// errGenerated ends a command that has printed what --generate asks for.
var errGenerated = errors.New("generated")

// Execute runs an application, whose flags may stand anywhere in the command line.
func Execute(ctx context.Context, app *cli.App, args []string) error {
	app.Flags = append(app.Flags, generateFlag)
	app.Before = func(c *cli.Context) error {
		if err := refuseEmpty(c); err != nil || !c.IsSet(generateFlag.Name) {
			return err
		}
		return generate(c)
	}
	if err := app.RunContext(ctx, FlagsFirst(app, args)); !errors.Is(err, errGenerated) {
		return err
	}
	return nil
}

// generate answers --generate.
func generate(c *cli.Context) error {
	if c.NArg() > 0 {
		return Usagef("--generate prints and stops: unexpected argument %q", c.Args().First())
	}
	text, err := manual.Text(c.String(generateFlag.Name), manual.Of(c.App))
	if err != nil {
		return Usagef("--generate %w", err)
	}
	if _, err := io.WriteString(c.App.Writer, text); err != nil {
		return err
	}
	return errGenerated
}
