package command

import (
	"strconv"
	"strings"
)

// Steps reads the value of --steps, A:B, of which either may be left out; 0 and 0 for
// none.
func Steps(text string) (from, to int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, last, ok := strings.Cut(text, ":")
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

// Quoted joins arguments to a command line that a shell reads as these.
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
