package manual

import (
	"fmt"
	"strings"
)

// zsh returns the completion for zsh: a function for each command.
func zsh(c Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %s\n# %s\n", c.Path, origin(c, "zsh"))
	for _, sub := range c.all() {
		zshFunction(&b, sub)
	}
	// Where it is loaded by its first use, that wants an answer; where it is sourced, not.
	function := "_" + identifier(c.Path)
	fmt.Fprintf(&b, "\nif [[ $funcstack[1] == %s ]]; then\n\t%s \"$@\"\nelse\n\tcompdef %s %s\nfi\n", function, function, function, c.Path)
	return b.String()
}

func zshFunction(b *strings.Builder, c Command) {
	fmt.Fprintf(b, "\n_%s() {\n", identifier(c.Path))
	if len(c.Commands) > 0 {
		b.WriteString("\tlocal context state state_descr line\n\ttypeset -A opt_args\n\t_arguments -C \\\n")
	} else {
		b.WriteString("\t_arguments \\\n")
	}
	for _, f := range c.Flags {
		fmt.Fprintf(b, "\t\t%s \\\n", zshFlag(f))
	}
	if len(c.Commands) == 0 {
		b.WriteString("\t\t'*:file:_files'\n}\n")
		return
	}
	b.WriteString("\t\t'1:command:->command' \\\n\t\t'*::argument:->argument'\n\tcase $state in\n\tcommand)\n")
	b.WriteString("\t\tlocal -a commands=(\n")
	for _, sub := range c.Commands {
		fmt.Fprintf(b, "\t\t\t%s\n", quoted(sub.name()+":"+sub.Usage))
	}
	b.WriteString("\t\t)\n\t\t_describe command commands\n")
	if c.TakesFiles {
		b.WriteString("\t\t_files\n")
	}
	b.WriteString("\t\t;;\n\targument)\n\t\tcase $line[1] in\n")
	for _, sub := range c.Commands {
		fmt.Fprintf(b, "\t\t%s) _%s ;;\n", sub.name(), identifier(sub.Path))
	}
	b.WriteString("\t\tesac\n\t\t;;\n\tesac\n}\n")
}

// zshFlag returns a flag as _arguments wants it.
func zshFlag(f Flag) string {
	var spec string
	switch {
	case f.Repeats:
		spec = "'*'"
	case len(f.Names) > 1:
		spec = quoted("(" + strings.Join(f.Names, " ") + ")")
	}
	rest := "[" + zshText(f.Text) + "]" + zshValue(f)
	if len(f.Names) > 1 {
		return spec + "{" + zshNames(f) + "}" + quoted(rest)
	}
	return spec + quoted(zshName(f.Names[0], f)+rest)
}

func zshNames(f Flag) string {
	var names []string
	for _, name := range f.Names {
		names = append(names, zshName(name, f))
	}
	return strings.Join(names, ",")
}

// zshName returns a name with the mark of those whose value is the next word, or
// behind a =.
func zshName(name string, f Flag) string {
	if f.Value != "" && strings.HasPrefix(name, "--") {
		return name + "="
	}
	return name
}

// zshValue returns what the value of a flag is and how it is completed.
func zshValue(f Flag) string {
	if f.Value == "" {
		return ""
	}
	action := " " // nothing to offer
	switch {
	case f.Choices != nil:
		action = "(" + strings.Join(f.Choices, " ") + ")"
	case f.wantsFile():
		action = "_files"
	case f.wantsDirectory():
		action = "_files -/"
	}
	return ":" + zshText(f.Value) + ":" + action
}

// zshText escapes what has a meaning in the descriptions of _arguments.
func zshText(text string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`).Replace(text)
}
