package textutil

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// TestTexts: functions from a text to another. What spreadsheets take for a formula gets an apostrophe (Cell).
func TestTexts(t *testing.T) {
	nearest := func(name string) string {
		return Nearest(name, []string{"platform", "kernels", "steps", "P", "Q", "NB", "NBMIN"})
	}
	for name, c := range map[string]struct {
		of   func(string) string
		want map[string]string
	}{
		"Cell": {Cell, map[string]string{
			"": "", "node-1": "node-1", "-1.5": "-1.5", "+3": "+3", "-1e-9": "-1e-9", "1-2": "1-2", "'x": "'x",
			"=1+1": "'=1+1", "=HYPERLINK(\"x\")": "'=HYPERLINK(\"x\")", "+x": "'+x", "-x": "'-x", "-1-2": "'-1-2", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "\r=1": "'\r=1",
		}},
		"Plain": {Plain, map[string]string{
			"node-1.site_2": "node-1.site_2", ".hidden": "_hidden", "a b/c": "a_b_c", "é": "__", "": "",
		}},
		"Quote": {Quote, map[string]string{
			"a": `"a"`, "": `""`, "\x1b[2J": `"\x1b[2J"`, strings.Repeat("é", 60): `"` + strings.Repeat("é", 60) + `"`,
			strings.Repeat("é", 61): `"` + strings.Repeat("é", 60) + `"...`, strings.Repeat("\xff", 1<<20): `"` + strings.Repeat(`\xff`, 60) + `"...`,
		}},
		"Cut": {func(text string) string { return Cut(text, 12) }, map[string]string{
			"short": "short", strings.Repeat("a", 12): strings.Repeat("a", 12),
			"0123456789abcdef": "012345678 ... (4 bytes left out) ... def",
			"01234567éabcédef": "01234567 ... (6 bytes left out) ... def",
		}},
		"Visible": {Visible, map[string]string{
			"a\tb\n": "a\tb\n", "\x1b[31mred\r\a": `\x1b[31mred\r\a`, "\u009b2J": `\u009b2J`, "\u202egnp": `\u202egnp`, "é": "é", "a\x7f": `a\x7f`,
		}},
		"Nearest": {nearest, map[string]string{
			"plattform": "platform", "PLATFORM": "platform", "platfrom": "platform", "kernel": "kernels", "step": "steps",
			"p": "P", "nbmin": "NBMIN", "NBM": "", "output": "", "": "",
			"platform-of-another-machine": "",
		}},
	} {
		for text, want := range c.want {
			if got := c.of(text); got != want || !utf8.ValidString(got) {
				t.Errorf("%s of %.100q: %q, want %q", name, text, got, want)
			}
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("%q of nothing", got)
	}
}

func TestJSONLimits(t *testing.T) {
	l := JSONLimits{Objects: 2, Values: 3, String: 5}
	for text, want := range map[string]string{
		`{"a":{"b":[1,2,3]},"c":4}`: "", `{"{,{{":",,,,,"}`: "", `["\"{{{"]`: "", `["\\",{},{}]`: "",
		`[{},{},{}]`: "more than 2 objects", `[1,2,3,4,5]`: "more than 3 values",
		`{"a":"123456"}`: "byte 6: a string of 6 bytes, want at most 5", `["12345`: "", `["1234567`: "byte 2: a string of 7 bytes, want at most 5", `["\`: "",
	} {
		if got := fmt.Sprint(l.Check([]byte(text))); got != want && !(want == "" && got == "<nil>") {
			t.Errorf("%s: %s, want %q", text, got, want)
		}
	}
	if err := l.Check([]byte(strings.Repeat("\x00", 1<<20))); err != nil {
		t.Error(err)
	}
}

func TestLineError(t *testing.T) {
	for _, c := range []struct {
		text io.Reader
		want string
	}{
		{strings.NewReader("a\nb"), ""},
		{strings.NewReader("a\n" + strings.Repeat("x", 1<<17)), "line longer than 65536 bytes"},
		{strings.NewReader("a\n" + strings.Repeat("\n", MaxIdle)), ""},
		{strings.NewReader("a\n" + strings.Repeat("\n", MaxIdle+1)), "more than 4194304 bytes of empty lines and comments in a row"},
		{strings.NewReader(strings.Repeat("# and so on\n \n", MaxIdle/10)), "more than 4194304 bytes of empty lines and comments in a row"},
		{strings.NewReader(strings.Repeat(strings.Repeat("\n", MaxIdle)+"a\n", 2)), ""},
		{iotest.ErrReader(io.ErrUnexpectedEOF), io.ErrUnexpectedEOF.Error()},
	} {
		s := NewLineScanner(c.text)
		for s.Scan() {
		}
		got := ""
		if err := LineError(s); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestParsePercentPercent(t *testing.T) {
	for _, c := range []struct {
		text string
		zero bool
		want float64 // -1: an error
	}{
		{"1%", false, 0.01}, {"0.005", false, 0.005}, {" 2 %", false, 0.02}, {"0", true, 0}, {"99%", false, 0.99},
		{"0", false, -1}, {"0.5", false, -1}, {"100%", false, -1}, {"-1%", false, -1}, {"", false, -1}, {"exact", false, -1}, {"NaN", false, -1},
	} {
		if got, err := ParsePercent(c.text, "the makespan", c.zero); (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("%q: %g, %v, want %g", c.text, got, err, c.want)
		}
	}
}

// TestPercentBounds: an error names both.
func TestPercentBounds(t *testing.T) {
	for zero, want := range map[bool]string{false: `"1", want more than 0 and less than 100%, such as 0.5%`, true: `"1", want at least 0 and less than 100%, such as 0.5%`} {
		if _, err := ParsePercent("1", "the makespan", zero); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
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

// screen is a terminal of so many columns.
type screen struct {
	strings.Builder
	columns int
}

func (s *screen) Columns() int { return s.columns }

// TestWithin: of 34 columns a table of as many is left as it is; of 33 a column without values is left
// out, and of fewer than the 31 of that names are cut, to 12 at least.
func TestWithin(t *testing.T) {
	table := &Table{}
	table.Row("kernel", "s", "p", "B is")
	table.Row("dgemm transa=N trans", "1.5", "-", "=")
	table.Row("dscal", "2", "-", "-")
	const whole = "kernel                  s  p  B is\ndgemm transa=N trans  1.5  -     =\ndscal                   2  -     -\n"
	for _, c := range []struct {
		columns int
		want    string
	}{
		{34, whole},
		{33, "kernel                  s  B is\ndgemm transa=N trans  1.5     =\ndscal                   2     -\n"},
		{30, "kernel                 s  B is\ndgemm transa=N tra…  1.5     =\ndscal                  2     -\n"},
		{5, "kernel          s  B is\ndgemm trans…  1.5     =\ndscal           2     -\n"}, // no shorter
	} {
		s := &screen{columns: c.columns}
		if err := table.Write(s); err != nil || s.String() != c.want {
			t.Errorf("%d columns, %v:\n%swant\n%s", c.columns, err, s.String(), c.want)
		}
	}
	var file strings.Builder
	if err := table.Write(&file); err != nil || file.String() != whole {
		t.Errorf("a file, %v:\n%s", err, file.String())
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int64
		noun string
		want string
	}{
		{0, "host", "0 hosts"}, {1, "host", "1 host"}, {2, "kernel call", "2 kernel calls"}, {1, "class", "1 class"}, {1000, "class", "1000 classes"}, {-1, "step", "-1 steps"},
	} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -123456: "-123,456", 3491026162: "3,491,026,162", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
