package platforms

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestComments: whatever is in a comment counts for nothing but lines, two hyphens too.
func TestComments(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a<!-- b -- c --->d", "a                d"},
		{"<!---->", "       "},
		{"<!--\n<x>\n-->y<!- z -->", "    \n   \n   y<!- z -->"},
		{"--> <! --", "--> <! --"},
	} {
		for name, r := range map[string]io.Reader{"at once": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := io.ReadAll(withoutComments(r))
			if string(got) != c.want || err != nil {
				t.Errorf("%q, %s: %q, %v, want %q", c.text, name, got, err, c.want)
			}
		}
	}
	if _, err := Parse(strings.NewReader("<platform version=\"4.1\"/>\n<!-- a -->\n<!-- b\n\n"), "x.xml"); err == nil || !strings.Contains(err.Error(), "the comment that begins in line 3 has no end") {
		t.Errorf("without an end: %v", err)
	}
	p := parse(t, "<!-- a -- b -->\n"+zoneXML("full", points("a", "")+"<!-- --option -->"))
	if p.NumHosts() != 1 {
		t.Errorf("%d hosts", p.NumHosts())
	}
}
