package hpl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWriteDat: what is written is read again, as the same run.
func TestWriteDat(t *testing.T) {
	d, err := ReadDat(strings.NewReader(sampleDat), "HPL.dat")
	if err != nil {
		t.Fatal(err)
	}
	for k := range d.Combinations() {
		want, err := d.Combination(k + 1)
		if err != nil {
			t.Fatal(err)
		}
		want.Equil = k%2 == 0
		var b strings.Builder
		if err := want.WriteDat(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadDat(strings.NewReader(b.String()), "written")
		if err != nil {
			t.Fatal(err)
		}
		got, err := again.Combination(1)
		if err != nil || again.Combinations() != 1 {
			t.Fatal(again.Combinations(), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
