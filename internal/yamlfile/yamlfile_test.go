package yamlfile

import (
	"strings"
	"testing"
)

// TestByteOrderMark: a mark before the text is passed over, whatever the first line,
// and errors say the same offsets as without reading it away. Anywhere else it is text.
func TestByteOrderMark(t *testing.T) {
	for _, text := range []string{"a: 1\n", "# b\na: 1\n"} {
		d := &Document{File: "f.yaml"}
		root, err := d.Read(strings.NewReader(ByteOrderMark + text))
		if err != nil {
			t.Fatal(err)
		}
		if fields := d.Fields(root, "file", "a"); fields["a"] == nil {
			t.Errorf("%q: %v, want a", text, fields)
		}
	}
	d := &Document{File: "f.yaml"}
	if _, err := d.Read(strings.NewReader(ByteOrderMark + "a: \x00\n")); err == nil || !strings.Contains(err.Error(), "f.yaml:1: byte 0x00 at offset 6") { // 3 of the mark
		t.Error(err)
	}
}
