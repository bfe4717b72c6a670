package study

import (
	"fmt"
	"testing"
)

// TestPartsAreForgotten: however many platforms a study has, only those that were used last are kept.
func TestPartsAreForgotten(t *testing.T) {
	l := newLoadedMachines(nil)
	kept := l.use("kept")
	for i := range 10 * mostParts {
		l.use(fmt.Sprint(i))
		if l.use("kept") != kept {
			t.Fatalf("what is used all the time is forgotten after %d others", i+1)
		}
	}
	if n := len(l.young) + len(l.old); n > 2*mostParts {
		t.Errorf("%d parts are kept, at most %d", n, 2*mostParts)
	}
}
