package manual

import (
	"fmt"
	"strings"
)

// fish returns the completion for fish: a line for each flag and command, with the
// condition that the cursor is in the command that has it.
func fish(c Command) string {
	var b strings.Builder
	at := "__" + identifier(c.Path) + "_at"
	fmt.Fprintf(&b, "# %s\n\nfunction %s --description 'Is the cursor in the command with this path?'\n", origin(c, "fish"), at)
	fmt.Fprintf(&b, "\tset -l path %s\n", c.Path)
	if len(c.Commands) > 0 {
		var paths []string
		for _, sub := range c.all()[1:] {
			paths = append(paths, fishQuoted(sub.Path))
		}
		b.WriteString("\tfor word in (commandline -opc)[2..-1]\n\t\tif contains -- \"$path $word\" " + strings.Join(paths, " ") + "\n\t\t\tset path \"$path $word\"\n\t\tend\n\tend\n")
	}
	b.WriteString("\ttest \"$path\" = \"$argv\"\nend\n\n")
	for _, sub := range c.all() {
		begin := fmt.Sprintf("complete -c %s -n %s", c.Path, fishQuoted(at+" "+sub.Path))
		for _, f := range sub.Flags {
			fmt.Fprintf(&b, "%s%s -d %s\n", begin, fishFlag(f), fishQuoted(f.Text))
		}
		for _, inner := range sub.Commands {
			only := " -f"
			if sub.TakesFiles {
				only = ""
			}
			fmt.Fprintf(&b, "%s%s -a %s -d %s\n", begin, only, inner.name(), fishQuoted(inner.Usage))
		}
	}
	return b.String()
}

// fishFlag returns the names of a flag and what its value is.
func fishFlag(f Flag) string {
	var text string
	for _, name := range f.Names {
		if long, ok := strings.CutPrefix(name, "--"); ok {
			text += " -l " + long
		} else {
			text += " -s " + name[1:]
		}
	}
	switch {
	case f.Value == "":
	case f.Choices != nil:
		text += " -x -a " + fishQuoted(strings.Join(f.Choices, " "))
	case f.wantsFile():
		text += " -r -F"
	case f.wantsDirectory():
		text += " -x -a '(__fish_complete_directories)'"
	default:
		text += " -x"
	}
	return text
}

// fishQuoted returns text between quotes as fish reads it.
func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
