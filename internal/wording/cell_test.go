package wording

import "testing"

// TestCell: what spreadsheets take for a formula gets an apostrophe; numbers and all else are as they are.
func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "node-1": "node-1", "-1.5": "-1.5", "+3": "+3", "-1e-9": "-1e-9", "1-2": "1-2", "'x": "'x",
		"=1+1": "'=1+1", "=HYPERLINK(\"x\")": "'=HYPERLINK(\"x\")", "+x": "'+x", "-x": "'-x", "-1-2": "'-1-2", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "\r=1": "'\r=1",
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
