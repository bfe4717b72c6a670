package wording

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"platform", "kernels", "steps", "P", "Q", "NB", "NBMIN"}
	for name, want := range map[string]string{
		"plattform": "platform", "PLATFORM": "platform", "platfrom": "platform", "kernel": "kernels", "step": "steps",
		"p": "P", "nbmin": "NBMIN", "NBM": "", "output": "", "": "",
		"platform-of-another-machine": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("%q of nothing", got)
	}
}
