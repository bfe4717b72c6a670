package study

import (
	"path/filepath"
	"testing"
)

// TestShipped: the studies that come with Reprise can be planned.
func TestShipped(t *testing.T) {
	files, err := filepath.Glob("../studies/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		s, err := Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if p, err := NewPlan(s, "test"); err != nil {
			t.Error(err)
		} else if n := p.Different(); n < 2 || len(p.Notes()) > 0 {
			t.Errorf("%s: %d runs, notes %q", file, n, p.Notes())
		}
	}
}
