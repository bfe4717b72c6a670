package wording

import (
	"strconv"
	"strings"
)

// Cell returns a text for a cell of a table that people open in a spreadsheet, which takes for a formula what begins with =, +,
// -, @, a tab or a carriage return: such a text, unless it is a number, gets an apostrophe, the mark of text there.
func Cell(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}
