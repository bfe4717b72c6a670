package command

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		text     string
		from, to int
		ok       bool
	}{
		{"", 0, 0, true}, {"2:5", 2, 5, true}, {"3:", 3, 0, true}, {":4", 0, 4, true}, {":", 0, 0, true},
		{"5", 0, 0, false}, {"5:5", 0, 0, false}, {"-1:2", 0, 0, false}, {"a:b", 0, 0, false}, {"0:0", 0, 0, false},
	} {
		from, to, err := Steps(c.text)
		if from != c.from || to != c.to || (err == nil) != c.ok {
			t.Errorf("%q: %d, %d, %v", c.text, from, to, err)
		}
	}
}

// TestQuoted: a shell takes a command line apart as it was put together.
func TestQuoted(t *testing.T) {
	args := []string{"plain", "", "two words", "it's", "$HOME `id` \\ \"x\"", "a*?[b]{c}", "#;&|<>()~!"}
	out, err := exec.Command("sh", "-c", "printf '%s\\n' "+Quoted(args...)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); !slices.Equal(got, args) {
		t.Errorf("%q, want %q", got, args)
	}
	if got := Quoted("trace", "cat", "a b"); got != "trace cat 'a b'" {
		t.Error(got)
	}
}
