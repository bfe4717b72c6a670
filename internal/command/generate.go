package command

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/textutil"
)

// This file runs a command line (Execute), and writes what --generate asks for: completions for shells (words) and
// manual pages (man).

// generate is the flag that has a command print its completion for a shell, or its manual page.
const generate = "generate"

// errGenerated ends a command that has printed what --generate asks for: the library has no other way to stop before
// the action without an error.
var errGenerated = errors.New("generated")

// Execute runs an application, whose flags may stand anywhere in the command line.
func Execute(ctx context.Context, app *cli.App, args []string) error {
	app.Flags = append(app.Flags, &cli.StringFlag{ // a new one, as tests run commands at the same time
		Name:  generate,
		Usage: "print `bash|zsh|fish|man`: the completion for a shell, or the manual page, and stop",
	})
	if len(args) > 2 && args[1] == "--"+generate && args[2] == "words" {
		app.Setup() // adds --version
		_, err := io.WriteString(app.Writer, strings.Join(words(app, args[3:]), "\n"))
		return err
	}
	// The library runs this when it has parsed the flags, before the action or the command that is named.
	app.Before = func(c *cli.Context) error {
		if err := refuseEmpty(c); err != nil || !c.IsSet(generate) {
			return err
		}
		if c.NArg() > 0 {
			return Usagef("--generate prints and stops: unexpected argument %q", c.Args().First())
		}
		kind := c.String(generate)
		script, err := completions.ReadFile("completion." + kind)
		text := strings.ReplaceAll(string(script), "NAME", c.App.Name)
		if kind == "man" {
			text = man(c.App)
		} else if err != nil {
			return Usagef("--generate %q, want bash, zsh, fish or man", kind)
		}
		if _, err := io.WriteString(c.App.Writer, text); err != nil {
			return err
		}
		return errGenerated
	}
	if err := app.RunContext(ctx, FlagsFirst(app, args)); !errors.Is(err, errGenerated) {
		return err
	}
	return nil
}

// completions are the scripts by which shells complete the command NAME. Each asks the program itself what may stand at
// the cursor (see words), so a script fits every version of it. In bash, --flag=value comes in three words.
//
//go:embed completion.bash completion.zsh completion.fish
var completions embed.FS

// words returns what may stand in place of the last word of a command line: flags, commands and values of flags that
// begin like it, each with a tab and what help says of it; and "/" if names of files may stand there.
func words(app *cli.App, line []string) (list []string) {
	c := rootOf(app)
	flags, takesFiles := flagsOf(c), app.ArgsUsage != ""
	flag := func(name string) *flagHelp { // with its dashes; nil: there is none
		i := slices.IndexFunc(flags, func(f flagHelp) bool { return slices.Contains(f.names, name) })
		if i < 0 {
			return nil
		}
		return &flags[i]
	}
	last := ""
	if n := len(line); n > 0 {
		last, line = strings.TrimPrefix(line[n-1], "="), line[:n-1]
	}
	add := func(word, text string) {
		if strings.HasPrefix(word, last) {
			list = append(list, word+"\t"+strings.Join(strings.Fields(text), " "))
		}
	}
	// The words before the cursor say which command it is in, and whether a flag waits for its value.
	var valued *flagHelp // the flag whose value the next word is
	for _, word := range line {
		switch {
		case word == "=": // of bash, between a flag and its value
		case valued != nil:
			valued = nil
		case strings.HasPrefix(word, "-"):
			if f := flag(word); f != nil && f.value != "" {
				valued = f
			}
		default:
			list := shown(c)
			if i := slices.IndexFunc(list, func(sub *cli.Command) bool { return sub.Name == word }); i >= 0 {
				c = list[i]
				flags, takesFiles = flagsOf(c), len(shown(c)) == 0
			}
		}
	}
	// A word "--flag=" is completed by the values of the flag, with what stands before them.
	before := ""
	if name, _, ok := strings.Cut(last, "="); ok && valued == nil {
		valued, before = flag(name), name+"="
	}
	switch {
	case valued != nil:
		for _, choice := range valued.choices() {
			add(before+choice, "")
		}
		if list == nil && valued.choices() == nil {
			return []string{"/"}
		}
	case strings.HasPrefix(last, "-"):
		for _, f := range flags {
			for _, name := range f.names {
				add(name, f.text)
			}
		}
	default:
		for _, sub := range shown(c) {
			add(sub.Name, sub.Usage)
		}
		if takesFiles {
			list = append(list, "/")
		}
	}
	return list
}

// flagHelp is a flag of a command as its help shows it.
type flagHelp struct {
	names []string // with their dashes: "--output", "-o"
	value string   // the placeholder for its value in help, "" if it takes none
	text  string   // its effect and its default
}

// flagsOf returns the flags of a command as its help shows them. The library adds the flag for help where it runs a
// command; here it stands last.
func flagsOf(c *cli.Command) (list []flagHelp) {
	own := slices.DeleteFunc(slices.Clone(c.Flags), func(f cli.Flag) bool { return f == cli.HelpFlag })
	for _, f := range append(own, cli.HelpFlag) {
		d := flagHelp{names: textutil.Texts(f.Names(), dashed)}
		_, d.text, _ = strings.Cut(f.String(), "\t") // as help shows it
		if doc, ok := f.(cli.DocGenerationFlag); ok && doc.TakesValue() {
			d.value = cmp.Or(placeholder(doc.GetUsage()), "value")
		}
		list = append(list, d)
	}
	return list
}

// rootOf returns an application as the command that its own commands are in.
func rootOf(app *cli.App) *cli.Command {
	return &cli.Command{Name: app.Name, Usage: app.Usage, UsageText: app.UsageText, ArgsUsage: app.ArgsUsage,
		Description: app.Description, Flags: app.Flags, Subcommands: app.Commands}
}

// shown returns the commands in a command that help shows.
func shown(c *cli.Command) []*cli.Command {
	return slices.DeleteFunc(slices.Clone(c.Subcommands), func(c *cli.Command) bool { return c.Hidden })
}

// choices returns all values of a flag whose placeholder lists them as a|b|c; nil of other flags.
func (f *flagHelp) choices() []string {
	list := strings.Split(f.value, "|")
	if len(list) < 2 || strings.ContainsFunc(f.value, func(r rune) bool {
		return r != '|' && r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) {
		return nil
	}
	return list
}

// tools are the commands, which refer to each other: the directories of cmd. A test compares them.
var tools = []string{"calibrate", "replay", "study", "trace", "tracegen"}

// man returns the manual page, in the language of man(7).
func man(app *cli.App) string {
	c := rootOf(app)
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" Written by \"%s --generate man\".\n", c.Name)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"Reprise %s\" \"Reprise\"\n", strings.ToUpper(c.Name), roff(app.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", roff(c.Name), roff(c.Usage))
	manCommand(&b, c.Name, c, ".SH DESCRIPTION\n", ".SH OPTIONS\n")
	if len(shown(c)) > 0 {
		b.WriteString(".SH COMMANDS\n")
	}
	// Commands in commands have sections, too, as man pages have no deeper level.
	var list func(in string, c *cli.Command)
	list = func(in string, c *cli.Command) { // a section for each, before those of the commands in it
		for _, sub := range shown(c) {
			path := in + " " + sub.Name
			fmt.Fprintf(&b, ".SS %s\n%s.\n.PP\n", roff(path), roff(sub.Usage))
			manCommand(&b, path, sub, ".PP\n", "")
			list(path, sub)
		}
	}
	list(c.Name, c)
	b.WriteString(".SH EXIT STATUS\n0: done.\n1: it failed, or was interrupted.\n2: the command line is wrong.\n" +
		"A command that has others says so.\n.SH SEE ALSO\n")
	var others []string
	for _, tool := range tools {
		if tool != c.Name {
			others = append(others, "\\fB"+tool+"\\fR(1)")
		}
	}
	b.WriteString(strings.Join(others, ",\n") + "\n")
	return b.String()
}

// manCommand writes the forms of a command, a line each with its name in bold, its description and its flags, below
// titles. path is the name of the command behind those of the commands that it is in, such as "trace cat".
func manCommand(b *strings.Builder, path string, c *cli.Command, description, options string) {
	synopsis := cmp.Or(c.UsageText, path+" [options] "+cmp.Or(c.ArgsUsage, "COMMAND"))
	for i, line := range strings.Split(synopsis, "\n") {
		if i > 0 {
			b.WriteString(".br\n")
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), path); ok {
			fmt.Fprintf(b, "\\fB%s\\fR%s\n", roff(path), roff(rest))
		} else {
			fmt.Fprintf(b, "%s\n", roff(line))
		}
	}
	if c.Description != "" {
		// man fills lines, except indented ones: those are examples, which keep their form.
		var lines []string
		example := false
		for line := range strings.SplitSeq(c.Description, "\n") {
			if indented := strings.HasPrefix(line, "   "); indented != example {
				lines = append(lines, map[bool]string{true: ".RS 4\n.nf", false: ".fi\n.RE"}[indented])
				example = indented
			}
			lines = append(lines, roff(strings.TrimSpace(line)))
		}
		if example {
			lines = append(lines, ".fi\n.RE")
		}
		fmt.Fprintf(b, "%s%s\n", description, strings.Join(lines, "\n"))
	}
	b.WriteString(options)
	for _, f := range flagsOf(c) {
		var forms []string
		for _, name := range f.names {
			form := "\\fB" + roff(name) + "\\fR"
			if f.value != "" {
				form += " \\fI" + roff(f.value) + "\\fR"
			}
			forms = append(forms, form)
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", strings.Join(forms, ", "), roff(f.text))
	}
}

// roffEscapes are for backslashes, dashes that are typed, and quotes.
var roffEscapes = strings.NewReplacer(`\`, `\e`, `-`, `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes a line of text, which is no request even if it begins like one. Dashes are escaped so that a reader can
// search for a flag and copy it: plain ones may be typeset as hyphens.
func roff(text string) string {
	if text = roffEscapes.Replace(text); strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
