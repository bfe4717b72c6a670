package study

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: a study's file is read or refused, and what is read can be planned or is refused.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		smallStudy,
		"program: hpl\nparameters: {P: 2, Q: 2}\nfactors: {N: 100..200, bandwidth: 0.5..2, DEPTH: [0, 1]}\ndesign: {latin hypercube: 4}\nseed: [1, 3..5]\n",
		"program: hpl\nfactors: {a: {x: {N: 9, P: 1, Q: 1}, y: {}}, b: {x: {without: dahu-1}, y: {host-speed: 'dahu-1=0.5'}}}\ndesign: one at a time\n",
		"program: hpl\nfactors: {NB: [1, 2], DEPTH: [0, 1], P: [1, 2]}\ndesign: {fractional: 1/2}\ntolerance: 1%\noptions: {smpi/iprobe: 1e-6}\n",
		"program: hpl\ndesign: {list: [{NB: 1}, {NB: 2}]}\nlatency: '*=2, a*=3'\nnetwork: lv08\n",
		"program: hpl\nparameters: {N: 100, P: 1, Q: 1}\nfactors: {\"a,list\": {x: {NB: 8}}, \"-\": {x: {DEPTH: 0}}}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(strings.NewReader(text), "study.yaml")
		if err != nil {
			return
		}
		for _, row := range s.Rows {
			for f, level := range row {
				if level < 0 || level >= len(s.Factors[f].Levels) {
					t.Fatalf("level %d of %d", level, len(s.Factors[f].Levels))
				}
			}
		}
		if len(s.Rows)*len(s.Seeds) < 1000 && !strings.Contains(text, "/") {
			if p, err := NewPlan(s, "test"); err == nil { // whatever it says
				noError(t, p.NewTable(NewResults("")).WriteParquet(io.Discard))
			}
		}
	})
}

// FuzzReadArchive: an archive is read, and can be made again, or is refused.
func FuzzReadArchive(f *testing.F) {
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := ReadArchive(bytes.NewReader(text), int64(len(text)), "study.zip")
		if err == nil {
			if _, _, err := a.Create(filepath.Join(t.TempDir(), "again"), "test"); err != nil {
				t.Fatal(err)
			}
		}
	})
}
