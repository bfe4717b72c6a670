package page

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

func TestTable(t *testing.T) {
	x := NewTable("a", "b")
	x.Row("1", "2")
	if want := "| a | b |\n| --- | --- |\n| 1 | 2 |\n"; x.String() != want {
		t.Errorf("%q, want %q", x, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Digits(0), "0.00"}, {Digits(0.01234), "0.0123"}, {Digits(9.996), "10.0"}, {Digits(99.5), "99.5"}, {Digits(999.7), "1,000"}, {Digits(1094567), "1,090,000"},
		{Megabytes(54284288), "54.3"},
		{Duration(16), "16.0 s"}, {Duration(1038.34), "17.3 min"}, {Duration(223200), "62.0 h"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

func TestReplaceSection(t *testing.T) {
	const page = "text\n<!-- measured: a -->\nold\n<!-- end: a -->\nmore\n<!-- measured: b -->\n<!-- end: b -->\n"
	got, err := ReplaceSection(page, "a", "\nnew\n\n")
	want := "text\n<!-- measured: a -->\n\nnew\n\n<!-- end: a -->\nmore\n<!-- measured: b -->\n<!-- end: b -->\n"
	if err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := ReplaceSection(got, "a", "new"); again != want || err != nil {
		t.Errorf("again: %q, %v", again, err)
	}
	for _, bad := range []string{"c", ""} {
		if _, err := ReplaceSection(page, bad, "x"); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestTicks(t *testing.T) {
	labels := func(ticks plot.ConstantTicks) string {
		var s []string
		for _, x := range ticks {
			s = append(s, x.Label)
		}
		return strings.Join(s, " ")
	}
	for _, c := range []struct{ got, want string }{
		{labels(logTicks(0.46, 3.98)), "0.2 0.5 1 2 5"},
		{labels(logTicks(1, 100)), "1 2 5 10 20 50 100"},
		{labels(logTicks(0.004, 40)), "0.001 0.01 0.1 1 10 100"},
		{labels(evenTicks(2.6)), "0 0.5 1 1.5 2 2.5 3"},
		{labels(evenTicks(100)), "0 20 40 60 80 100"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

func TestPlots(t *testing.T) {
	dir := t.TempDir()
	up := Curve{Name: "up", Points: plotter.XYs{{X: 64, Y: 0.01}, {X: 256, Y: 0.2}, {X: 1024, Y: 30}}}
	down := Curve{Name: "down", Points: plotter.XYs{{X: 64, Y: 10}, {X: 1024, Y: 1}}}
	if err := (Graph{Title: "title", X: "ranks", Y: "s", Curves: []Curve{up, down}}).Write(dir, "curves"); err != nil {
		t.Error(err)
	}
	if err := (Bars{"title", "messages/s", []string{"one", "two"}, []string{"low", "high"}, []plotter.Values{{1, 2}, {3, 4}}}).Write(dir, "bars"); err != nil {
		t.Error(err)
	}
	if text := svgText(t, filepath.Join(dir, "curves.svg")); !strings.Contains(text, "1,024") || !strings.Contains(text, "down") {
		t.Errorf("no tick or legend in %q", text)
	}
	if text := svgText(t, filepath.Join(dir, "bars.svg")); !strings.Contains(text, "two") || !strings.Contains(text, "high") {
		t.Errorf("no name or legend in %q", text)
	}
}

// svgText returns the text in a well-formed SVG file.
func svgText(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if text, ok := token.(xml.CharData); ok {
			b.Write(text)
		}
	}
}
