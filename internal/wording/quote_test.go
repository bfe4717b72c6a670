package wording

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"a": `"a"`, "": `""`, "\x1b[2J": `"\x1b[2J"`, strings.Repeat("é", 60): `"` + strings.Repeat("é", 60) + `"`,
		strings.Repeat("é", 61): `"` + strings.Repeat("é", 60) + `"...`, strings.Repeat("\xff", 1<<20): `"` + strings.Repeat(`\xff`, 60) + `"...`,
	} {
		if got := Quote(text); got != want {
			t.Errorf("%.100q: %s, want %s", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"short": "short", strings.Repeat("a", 12): strings.Repeat("a", 12),
		"0123456789abcdef": "012345678 ... (4 bytes left out) ... def",
		"01234567éabcédef": "01234567 ... (6 bytes left out) ... def",
	} {
		if got := Cut(text, 12); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n": "a\tb\n", "\x1b[31mred\r\a": `\x1b[31mred\r\a`, "\u009b2J": `\u009b2J`, "\u202egnp": `\u202egnp`, "é": "é", "a\x7f": `a\x7f`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestBrief: a long error keeps its beginning and its end, and what it is.
func TestBrief(t *testing.T) {
	short := errors.New("short")
	if got := Brief(short); got != short {
		t.Errorf("%v", got)
	}
	err := Brief(fmt.Errorf("radical %s: %w", strings.Repeat("1,", 1<<20), short))
	if text := err.Error(); len(text) > 600 || !strings.HasPrefix(text, "radical 1,1,") || !strings.HasSuffix(text, "1,: short") || !errors.Is(err, short) {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}
