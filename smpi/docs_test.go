package smpi

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestOptionsAreDocumented: the table of options in docs/network-model.md is that of the
// options. REPRISE_UPDATE=1 writes it anew.
func TestOptionsAreDocumented(t *testing.T) {
	const page = "../docs/network-model.md"
	const begin, end = "| option | default | meaning |\n| --- | --- | --- |\n", "\n\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	table, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no table of options", page)
	}
	want := strings.TrimSuffix(documented(), "\n")
	switch {
	case table == want:
	case os.Getenv("REPRISE_UPDATE") != "":
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of options in %s is not that of the options: REPRISE_UPDATE=1 go test ./smpi -run %s", page, t.Name())
	}
}

// documented is the rows of the page: options with an effect, those of one default and one meaning in one row; then those
// without effect.
func documented() string {
	defaults := DefaultOptions()
	type meaning struct{ value, doc string }
	names, order := map[meaning][]string{}, []meaning{}
	var idle []string
	for _, opt := range optionTable {
		name := "`" + opt.Name + "`"
		if opt.Idle {
			idle = append(idle, name)
			continue
		}
		value := ""
		if opt.Get != nil {
			value = opt.Get(&defaults)
		}
		if len(value) > 20 {
			value = "SimGrid's table"
		}
		m := meaning{strings.Trim(value, "[]"), opt.Doc}
		if names[m] == nil {
			order = append(order, m)
		}
		names[m] = append(names[m], name)
	}
	var b strings.Builder
	for _, m := range order {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(names[m], ", "), m.value, m.doc)
	}
	for _, family := range asideFamilies {
		idle = append(idle, "`"+family+"/...`")
	}
	fmt.Fprintf(&b, "| %s | | accepted, no effect on the times of a replay |\n", strings.Join(idle, ", "))
	return b.String()
}
