package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/page"
)

const root = "../.."

var sectionMark = regexp.MustCompile(`<!-- measured: (.*) -->`)

// TestPage: the page has a section for each part, and none that no part measures; the
// texts of the claims are those of the table.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/validation.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range sectionMark.FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	want := append(partNames(), "claims")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("sections %v, want %v", got, want)
	}
	table, err := page.Section(string(text), "claims")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(judge(table, nil)); got != table {
		t.Errorf("the table of claims is not what judge reads:\n%s", got)
	}
}

func TestFlags(t *testing.T) {
	o, err := parseFlags(strings.Fields("-data d -only dahu,causes -jobs 2"))
	if err != nil || len(o.only) != 2 || o.jobs != 2 || o.bin != "bin" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range []string{"", "-data d -only luck", "-data d -jobs 0", "-data d dahu", "-fast"} {
		if _, err := parseFlags(strings.Fields(args)); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// TestWanted: a part that is aside is measured with -all, or by its name.
func TestWanted(t *testing.T) {
	const aside = "factorial-reconstructed"
	for _, c := range []struct {
		flags string
		parts int
		aside bool
	}{{"-data d", len(parts()) - 1, false}, {"-data d -all", len(parts()), true}, {"-data d -only " + aside, 1, true}, {"-data d -all -only dahu", 1, false}} {
		o, err := parseFlags(strings.Fields(c.flags))
		if err != nil {
			t.Fatal(err)
		}
		got := o.wanted()
		if has := slices.ContainsFunc(got, func(p part) bool { return p.name == aside }); len(got) != c.parts || has != c.aside {
			t.Errorf("%s: %d parts, with the one aside: %t", c.flags, len(got), has)
		}
	}
}

// TestMeasureAll: parts that replay wait for each other, one that fails does not keep
// the others from the page, and what they say about claims is in the table.
func TestMeasureAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	text := ""
	for _, name := range []string{"first", "second", "third", "claims"} {
		text += "<!-- measured: " + name + " -->\n<!-- end: " + name + " -->\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l := &runner{log: io.Discard}
	third := make(chan bool)
	err := l.measureAll([]part{
		{name: "first", measure: func(*runner) (section, error) {
			<-third
			return section{"one", []verdict{{Claim: 1, Ours: "ten", Reproduced: true}}}, nil
		}},
		{name: "second", measure: func(*runner) (section, error) { return section{}, errors.New("no such machine") }},
		{name: "third", measure: func(*runner) (section, error) {
			close(third)
			return section{"three", []verdict{{Claim: 2, Ours: "much", Reproduced: false}}}, nil
		}},
	}, path)
	if err == nil || err.Error() != "second: no such machine" {
		t.Error(err)
	}
	got, _ := os.ReadFile(path)
	for name, want := range map[string]string{"first": "one", "second": "", "third": "three"} {
		want = "<!-- measured: " + name + " -->\n" + map[bool]string{true: "\n" + want + "\n\n"}[want != ""] + "<!-- end: " + name + " -->"
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, row := range []string{"| ten | above 30 % at 500,000 | yes |\n| 2 |", "| much | both pairs within 1.5 % at the orders replayed | **no** |\n| 3 |", "| – | within 1.5 % of it | not replayed yet |\n| 4 |"} {
		if !strings.Contains(string(got), row) {
			t.Errorf("no %q in\n%s", row, got)
		}
	}
}
