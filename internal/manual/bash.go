package manual

import (
	"fmt"
	"strings"
)

// bash returns the completion for bash, from 3.2 on, which macOS has. What it leaves
// empty bash completes with names of files.
func bash(c Command) string {
	var b strings.Builder
	function := "_" + identifier(c.Path)
	fmt.Fprintf(&b, "# %s\n\n%s() {\n", origin(c, "bash"), function)
	b.WriteString(`	local IFS=$'\n' cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} i
`)
	fmt.Fprintf(&b, "\tlocal at=%s\n", quoted(c.Path))
	b.WriteString(`	COMPREPLY=()
	# --flag=value comes in three words.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD-2]}
	fi
`)
	bashCommands(&b, c)
	bashValues(&b, c)
	bashWords(&b, c)
	fmt.Fprintf(&b, "}\n\ncomplete -o default -F %s %s\n", function, c.Path)
	return b.String()
}

// bashCommands writes how to find out in which command the cursor is.
func bashCommands(b *strings.Builder, c Command) {
	if len(c.Commands) == 0 {
		return
	}
	b.WriteString("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase \"$at ${COMP_WORDS[i]}\" in\n\t\t")
	var paths []string
	for _, sub := range c.all()[1:] {
		paths = append(paths, quoted(sub.Path))
	}
	fmt.Fprintf(b, "%s) at+=\" ${COMP_WORDS[i]}\" ;;\n\t\tesac\n\tdone\n", strings.Join(paths, " | "))
}

// bashValues writes what may follow a flag.
func bashValues(b *strings.Builder, c Command) {
	b.WriteString("\tcase \"$at $before\" in\n")
	for _, sub := range c.all() {
		var free []string
		for _, f := range sub.Flags {
			var patterns []string
			for _, name := range f.Names {
				patterns = append(patterns, quoted(sub.Path+" "+name))
			}
			switch {
			case f.Value == "":
			case f.Choices != nil:
				fmt.Fprintf(b, "\t%s)\n\t\tCOMPREPLY=($(compgen -W %s -- \"$cur\"))\n\t\treturn\n\t\t;;\n", strings.Join(patterns, " | "), bashList(f.Choices))
			default:
				free = append(free, patterns...)
			}
		}
		if free != nil {
			fmt.Fprintf(b, "\t%s)\n\t\treturn\n\t\t;;\n", strings.Join(free, " | "))
		}
	}
	b.WriteString("\tesac\n")
}

// bashWords writes what may stand where no value does: flags, commands, files.
func bashWords(b *strings.Builder, c Command) {
	b.WriteString("\tlocal flags= words= files=\n\tcase $at in\n")
	for _, sub := range c.all() {
		var flags, names []string
		for _, f := range sub.Flags {
			flags = append(flags, f.Names...)
		}
		for _, inner := range sub.Commands {
			names = append(names, inner.name())
		}
		fmt.Fprintf(b, "\t%s) flags=%s", quoted(sub.Path), bashList(flags))
		if names != nil {
			fmt.Fprintf(b, " words=%s", bashList(names))
		}
		if names != nil && sub.TakesFiles {
			b.WriteString(" files=yes")
		}
		b.WriteString(" ;;\n")
	}
	b.WriteString(`	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$flags" -- "$cur"))
	elif [[ -n $words ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
	if [[ -n $files && $cur != -* ]]; then
		COMPREPLY+=($(compgen -f -- "$cur"))
	fi
`)
}

// bashList returns words, a line each, as bash writes such a text.
func bashList(words []string) string { return "$'" + strings.Join(words, `\n`) + "'" }

// quoted returns text as sh reads it.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// identifier returns a path as part of the name of a function.
func identifier(path string) string { return strings.NewReplacer(" ", "_", "-", "_").Replace(path) }
