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
	l := commandLine{ordered: args[:1:1], flags: app.Flags, commands: app.Commands}
	rest := args[1:]
	for len(rest) > 0 && rest[0] != "--" {
		if l.command != nil && l.command.SkipFlagParsing {
			return slices.Concat(l.ordered, rest)
		}
		if rest = l.take(rest); l.inProgram() && !l.help {
			return args
		}
	}
	if l.help {
		return l.forHelp(app)
	}
	if l.wants {
		return slices.Concat(l.ordered, l.options)
	}
	return slices.Concat(l.ordered, l.options, rest[:min(1, len(rest))], l.others, rest[min(1, len(rest)):])
}

// commandLine is a command line as far as it has been read.
type commandLine struct {
	ordered  []string // up to the name of the command
	command  *cli.Command
	flags    []cli.Flag     // of the command, or of the application before there is one
	commands []*cli.Command // that may be named next
	options  []string       // flags of the command, with their values
	others   []string       // its other arguments
	wants    bool           // the last flag has no value
	help     bool           // help is asked for
}

// take reads a flag with its value, or another argument, and returns what follows.
func (l *commandLine) take(rest []string) []string {
	word := rest[0]
	n := 1
	switch {
	case len(word) > 1 && word[0] == '-':
		if takesNext(l.flags, word) {
			n = min(2, len(rest))
			l.wants = n == 1
		}
		l.help = l.help || slices.Contains(cli.HelpFlag.Names(), strings.TrimLeft(word, "-"))
		l.options = append(l.options, rest[:n]...)
	case len(l.others) == 0 && l.enter(word):
	default:
		l.others = append(l.others, word)
	}
	return rest[n:]
}

// enter makes the command of a name the one whose arguments follow, if there is one.
func (l *commandLine) enter(name string) bool {
	i := slices.IndexFunc(l.commands, func(c *cli.Command) bool { return c.HasName(name) })
	if i < 0 {
		return false
	}
	c := l.commands[i]
	l.ordered = append(append(l.ordered, l.options...), name)
	l.command, l.flags, l.commands, l.options = c, c.Flags, c.Subcommands, nil
	return true
}

// forHelp returns the command line that asks for help alone: whatever else a command is given, the
// library takes for the name of a command in it. Of one that has others in it, and takes nothing
// else, it should be one of them.
func (l *commandLine) forHelp(app *cli.App) []string {
	chooses := app.ArgsUsage == ""
	if c := l.command; c != nil {
		chooses = len(c.Subcommands) > 0 && c.ArgsUsage == "" && c.UsageText == ""
	}
	if chooses && len(l.others) > 0 {
		return slices.Concat(l.ordered, l.others)
	}
	return append(l.ordered, "--help")
}

// takesNext reports whether the word that follows a flag is its value.
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

// inProgram reports whether the last argument is of a program that the command starts: behind the
// directory that the command takes itself, if it takes one.
func (l *commandLine) inProgram() bool {
	if l.command == nil {
		return false
	}
	before, _, starts := strings.Cut(l.command.UsageText, " -- ")
	return starts && len(l.others) > strings.Count(before, " DIR ")
}
