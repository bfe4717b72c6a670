package main

import (
	"fmt"
	"os"
	"strings"
)

// rewriteSection replaces a section of a page.
func rewriteSection(path, name, body string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := replaceSection(string(text), name, body)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(page), 0o644)
}

// replaceSection returns the page with body between the marks of a section.
func replaceSection(page, name, body string) (string, error) {
	open, end := "<!-- measured: "+name+" -->\n", "<!-- end: "+name+" -->"
	before, rest, ok := strings.Cut(page, open)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("no section between %q and %q", strings.TrimSpace(open), end)
	}
	return before + open + "\n" + strings.TrimSpace(body) + "\n\n" + end + after, nil
}
