package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// FlagsFirst puts the flags of a command line before its other arguments, behind which the library
// does not look for them: trace stat FILE --json means what trace stat --json FILE does. What
// follows "--" stays where it is, and so does all behind the name of a command that parses its
// flags itself. A command that starts a program takes for that what follows its own arguments, and
// there nothing is moved either. Behind a flag whose value is missing nothing is left that could be
// taken for it. Where help is asked for, nothing else is.
func FlagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	// The command line as far as it has been read. Each command that is named takes the flags up to its name with it, so
	// that flags of an outer command stay before the name of the inner one.
	ordered := args[:1:1] // up to the name of the command
	var command *cli.Command
	flags, commands := app.Flags, app.Commands // of the command; those that may be named next
	var options, others []string               // flags of the command, with their values; its other arguments
	wants, help := false, false                // the last flag has no value; help is asked for
	rest := args[1:]
	for len(rest) > 0 && rest[0] != "--" {
		if command != nil && command.SkipFlagParsing {
			return slices.Concat(ordered, rest)
		}
		word, n := rest[0], 1
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		switch {
		case len(word) > 1 && word[0] == '-':
			if takesNext(flags, word) {
				n = min(2, len(rest))
				wants = n == 1
			}
			help = help || slices.Contains(cli.HelpFlag.Names(), strings.TrimLeft(word, "-"))
			options = append(options, rest[:n]...)
		case len(others) == 0 && i >= 0:
			command = commands[i]
			ordered, options = append(append(ordered, options...), word), nil
			flags, commands = command.Flags, command.Subcommands
		default:
			others = append(others, word)
		}
		rest = rest[n:]
		// The last argument may be of a program that the command starts: behind the directory that the command takes
		// itself, if it takes one.
		if command != nil && !help {
			before, _, starts := strings.Cut(command.UsageText, " -- ")
			if starts && len(others) > strings.Count(before, " DIR ") {
				return args
			}
		}
	}

	switch {
	case help:
		// Whatever else a command is given, the library takes for the name of a command in it. Of a command that has
		// others in it, and takes nothing else, it should be one of them.
		chooses := app.ArgsUsage == ""
		if command != nil {
			chooses = len(command.Subcommands) > 0 && command.ArgsUsage == "" && command.UsageText == ""
		}
		if chooses && len(others) > 0 {
			return slices.Concat(ordered, others)
		}
		return append(ordered, "--help")
	case wants:
		return slices.Concat(ordered, options)
	}
	// The other arguments stay in front of what follows "--", in the order in which they were given.
	end := min(1, len(rest)) // the "--"
	return slices.Concat(ordered, options, rest[:end], others, rest[end:])
}

// takesNext reports whether the word that follows a flag is its value: not of switches, of flags that have their value
// behind "=", and of flags that there are not, about which the library complains.
func takesNext(flags []cli.Flag, word string) bool {
	name, _, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return !has && ok && d.TakesValue()
		}
	}
	return false
}
