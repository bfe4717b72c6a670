package manual

import (
	"fmt"
	"strings"
)

// tools are the commands, which refer to each other: the directories of cmd.
var tools = []string{"calibrate", "replay", "study", "trace", "tracegen"}

// man returns the manual page, in the language of man(7).
func man(c Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" %s\n", origin(c, "man"))
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"Reprise %s\" \"Reprise\"\n", strings.ToUpper(c.Path), roff(c.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(c.Path), roff(c.Usage))
	b.WriteString(".SH SYNOPSIS\n")
	writeSynopsis(&b, c)
	if c.Description != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", paragraphs(c.Description))
	}
	b.WriteString(".SH OPTIONS\n")
	writeFlags(&b, c)
	if len(c.Commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
	}
	for _, sub := range c.all()[1:] {
		writeCommand(&b, sub)
	}
	b.WriteString(".SH EXIT STATUS\n0: done.\n1: it failed, or was interrupted.\n2: the command line is wrong.\nA command that has others says so.\n")
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", seeAlso(c.Path))
	return b.String()
}

// writeCommand writes the section of a command in another one.
func writeCommand(b *strings.Builder, c Command) {
	fmt.Fprintf(b, ".SS %s\n%s.\n.PP\n", roff(c.Path), roff(c.Usage))
	writeSynopsis(b, c)
	if c.Description != "" {
		fmt.Fprintf(b, ".PP\n%s\n", paragraphs(c.Description))
	}
	writeFlags(b, c)
}

// writeSynopsis writes the forms of a command, a line each, its name in bold.
func writeSynopsis(b *strings.Builder, c Command) {
	for i, line := range c.Synopsis {
		if i > 0 {
			b.WriteString(".br\n")
		}
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), c.Path)
		if ok {
			fmt.Fprintf(b, "\\fB%s\\fR%s\n", roff(c.Path), roff(rest))
		} else {
			fmt.Fprintf(b, "%s\n", roff(line))
		}
	}
}

// writeFlags writes the list of the flags of a command.
func writeFlags(b *strings.Builder, c Command) {
	for _, f := range c.Flags {
		var forms []string
		for _, name := range f.Names {
			form := "\\fB" + roff(name) + "\\fR"
			if f.Value != "" {
				form += " \\fI" + roff(f.Value) + "\\fR"
			}
			forms = append(forms, form)
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", strings.Join(forms, ", "), roff(f.Text))
	}
}

// paragraphs returns lines of text, which man fills, but for those that are indented: examples,
// which stay as they are.
func paragraphs(text string) string {
	var lines []string
	example := false
	for line := range strings.SplitSeq(text, "\n") {
		if indented := strings.HasPrefix(line, "   "); indented != example {
			lines = append(lines, map[bool]string{true: ".RS 4\n.nf", false: ".fi\n.RE"}[indented])
			example = indented
		}
		lines = append(lines, roff(strings.TrimSpace(line)))
	}
	if example {
		lines = append(lines, ".fi\n.RE")
	}
	return strings.Join(lines, "\n")
}

// roff escapes a line of text: backslashes, dashes that are typed, and what would be a
// request at the beginning.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

func seeAlso(name string) string {
	var others []string
	for _, tool := range tools {
		if tool != name {
			others = append(others, "\\fB"+tool+"\\fR(1)")
		}
	}
	return strings.Join(others, ",\n")
}
