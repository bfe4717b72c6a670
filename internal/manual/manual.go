// Package manual writes a command's manual page and its completion in shells, from the
// flags that the command has.
package manual

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Command is a command as its help shows it.
type Command struct {
	Path        string // its name behind those of the commands that it is in: "trace cat"
	Usage       string // what it does, in a phrase
	Synopsis    []string
	Description string
	Version     string
	Flags       []Flag
	Commands    []Command
	TakesFiles  bool // beside its commands
}

// Flag is a flag of a command.
type Flag struct {
	Names   []string // with their dashes: "--output", "-o"
	Value   string   // what stands for its value in help, "" if it takes none
	Text    string   // what it does, and its default
	Choices []string // all values that it takes, none if they cannot be listed
	Repeats bool
}

// kinds are what Text returns.
var kinds = []string{"bash", "zsh", "fish", "man"}

// Text returns a manual page (kind "man"), or the completion of a shell.
func Text(kind string, c Command) (string, error) {
	writers := map[string]func(Command) string{"bash": bash, "zsh": zsh, "fish": fish, "man": man}
	write, ok := writers[kind]
	if !ok {
		return "", fmt.Errorf("%q, want %s or %s", kind, strings.Join(kinds[:len(kinds)-1], ", "), kinds[len(kinds)-1])
	}
	return write(c), nil
}

// Of returns the command that an application is.
func Of(app *cli.App) Command {
	c := Command{Path: app.Name, Usage: app.Usage, Description: app.Description, Synopsis: synopsis(app.Name, app.UsageText, app.ArgsUsage), Version: app.Version, TakesFiles: app.ArgsUsage != ""}
	c.Flags, c.Commands = flagsOf(app.Flags), commandsIn(app.Name, app.Commands)
	return c
}

func commandsIn(path string, list []*cli.Command) []Command {
	var all []Command
	for _, sub := range list {
		if sub.Hidden {
			continue
		}
		c := Command{Path: path + " " + sub.Name, Usage: sub.Usage, Description: sub.Description}
		c.Synopsis = synopsis(c.Path, sub.UsageText, sub.ArgsUsage)
		c.Flags, c.Commands = flagsOf(sub.Flags), commandsIn(c.Path, sub.Subcommands)
		c.TakesFiles = len(c.Commands) == 0
		all = append(all, c)
	}
	return all
}

// synopsis returns the forms of a command: its own text, else what help makes up.
func synopsis(path, text, args string) []string {
	if text != "" {
		return strings.Split(text, "\n")
	}
	if args == "" {
		args = "COMMAND"
	}
	return []string{path + " [options] " + args}
}

// flagsOf describes flags. The library adds that for help where it runs a command.
func flagsOf(list []cli.Flag) []Flag {
	var all []Flag
	for _, f := range list {
		if f != cli.HelpFlag {
			all = append(all, describe(f))
		}
	}
	return append(all, describe(cli.HelpFlag))
}

func describe(f cli.Flag) Flag {
	var d Flag
	for _, name := range f.Names() {
		d.Names = append(d.Names, dashed(name))
	}
	_, d.Text, _ = strings.Cut(f.String(), "\t") // as help shows it
	if doc, ok := f.(cli.DocGenerationFlag); ok && doc.TakesValue() {
		d.Value = placeholder(doc.GetUsage())
		d.Choices = choices(d.Value)
	}
	_, d.Repeats = f.(*cli.StringSliceFlag)
	return d
}

// dashed returns the name of a flag with its dashes.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// placeholder returns what a usage has in backquotes.
func placeholder(usage string) string {
	if parts := strings.Split(usage, "`"); len(parts) > 2 {
		return parts[1]
	}
	return "value"
}

var plainChoice = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// choices returns the values of which one is wanted where value is a|b|c.
func choices(value string) []string {
	list := strings.Split(value, "|")
	if len(list) < 2 || slices.ContainsFunc(list, func(c string) bool { return !plainChoice.MatchString(c) }) {
		return nil
	}
	return list
}

// wantsFile and wantsDirectory report whether the value of a flag names one.
func (f Flag) wantsFile() bool      { return slices.Contains([]string{"FILE", "TRACE", "LIBRARY"}, f.Value) }
func (f Flag) wantsDirectory() bool { return f.Value == "DIR" }

// all returns the command and those in it, each before those in it.
func (c Command) all() []Command {
	list := []Command{c}
	for _, sub := range c.Commands {
		list = append(list, sub.all()...)
	}
	return list
}

// name is the last word of the path.
func (c Command) name() string { return c.Path[strings.LastIndex(c.Path, " ")+1:] }

// origin says at the top of a file what it is from.
func origin(c Command, kind string) string {
	return fmt.Sprintf("Written by %q.", c.Path+" --generate "+kind)
}
