package study

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
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

// TestTuningTable: the table beside the study of 504 configurations has each of them once.
func TestTuningTable(t *testing.T) {
	s, err := Load("../studies/dahu-tuning.yaml")
	noError(t, err)
	p, err := NewPlan(s, "test")
	noError(t, err)
	f, err := os.Open("../studies/dahu-tuning.csv")
	noError(t, err)
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	noError(t, err)
	rows := map[string]int{}
	for _, row := range table[1:] {
		var levels []string
		for i, factor := range p.Factors {
			levels = append(levels, factor.Name+" "+row[i])
		}
		rows[strings.Join(levels, ", ")]++
	}
	for i := range p.Runs {
		if name := describe(p.Factors, p.Runs[i].Levels); rows[name] != 1 {
			t.Errorf("%s: %d rows", name, rows[name])
		}
	}
	if len(rows) != len(p.Runs) {
		t.Errorf("%d rows, want %d", len(rows), len(p.Runs))
	}
}
