package command

import (
	"fmt"
	"io/fs"
	"os"
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

// Exists reports whether there is something at path that is no directory.
func Exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// NotBuiltin gives err, of a name that is neither a file nor built in, another text if
// it is a directory, or looks like a path.
func NotBuiltin(path string, err error) error {
	if err == nil {
		return nil
	}
	if info, serr := os.Stat(path); serr == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, want a file or a built-in name", path)
	}
	if strings.ContainsAny(path, "./\\") {
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return err
}
