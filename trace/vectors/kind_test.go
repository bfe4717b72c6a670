package vectors

import (
	"regexp"
	"testing"
)

func TestKindsAreFoundByName(t *testing.T) {
	form := regexp.MustCompile(`^[a-z][a-z0-9-]*/[1-9][0-9]*$`)
	for i, name := range Names() {
		if !form.MatchString(name) {
			t.Errorf("%q is not NAME/VERSION", name)
		}
		if Find(name) != kinds[i] {
			t.Errorf("%q is found as something else", name)
		}
	}
	if Find("pivot-owners/0") != nil {
		t.Error("a version that there is not is found")
	}
}

func TestGeneratedCheck(t *testing.T) {
	for want, g := range map[string]*Generated{
		"vector of no kind":                          {},
		"pivot-owners/1: 2 arguments, want 5":        {Kind: &pivotOwners, Args: []int64{1, 2}},
		"pivot-owners/1: -1 elements":                {Kind: &pivotOwners, Args: []int64{1, 0, 9, 1, 1}, Count: -1},
		"pivot-owners/1: columns [0,0+10) of 9 rows": {Kind: &pivotOwners, Args: []int64{1, 0, 9, 1, 1}, Count: 10},
	} {
		if err := g.Check(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
