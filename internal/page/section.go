package page

import (
	"fmt"
	"os"
	"strings"
)

// RewriteSection replaces a section of a page.
func RewriteSection(path, name, body string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := ReplaceSection(string(text), name, body)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(page), 0o644)
}

// ReplaceSection returns the page with body between the marks of a section.
func ReplaceSection(page, name, body string) (string, error) {
	open, end := "<!-- measured: "+name+" -->\n", "<!-- end: "+name+" -->"
	before, rest, ok := strings.Cut(page, open)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("no section between %q and %q", strings.TrimSpace(open), end)
	}
	return before + open + "\n" + strings.TrimSpace(body) + "\n\n" + end + after, nil
}
