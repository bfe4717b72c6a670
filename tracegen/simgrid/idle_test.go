package simgrid_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

// TestIdleLines: a text may have long comments, and does not go on for ever without an
// action; nor does an index without a file.
func TestIdleLines(t *testing.T) {
	blank := strings.Repeat("\n# to be continued\n \n", textutil.MaxIdle/40) // half of what is allowed, and more
	for _, c := range []struct {
		index, action, last string
		refused             bool
	}{
		{"a\nb\n", blank + "0 compute 1\n" + blank, "1 compute 1\n", false},
		{"a\nb\n", blank + blank + "0 compute 1\n", "1 compute 1\n", true},
		{"a\nb\n", "0 compute 1\n", "1 compute 1\n" + blank + blank, true},
		{"a\n", "0 compute 1\n1 compute 1\n" + blank + blank, "", true},
		{"a\n" + blank + blank + "b\n", "0 compute 1\n", "1 compute 1\n", true},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"index": c.index, "a": c.action, "b": c.last} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tr, err := simgrid.Open(filepath.Join(dir, "index"), dir)
		buf := make([]trace.Action, 8)
		for r := int32(0); err == nil && int(r) < tr.Ranks(); r++ {
			for n := 1; n > 0 && err == nil; {
				n, err = tr.Fill(r, buf)
			}
		}
		if c.refused != errors.Is(err, textutil.ErrIdle) || !c.refused && err != nil {
			t.Errorf("%.20q, %.20q: %v", c.index, c.action, err)
		}
	}
}
