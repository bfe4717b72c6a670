package wording

import "testing"

func TestPlain(t *testing.T) {
	for s, want := range map[string]string{"node-1.site_2": "node-1.site_2", ".hidden": "_hidden", "a b/c": "a_b_c", "é": "__", "": ""} {
		if got := Plain(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
