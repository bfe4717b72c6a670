package study

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"reprise/internal/textutil"
)

// This file has what pages and texts about studies have alike: tables with notes ([Section]), and the head of a page.

// Section is a table with its title and the notes below it. A page shows them by {{template "parts" .Parts}}.
type Section struct {
	Title string
	Notes []string
	table textutil.Table
}

// Row adds a row. The first has the titles of the columns.
func (s *Section) Row(cells ...string) { s.table.Row(cells...) }

// Note adds a note.
func (s *Section) Note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// Head and Body are what the template shows.
func (s Section) Head() []string   { return s.table.Rows()[0] }
func (s Section) Body() [][]string { return s.table.Rows()[1:] }

// WriteSections writes sections as text. A table without rows is left out.
func WriteSections(w io.Writer, list []Section) error {
	var b strings.Builder // takes all
	for _, s := range list {
		fmt.Fprintln(&b, s.Title)
		if s.table.Len() > 1 {
			s.table.Write(&b)
		}
		for _, text := range append(s.Notes, "") {
			fmt.Fprintln(&b, text)
		}
	}
	return textutil.Write(w, b.String())
}

//go:embed page.html
var pageText string

// NewPage returns the template of a page, which needs nothing else: its text begins with {{template "head" .}} and
// defines what it adds to the style, as "style".
func NewPage(text string) *template.Template {
	return template.Must(template.Must(template.New("page").Parse(pageText)).Parse(text))
}
