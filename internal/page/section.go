package page

import (
	"fmt"
	"io"
	"os"
	"strings"

	"reprise/internal/atomicfile"
)

// RewriteSection replaces a section of a page.
func RewriteSection(path, name, body string) error {
	return Rewrite(path, func(text string) (string, error) { return ReplaceSection(text, name, body) })
}

// Rewrite replaces the file of a page by what edit makes of its text, or leaves it as
// it is. Errors name path.
func Rewrite(path string, edit func(text string) (string, error)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := edit(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, page)
		return err
	})
}

// ReplaceSection returns the page with body between the marks of a section.
func ReplaceSection(page, name, body string) (string, error) {
	before, _, after, err := cut(page, name)
	if err != nil {
		return "", err
	}
	return before + "\n" + strings.TrimSpace(body) + "\n\n" + after, nil
}

// Section returns what stands between the marks of a section.
func Section(page, name string) (string, error) {
	_, body, _, err := cut(page, name)
	return strings.TrimSpace(body), err
}

// cut returns the page in three: up to the opening mark, what stands between the marks,
// and from the closing mark on.
func cut(page, name string) (before, body, after string, err error) {
	open, end := "<!-- measured: "+name+" -->\n", "<!-- end: "+name+" -->"
	i := strings.Index(page, open)
	if i >= 0 {
		i += len(open)
		if k := strings.Index(page[i:], end); k >= 0 {
			return page[:i], page[i : i+k], page[i+k:], nil
		}
	}
	return "", "", "", fmt.Errorf("no section between %q and %q", strings.TrimSpace(open), end)
}
