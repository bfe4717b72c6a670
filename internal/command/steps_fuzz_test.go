package command

import (
	"errors"
	"testing"

	"reprise/internal/textutil"
)

// FuzzSteps: what --steps says is a range, or an error of use that can be read.
func FuzzSteps(f *testing.F) {
	for _, text := range []string{"", ":", "1:2", "3:", ":4", "2:1", "-1:3", "1:99999999999999999999", "a:b", "1:2:3", " 1:2", "+1:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		from, to, err := Steps(text)
		var usage coded
		switch {
		case err == nil && (from < 0 || to < 0 || to > 0 && to <= from):
			t.Errorf("%q: from %d to %d", text, from, to)
		case err != nil && (!errors.As(err, &usage) || usage.code != 2 || len(textutil.Brief(err).Error()) > 4000):
			t.Errorf("%q: %v", text, err)
		}
	})
}
