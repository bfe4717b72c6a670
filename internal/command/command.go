// Package command is the common part of the commands: it parses command lines, tells mistakes in their use from
// failures, writes help for shells and man, and begins and ends processes.
//
//	func main() { command.Main("trace", run) }
//
//	func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
//		app := command.App("trace", "look at traces", stdin, stdout, stderr)
//		command.Subcommands(app, "command", list...)
//		return command.Execute(ctx, app, args)
//	}
//
// [Main] (process.go) listens to signals and sets the exit code: 0, 1 for failures and interruptions, 2 for mistakes in
// the command line ([Usagef]). [Execute] (generate.go) runs a command line, or writes completions and manual pages.
// Flags may stand anywhere in the command line ([FlagsFirst]). Flags and their meanings are those of each command.
package command

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/textutil"
	"reprise/trace/warning"
)

// sharedFlag is a switch that the applications of a process share. Unlike the library's own, it keeps no value, so that
// tests may run commands at the same time.
type sharedFlag struct{ *cli.BoolFlag }

func init() {
	cli.HelpFlag = sharedFlag{cli.HelpFlag.(*cli.BoolFlag)}
	cli.VersionFlag = sharedFlag{cli.VersionFlag.(*cli.BoolFlag)}
}

// Apply implements cli.Flag.
func (f sharedFlag) Apply(set *flag.FlagSet) error {
	for _, name := range f.Names() {
		set.Bool(name, false, f.Usage)
	}
	return nil
}

// App returns the frame of a command. What goes wrong comes back from it as an error,
// mistakes in flags as usage errors.
func App(name, usage string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	// Without the linker's values --version goes by what the go command has noted.
	at := commit
	if info, ok := debug.ReadBuildInfo(); ok && at == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				at = s.Value
			}
		}
	}
	return &cli.App{
		Name:            name,
		Usage:           usage,
		Version:         Version() + " (commit " + cmp.Or(at, "unknown") + ")",
		HideHelpCommand: true,
		Reader:          stdin,
		Writer:          stdout,
		ErrWriter:       stderr,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    onUsageError,

		DisableSliceFlagSeparator: true,
	}
}

// badValue matches the parser's words about a value that is none of the flag's type.
var badValue = regexp.MustCompile(
	`^invalid (?:boolean )?value (".*") for (?:flag )?-(\S+): (?:parse error|value out of range)`)

// onUsageError makes err, of the parser of flags, a mistake in the command line. The parser says what it got; the
// user is told what is wanted.
func onUsageError(c *cli.Context, err error, _ bool) error {
	// The type of the flag says what is wanted; its name is in the message, without dashes.
	if parts := badValue.FindStringSubmatch(err.Error()); parts != nil {
		for _, f := range slices.Concat(c.Command.Flags, c.App.Flags) {
			want := ""
			switch f.(type) {
			case *cli.DurationFlag:
				want = "a time with its unit, such as 90s or 10m"
			case *cli.IntFlag, *cli.Int64Flag:
				want = "a whole number"
			case *cli.UintFlag, *cli.Uint64Flag:
				want = "a whole number of at least 0"
			case *cli.BoolFlag:
				want = "true, false, or no value"
			case *cli.Float64Flag:
				want = "a number without unit"
			}
			if want != "" && slices.Contains(f.Names(), parts[2]) {
				if strings.HasSuffix(parts[0], "range") {
					want += ", not that large"
				}
				return Usagef("--%s %s, want %s", f.Names()[0], parts[1], want)
			}
		}
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return Usagef("no flag %s%s; %s --help lists all", dashed(name), Meant(c.Command.Flags, name), c.Command.HelpName)
	}
	return Usage(err)
}

// Meant asks whether a flag that is spelt much like name was, as in ", did you mean
// --name?"; "" if there is none.
func Meant(flags []cli.Flag, name string) string {
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	if near := textutil.Nearest(name, names); near != "" {
		return ", did you mean " + dashed(near) + "?"
	}
	return ""
}

// dashed writes the name of a flag as help does.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// TextFlag is a flag whose text may be empty, such as a title: refuseEmpty passes over its type.
type TextFlag struct{ *cli.StringFlag }

// refuseEmpty refuses flags of a command that are given an empty text, as by a variable of a script that is not set:
// without the flag, the command does something else. A TextFlag may be empty.
func refuseEmpty(c *cli.Context) error {
	for _, flag := range c.Command.Flags {
		f, ok := flag.(*cli.StringFlag)
		if !ok || !c.IsSet(f.Name) || c.String(f.Name) != "" {
			continue
		}
		// The help of the flag says what it wants, and whether - may stand for standard input or output.
		want := cmp.Or(placeholder(f.Usage), "a value")
		switch want {
		case "FILE":
			want = "the name of a file"
		case "DIR":
			want = "the name of a directory"
		}
		if f.Value == "-" || strings.Contains(f.Usage, "; -:") {
			want += ", or -"
		}
		if c.Command.Name == c.App.Name {
			return Usagef("--%s \"\", want %s", f.Name, want)
		}
		return Usagef("%s: --%s \"\", want %s", c.Command.Name, f.Name, want)
	}
	return nil
}

// placeholder returns the name of a flag's value in its usage, between backquotes; "": it has none.
func placeholder(usage string) string {
	if parts := strings.Split(usage, "`"); len(parts) > 2 {
		return parts[1]
	}
	return ""
}

// Subcommands makes the commands those of app, which are called its kind. Without any it shows its help.
func Subcommands(app *cli.App, kind string, commands ...*cli.Command) {
	app.Commands, app.Action = commands, choose(kind, commands, cli.ShowAppHelp)
}

// Nest is Subcommands for a command that has commands itself.
func Nest(c *cli.Command, kind string, commands ...*cli.Command) *cli.Command {
	c.Subcommands, c.Action = commands, choose(kind, commands, cli.ShowSubcommandHelp)
	return c
}

// Prepare has a command report mistakes in its flags as all do, and returns it. Those of
// Subcommands and Nest are. The stages of its action may end it at their first error (textutil.Stop): so flags are
// checked where they are read, and no stage hands on the errors of those that it calls.
func Prepare(c *cli.Command) *cli.Command {
	c.OnUsageError, c.HideHelpCommand, c.Before = onUsageError, true, refuseEmpty
	if action := c.Action; action != nil {
		c.Action = func(c *cli.Context) (err error) {
			defer textutil.Stopped(&err)
			return action(c)
		}
	}
	return c
}

// Switch returns a flag that is off unless it is given.
func Switch(name, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Usage: usage, DisableDefaultText: true}
}

// Quiet returns the flag of commands that show progress.
func Quiet() cli.Flag { return Switch("quiet", "no progress on stderr") }

// Refuse ends a command at flags or arguments that it cannot have, with the exit status of wrong usage.
func Refuse(c *cli.Context, format string, args ...any) {
	textutil.Stop(Usagef(c.Command.Name+": "+format, args...))
}

// Choice returns the value of a flag, which is one of two or more words: others are refused.
func Choice(c *cli.Context, flag string, words ...string) string {
	value, last := c.String(flag), len(words)-1
	if !slices.Contains(words, value) {
		Refuse(c, "--%s %q, want %s or %s", flag, value, strings.Join(words[:last], ", "), words[last])
	}
	return value
}

// CheckFlag refuses the value of a flag for an error; nil is none.
func CheckFlag(c *cli.Context, flag string, err error) {
	if err != nil {
		Refuse(c, "--%s %w", flag, err)
	}
}

// CheckOutput refuses the file of a flag that would replace one that is read, and ends the command if it cannot be
// written.
func CheckOutput(c *cli.Context, flag string, inputs ...string) {
	CheckFlag(c, flag, atomicfile.CheckOverwrite(c.String(flag), inputs...))
	textutil.Check(atomicfile.Check(c.String(flag)))
}

// choose prepares commands, and returns what to do where one of them should be named but is not. The word help, alone
// or before the name of a command, asks for help: the library's command of that name would stand in every list, and
// takes the names of files where a command without commands reads them.
func choose(kind string, commands []*cli.Command, help func(*cli.Context) error) cli.ActionFunc {
	var names []string
	for _, c := range commands {
		Prepare(c)
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	// "a, b or c", for messages.
	want := names[0]
	if last := len(names) - 1; last > 0 {
		want = strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return func(c *cli.Context) error {
		// "x help", "x help sub", and "x nest help inner", in which this is the choice of nest.
		name, asked := c.Args().First(), false
		if name == "help" {
			name, asked = c.Args().Get(1), true
		}
		switch {
		case c.NArg() == 0, asked && c.NArg() == 1:
			return help(c)
		case asked && slices.Contains(names, name):
			// The help of the command that the words name, as far as they name commands within each other.
			path := strings.Fields(c.Command.HelpName) // of the command with the choice
			within := commands
			for _, word := range c.Args().Tail() {
				i := slices.IndexFunc(within, func(c *cli.Command) bool { return c.Name == word })
				if i < 0 {
					break
				}
				path, within = append(path, word), within[i].Subcommands
			}
			return c.App.RunContext(c.Context, append(path, "--help"))
		}
		return Usagef("unknown %s %q, want %s", kind, name, want)
	}
}

// coded is an error that says with which code the process ends. It implements cli.ExitCoder.
type coded struct {
	error
	code int
}

func (c coded) ExitCode() int { return c.code }
func (c coded) Unwrap() error { return c.error }

// Code makes a process that fails with err end with a code.
func Code(err error, code int) error { return coded{err, code} }

// Usage makes err a mistake in the command line: code 2.
func Usage(err error) error { return Code(err, 2) }

// Usagef returns a mistake in the command line.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// Trouble is the exit code of a comparison that could not be made: as with diff and cmp, 1 says that there is a
// difference.
const Trouble = 2

// Compared is the end of a command that compares, and whose output has said whether there is a difference.
func Compared(differ bool, err error) error {
	switch {
	case err != nil:
		return Code(err, Trouble)
	case differ:
		return Silent
	}
	return nil
}

// Silent ends the process with code 1 without a message: the output has said what is the matter, as that of a
// comparison or a check.
var Silent = cli.Exit("", 1)

// ExitCode is 0 for success, what a coded error says, and 1 for everything else, such as another
// program that failed, whatever its own code.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	// The outermost error with a code decides, so that Code can give one to another program's failure.
	c, ok := errors.AsType[cli.ExitCoder](err)
	if !ok {
		return 1
	}
	if _, other := c.(*exec.ExitError); other {
		return 1
	}
	if _, ours := c.(coded); !ours && c.ExitCode() > 1 { // of the library: help is asked for that there is not
		return 2
	}
	return c.ExitCode()
}

// Warn prints warnings where they are not in the way of results, on standard error.
func Warn(c *cli.Context, list []warning.Warning) { warn(c.App.ErrWriter, c.App.Name, list) }

func warn(w io.Writer, name string, list []warning.Warning) {
	for _, odd := range list {
		Tell(w, name, "warning: "+odd.String())
	}
}

// Steps reads the value of --steps, A:B, of which either may be left out; 0 and 0 for none.
func Steps(text string) (from, to int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, last, ok := strings.Cut(text, ":")
	// To 0 stands for the end, so that "0:0" and ":0" are no ranges.
	if ok && first != "" {
		from, err = strconv.Atoi(first)
	}
	if ok && err == nil && last != "" {
		to, err = strconv.Atoi(last)
	}
	if !ok || err != nil || from < 0 || last != "" && to <= from {
		return 0, 0, Usagef("--steps %q, want A:B with 0 <= A < B", text)
	}
	return from, to, nil
}

// Quoted joins arguments to a command line that a shell reads as these. Only those that need it have quotes, so that
// most command lines look as they were typed.
func Quoted(args ...string) string {
	var texts []string
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`*?[]{}()<>|&;#~!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		texts = append(texts, a)
	}
	return strings.Join(texts, " ")
}

// version and commit are set by make and scripts/dist; a program that go install has built knows them from there.
var version, commit string

// Version returns the version of the program: a tag, or what git describe says.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "unknown"
}

// FlagsFirst puts the flags of a command line before its other arguments, behind which the library does not look for
// them: trace stat FILE --json means what trace stat --json FILE does. What follows "--" stays where it is, and so does
// all behind the name of a command that parses its flags itself. A command that starts a program takes for that what
// follows its own arguments, and there nothing is moved either. If the value of a flag is missing, no later argument is
// moved to its place. With --help only that flag is left.
func FlagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	// The command line as far as it has been read. Each command that is named takes the flags up to its name with it,
	// so that flags of an outer command stay before the name of the inner one.
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
			// The next word is the value of the flag: not of switches, of flags that have their value behind "=", and
			// of flags that there are not, about which the library complains.
			name, _, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
			at := slices.IndexFunc(flags, func(f cli.Flag) bool { return !has && slices.Contains(f.Names(), name) })
			if at >= 0 {
				if d, ok := flags[at].(cli.DocGenerationFlag); ok && d.TakesValue() {
					n = min(2, len(rest))
					wants = n == 1
				}
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
